"""Subject: reading code from nothing, and again: a real package, made projects, one core, beside ctags."""

import gc
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from client import Client
from lab import SERVER, Lab, environ, wait_for_index
from measure import Figure, figure, seconds

SUBJECT = "reading code"
DJANGO = "5.2.8"
GROWTH = "reading code, by functions"


def measure(lab: Lab, sizes: list[tuple[int, int]], django: Path | None) -> list[Figure]:
    """Of django, and of made projects of each size."""
    folder = django or get_django()
    found = [_missing(folder)] if isinstance(folder, str) else _django(lab, folder)
    for functions, memories in sizes:
        root = lab.project(functions, memories).root
        environment = lab.environment()
        cold, warm = _open(root, environment), _open(root, environment)
        for name, run in (("from nothing", cold), ("re-opened unchanged", warm)):
            found.append(Figure(GROWTH, f"indexed {name}", "s", run[0], functions=functions))
        for name, megabytes in (("from nothing", cold[3]), ("re-opened", warm[3])):
            found.append(Figure(GROWTH, f"memory after that, {name}", "MB", megabytes, functions=functions))
    return found


def _missing(why: str) -> Figure:
    return Figure(SUBJECT, "django", "s", None, target=4, note=why)


def _django(lab: Lab, folder: Path) -> list[Figure]:
    copy = lab.work / "django"
    shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("__pycache__"))
    found = [*_one_core(copy), *_ctags(lab, copy)]
    time.sleep(2.1)  # files younger than two seconds are read again at the next start
    cold, warm = [], []
    for _ in range(1 if lab.quick else 3):
        environment = lab.environment()
        cold.append(_open(copy, environment))
        warm += [_open(copy, environment) for _ in range(3)]
    floor = found[-1].median
    for name, runs, target in (("from nothing", cold, 4.0), ("re-opened unchanged", warm, 0.7)):
        whole = statistics.median(run[1] for run in runs)
        said = f"{runs[0][2]} files; {whole:.2f} s with the server's start"
        taken = [run[0] for run in runs]
        more = {} if floor is None else {"floor": floor, "floor_is": "ctags"}
        found.append(figure(SUBJECT, f"django indexed {name}", taken, target, "s", note=said, **more))
    return [*found, _recall(lab, copy, environment)]


def _open(root: Path, environment: dict[str, str]) -> tuple[float, float, int, float | None]:
    """(seconds from `initialized` to a complete index, from the process's start, files, megabytes)."""
    client = Client(SERVER, environment)
    try:
        client.initialize(root)
        begun = time.perf_counter()
        folder = wait_for_index(client)
        ended = time.perf_counter()
        return ended - begun, ended - client.started_at, folder["files"], client.resident_megabytes()
    finally:
        client.close()


def _one_core(folder: Path) -> list[Figure]:
    """Extraction alone, in this process."""
    from mnemolens.codegraph.extract import extract
    from mnemolens.codegraph.languages import language_of
    from mnemolens.engine.worker import COLLECT_AFTER

    texts = [
        (language, path.read_bytes())
        for path in folder.rglob("*")
        if path.is_file() and (language := language_of(path.name)) is not None
    ]
    extract(texts[0][1], texts[0][0])  # the grammar's import is no part of the measure
    before = gc.get_threshold()
    gc.set_threshold(COLLECT_AFTER)  # as the processes do that read folders
    begun = time.process_time()
    definitions = sum(len(extract(source, language).symbols) for language, source in texts)
    taken = time.process_time() - begun
    gc.set_threshold(*before)
    a_second = f"{len(texts) / taken:,.0f} files/s, {definitions / taken:,.0f} definitions/s"
    return [
        Figure(SUBJECT, "one core: 1,000 files of django", "s", taken / len(texts) * 1000, target=5),
        Figure(
            SUBJECT, "one core: 1,000 definitions", "s", taken / definitions * 1000, target=0.2, note=a_second
        ),
    ]


def _ctags(lab: Lab, folder: Path) -> list[Figure]:
    """What a user would otherwise have, in the same run."""
    name = "universal-ctags on django"
    program = shutil.which("ctags-universal") or shutil.which("ctags")
    if program is None:
        return [Figure(SUBJECT, name, "s", None, note="ctags is not on PATH")]
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout
    if "Universal Ctags" not in said:
        return [Figure(SUBJECT, name, "s", None, note=f"{program} is another ctags")]
    command = [program, "-R", "--languages=Python,JavaScript", "-f", str(lab.work / "tags"), str(folder)]
    taken = [seconds(lambda: subprocess.run(command, check=True, capture_output=True)) for _ in range(3)]
    return [figure(SUBJECT, name, taken, unit="s", note="definitions only, no calls, nothing kept in step")]


def _recall(lab: Lab, root: Path, environment: dict[str, str]) -> Figure:
    """The command line on a real package that was indexed before, with a memory at that place."""
    place = ["--at", "db/models/base.py::Model.save"]

    def run(*words: str) -> None:
        command = [sys.executable, "-m", "mnemolens", *words, "--root", str(root)]
        with environ(environment):
            subprocess.run(command, check=True, capture_output=True)

    run("remember", "save() must stay idempotent", *place)
    taken = [seconds(lambda: run("recall", *place, "--no-record")) for _ in range(5 if lab.quick else 15)]
    return figure(SUBJECT, "mnemolens recall --at, on django", taken, 0.5, "s")


def get_django() -> Path | str:
    """django's package, kept outside the clone; or why it can't be had."""
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = caches / "mnemolens-bench" / f"django-{DJANGO}"
    if (folder / "django").is_dir():
        return folder / "django"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as place:
        options = ["--no-deps", "--only-binary=:all:", "-q", "-d", place]
        command = [sys.executable, "-m", "pip", "download", f"django=={DJANGO}", *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        wheel = next(Path(place).glob("*.whl"), None)
        if done.returncode or wheel is None:
            why = (done.stderr.strip().splitlines() or ["no wheel came"])[-1]
            return f"django {DJANGO} can't be downloaded: {why}"
        unpacked = Path(place) / "unpacked"
        shutil.unpack_archive(wheel, unpacked, "zip")
        unpacked.rename(folder)
    return folder / "django"
