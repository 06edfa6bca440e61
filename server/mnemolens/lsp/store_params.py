"""The arguments of commands about the whole store: export, import, the importers."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from mnemolens.engine.importers import Importer
from mnemolens.engine.importing import SOURCES
from mnemolens.lsp.params import Arguments, AtArguments, Id, Text
from mnemolens.lsp.uris import path_of_uri


def _absolute(value: str) -> str:
    path = path_of_uri(value) if value[:5].lower() == "file:" else Path(value)
    if path is None or not path.is_absolute():
        raise ValueError("must be an absolute path, or a file: URI")
    return str(path)


AbsolutePath = Annotated[Text, AfterValidator(_absolute)]


class ExportArguments(Arguments):
    """`store.export`."""

    path: AbsolutePath
    format: Literal["jsonl", "markdown"] = "jsonl"


class ImportArguments(Arguments):
    """`store.import`."""

    path: AbsolutePath
    dry_run: bool = False
    allow_secret: bool = False


class NotesArguments(AtArguments):
    """`import.preview`: of one file where a uri names it, else of the whole folder."""

    sources: list[Importer] = Field(default_factory=lambda: list(SOURCES), min_length=1)


class NotesRunArguments(NotesArguments):
    """`import.run`: all that is new, or only what is named."""

    ids: list[Id] | None = None
