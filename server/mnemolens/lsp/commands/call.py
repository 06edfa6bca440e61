"""What a command's function gets besides its arguments, and where its arguments point."""

from dataclasses import dataclass
from typing import NamedTuple

from lsprotocol import types

from mnemolens.core.errors import InvalidArgument
from mnemolens.core.symbols import Position
from mnemolens.engine.json_form import JsonForm
from mnemolens.engine.workspace import Workspace
from mnemolens.lsp.language_server import MnemolensServer
from mnemolens.lsp.params import Arguments, AtArguments


class At(NamedTuple):
    """Where a command's uri and position point: `file` is None without a uri."""

    workspace: Workspace
    file: str | None
    position: Position | None


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a command.

    Attributes:
        ls: the server's state.
        token: the client's work-done progress token, None when it did not ask for progress.
    """

    ls: MnemolensServer
    token: types.ProgressToken | None = None

    def workspace(self, arguments: Arguments) -> Workspace:
        """The folder that `root` (or the uri) means.

        Raises:
            InvalidArgument: none, or several could be meant.
            OutOfScope: the uri is in no open folder.
        """
        if isinstance(arguments, AtArguments):
            return self.at(arguments).workspace
        return self.ls.folders.chosen(arguments.root)

    def at(self, arguments: AtArguments) -> At:
        """The folder, file and position that are meant.

        Raises:
            InvalidArgument: none, or several folders could be meant, or the uri is none of a file.
            OutOfScope: the uri is in no open folder.
        """
        folders = self.ls.folders
        if arguments.uri is None:
            return At(folders.chosen(arguments.root), None, None)
        place = folders.named(arguments.uri, arguments.root)
        if arguments.position is None:
            return At(place.workspace, place.file, None)
        position = self.ls.positions.from_client(arguments.position.lsp, place.line_text)
        return At(place.workspace, place.file, position)

    def wire(self, workspace: Workspace) -> JsonForm:
        """Writes that folder's views for this client."""
        return JsonForm(workspace, self.ls.positions.encoding)


def require_file(at: At) -> str:
    """The file of a place that must have one."""
    if at.file is None:
        raise InvalidArgument("uri", "is missing")
    return at.file
