"""How fast a folder is extracted from nothing, on one core.

Usage: python tests/bench/extract.py FOLDER
"""

import gc
import pathlib
import sys
from time import perf_counter, process_time

from mnemolens.codegraph.extract import Walk, parseable
from mnemolens.codegraph.languages import language_of
from mnemolens.codegraph.layout import assemble
from mnemolens.engine.worker import COLLECT_AFTER


def main(folder):
    """Print files, definitions and seconds, in all and a step."""
    gc.set_threshold(COLLECT_AFTER)  # as the processes do that read folders
    sources = [
        (language, path.read_bytes())
        for path in sorted(pathlib.Path(folder).rglob("*"))
        if path.is_file() and (language := language_of(path.name)) is not None
    ]
    for language in {language for language, _ in sources}:
        _ = language.actions  # the grammar's import is no part of the measure
    parsing = reading = laying = 0.0
    symbols = 0
    wall = perf_counter()
    for language, raw in sources:
        at = process_time()
        source = parseable(raw)
        tree = language.parse(source)
        parsed = process_time()
        units = Walk(language, source).module(tree.root_node)
        read = process_time()
        symbols += len(assemble(units, language, partial=False).symbols)
        parsing, reading, laying = (
            parsing + parsed - at,
            reading + read - parsed,
            laying + process_time() - read,
        )
    wall = perf_counter() - wall
    total = parsing + reading + laying
    size = sum(len(raw) for _, raw in sources) / 1e6
    print(f"{folder}: {len(sources)} files, {size:.1f} MB, {symbols} definitions")
    print(
        f"{total:.2f} s of one core ({wall:.2f} by the clock): "
        f"parse {parsing:.2f}, read {reading:.2f}, lay out {laying:.2f}; "
        f"{len(sources) / total:.0f} files/s, {symbols / total:.0f} definitions/s"
    )


if __name__ == "__main__":
    main(sys.argv[1])
