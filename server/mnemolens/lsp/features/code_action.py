"""`textDocument/codeAction`: remember something here, and what can be done with the memories here."""

from collections.abc import Iterator, Mapping

from lsprotocol import types

from mnemolens.core.errors import InvalidArgument
from mnemolens.core.symbols import Range
from mnemolens.core.views import ActionView
from mnemolens.lsp.features.diagnostics import hinted
from mnemolens.lsp.folders import Place
from mnemolens.lsp.language_server import MnemolensServer

CAPTURE = "mnemolens.capture"
REPAIR = "quickfix.mnemolens"  # editors show quick fixes first, and beside a hint
MEMORY = "mnemolens.memory"

MAX_SELECTED = 100_000
"""Bytes of a selection that is offered as a memory: it travels with the answer at every selection."""


def register(server: MnemolensServer) -> None:
    """Answer code action requests."""
    kinds: list[types.CodeActionKind | str] = [CAPTURE, REPAIR, MEMORY]

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(code_action_kinds=kinds))
    def actions(
        ls: MnemolensServer, params: types.CodeActionParams
    ) -> list[types.CodeAction | types.Command]:
        place = ls.folders.locate(params.text_document.uri)
        if place is None:
            return []
        span = ls.positions.range_from_client(params.range, place.line_text)
        try:
            return _actions(ls, params, place, span)
        except InvalidArgument:
            return []  # the file went before this was asked: a memory's document that was closed just now


def _actions(
    ls: MnemolensServer, params: types.CodeActionParams, place: Place, span: Range
) -> list[types.CodeAction | types.Command]:
    found = [
        *_capture(ls, params, place, span),
        *(
            _action(params, place, action)
            for action in place.workspace.actions.at(place.file, span.start, ls.now(), hinted(params.context))
        ),
    ]
    if params.context.trigger_kind != types.CodeActionTriggerKind.Automatic:
        found += _suggested(ls, params, place, span)
    wanted = [action for action in found if _is_wanted(params.context, action)]
    return [action if ls.caps.action_literals else _bare(action) for action in wanted]


def _capture(
    ls: MnemolensServer, params: types.CodeActionParams, place: Place, span: Range
) -> Iterator[types.CodeAction]:
    """To the client's own input where it has one, else the selected text becomes the memory."""
    uri, start = params.text_document.uri, _json(params.range.start)
    label = place.workspace.show.target(place.file, span.start).label
    if ls.options.capture_command is not None:
        command = _command("Remember", ls.options.capture_command, {"uri": uri, "position": start})
        yield types.CodeAction(f"Remember something about {label}", CAPTURE, command=command)
        return
    selected = _selected(place, span)
    if selected.strip():
        argument = {
            "content": selected,
            "uri": uri,
            "position": start,
            "range": {"start": start, "end": _json(params.range.end)},
        }
        command = _command("Remember", "mnemolens.memory.capture", argument)
        yield types.CodeAction(f"Remember the selected text on {label}", CAPTURE, command=command)


def _action(params: types.CodeActionParams, place: Place, action: ActionView) -> types.CodeAction:
    argument: dict[str, object] = {"id": action.memory_id}
    if action.candidate is not None:
        argument |= {"candidate": action.candidate.id, "root": place.root}
    elif action.act in {"reanchor", "link", "unlink"}:
        argument |= {"uri": params.text_document.uri, "position": _json(params.range.start)}
    else:
        argument["root"] = place.root
    command = _command(action.title, f"mnemolens.memory.{action.act}", argument)
    return types.CodeAction(action.title, REPAIR if action.repairs else MEMORY, command=command)


def _suggested(
    ls: MnemolensServer, params: types.CodeActionParams, place: Place, span: Range
) -> Iterator[types.CodeAction]:
    """A memory on no code that may be about this: to be linked, or never offered here again."""
    target = place.workspace.show.target(place.file, span.start)
    memory = place.workspace.suggestions.for_code(target.key, ls.now()) if target.key.qualname else None
    if memory is None:
        return
    argument = {"id": memory.id, "uri": params.text_document.uri, "position": _json(params.range.start)}
    for title, command in (
        (f"Link here, as it may be about {target.label}: {memory.title}", "mnemolens.memory.link"),
        (f"Not about {target.label}: {memory.title}", "mnemolens.suggestion.refuse"),
    ):
        yield types.CodeAction(title, MEMORY, command=_command(title, command, argument))


def _is_wanted(context: types.CodeActionContext, action: types.CodeAction) -> bool:
    """Whether the client asked for this kind; a light bulb at every line of code would be noise."""
    kind = str(action.kind)
    if context.only is not None:
        return any(kind == only or kind.startswith(f"{only}.") or not only for only in context.only)
    return context.trigger_kind != types.CodeActionTriggerKind.Automatic or kind == REPAIR


def _bare(action: types.CodeAction) -> types.Command:
    assert action.command is not None
    return types.Command(action.title, action.command.command, arguments=action.command.arguments)


def _selected(place: Place, span: Range) -> str:
    """The text of a range; none of one that is too long to be a memory."""
    text = place.workspace.code.text_in(place.file, span)
    if len(text) > MAX_SELECTED:
        return ""
    return text.decode(errors="replace").replace("\r\n", "\n").replace("\r", "\n")


def _command(title: str, command: str, argument: Mapping[str, object]) -> types.Command:
    return types.Command(title, command, arguments=[argument])


def _json(position: types.Position) -> dict[str, int]:
    return {"line": position.line, "character": position.character}
