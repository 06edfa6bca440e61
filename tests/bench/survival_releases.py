"""Successive releases of packages as a test of the tracker, fetched from the registries as users fetch them.

Wheels and npm's archives hold the source, and run nothing when they are opened. Each release becomes a commit
of a repository in a scratch folder; `survival_history` does the rest.
"""

import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Collection, Iterator
from itertools import pairwise
from pathlib import Path

from survival_history import Repository, Step

PYPI = {
    "attrs": ("20.3.0", "21.4.0", "22.2.0", "23.2.0", "24.3.0", "25.3.0"),
    "rich": ("9.13.0", "10.16.2", "11.2.0", "12.6.0", "13.9.4", "14.0.0"),
    "urllib3": ("1.24.3", "1.25.11", "1.26.20", "2.0.7", "2.2.3", "2.5.0"),
    "starlette": ("0.13.8", "0.16.0", "0.21.0", "0.27.0", "0.37.2", "0.46.2"),
}
NPM = {"rxjs": ("5.5.12", "6.6.7", "7.0.0", "7.4.0", "7.8.2"), "zod": ("3.25.76", "4.0.17", "4.1.13")}


def steps(scratch: Path, wanted: Collection[str]) -> Iterator[tuple[str, Step]]:
    """(package, what lies between two releases of it), of the packages named; of all where none is."""
    for registry, packages in (("PyPI", PYPI), ("npm", NPM)):
        for name, versions in packages.items():
            if wanted and name not in wanted:
                continue
            folder = scratch / name
            commits = [_committed(folder, _fetched(registry, name, version, scratch)) for version in versions]
            repository = Repository(folder, scratch / f"{name}-objects")
            for old, new in pairwise(commits):
                step = repository.step(old, new)
                if step is not None:
                    yield name, step


def _fetched(registry: str, name: str, version: str, scratch: Path) -> dict[str, bytes]:
    """{path: content} of a release's source."""
    place = scratch / f"{name}-{version}"
    place.mkdir()
    if registry == "PyPI":
        wanted = ["--no-deps", "--only-binary", ":all:", "--dest", str(place), f"{name}=={version}"]
        command = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", *wanted]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        with zipfile.ZipFile(next(place.iterdir())) as archive:
            return {one: archive.read(one) for one in archive.namelist() if one.endswith(".py")}
    subprocess.run(
        ["npm", "pack", "--silent", f"{name}@{version}"], cwd=place, check=True, stdout=subprocess.DEVNULL
    )
    found = {}
    with tarfile.open(next(place.iterdir())) as archive:
        for member in archive:
            path = member.name.partition("/")[2]
            content = (
                archive.extractfile(member) if path.startswith("src/") and path.endswith(".ts") else None
            )
            if content is not None:
                found[path] = content.read()
    return found


def _committed(folder: Path, files: dict[str, bytes]) -> str:
    """The commit whose tree is these files."""
    if not folder.exists():
        subprocess.run(["git", "init", "-q", str(folder)], check=True)
    for path in folder.iterdir():
        if path.name != ".git":
            subprocess.run(["rm", "-r", str(path)], check=True)
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    who = ("-c", "user.name=bench", "-c", "user.email=bench", "-c", "commit.gpgSign=false")
    for command in (["add", "-A", "-f"], ["commit", "-q", "--allow-empty", "-m", "release"]):
        subprocess.run(["git", *who, *command], cwd=folder, check=True)
    said = subprocess.run(["git", "rev-parse", "HEAD"], cwd=folder, check=True, capture_output=True)
    return said.stdout.decode().strip()
