"""A made-up shop with notes on it, and which note its developers want to see where.

How the labels come about, and why they do not mirror the rank: each note is told by a *story*, chosen before
anything is ranked, and the story says who needs it, from what the note means. Notes of different stories
stand in equal places of the code: what a function demands of its callers is wanted at those that hand
something through, and how its loop came to be is wanted nowhere else, though the graph is the same. No story
reads a weight, a factor or a link that Mnemolens derives; some of what is wanted has no way in the graph at
all, and much that has a short one is not wanted. Age and use are drawn by the same dice for all stories but
the decoys, which are much used or brand-new and wanted only where they stand.
"""

import random
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final, Literal

Kind = Literal["own", "caller", "callee", "class", "topic"]
"""Why a note is wanted at a function: it is on it; on what it calls; on what calls it; on its class, its file
or what it overrides; about the same concern."""

AREAS: Final = {
    "pay": ("card", "refund", "payment", "voucher"),
    "ship": ("parcel", "label", "carrier", "pallet"),
    "stock": ("shelf", "batch", "reserve", "recount"),
    "mail": ("letter", "template", "bounce", "digest"),
    "report": ("ledger", "chart", "month", "margin"),
    "account": ("login", "profile", "consent", "device"),
    "catalog": ("product", "variant", "picture", "price"),
    "intake": ("feed", "supplier", "delivery", "claim"),
}
"""Folders, and what is dealt with in each. Parameters are tuned on every other one."""

ATTIC: Final = "attic"
"""A folder that nothing calls, whose notes are much used or brand-new."""
VERBS: Final = (
    "load",
    "check",
    "merge",
    "split",
    "send",
    "close",
    "find",
    "book",
    "draw",
    "undo",
    "sort",
    "mark",
)
CONCERNS: Final = {
    "rounding": ("half a cent is lost", "sums are rounded once, at the end", "cents stay whole numbers"),
    "time zones": ("midnight is Berlin's, not UTC's", "summer time repeats an hour", "dates carry an offset"),
    "privacy": ("addresses must not reach the log", "names are erased on demand", "consent is asked first"),
    "idempotency": (
        "the same key may come twice",
        "a repeat must change nothing",
        "retries send the old key",
    ),
    "locking": (
        "the row is locked until commit",
        "two workers may wait on each other",
        "locks go in id order",
    ),
    "encoding": ("old files are latin-1", "umlauts come decomposed", "a byte order mark stands in front"),
}
DEMANDS: Final = (
    "Whoever calls this has to catch Late: it gives up after nine seconds ({what}).",
    "Returns None for an unknown id instead of failing; callers check that. {what}.",
    "The caller must hold the transaction open, else {what}.",
    "Only ever call this with checked input; {what}.",
)
INSIDES: Final = (
    "The loop was unrolled in spring; the plain one took twice as long. {what}.",
    "Uses a list instead of a set since order matters for the test fixtures. {what}.",
    "Names in here come from the old system's documents. {what}.",
    "Was written on a train; tidy it when there is time. {what}.",
)
TRUSTS: Final = (
    "Works only as long as what it gets back stays in the order of the rows. {what}.",
    "Relies on an empty answer being a list, never None. {what}.",
)
INVARIANTS: Final = (
    "All amounts that an object of this class holds are net. {what}.",
    "Objects of this class are shared between threads; no method may keep state. {what}.",
)
RULES: Final = ("Everything in here runs in the worker, never in a request. {what}.",)
HUBS: Final = ("log", "config", "now", "ensure", "metric", "text")
"""Functions that everybody calls."""


@dataclass(frozen=True)
class Function:
    """A function or method of the shop."""

    file: str
    qualname: str
    concern: str | None
    area: str
    calls: tuple[str, ...] = ()  # ids
    hands_on: bool = True  # gives its own input to what it calls, so what that demands is its concern too
    stateful: bool = True  # touches what its object or module holds
    noted: bool = True  # notes may be told of it
    quiet: bool = False  # neither of it nor of what it calls, but for what everybody calls

    @property
    def id(self) -> str:
        return f"{self.file}::{self.qualname}"

    @property
    def name(self) -> str:
        return self.qualname.rpartition(".")[2]


@dataclass
class Note:
    """A note, and where it is wanted.

    Attributes:
        at: id of the function or class, or a file, that it was captured on; None for no code.
        wanted: {function id: why}; the kinds are told apart only in what is reported.
        together: other notes, by number, with which it was recalled, once for each time.
        topic_of, replaces: another note, by number, that a person linked it to so.
    """

    text: str
    at: str | None
    created_at: datetime
    importance: float = 0.5
    type: str = "semantic"
    uses: int = 0
    used_at: datetime | None = None
    wanted: dict[str, Kind] = field(default_factory=dict)
    together: list[int] = field(default_factory=list)
    topic_of: int | None = None
    replaces: int | None = None


@dataclass
class Shop:
    """What was made.

    Attributes:
        says: docstrings by function id.
    """

    functions: dict[str, Function]
    notes: list[Note]
    says: dict[str, str]

    @property
    def quiet(self) -> list[str]:
        """Functions that the script keeps free of notes, and at which nothing is to be shown.

        Around them is what nobody asks for there: much-used notes on what everybody calls, notes on their
        callers, on the rest of their file, two calls away, and elsewhere.
        """
        return [one.id for one in self.functions.values() if one.quiet]

    @property
    def unwanted(self) -> list[str]:
        """Functions beside noted code at which none of the notes is wanted."""
        wanted = {one for note in self.notes for one in note.wanted}
        return [one.id for one in self.functions.values() if not one.quiet and one.id not in wanted]


class Maker:
    """Makes one shop. The same seed gives the same shop."""

    def __init__(self, seed: int, now: datetime) -> None:
        self._dice = random.Random(seed)
        self._now = now
        self._functions: dict[str, Function] = {}
        self._classes: dict[str, list[str]] = {}  # id -> its methods
        self._bases: dict[str, str] = {}  # id of a class -> id of its base
        self._notes: list[Note] = []
        self._says: dict[str, str] = {}

    def make(self, root: Path) -> Shop:
        """Writes the files below `root`, and thinks of the notes."""
        self._write_hubs(root)
        for area in AREAS:
            self._write_area(root, area)
        self._write_attic(root)
        self._tell()
        return Shop(self._functions, self._notes, self._says)

    # -- code ---

    def _write_hubs(self, root: Path) -> None:
        lines = ['"""What everybody uses."""', ""]
        for name in HUBS:
            lines += [f"def {name}(value=None):", "    return value", "", ""]
            one = Function("shop/common.py", name, None, "common")
            self._functions[one.id], self._says[one.id] = one, name
        _write(root / "shop/common.py", lines)
        _write(root / "shop/__init__.py", [])

    def _write_attic(self, root: Path) -> None:
        lines = ['"""What the old system did."""', ""]
        for number in range(24):
            one = Function(f"shop/{ATTIC}.py", f"old_{VERBS[number % 12]}_{number}", None, ATTIC)
            lines += [f"def {one.name}(value):", "    return value", "", ""]
            self._functions[one.id], self._says[one.id] = one, one.name
        _write(root / f"shop/{ATTIC}.py", lines)

    def _write_area(self, root: Path, area: str) -> None:
        names = [f"{verb}_{noun}" for noun in AREAS[area] for verb in VERBS]
        self._dice.shuffle(names)
        steps, works, methods = names[:10], names[10:28], names[28:44]
        _write(root / f"shop/{area}/__init__.py", [])
        self._write_module(root, area, "steps", steps, [])
        self._write_model(root, area, methods)
        below = [f"shop/{area}/steps.py::{name}" for name in steps]
        self._write_module(root, area, "work", works, below)

    def _write_module(self, root: Path, area: str, name: str, names: list[str], below: list[str]) -> None:
        file = f"shop/{area}/{name}.py"
        made: list[Function] = []
        others = [one for one in self._functions if one.endswith(tuple(VERBS)) or "/work.py" in one]
        for at, function in enumerate(names):
            plain = name == "steps" and self._dice.random() < 0.4
            quiet = name == "work" and self._dice.random() < 0.45
            calls = [one for one in below if self._dice.random() < 0.22]
            calls += [one.id for one in made[-6:] if self._dice.random() < 0.2]
            if others and below and self._dice.random() < 0.3:
                calls.append(self._dice.choice(others))
            if quiet:
                calls = [one for one in calls if self._is_free(one, made)]
            if at % 3:
                calls += [
                    f"shop/common.py::{one}" for one in self._dice.sample(HUBS, self._dice.choice((1, 2)))
                ]
            made.append(
                Function(
                    file,
                    function,
                    None if quiet else self._concern(),
                    area,
                    tuple(dict.fromkeys(calls)),
                    hands_on=not quiet and self._dice.random() < 0.75,
                    stateful=not quiet and self._dice.random() < 0.6,
                    noted=not (plain or quiet),
                    quiet=quiet,
                )
            )
        lines = [f'"""{name.capitalize()} of {area}."""', *_imports(made), ""]
        for one in made:
            lines += self._definition(one, "")
            self._functions[one.id] = one
        _write(root / file, lines)

    def _write_model(self, root: Path, area: str, names: list[str]) -> None:
        file = f"shop/{area}/model.py"
        noun = AREAS[area][0].capitalize()
        classes = {
            f"{noun}Base": names[:5],
            f"{noun}Plan": [*names[:2], *names[5:9]],
            f"{noun}Desk": names[9:15],
        }
        steps = [one for one in self._functions if one.startswith(f"shop/{area}/steps.py")]
        made: list[Function] = []
        for cls, methods in classes.items():
            for name in methods:
                quiet = cls.endswith("Desk") and self._dice.random() < 0.5
                calls = [one for one in steps if self._dice.random() < 0.12]
                if quiet:
                    calls = [one for one in calls if self._is_free(one, made)]
                if self._dice.random() < 0.4:
                    calls.append(f"shop/common.py::{self._dice.choice(HUBS)}")
                made.append(
                    Function(
                        file,
                        f"{cls}.{name}",
                        None if quiet else self._concern(),
                        area,
                        tuple(calls),
                        hands_on=not quiet and self._dice.random() < 0.75,
                        stateful=not quiet and self._dice.random() < 0.7,
                        noted=not quiet,
                        quiet=quiet,
                    )
                )
        lines = [f'"""Objects of {area}."""', *_imports(made)]
        for cls in classes:
            base = f"({noun}Base)" if cls.endswith("Plan") else ""
            lines += ["", "", f"class {cls}{base}:", f'    """One {noun.lower()}."""', ""]
            own = [one for one in made if one.qualname.startswith(f"{cls}.")]
            for one in own:
                lines += self._definition(one, "    ")
                self._functions[one.id] = one
            self._classes[f"{file}::{cls}"] = [one.id for one in own]
        self._bases[f"{file}::{noun}Plan"] = f"{file}::{noun}Base"
        _write(root / file, lines)

    def _definition(self, one: Function, indent: str) -> list[str]:
        about = one.name.replace("_", " ").capitalize()
        if one.concern and self._dice.random() < 0.6:
            about += f", minding {one.concern}"
        self._says[one.id] = about
        body = [f"value = {name.rpartition('::')[2]}(value)" for name in one.calls] or ["value = (value, 1)"]
        given = "self, value" if indent else "value"
        lines = [f"def {one.name}({given}):", f'    """{about}."""', *(f"    {line}" for line in body)]
        return [*(indent + line for line in [*lines, "    return value"]), "", *([""] * (not indent))]

    def _is_free(self, function: str, made: list[Function]) -> bool:
        known = {one.id: one for one in made} | self._functions
        return not known[function].noted

    def _concern(self) -> str | None:
        return self._dice.choice(tuple(CONCERNS)) if self._dice.random() < 0.2 else None

    # -- notes ---

    def _tell(self) -> None:
        ordinary = [one for one in self._functions.values() if one.area in AREAS and one.noted]
        for one in self._functions.values():
            for _ in range(3 if one.area == ATTIC else 0):
                self._tell_decoy(one)
        for told, story in (
            (0.28, self._tell_demand),
            (0.12, self._tell_inside),
            (0.14, self._tell_trust),
            (0.06, self._tell_decoy),
            (0.07, self._tell_replaced),
        ):
            for one in self._dice.sample(ordinary, round(told * len(ordinary))):
                story(one)
        self._tell_invariants()
        self._tell_overrides()
        self._tell_topics()
        self._tell_of_files(ordinary)
        self._tell_of_hubs()
        self._recall_together()

    def _tell_invariants(self) -> None:
        """What holds for all objects of a class: wanted where one touches what its object holds."""
        for cls, methods in self._classes.items():
            if self._dice.random() < 0.6 and not cls.endswith("Desk"):
                touched = [one for one in methods if self._functions[one].stateful]
                self._note(self._say(INVARIANTS, None), cls, 0.6, dict.fromkeys(touched, "class"))

    def _tell_of_files(self, ordinary: list[Function]) -> None:
        """A rule for what a file holds, and what nobody needs to know."""
        for file in dict.fromkeys(one.file for one in ordinary):
            self._note("Was one file with its neighbour until the great move.", file, 0.3, {}, "episodic")
            if self._dice.random() < 0.25:
                touched = [one.id for one in ordinary if one.file == file and one.stateful]
                self._note(self._say(RULES, None), file, 0.5, dict.fromkeys(touched, "class"))

    def _tell_of_hubs(self) -> None:
        """Everybody knows these: at the callers they would be in the way."""
        for hub in HUBS:
            at = f"shop/common.py::{hub}"
            for _ in range(6):
                self._make_popular(self._note(self._say(DEMANDS, None), at, 0.6, {at: "own"}))

    def _tell_demand(self, one: Function) -> None:
        """What a function demands of callers: wanted at it, and at those that hand their own input on."""
        wanted: dict[str, Kind] = {one.id: "own"}
        callers = [other for other in self._functions.values() if one.id in other.calls]
        wanted |= {other.id: "caller" for other in callers if other.hands_on}
        if self._dice.random() < 0.3:  # nobody catches it on the way
            far = {two.id for two in self._functions.values() for other in callers if other.id in two.calls}
            wanted |= {two: "caller" for two in sorted(far - wanted.keys()) if self._functions[two].hands_on}
        self._note(self._say(DEMANDS, one), one.id, 0.6, wanted)

    def _tell_inside(self, one: Function) -> None:
        """How a function came to be as it is: of interest to whoever changes it, and to nobody else."""
        kind = "episodic" if self._dice.random() < 0.4 else "semantic"
        self._note(self._say(INSIDES, one), one.id, 0.4, {one.id: "own"}, kind)

    def _tell_trust(self, one: Function) -> None:
        """What a function trusts in: wanted at the one thing it calls that must stay so."""
        called = [other for other in one.calls if "common" not in other]
        if called:
            other = self._dice.choice(called)
            self._note(self._say(TRUSTS, one), one.id, 0.6, {one.id: "own", other: "callee"})

    def _tell_decoy(self, one: Function) -> None:
        """Much used or brand-new, of interest only where it is."""
        note = self._note(self._say(INSIDES, one), one.id, 0.5, {one.id: "own"})
        if self._dice.random() < 0.6:
            self._make_popular(note)
        else:
            note.created_at = note.used_at = self._now - timedelta(hours=self._dice.uniform(1, 20))
            note.uses = 1

    def _tell_replaced(self, one: Function) -> None:
        """What once was so, and the note that says how it is now: only the newer one is wanted."""
        old = self._note(self._say(DEMANDS, one), one.id, 0.6, {})
        old.created_at = self._now - timedelta(days=self._dice.uniform(300, 700))
        self._tell_demand(one)
        new = self._notes[-1]
        new.created_at = old.created_at + timedelta(days=self._dice.uniform(30, 200))
        new.replaces = self._notes.index(old)

    def _tell_overrides(self) -> None:
        for cls, base in self._bases.items():
            for method in self._classes[base]:
                name = method.rpartition(".")[2]
                over = f"{cls}.{name}"
                if over in self._functions and self._dice.random() < 0.7:
                    text = self._say(INVARIANTS, self._functions[method])
                    self._note(text, method, 0.6, {method: "own", over: "class"})

    def _tell_topics(self) -> None:
        """What is so for a concern in one area, wherever it shows: on no code, or on one place of many."""
        for area in AREAS:
            for concern, facts in CONCERNS.items():
                minding = [o.id for o in self._functions.values() if (o.area, o.concern) == (area, concern)]
                if len(minding) < 2:
                    continue
                text = f"In {area}, {concern}: {self._dice.choice(facts)}. Ask before this is changed."
                wanted: dict[str, Kind] = dict.fromkeys(minding, "topic")
                note = self._note(text, None, 0.6, wanted)
                number = len(self._notes) - 1
                near = [n for n, other in enumerate(self._notes[:-1]) if other.at in minding]
                if near and self._dice.random() < 0.5:
                    note.topic_of = self._dice.choice(near)
                for other in self._dice.sample(near, min(len(near), 2)):
                    note.together += [other] * self._dice.randrange(6)
                assert number not in note.together

    def _recall_together(self) -> None:
        """Much comes together by chance, too."""
        for _ in range(len(self._notes) // 4):
            one, other = self._dice.sample(range(len(self._notes)), 2)
            self._notes[one].together += [other] * self._dice.choice((1, 1, 1, 2, 3))

    def _note(
        self, text: str, at: str | None, importance: float, wanted: dict[str, Kind], kind: str = "semantic"
    ) -> Note:
        born = self._now - timedelta(days=self._dice.uniform(2, 500))
        uses = int(self._dice.expovariate(1 / 4))
        used_at = born + (self._now - born) * self._dice.random() if uses else None
        drawn = round(min(max(self._dice.gauss(importance, 0.12), 0.1), 1.0), 2)
        text = f"{text} ({len(self._notes)})"  # no two are the same
        note = Note(text, at, born, drawn, kind, uses, used_at, wanted)
        self._notes.append(note)
        return note

    def _make_popular(self, note: Note) -> None:
        note.uses = self._dice.randrange(30, 120)
        note.used_at = self._now - timedelta(hours=self._dice.uniform(1, 100))

    def _say(self, sentences: tuple[str, ...], one: Function | None) -> str:
        if one is not None and one.concern is not None:
            what = self._dice.choice(CONCERNS[one.concern])
        else:
            what = self._dice.choice(
                ("ask Ana", "see the minutes of May", "the auditors insist", "it bit us twice")
            )
        return self._dice.choice(sentences).format(what=what)


def _imports(made: list[Function]) -> list[str]:
    names: dict[str, set[str]] = {}
    for one in made:
        for call in one.calls:
            file, name = call.split("::")
            if file != one.file:
                names.setdefault(file.removesuffix(".py").replace("/", "."), set()).add(name)
    return [f"from {module} import {', '.join(sorted(names[module]))}" for module in sorted(names)]


def _write(path: Path, lines: list[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n" if lines else "", "utf-8")
