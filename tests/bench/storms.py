"""Subject: many files that change at once while somebody works: hovers meanwhile, holds, and the end state.

A storm is real where it can be (git's own switch, rebase and stash); its events come as an editor's watcher
sends them. It is over when the server knows as many symbols as the disk then holds. Then its memories' places
and verdicts must equal those of an index that was built anew.
"""

import json
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from answers import captures, hovers, spots_with_notes, typing
from client import Client
from lab import WATCHED, Lab, Project, status
from measure import Figure, quantile, say

SUBJECT = "storms: hovers meanwhile, 99%"
HOLDS = "event loop: what a request waits for it at most, 99.9%"
CREATED, CHANGED, DELETED = 1, 2, 3
AT_ONCE = 500
"""Events in one notification."""
LONGEST = 300.0

Event = tuple[Path, int]


def measure(lab: Lab, functions: int, memories: int) -> list[Figure]:
    """All storms, on one server, in one made project under git."""
    if shutil.which("git") is None:
        return [Figure(SUBJECT, "all", "ms", None, note="git is not on PATH")]
    project = lab.project(functions, memories)
    return list(Storms(lab, project).run())


class Storms:
    """One server in one project, and what happens to its files."""

    def __init__(self, lab: Lab, project: Project) -> None:
        self._lab = lab
        self._project = project
        self._root = project.root
        self._known = 0

    def run(self) -> Iterator[Figure]:
        self._git("init", "-q", "-b", "main")
        self._git("config", "user.name", "Bench")
        self._git("config", "user.email", "bench@example.org")
        self._commit("all of it")
        client = Client(WATCHED, self._project.environment)
        try:
            client.initialize(self._root)
            client.request("bench/holds", None)
            self._hover = hovers(client, self._project, known=False)
            yield from self._indexing(client)
            self._hover = hovers(client, self._project)
            self._known = status(client)["symbols"]
            shown = {
                spot.file for spot in spots_with_notes(self._project)
            }  # these stay as the editor has them
            files = [self._root / file for file in self._project.ordinary_files() if file not in shown]
            for name, work in (
                ("5,000 events in a second, one file changed", self._many_events),
                (f"branch switch of {min(1000, len(files)):,} files", self._switch),
                ("rebase of five commits", self._rebase),
                ("a folder is renamed", self._rename),
                ("git stash of 200 files", self._stash),
            ):
                say(name)
                yield from self._storm(client, name, lambda work=work: work(files[:1000]))
            yield from self._end_state(client)
            yield from self._typing(client)
        finally:
            client.close()

    def _indexing(self, client: Client) -> Iterator[Figure]:
        """Hovers while the folder is indexed from what the cache holds, then by parsing it, then for Kuzu."""

        def indexed() -> bool:
            folder = status(client)
            return folder["indexing"] is None and folder["files"] > 0 and not client.waiting

        def in_kuzu() -> bool:
            return status(client)["graph"]["state"] not in {"off", "building"}

        for name, over in (
            ("while the folder is re-opened", indexed),
            ("while all of it is parsed anew", indexed),
            ("while the graph is built", in_kuzu),
        ):
            say(name)
            if "parsed" in name:
                client.send_command("mnemolens.index.rebuild")
            yield self._hovers_figure(name, self._hover_until(over))
            yield holds(client, name)

    def _storm(
        self, client: Client, name: str, work: Callable[[], tuple[list[Event], int]]
    ) -> Iterator[Figure]:
        holds(client, "")
        begun = time.perf_counter()
        events, more = work()
        self._known += more
        for first in range(0, len(events), AT_ONCE):
            changes = [{"uri": path.as_uri(), "type": kind} for path, kind in events[first : first + AT_ONCE]]
            client.notify("workspace/didChangeWatchedFiles", {"changes": changes})
        told = time.perf_counter()
        taken = self._hover_until(lambda: status(client)["symbols"] == self._known)
        known = time.perf_counter() - told
        yield self._hovers_figure(
            name, taken, f"known {known:.2f} s after the last event ({told - begun:.1f} s of work)"
        )
        time.sleep(1.5)  # the tick writes down what came of it
        yield holds(client, name)

    def _hover_until(self, over: Callable[[], bool]) -> list[float]:
        """Milliseconds of hovers, one after the other until it is over."""
        taken = []
        end = time.perf_counter() + LONGEST
        while True:
            for _ in range(10):
                begun = time.perf_counter()
                self._hover()
                taken.append((time.perf_counter() - begun) * 1000)
            if over():
                return taken
            if time.perf_counter() > end:
                raise AssertionError(f"{self._known} symbols were to be known")

    @staticmethod
    def _hovers_figure(name: str, taken: list[float], note: str = "") -> Figure:
        """By the clock, which on a busy machine counts others' work, too: so the longest is only told of."""
        said = f"longest {max(taken):.0f} ms; {note}".removesuffix("; ")
        p95, p99 = quantile(taken, 0.95), quantile(taken, 0.99)
        return Figure(SUBJECT, name, "ms", p99, p95, target=100, samples=len(taken), note=said)

    # -- what happens --

    def _many_events(self, files: list[Path]) -> tuple[list[Event], int]:
        """A build makes files of its own and touches all others: only one has other content."""
        for path in files:
            path.touch()
        files[0].write_text(files[0].read_text() + "\n\ndef after_the_build(rows):\n    return rows\n")
        made = [(self._root / "build" / f"part{number}.o", CREATED) for number in range(2500)]
        return [*made, *((files[number % len(files)], CHANGED) for number in range(2500))], 1

    def _switch(self, files: list[Path]) -> tuple[list[Event], int]:
        self._commit("before the branch")
        self._git("switch", "-q", "-c", "feature")
        for number, path in enumerate(files):
            path.write_text(f"{path.read_text()}\n\ndef on_the_branch_{number}(rows):\n    return rows\n")
        self._commit("the branch")
        self._git("switch", "-q", "main")
        self._git("switch", "-q", "feature")
        return [(path, CHANGED) for path in files], len(files)

    def _rebase(self, files: list[Path]) -> tuple[list[Event], int]:
        """Main goes on in other files; each of five commits changes forty."""
        for number in range(5):
            for path in files[number * 40 : number * 40 + 40]:
                path.write_text(f"{path.read_text()}\n\ndef commit_{number}(rows):\n    return rows\n")
            self._commit(f"commit {number}")
        touched = files[:200]
        self._git("switch", "-q", "main")
        added = self._root / "shop" / "added.py"
        added.write_text("def on_main(rows):\n    return rows\n")
        self._commit("main goes on")
        self._git("switch", "-q", "feature")
        self._git("rebase", "-q", "main")
        git = [(self._root / ".git" / name, CHANGED) for name in ("HEAD", "index", "index.lock")]
        events = [(path, CHANGED) for path in files] + [(added, CREATED), (added, DELETED), (added, CREATED)]
        return [*git, *events, *git], len(touched) + 1

    def _rename(self, files: list[Path]) -> tuple[list[Event], int]:
        """Twenty files and more move; the one with a function more tells when that is known."""
        old = files[-1].parent
        new = old.with_name("moved_area")
        old.rename(new)
        path = new / files[-1].name
        path.write_text(path.read_text() + "\n\ndef after_the_move(rows):\n    return rows\n")
        files[:] = [new / file.name if file.parent == old else file for file in files]
        return [(old, DELETED), (new, CREATED)], 1

    def _stash(self, files: list[Path]) -> tuple[list[Event], int]:
        self._commit("before the stash")
        for path in files[200:400]:
            path.write_text(path.read_text() + "\n\ndef not_ready(rows):\n    return rows\n")
        self._git("stash", "-q")
        self._git("stash", "pop", "-q")
        return [(path, CHANGED) for path in files[200:400]], len(files[200:400])

    # -- the end --

    def _end_state(self, client: Client) -> Iterator[Figure]:
        """Every memory's verdict and place, as they are and after a rebuild."""
        before = self._places(client)
        client.command("mnemolens.index.rebuild")
        after = self._places(client)
        different = sum(before.get(key) != after.get(key) for key in before.keys() | after.keys())
        said = f"of {len(after):,}"
        yield Figure(SUBJECT, "memories placed otherwise by a rebuild", "", different, target=0.5, note=said)
        holds(client, "")

    @staticmethod
    def _places(client: Client) -> dict[str, Any]:
        found: dict[str, Any] = {"status": status(client)["verdicts"]}
        ids: list[str] = []
        while True:
            page = client.command("mnemolens.memory.list", limit=1000, offset=len(ids))
            ids += [memory["id"] for memory in page["memories"]]
            if not page["memories"]:
                break
        for memory_id in ids[:: max(1, len(ids) // 500)]:
            detail = client.command("mnemolens.memory.get", id=memory_id)
            anchors = [(a["id"], a["verdict"], a["at"] and a["at"]["id"]) for a in detail["anchors"]]
            found[memory_id] = json.dumps(sorted(anchors))
        return found

    def _typing(self, client: Client) -> Iterator[Figure]:
        """A person who types, and captures now and then."""
        say("while typing and capturing")
        type_and_hover, capture = typing(client, self._project), captures(client, self._project)
        holds(client, "")
        for number in range(100 if self._lab.quick else 400):
            type_and_hover()
            if number % 10 == 0:
                capture()
            time.sleep(0.01)
        yield holds(client, "while typing and capturing")

    def _git(self, *words: str) -> None:
        subprocess.run(["git", "-C", str(self._root), *words], check=True, capture_output=True)

    def _commit(self, message: str) -> None:
        self._git("add", "-A")
        self._git("commit", "-q", "-m", message)


def holds(client: Client, name: str) -> Figure:
    """What the watchdog saw since it was asked last.

    The figure is what the server is to blame for: a hold counts with the processor time that the server used
    meanwhile, since on a busy machine others hold it up, too. The note says what the clock says.
    """
    said = client.request("bench/holds", None)
    whole = said["seconds"] * 1000
    work, late = ([one[at] * 1000 for one in said["late"]] for at in (0, 1))
    note = f"by the clock {_waits(late, whole, 0.001):.0f} ms, longest {max(late, default=0):.0f} ms"
    if said["long"] and said["long"][0][0] > 0.05:
        held, _, own, where = said["long"][0]
        note += f"; {held * 1000:.0f} ms of work, {own / held:.0%} of it the loop's, in {where}"
    return Figure(HOLDS, name, "ms", _waits(work, whole, 0.001), target=50, samples=len(late), note=note)


def _waits(holds_ms: list[float], whole_ms: float, share: float) -> float:
    """What a request that comes at any moment waits for the loop, but for this share of moments."""
    low, high = 0.0, max(holds_ms, default=0.0)
    for _ in range(40):
        middle = (low + high) / 2
        if sum(max(0.0, one - middle) for one in holds_ms) > share * whole_ms:
            low = middle
        else:
            high = middle
    return high
