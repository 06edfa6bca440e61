"""What the client can do, resolved once from `initialize` into one frozen value.

Holds answers, not protocol objects: a handler asks `caps.lens_refresh`, never a chain of optional fields.
"""

from dataclasses import dataclass
from typing import Any

from lsprotocol import types


@dataclass(frozen=True, slots=True)
class ClientCaps:
    """The client's abilities that change what we do; all False before `initialize`."""

    hover_markdown: bool = False
    lens_refresh: bool = False
    work_done_progress: bool = False
    show_document: bool = False
    watched_files: bool = False
    watched_files_relative: bool = False
    configuration_pull: bool = False
    configuration_registration: bool = False
    action_literals: bool = False

    @classmethod
    def of(cls, capabilities: types.ClientCapabilities) -> "ClientCaps":
        """Read what `initialize` says."""
        formats = _at(capabilities, "text_document.hover.content_format") or ()
        return cls(
            hover_markdown=types.MarkupKind.Markdown in formats,
            lens_refresh=bool(_at(capabilities, "workspace.code_lens.refresh_support")),
            work_done_progress=bool(_at(capabilities, "window.work_done_progress")),
            show_document=bool(_at(capabilities, "window.show_document.support")),
            watched_files=bool(_at(capabilities, "workspace.did_change_watched_files.dynamic_registration")),
            watched_files_relative=bool(
                _at(capabilities, "workspace.did_change_watched_files.relative_pattern_support")
            ),
            configuration_pull=bool(_at(capabilities, "workspace.configuration")),
            configuration_registration=bool(
                _at(capabilities, "workspace.did_change_configuration.dynamic_registration")
            ),
            action_literals=_at(capabilities, "text_document.code_action.code_action_literal_support")
            is not None,
        )


@dataclass(frozen=True, slots=True)
class ClientOptions:
    """What the client asked for in `initializationOptions`; anything unknown or malformed is left out.

    Attributes:
        command_links: the client runs `command:` links in a hover and trusts only our command ids.
        capture_command: the client's own command that asks for a memory's text, called with {uri, position}.
    """

    command_links: bool = False
    capture_command: str | None = None

    @classmethod
    def of(cls, options: Any) -> "ClientOptions":
        """Read `initializationOptions`."""
        if not isinstance(options, dict):
            return cls()
        command = options.get("captureCommand")
        return cls(
            command_links=options.get("commandLinks") is True,
            capture_command=command if isinstance(command, str) and command else None,
        )


def _at(value: Any, path: str) -> Any:
    for name in path.split("."):
        value = getattr(value, name, None)
        if value is None:
            return None
    return value
