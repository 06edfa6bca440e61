"""Which language a file is in. One module a language; see `base` for what a table says."""

from mnemolens.codegraph.languages.base import Language
from mnemolens.codegraph.languages.c import CPP, C
from mnemolens.codegraph.languages.csharp import CSHARP
from mnemolens.codegraph.languages.go import GO
from mnemolens.codegraph.languages.gomod import GO_MOD
from mnemolens.codegraph.languages.java import JAVA
from mnemolens.codegraph.languages.kotlin import KOTLIN
from mnemolens.codegraph.languages.php import PHP
from mnemolens.codegraph.languages.python import PYTHON
from mnemolens.codegraph.languages.ruby import RUBY
from mnemolens.codegraph.languages.rust import RUST
from mnemolens.codegraph.languages.typescript import JAVASCRIPT, TSX, TYPESCRIPT

LANGUAGES: tuple[Language, ...] = (
    PYTHON, TYPESCRIPT, TSX, JAVASCRIPT, GO, GO_MOD,
    RUST, JAVA, C, CPP, CSHARP, RUBY, PHP, KOTLIN,
)  # fmt: skip

_BY_EXTENSION = {extension: language for language in LANGUAGES for extension in language.extensions}
_BY_FILE_NAME = {name: language for language in LANGUAGES for name in language.file_names}
_BY_LSP_ID = {lsp_id: language for language in LANGUAGES for lsp_id in language.lsp_ids}
_BY_NAME = {language.name: language for language in LANGUAGES}


def table_of(path: str) -> Language | None:
    """The language of a file by its name or its name's end, None when there is no table for it."""
    name = path.rpartition("/")[2]
    dot = name.rfind(".")
    return _BY_FILE_NAME.get(name) or (_BY_EXTENSION.get(name[dot:].lower()) if dot > 0 else None)


def language_of(path: str) -> Language | None:
    """As `table_of`, but None too where the grammar is not installed: nothing can be read."""
    return _readable(table_of(path))


def language_named(name: str) -> Language | None:
    """The language with this protocol language id, or with this name as stored in `FileSymbols.language`.

    None too where its grammar is not installed.
    """
    return _readable(_BY_LSP_ID.get(name) or _BY_NAME.get(name))


def _readable(language: Language | None) -> Language | None:
    return language if language is not None and language.is_installed else None


def setting_of(name: str) -> str:
    """The choice of `index.languages` that brings the language with this name."""
    language = _BY_NAME.get(name)
    return (language.setting if language is not None else "") or name


def wheel_of(name: str) -> str:
    """The package with the grammar of the language with this name."""
    language = _BY_NAME.get(name)
    return language.grammar.wheel if language is not None else ""


__all__ = ["LANGUAGES", "Language", "language_named", "language_of", "setting_of", "table_of", "wheel_of"]
