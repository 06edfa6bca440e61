"""Ways to keep a file's symbols, measured on a real package: why `store/symbols.py` uses marshal.

Usage: python tests/bench/formats.py FOLDER
"""

import json
import marshal
import pickle
import sys
import zlib
from dataclasses import astuple
from pathlib import Path
from time import process_time

from mnemolens.codegraph.extract import extract
from mnemolens.codegraph.languages import language_of
from mnemolens.core.symbols import FileSymbols
from mnemolens.store.symbols import decode, encode


def rows_of(symbols: FileSymbols) -> tuple:
    """Plain values only, as json can hold them."""
    return (
        symbols.language,
        symbols.partial,
        [astuple(symbol) for symbol in symbols.symbols],
        [astuple(one) for one in symbols.imports],
        [astuple(call) for call in symbols.calls],
        [sorted(names) for names in symbols.locals],
        sorted(symbols.module_names),
        [[*r.definition.start, *r.definition.end, *r.name.start, *r.name.end] for r in symbols.ranges],
    )


def main() -> None:
    found = []
    for path in Path(sys.argv[1]).rglob("*"):
        language = language_of(path.name)
        if language is not None and path.is_file():
            found.append(extract(path.read_bytes(), language))
    rows = [rows_of(symbols) for symbols in found]
    print(f"{len(found)} files, {sum(len(symbols.symbols) for symbols in found)} symbols")
    formats = {
        "as stored: crc + marshal, to values": (found, encode, decode),
        "marshal, rows only": (rows, marshal.dumps, marshal.loads),
        "json, rows only": (rows, lambda row: json.dumps(row).encode(), json.loads),
        "pickle, rows only": (rows, pickle.dumps, pickle.loads),
        "pickle, values": (found, pickle.dumps, pickle.loads),
        "marshal + zlib 1, rows only": (
            rows,
            lambda row: zlib.compress(marshal.dumps(row), 1),
            lambda data: marshal.loads(zlib.decompress(data)),
        ),
    }
    for name, (values, write, read) in formats.items():
        begun = process_time()
        written = [write(value) for value in values]
        between = process_time()
        for data in written:
            read(data)
        ended = process_time()
        figures = f"write {(between - begun) * 1000:6.0f} ms  read {(ended - between) * 1000:6.0f} ms"
        print(f"{name:38} {figures}  {sum(map(len, written)) / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
