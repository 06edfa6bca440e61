"""What following notes costs, in process: a typed name, a checkout that moves and edits everything, a start.

Usage: python tests/bench/following.py [FILES]

Times are processor seconds, so that what else runs on the machine counts little. Nothing of the user's is
read or written.
"""

import asyncio
import os
import random
import resource
import sys
import tempfile
from collections import Counter
from functools import partial
from pathlib import Path
from time import process_time, thread_time

FUNCTIONS = 20
LINES = 12
"""Of one function, with what stands between two."""
WORDS = [f"word_{n}" for n in range(400)]


def made_function(chance, number):
    """A function of made words."""
    pick = chance.choice
    body = "\n".join(
        f"    {pick(WORDS)} = {pick(WORDS)}({pick(WORDS)}, {pick(WORDS)})" for _ in range(LINES - 4)
    )
    return f"def f{number}(a, b):\n{body}\n    return a\n"


async def longest_hold(work):
    """What `work` gives, its processor time, and the longest for which it held the loop."""
    held = [0.0]

    async def beat():
        last = thread_time()
        while True:
            await asyncio.sleep(0.002)
            now = thread_time()
            held.append(now - last)
            last = now

    beating = asyncio.create_task(beat())
    begun = process_time()
    answer = await work
    took = process_time() - begun
    beating.cancel()
    return answer, took, max(held)


def type_in_a_long_file(folder, chance, count=420):
    """Prints what a typed character costs where every other function has a note, and where none has."""
    from mnemolens.core.symbols import Position
    from mnemolens.core.text import TextChange
    from mnemolens.engine.requests import CaptureRequest

    text = "\n\n".join(made_function(chance, f"_long{n}") for n in range(count))
    folder.write_seen("long.py", text)
    places = {"a name": (count // 2 * LINES, 5), "a body": (count // 2 * LINES + 3, 6)}
    medians = {}
    for noted in (False, True):
        for k in range(0, count, 2) if noted else ():
            request = CaptureRequest(f"long {k}", file="long.py", position=Position(k * LINES, 5))
            folder.workspace.journaling.commit_sync(folder.workspace.writing.capture(request, folder.now))
        folder.pass_time(1)
        folder.open("long.py")
        folder.workspace.sources.parse_pending(1000)
        for what, place in places.items():
            changes = [TextChange("x", place, place)]
            medians[what, noted] = median_cost(partial(type_and_parse, folder, changes))
        begun = process_time()
        folder.pass_time(3)
        medians["two quiet seconds", noted] = (process_time() - begun) * 1000
        folder.run(folder.workspace.sources.close_document("long.py"))
    print(f"{text.count(chr(10)):,} lines, {count} functions, {count // 2} notes: milliseconds, all work")
    for what in (*places, "two quiet seconds"):
        without, with_notes = medians[what, False], medians[what, True]
        print(
            f"  a character typed into {what}" if what in places else "  what is looked at after " + what,
            f": {without:.2f} without notes, {with_notes:.2f} with, so {with_notes - without:.2f} for them",
            " (target 2)" if what in places else "",
            sep="",
        )


def type_and_parse(folder, changes):
    """All that one change leads to before the file is quiet."""
    folder.edit("long.py", changes)
    folder.workspace.sources.parse_pending(1000)


def median_cost(work, times=100):
    """Milliseconds of processor time."""
    taken = []
    for _ in range(times):
        begun = process_time()
        work()
        taken.append((process_time() - begun) * 1000)
    return sorted(taken)[times // 2]


def main(count=500):
    """Prints the figures."""
    sys.path[:0] = [str(Path(__file__).parents[1])]
    scratch = tempfile.TemporaryDirectory()
    os.environ["MNEMOLENS_CACHE_DIR"] = f"{scratch.name}/cache"
    os.environ["MNEMOLENS_DATA_DIR"] = f"{scratch.name}/data"
    from folders import Folder
    from mnemolens.core.symbols import Position
    from mnemolens.engine.requests import CaptureRequest

    chance = random.Random(1)
    files = {
        f"pkg{n // 50}/m{n}.py": "\n\n".join(
            made_function(chance, n * FUNCTIONS + k) for k in range(FUNCTIONS)
        )
        for n in range(count)
    }
    root = Path(scratch.name) / "code"
    root.mkdir()
    folder = Folder(root, files)
    notes = []
    for file in list(files)[::2]:
        for k in range(0, FUNCTIONS, 5):
            request = CaptureRequest(f"{file} {k}", file=file, position=Position(k * LINES, 5))
            write = folder.workspace.writing.capture(request, folder.now)
            notes.append(folder.workspace.journaling.commit_sync(write).view.memory.id)
    folder.pass_time(1)

    def fates():
        return dict(Counter(folder.verdict(one) for one in notes))

    print(f"{count * FUNCTIONS:,} functions in {count} files, {len(notes):,} notes")
    type_in_a_long_file(folder, chance)
    changed = []
    for file, text in files.items():
        (root / file).unlink()
        edited = "\n".join(
            f"{line} + 1" if k % LINES == 3 else line for k, line in enumerate(text.split("\n"))
        )
        changed += [root / file, folder.write(f"moved/{file}", edited)]
    _, took, held = folder.run(longest_hold(folder.workspace.files_changed(changed)))
    print(f"every file moved, every function edited: {took:.1f} s, the loop held for {held * 1000:.0f} ms")
    print(f"  {fates()}")
    folder.close()
    for file in files:
        text = (root / "moved" / file).read_text()
        (root / "moved" / file).unlink()
        folder.write(f"again/{file}", text.replace("return a", "return b"))
    begun = process_time()
    folder.workspace = folder.start()
    print(f"the same while no server ran, the whole start: {process_time() - begun:.1f} s")
    print(f"  {fates()}")
    print(f"memory at most: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB")
    folder.close()
    scratch.cleanup()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
