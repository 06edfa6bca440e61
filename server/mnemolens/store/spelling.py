"""How a disk that takes upper case for lower case writes a name: as its folder lists it."""

from pathlib import Path


def is_spelt_otherwise(top: Path, path: str) -> bool:
    """Whether an existing file, or a folder that it is in, is written in other cases than the path has.

    Such a disk answers for the old name after a rename in case alone: the file would be there twice.
    Elsewhere this costs one look at the disk.

    Args:
        top: the folder that the path is relative to.
        path: POSIX.
    """
    here = top / path
    other = here.name.swapcase()
    try:
        if other == here.name or not here.samefile(here.with_name(other)):
            return False
        for part in (here, *here.parents[: path.count("/")]):
            listed = [one.name for one in part.parent.iterdir()]
            if part.name not in listed and part.name.casefold() in map(str.casefold, listed):
                return True
    except OSError:
        return False
    return False
