"""Whatever is done to a repository: every note is listed, once, and there and back again is where it was."""

import shutil
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from folders import Folder
from mnemolens.engine.requests import CaptureRequest, ListRequest
from repositories import commit, git, init

FILES = ("a.py", "b.py", "lib/c.py")
NAMES = ("pay", "refund", "post", "close")
BODIES = (
    "    total = sum(line.price for line in order.lines)\n    ledger.append((order, total))\n    return 1\n",
    "    for line in order.lines:\n        stock.put(line.item, line.count)\n    return order.state\n",
    "    with door.lock() as key:\n        lights.off()\n        return key.turn(order)\n",
    "    return 1\n",
)


def source(functions):
    return "\n\n".join(f"def {name}(order):\n{BODIES[body]}" for name, body in functions)


def change(functions, what, which, name, body):
    """Another list of functions: one renamed, edited, removed, added, or moved to the end."""
    if not functions or what == "add":
        return [*functions, (name, body)]
    at = which % len(functions)
    old = functions[at]
    rest = functions[:at] + functions[at + 1 :]
    new = {"rename": (name, old[1]), "edit": (old[0], body), "move": old}.get(what)
    if new is None:
        return rest
    return [*rest, new] if what == "move" else [*functions[:at], new, *functions[at + 1 :]]


changes = st.tuples(
    st.sampled_from(["rename", "edit", "remove", "add", "move"]),
    st.integers(0, 3),
    st.sampled_from(NAMES),
    st.integers(0, 3),
)
files = st.sampled_from(FILES)


class Repository(RuleBasedStateMachine):
    """One worktree, two windows on it, two branches."""

    def __init__(self):
        super().__init__()
        self.root = Path(tempfile.mkdtemp()) / "repo"
        self.root.mkdir()
        self.memories = []
        self.refused = set()
        self.open = {}
        self.branch = "main"

    @initialize()
    def begin(self):
        self.code = {"a.py": [("pay", 0), ("refund", 1)], "b.py": [("close", 2)]}
        for name, functions in self.code.items():
            (self.root / name).write_text(source(functions))
        init(self.root, at="2026-03-01T00:00:00Z")
        git(self.root, "branch", "side")
        self.windows = [Folder(self.root), Folder(self.root)]
        for file, name in (("a.py", "pay"), ("a.py", "refund"), ("b.py", "close")):
            self.memories.append(self.windows[0].remember(f"about {name}", file, f"def {name}"))
        write = self.windows[0].workspace.writing.capture(
            CaptureRequest("about b", file="b.py"), self.windows[0].now
        )
        self.memories.append(self.windows[0].commit(write).view.memory.id)
        self.settle()

    def teardown(self):
        for window in getattr(self, "windows", ()):
            window.close()
        shutil.rmtree(self.root.parent)

    # What happens ---------------------------------------------------------------------------------

    def settle(self):
        for _ in range(2):
            for window in self.windows:
                window.pass_time(3)
        for window in self.windows:
            assert not self.refused & {(one, at) for one, (at, _) in self.places(window).items()}

    def tell(self, paths):
        for window in self.windows:
            window.run(window.workspace.files_changed([self.root / path for path in paths]))

    def put(self, file, functions):
        path = self.root / file
        if functions is None:
            path.unlink(missing_ok=True)
            self.code.pop(file, None)
        else:
            path.parent.mkdir(exist_ok=True)
            path.write_text(source(functions))
            self.code[file] = functions

    @rule(file=files, how=changes)
    def another_program_writes(self, file, how):
        self.put(file, change(self.code.get(file, []), *how))
        self.tell([file])

    @rule(old=files, new=files)
    def a_file_is_moved(self, old, new):
        if old in self.code and new not in self.code and old not in self.open:
            functions = self.code[old]
            self.put(old, None)
            self.put(new, functions)
            self.tell([old, new])

    @rule(file=files)
    def a_file_is_deleted(self, file):
        if file not in self.open:
            self.put(file, None)
            self.tell([file])

    @rule(file=files, how=changes)
    def a_document_is_edited(self, file, how):
        if file in self.code:
            functions = change(self.open.get(file, self.code[file]), *how)
            self.windows[0].open(file, source(functions))
            self.open[file] = functions

    @rule(file=files, broken=st.booleans())
    def a_document_is_saved(self, file, broken):
        if file in self.open:
            if broken:  # for a moment
                self.windows[0].open(file, source(self.open[file]) + "\ndef (:\n")
                self.windows[0].pass_time(3)
                self.windows[0].open(file, source(self.open[file]))
            self.put(file, self.open[file])
            self.windows[0].workspace.sources.save_document(file)
            self.tell([file])

    @rule(file=files)
    def a_document_is_closed(self, file):
        if self.open.pop(file, None) is not None:
            self.windows[0].run(self.windows[0].workspace.sources.close_document(file))

    @rule(which=st.integers(0, 1))
    def a_window_starts_anew(self, which):
        if which == 0:
            self.open.clear()
        self.windows[which].restart()

    @rule()
    def time_passes(self):
        self.settle()

    def switch(self, branch):
        commit(self.root, "all there is")
        git(self.root, "checkout", "-q", branch)
        self.branch = branch
        names = [path.relative_to(self.root).as_posix() for path in self.root.rglob("*.py")]
        before, self.code = self.code, {}
        for name in names:
            self.code[name] = read(self.root / name)
        changed = [n for n in {*before, *self.code} if before.get(n) != self.code.get(n)]
        self.tell(sorted(changed))
        self.settle()

    @precondition(lambda self: not self.open)
    @rule()
    def a_branch_is_checked_out(self):
        self.switch("side" if self.branch == "main" else "main")

    @precondition(lambda self: not self.open)
    @rule()
    def there_and_back(self):
        self.settle()
        before = [self.places(window) for window in self.windows]
        here = self.branch
        self.switch("side" if here == "main" else "main")
        self.switch(here)
        assert [self.places(window) for window in self.windows] == before

    @rule(which=st.integers(0, 1), chosen=st.integers(0, 2), name=st.sampled_from(NAMES))
    def a_move_is_refused(self, which, chosen, name):
        """The other window hears of the rename before it hears of the refusal, and writes an alias down."""
        one, other = self.windows[which], self.windows[1 - which]
        self.settle()
        at = self.anchor(one, chosen).at
        functions = self.code.get(at.file, []) if at is not None and at.file not in self.open else []
        if not functions or name in dict(functions):
            return
        self.put(at.file, [(name if old == at.qualname else old, body) for old, body in functions])
        one.run(one.workspace.files_changed([self.root / at.file]))
        found = self.anchor(one, chosen)
        if found.at is not None and found.at.id not in {at.id, found.birth.place.id}:
            one.commit(one.workspace.attaching.undo_move(self.memories[chosen], None, one.now))
            self.refused.add((found.id, found.at.id))
        other.clock.advance(1)
        other.run(other.workspace.files_changed([self.root / at.file]))
        self.settle()

    # What must hold -------------------------------------------------------------------------------

    def anchor(self, window, which):
        (found,) = window.workspace.show.detail(self.memories[which], window.now).anchors
        return found

    def places(self, window):
        found = {}
        for memory_id in self.memories:
            for anchor in window.workspace.show.detail(memory_id, window.now).anchors:
                found[anchor.id] = (anchor.at.id if anchor.at else None, anchor.verdict)
        return found

    @invariant()
    def every_note_is_listed(self):
        for window in getattr(self, "windows", ()):
            page = window.workspace.listing.page(ListRequest(), window.now)
            assert {view.memory.id for view in page.memories} == set(self.memories)

    @invariant()
    def a_note_is_on_one_subject_that_is_there(self):
        for window in getattr(self, "windows", ()):
            for memory_id in self.memories:
                detail = window.workspace.show.detail(memory_id, window.now)
                anchors = [anchor for anchor in detail.anchors if anchor.context == "captured_here"]
                assert len(anchors) == 1
                links = [link.target.id for link in detail.links if link.context == "captured_here"]
                assert len(links) <= 1
                if anchors[0].at is not None and anchors[0].at.range is not None:
                    assert links == [anchors[0].at.id]


def read(path):
    """The functions of a file, as `source` wrote them."""
    found = []
    for piece in path.read_text().split("\n\ndef "):
        head, _, body = piece.removeprefix("def ").partition("(order):\n")
        if head:
            found.append((head, BODIES.index(body.rstrip("\n") + "\n")))
    return found


TestRepository = Repository.TestCase
TestRepository.settings = settings(
    max_examples=15,
    stateful_step_count=12,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
