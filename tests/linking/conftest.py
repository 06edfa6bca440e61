"""A lookup over a listed project: what the code graph would know, without parsing."""

from collections import defaultdict

import pytest

from mnemolens.core.symbols import SymbolKey


class ListedCode:
    """Files and symbols given as a list; fits `linking.SymbolLookup`."""

    def __init__(self, files, symbols, means=None):
        """`symbols`: {(file, qualname) or (file, qualname, ordinal): kind}; `means`: {(file, name): key}."""
        self.means = {at: SymbolKey(*key) for at, key in (means or {}).items()}
        self.files = set(files) | {key[0] for key in symbols}
        self.kinds = {SymbolKey(*key): kind for key, kind in symbols.items()}
        self.by_name = defaultdict(list)
        for key in self.kinds:
            self.by_name[key.name].append(key)

    def keys_named(self, name):
        return self.by_name.get(name, ())

    def files_ending(self, suffix):
        return [file for file in self.files if file == suffix or file.endswith("/" + suffix)]

    def kind_of(self, key):
        if not key.qualname:
            return "file" if key.file in self.files else None
        return self.kinds.get(key)

    def has_file(self, path):
        return path in self.files

    def meaning(self, file, name, receiver):
        return self.means.get((file, f"{receiver}.{name}" if receiver else name))


@pytest.fixture
def listed():
    """Builds a `ListedCode` from `{"file::qualname": kind}`, files, {("file", "name"): what it means}."""

    def build(symbols, files=(), means=None):
        split = {at: tuple(id_.split("::")) for at, id_ in (means or {}).items()}
        return ListedCode(files, {tuple(id_.split("::")): kind for id_, kind in symbols.items()}, split)

    return build
