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


def main(count=500):
    """Prints the figures."""
    sys.path[:0] = [str(Path(__file__).parents[1])]
    scratch = tempfile.TemporaryDirectory()
    os.environ["MNEMOLENS_CACHE_DIR"] = f"{scratch.name}/cache"
    os.environ["MNEMOLENS_DATA_DIR"] = f"{scratch.name}/data"
    from folders import Folder
    from mnemolens.core.symbols import Position
    from mnemolens.core.text import TextChange
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
    first = next(iter(files))
    folder.open(first)
    times = []
    for _ in range(100):
        begun = process_time()
        folder.edit(first, [TextChange("x", (0, 5), (0, 5))])
        times.append((process_time() - begun) * 1000)
    print(f"a character typed into a name with a note: {sorted(times)[50]:.2f} ms (median of all its work)")
    folder.run(folder.workspace.sources.close_document(first))
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
