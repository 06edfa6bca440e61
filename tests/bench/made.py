"""A project made by rule, as large as a figure needs: functions that call each other, and memories on them.

The same numbers give the same text, so that figures of two runs can be compared.
"""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

VERBS = (
    "load",
    "save",
    "check",
    "merge",
    "split",
    "retry",
    "parse",
    "render",
    "charge",
    "refund",
    "audit",
    "queue",
)
NOUNS = (
    "invoice",
    "order",
    "customer",
    "payment",
    "ledger",
    "basket",
    "voucher",
    "parcel",
    "tariff",
    "session",
)
ADVICE = (
    "must stay idempotent: the provider repeats its calls",
    "takes amounts in cents, never in euros",
    "is called from two threads; keep it free of shared state",
    "was rewritten after the outage, see the note on the caller",
    "is slow for more than a thousand rows",
)
FUNCTION_LINES = 10
FUNCTIONS_PER_FILE = 40
WIDE_FILE = "shop/wide.py"
LONG_FILE = "shop/long.py"


@dataclass(frozen=True)
class Spot:
    """Where a name stands: 0-based line and column (the text is ASCII)."""

    file: str
    line: int
    column: int
    name: str


@dataclass
class Made:
    """What was made, and where its names stand.

    Attributes:
        definitions: one a function, by number.
        calls: one a call; its name is the callee's.
        typed: a local name on the line of a call in the long file, and the call right after it.
    """

    root: Path
    definitions: list[Spot] = field(default_factory=list)
    calls: list[Spot] = field(default_factory=list)

    def of_file(self, file: str) -> list[Spot]:
        return [spot for spot in self.definitions if spot.file == file]


def function_name(number: int) -> str:
    return f"{VERBS[number % len(VERBS)]}_{NOUNS[number // len(VERBS) % len(NOUNS)]}_{number}"


def make_project(root: Path, functions: int) -> Made:
    """Write `functions` functions: a file of 2,000 lines, one of 5,000, and files of 40 functions each."""
    made = Made(root)
    sizes = [(WIDE_FILE, 2000 // FUNCTION_LINES), (LONG_FILE, 5000 // FUNCTION_LINES)]
    left = functions - sum(size for _, size in sizes)
    number = 0
    while left > 0:
        sizes.append((f"shop/area{number // 20}/part{number}.py", min(FUNCTIONS_PER_FILE, left)))
        left -= FUNCTIONS_PER_FILE
        number += 1
    module_of: list[str] = []
    for file, size in sizes:
        module_of += [file.removesuffix(".py").replace("/", ".")] * size
    first = 0
    for file, size in sizes:
        _write_file(made, file, range(first, first + size), module_of)
        first += size
    return made


def _write_file(made: Made, file: str, numbers: range, module_of: list[str]) -> None:
    callees = {number: _callee(number, numbers, len(module_of)) for number in numbers}
    names: dict[str, set[str]] = {}
    for callee in callees.values():
        if callee not in numbers:
            names.setdefault(module_of[callee], set()).add(function_name(callee))
    imports = [f"from {module} import {', '.join(sorted(names[module]))}" for module in sorted(names)]
    lines = [f'"""Part of the shop: {file}."""', *imports, ""]
    for number in numbers:
        name, callee = function_name(number), function_name(callees[number])
        made.definitions.append(Spot(file, len(lines), len("def "), name))
        made.calls.append(Spot(file, len(lines) + 5, len("        value = "), callee))
        lines += [
            f"def {name}(rows, limit={number % 97}):",
            f'    """{name.replace("_", " ").capitalize()}."""',
            "    total = 0",
            "    for row in rows:",
            "        # what the caller gave, as it is",
            f"        value = {callee}(row, limit)",
            f"        total += value + {number}",
            "    return total",
            "",
            "",
        ]
    path = made.root / file
    path.parent.mkdir(parents=True, exist_ok=True)
    for folder in (path.parent, *path.parent.parents):
        if not folder.is_relative_to(made.root) or folder == made.root:
            break
        (folder / "__init__.py").touch()
    path.write_text("\n".join(lines) + "\n")


def _callee(number: int, here: range, functions: int) -> int:
    """Two of three calls stay in the file, the others go to a dozen files."""
    if number % 3:
        return here[(number * 7 + 5) % len(here)]
    return (here.start + number % 12 * 7919 + number % 36) % functions


def note_on(spot: Spot, other: Spot, number: int) -> str:
    """A memory's text on one function that names another."""
    return f"`{spot.name}()` {ADVICE[number % len(ADVICE)]}. Compare `{other.name}` (note {number})."


def make_memories(made: Made, count: int) -> list[Spot]:
    """Capture `count` memories, spread over all functions, half of those on the wide file's; in bulk.

    Returns:
        The functions that hold a memory.
    """
    import asyncio

    from mnemolens.core.settings import Settings
    from mnemolens.core.symbols import Position
    from mnemolens.engine.requests import CaptureRequest
    from mnemolens.engine.workspace import Workspace
    from mnemolens.engine.write import Write

    workspace = Workspace.open(made.root, Settings())
    asyncio.run(workspace.build_index())
    wide, long = made.of_file(WIDE_FILE), made.of_file(LONG_FILE)
    others = [spot for spot in made.definitions if spot.file not in {WIDE_FILE, LONG_FILE}]
    chosen = (wide[::2] + long[::25])[:count]
    step = max(1, len(others) // max(1, count - len(chosen)))
    chosen += others[::step][: count - len(chosen)]
    now = datetime.now(UTC)
    events = []
    for number, spot in enumerate(chosen):
        other = made.definitions[number * 31 % len(made.definitions)]
        position = Position(spot.line, spot.column)
        request = CaptureRequest(note_on(spot, other, number), file=spot.file, position=position)
        events += workspace.writing.capture(request, now).events
    workspace.journaling.commit_sync(Write(tuple(events), lambda: None))
    workspace.close()
    return chosen
