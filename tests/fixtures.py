"""Marker fixtures: `$0` is the cursor, `#- /path.py` lines start the files of a fixture of several."""

from textwrap import dedent

from mnemolens.core.symbols import Position

CURSOR = "$0"
_FILE = "#- /"


def parse_fixture(text, default="main.py"):
    """The files of a fixture, and where its cursor stands.

    Args:
        text: source text, indented as it likes (it is dedented). A line `#- /pkg/a.py` starts that file;
            text before the first such line is the file `default`.
        default: name of the only file of a fixture without such lines.

    Returns:
        (path -> text without the cursor, (path, position in UTF-8 columns) or None).
    """
    files = {}
    current, lines = default, []

    def close():
        if lines or current != default:
            files[current] = "".join(lines)

    for line in dedent(text).removeprefix("\n").splitlines(keepends=True):
        if line.startswith(_FILE):
            close()
            current, lines = line.removeprefix(_FILE).strip(), []
        else:
            lines.append(line)
    close()
    cursor = None
    for path, content in files.items():
        before, mark, after = content.partition(CURSOR)
        if mark:
            assert cursor is None, "a fixture has one cursor"
            assert CURSOR not in after, "a fixture has one cursor"
            files[path] = before + after
            line = before.count("\n")
            cursor = (path, Position(line, len(before.rpartition("\n")[2].encode())))
    return files, cursor
