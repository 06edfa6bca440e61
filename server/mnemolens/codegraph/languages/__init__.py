"""Which language a file is in. One module a language; see `base` for what a table says."""

from mnemolens.codegraph.languages.base import Language
from mnemolens.codegraph.languages.python import PYTHON
from mnemolens.codegraph.languages.typescript import JAVASCRIPT, TSX, TYPESCRIPT

LANGUAGES: tuple[Language, ...] = (PYTHON, TYPESCRIPT, TSX, JAVASCRIPT)

_BY_EXTENSION = {extension: language for language in LANGUAGES for extension in language.extensions}
_BY_LSP_ID = {lsp_id: language for language in LANGUAGES for lsp_id in language.lsp_ids}
_BY_NAME = {language.name: language for language in LANGUAGES}


def language_of(path: str) -> Language | None:
    """The language of a file by its name's end, None when there is no table for it."""
    name = path.rpartition("/")[2]
    dot = name.rfind(".")
    return _BY_EXTENSION.get(name[dot:].lower()) if dot > 0 else None


def language_named(name: str) -> Language | None:
    """The language with this protocol language id, or with this name as stored in `FileSymbols.language`."""
    return _BY_LSP_ID.get(name) or _BY_NAME.get(name)


__all__ = ["LANGUAGES", "Language", "language_named", "language_of"]
