"""Runs a command: what it returns is the exit code, what goes wrong is one line on stderr.

Owns exit codes, the words for errors, a pipe that nobody reads any more, and Ctrl-C.
"""

import gc
import inspect
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from mnemolens.core.errors import InvalidArgument, MnemolensError, NotFound

P = ParamSpec("P")

NO = 1
WRONG_USE = 2
INTERRUPTED = 130

_FLAGS = {
    "agentId": "--agent",
    "anchorId": "--anchor",
    "at": "--at",
    "content": "TEXT",
    "cypher": "QUERY",
    "dueAt": "--due",
    "edgeType": "--type",
    "expiresAt": "--expires",
    "format": "--format",
    "id": "ID",
    "importance": "--importance",
    "layers": "--layer",
    "limit": "--limit",
    "offset": "--offset",
    "parameters": "--param",
    "path": "FILE",
    "position": "--at",
    "relevance": "--relevance",
    "root": "--root",
    "sessionId": "--session",
    "tags": "--tag",
    "targetId": "--to",
    "title": "--title",
    "tokenBudget": "--budget",
    "type": "--type",
    "uri": "--at",
    "verdict": "--verdict",
    "weight": "--weight",
}
"""What an argument of the engine is called here."""


class Command(TyperCommand):
    """A command whose help names no type of options that take no value."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Writes the help."""
        _quiet_flags(self.get_params(ctx))
        super().format_help(ctx, formatter)


class Group(TyperGroup):
    """All commands, with a help like that of each."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Writes the help."""
        _quiet_flags(self.get_params(ctx))
        super().format_help(ctx, formatter)


def _quiet_flags(options: Sequence[Any]) -> None:
    """`--json <bool>` would read as if it took a value."""
    for option in options:
        if getattr(option, "is_bool_flag", False) and option.metavar is None:
            option.metavar = ""


def _flag(field: str) -> str:
    name, _, inside = field.partition(".")
    return f"{_FLAGS[name]} {inside}".rstrip() if name in _FLAGS else field


def command(
    app: typer.Typer, panel: str, shown: Sequence[str], *, name: str | None = None, lasting: bool = False
) -> Callable[[Callable[P, int]], Callable[P, int]]:
    """Registers a command under its function's name and docstring.

    Args:
        app: takes it.
        panel: the group that the help shows it in.
        shown: examples for the help, each a whole line as it is typed.
        name: where the function's can't be used.
        lasting: it runs until it is ended, so that garbage must be collected.
    """

    def register(function: Callable[P, int]) -> Callable[P, int]:
        text = inspect.cleandoc(function.__doc__ or "") + examples(*shown)

        @app.command(name, cls=Command, help=text, rich_help_panel=panel)
        @wraps(function)
        def guarded(*args: P.args, **kwargs: P.kwargs) -> int:
            try:
                with nullcontext() if lasting else _without_collection():
                    code = function(*args, **kwargs)
                sys.stdout.flush()
            except InvalidArgument as error:
                reason = str(error).removeprefix(f"{error.field}: ")
                reason = reason.replace("set allowSecret", "add --allow-secret")
                return fail(f"{_flag(error.field)}: {reason}")
            except NotFound as error:
                return fail(str(error).removeprefix("id: "), NO)
            except MnemolensError as error:
                return fail(str(error))
            except BrokenPipeError:
                _let_go_of_stdout()
                return 0
            except OSError as error:
                return _fail_by_system(error)
            return code

        return guarded

    return register


def examples(*lines: str) -> str:
    """The end of a help text: lines that are shown as they stand."""
    listed = "\n".join(f"  {line}" for line in lines)
    return f"\n\n\b\nExample{'s' if len(lines) > 1 else ''}:\n{listed}"


def run(app: typer.Typer, arguments: Sequence[str] | None) -> int:
    """Run what the arguments say; None takes those of the process. Returns the exit code."""
    _fill_standard_streams()
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError):
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]  # a test's stream may lack it
    try:
        code = get_command(app).main(arguments, prog_name="mnemolens", standalone_mode=False)
    except typer.TyperException as error:
        message = " ".join(error.format_message().replace("Value error, ", "").split())
        return fail(message, error.exit_code) if message else error.exit_code
    except (typer.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except BrokenPipeError:
        _let_go_of_stdout()
        return 0
    except OSError as error:
        return _fail_by_system(error)
    return code if isinstance(code, int) else 0


def fail(message: str, code: int = WRONG_USE) -> int:
    """Say in one line what went wrong; returns the exit code."""
    print(f"mnemolens: {' '.join(message.split())}", file=sys.stderr)
    return code


def _fail_by_system(error: OSError) -> int:
    """Says in one line what the system refused; returns the exit code."""
    try:
        Path.cwd()
    except OSError:
        return fail("the current folder is gone; change to one that exists")
    reason = error.strerror or str(error)
    if error.filename is not None:
        return fail(f"{os.fsdecode(error.filename)}: {reason}")
    _let_go_of_stdout()  # else the interpreter would try once more, and complain
    return fail(f"the output can't be written: {reason}")


def _fill_standard_streams() -> None:
    """What whoever started us had closed leads nowhere: a file of ours would be opened in its place."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - as long as we are


@contextmanager
def _without_collection() -> Iterator[None]:
    """A tenth of a short command's time goes into looking for garbage among what it has just imported."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _let_go_of_stdout() -> None:
    """Whoever read our output has had enough: let nothing else try to write to it."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
