"""How right links are, on notes and docstrings that nobody wrote for the matcher, and what a note costs.

Usage: python tests/bench/linking.py [--quick] [--misses]

Two truths: notes labelled over real packages and a made project (`tests/linking/test_labelled.py` says what
was tuned on them), and the Sphinx roles that authors wrote into docstrings, whose targets Python finds by
importing them. Packages are those of this environment. Shares are told as what is wrong and what is missed,
so that less is better as everywhere.
"""

import argparse
import ast
import importlib.util
import itertools
import random
import re
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "linking"))

from made import function_name, make_project
from measure import Figure, figure, say, show
from test_labelled import HELD_OUT, LATER, TAUGHT_LAST, Labelled, Score, indexed, links, scored

from mnemolens.core.settings import Settings
from mnemolens.core.symbols import SymbolKey
from mnemolens.core.text import TextChange
from mnemolens.engine.json_form import JsonForm
from mnemolens.engine.loading import bulk_load
from mnemolens.engine.requests import CaptureRequest, ListRequest, RecallRequest
from mnemolens.engine.workspace import Workspace
from mnemolens.engine.write import Write
from mnemolens.linking import match
from search import made_word

ROLES = (
    ("anyio",),
    ("attr", "attrs"),
    ("pluggy",),
    ("_pytest", "pytest"),
    ("hypothesis",),
    ("packaging",),
    ("rich",),
    ("pygls",),
)
"""Packages with roles in their docstrings, each with what re-exports it."""
NOW = datetime(2026, 11, 1, tzinfo=UTC)
_ROLE = re.compile(r":(?:py:)?(?:func|meth|class|exc|attr):`([~!]?)([^`<>]+|[^`<>]*<[^`<>]+>)`")


def package(name: str) -> Path | None:
    """The folder of an installed package."""
    found = importlib.util.find_spec(name)
    return Path(found.origin).parent if found is not None and found.origin else None


@dataclass(frozen=True)
class Role:
    """One reference that an author made, and what Python says that it is."""

    paragraph: str
    target: str
    file: str
    wanted: str


def roles(name: str, source: Path) -> Iterator[Role]:
    """The roles in a package's docstrings whose target is in the package."""
    for path in sorted(source.rglob("*.py")):
        try:
            tree = ast.parse(path.read_text("utf-8"))
        except (SyntaxError, ValueError):
            continue
        module = ".".join((name, *path.relative_to(source).with_suffix("").parts)).removesuffix(".__init__")
        file = f"{name}/{path.relative_to(source).as_posix()}"
        for owner, docstring in docstrings(tree):
            for paragraph in re.split(r"\n\s*\n", docstring):
                for found in _ROLE.finditer(paragraph):
                    target = found.group(2).rpartition("<")[2].strip("~!<> ").removesuffix("()")
                    wanted = place_of(target, module, owner, name, source)
                    if wanted is not None:
                        yield Role(paragraph, target.lstrip("."), file, wanted)


def docstrings(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """(qualified name of the class or "", docstring) of everything in a module."""
    todo: list[tuple[ast.AST, str]] = [(tree, "")]
    while todo:
        node, owner = todo.pop()
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if isinstance(node, ast.ClassDef):
                owner = f"{owner}.{node.name}".lstrip(".")
            if text:
                yield owner, text
        todo += [(child, owner) for child in ast.iter_child_nodes(node)]


def place_of(target: str, module: str, owner: str, name: str, source: Path) -> str | None:
    """`file::qualname` of what the target is, by importing it; None where it is nothing of the package."""
    target = target.lstrip(".")
    for dotted in (f"{module}.{owner}.{target}", f"{module}.{target}", target, f"{name}.{target}"):
        found = imported(dotted.replace("..", "."))
        for _ in range(20):
            found = getattr(found, "fget", None) or getattr(found, "__wrapped__", found)
        qualname = getattr(found, "__qualname__", "")
        code = getattr(found, "__code__", None)
        file = code.co_filename if code is not None else class_file(found)
        if qualname and file and Path(file).is_relative_to(source):
            return f"{name}/{Path(file).relative_to(source).as_posix()}::{qualname}"
    return None


def class_file(found: object) -> str | None:
    """The file that defines a class; by its methods, as its `__module__` may have been rewritten."""
    if not isinstance(found, type):
        return None
    codes = (getattr(one, "__code__", None) for one in vars(found).values())
    return next((code.co_filename for code in codes if code is not None), None)


def imported(dotted: str) -> object:
    """What a dotted name means to Python, None for nothing."""
    parts = dotted.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:cut]))
        except Exception:  # noqa: BLE001 - importing a package may raise anything
            continue
        for part in parts[cut:]:
            found = getattr(found, part, None)
        return found
    return None


def by_roles(scratch: Path, names: tuple[str, ...], misses: list[str]) -> Counter[tuple[str, str, str]]:
    """What became of a package's roles, read as written and with the roles taken off."""
    counts: Counter[tuple[str, str, str]] = Counter()
    name = names[0]
    source = package(name)
    if source is None:
        return counts
    workspace = indexed(scratch, [folder for one in names if (folder := package(one)) is not None])
    paragraphs: dict[tuple[str, str], list[Role]] = {}
    for role in dict.fromkeys(roles(name, source)):
        paragraphs.setdefault((role.file, role.paragraph), []).append(role)
    for (file, paragraph), found in paragraphs.items():
        wanted = {role.wanted for role in found}
        for form, text in (("role", paragraph), ("plain", plainly(paragraph))):
            made = links(workspace, {"content": text}, file)
            for role in found:
                owner, _, last = role.target.rpartition(".")
                named = {one for one in made if re.split(r"::|\.", one)[-1] == last}
                kind = form, kind_of(workspace, owner, last)
                counts[*kind, "all"] += 1
                counts[*kind, "right"] += role.wanted in named
                counts[*kind, "wrong"] += bool(named - wanted)
                if named - wanted:
                    misses.append(
                        f"+ {' '.join(kind)}: {role.target} is {role.wanted}, not {sorted(named - wanted)}"
                    )
                elif role.wanted not in named:
                    misses.append(f"- {' '.join(kind)}: {role.target} is {role.wanted}")
    workspace.close()
    return counts


def kind_of(workspace: Workspace, owner: str, last: str) -> str:
    """How an author wrote a name: with its class, with its module, or alone."""
    if owner:
        return "Class.method" if owner.rpartition(".")[2].lstrip("_")[:1].isupper() else "module.name"
    places = {(key.file, key.qualname) for key in workspace.code.keys_named(last)}
    return "name in several places" if len(places) > 1 else "name in one place"


def plainly(paragraph: str) -> str:
    """The paragraph as a note's author would write it: what roles name, as code."""
    return _ROLE.sub(lambda found: f"`{found.group(2).rpartition('<')[2].strip('~!<> .')}`", paragraph)


def labelled_figures(scratch: Path, misses: list[str]) -> list[Figure]:
    """The labelled notes: pytest's, each half of later ones, the last ones, those that taught nothing."""
    scores: dict[str, Score] = {}
    for name in ("pytest", *LATER, *TAUGHT_LAST, HELD_OUT):
        labelled = Labelled.read(name)
        if not labelled.is_installed:
            continue
        workspace = labelled.index(scratch / name)
        title = "notes over pytest" if name == "pytest" else "last notes"
        title = "notes that nothing was tuned on" if name == HELD_OUT else title
        halves = ("later notes, even", "later notes, odd") if name in LATER else (title,) * 2
        for half, title in enumerate(halves):
            scored(workspace, labelled.notes[half::2], scores.setdefault(title, Score()))
        workspace.close()
    found = []
    for title, score in scores.items():
        misses += score.details
        found += shares(title, score)
    return found


def shares(name: str, score: Score) -> list[Figure]:
    """What of the links made is wrong, and what of those wanted is missed."""
    many = score.right + score.wrong
    wrong = Figure("linking", f"{name}: wrong", "%", 100 * (1 - score.precision), target=5, samples=many)
    many = score.right + score.missed
    missed = Figure("linking", f"{name}: missed", "%", 100 * (1 - score.recall), target=10, samples=many)
    return [wrong, missed]


def role_figures(scratch: Path, packages: tuple[tuple[str, ...], ...], misses: list[str]) -> list[Figure]:
    """Authors' own references, as written and with the roles taken off."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for names in packages:
        counts += by_roles(scratch / names[0], names, misses)
    wrong_at_most = {"Class.method": 2.0, "module.name": 2.0, "name in several places": 0.0}
    found = []
    for form in ("role", "plain"):
        for kind in ("Class.method", "module.name", "name in one place", "name in several places"):
            count = counts[form, kind, "all"]
            if not count:
                continue
            share = {what: 100 * counts[form, kind, what] / count for what in ("right", "wrong")}
            name, missed_at_most = f"{kind}, {form}", 12.0 if kind == "Class.method" else None
            limit = wrong_at_most.get(kind)
            found.append(
                Figure("linking", f"{name}: wrong", "%", share["wrong"], target=limit, samples=count)
            )
            missed = 100 - share["right"]
            found.append(
                Figure("linking", f"{name}: missed", "%", missed, target=missed_at_most, samples=count)
            )
    return found


def speed_figures(scratch: Path, functions: int) -> list[Figure]:
    """What reading one note costs where this many functions have names."""
    make_project(scratch, functions)
    workspace = Workspace.open(scratch, Settings())
    workspace.survey()
    names = [function_name(number) for number in range(0, functions, functions // 400)]
    short = (
        f"`{names[7]}` must stay idempotent: {names[9]}() repeats its calls when the provider times out, and "
    )
    short += (
        "shop/long.py holds the only place that may call it twice; see the note on the caller before you "
    )
    short += "change the limit or the order of rows in this loop again."
    long = " ".join(f"`{name}` calls {name}() with rows" for name in names)[:12_000]
    found = []
    for name, text, most in (("a note of 40 words", short, 1.0), ("a note of 12 kB", long, 20.0)):
        salted = iter(f"{text} {number}" for number in range(1000))  # texts read before are remembered
        taken = processor(lambda salted=salted: match("", next(salted), {}, workspace.code), 50)
        found.append(figure("linking, what it costs", name, taken, most, functions=functions))
    workspace.close()
    return found


def relinking_figures(scratch: Path, memories: int) -> list[Figure]:
    """What a function costs that is typed into a file, where one old memory of this many names it.

    From the change of the text until the links of the memory are known: the file is parsed, its names are
    looked up in the index from names to memories, and the memories found are derived anew.
    """
    scratch.mkdir(parents=True)
    (scratch / "shop.py").write_text("def first():\n    return 1\n")
    workspace = Workspace.open(scratch, Settings())
    workspace.survey()
    words = Words()
    requests = (
        CaptureRequest(f"`charge_{number}` must wait for settle_{number}() and {words.some(12)}")
        for number in range(memories)
    )
    events = [event for one in requests for event in workspace.writing.capture(one, NOW).events]
    with bulk_load():
        workspace.journaling.commit_sync(Write(tuple(events), lambda: None))
    workspace.open_document("shop.py", "python", (scratch / "shop.py").read_text())
    numbers = iter(range(memories // 3, memories, memories // 100))
    links = workspace.links

    def new_function() -> None:
        number = next(numbers)
        text = f"def first():\n    return 1\n\n\ndef charge_{number}():\n    return {number}\n"
        workspace.sources.change_document("shop.py", [TextChange(text)], NOW)
        workspace.sources.save_document("shop.py")
        (found,) = links.on_symbol(SymbolKey("shop.py", f"charge_{number}")).values()
        assert found.relevance >= 0.5, found

    new_function()
    taken = processor(new_function, 30)
    name = f"a new function finds its memory of {memories:,}"
    found = [figure("linking anew", name, taken, 10.0), *answer_figures(workspace, words, memories)]
    workspace.close()
    return found


class Words:
    """Words drawn by Zipf's law, as those of `search.py`'s notes."""

    def __init__(self) -> None:
        self._rng = random.Random(1)
        self._known = [made_word(number) for number in range(30_000)]
        self._weights = list(itertools.accumulate(1 / (number + 5) for number in range(len(self._known))))

    def some(self, count: int) -> str:
        return " ".join(self._rng.choices(self._known, cum_weights=self._weights, k=count))


def answer_figures(workspace: Workspace, words: Words, memories: int) -> Iterator[Figure]:
    """What a question of two words costs until its answer is there as JSON, among so many memories."""
    workspace.searching.catch_up()
    form = JsonForm(workspace)

    def listed(query: str) -> object:
        request = ListRequest(query=query, limit=20, best=True)
        return form.page(workspace.listing.page(request, NOW))

    def recalled(query: str) -> object:
        return form.recall(workspace.recall.recall(RecallRequest(query), NOW))

    for name, ask in (("list", listed), ("recall", recalled)):
        taken = processor(lambda ask=ask: ask(words.some(2)), 60)
        yield figure("search, whole answers", f"{name}, two words, {memories:,} memories", taken, 20.0)


def processor(work: Callable[[], object], times: int) -> list[float]:
    """Milliseconds of processor time: what others do on this machine does not count."""
    taken = []
    for _ in range(times):
        begun = time.process_time()
        work()
        taken.append((time.process_time() - begun) * 1000)
    return taken


def measure(*, quick: bool, misses: list[str] | None = None) -> list[Figure]:
    """All of linking; the quick ones leave most packages out."""
    missed: list[str] = [] if misses is None else misses
    warnings.simplefilter("ignore")  # of the packages that are imported
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        say("linking: labelled notes, authors' references")
        found = labelled_figures(scratch / "notes", missed)
        found += role_figures(scratch / "roles", ROLES[:3] if quick else ROLES, missed)
        for functions in (1_000, 10_000) if quick else (1_000, 10_000, 100_000):
            say(f"linking: {functions} functions")
            found += speed_figures(scratch / str(functions), functions)
        memories = 20_000 if quick else 100_000
        say(f"linking: {memories} memories")
        found += relinking_figures(scratch / "relinking", memories)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--misses", action="store_true", help="print each wrong and each missing link")
    options = parser.parse_args()
    misses: list[str] = []
    show(measure(quick=options.quick, misses=misses))
    if options.misses:
        print(*misses, sep="\n")


if __name__ == "__main__":
    main()
