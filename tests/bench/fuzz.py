"""Mutated real source against every extractor, for a bounded time.

Usage: python tests/bench/fuzz.py SECONDS [FOLDER…] [--seed=N] [--language=NAME]
(default: the standard library and the extension's packages)

Two ways by turns, a file at random: someone types in it as an open document (`tests/mutations.py` says what
must hold), and its bytes are damaged, cut and joined with another file's, and read as when it is indexed.
What fails is printed with the seed that brings it again, and the exit code is 1.
"""

import argparse
import pathlib
import sys
import sysconfig
import traceback
from collections import Counter
from random import Random
from time import perf_counter

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

from mnemolens.codegraph.languages import language_of
from mnemolens.core.text import BinarySource, decode_source
from mutations import Typing, check_damaged, damaged

MAX_BYTES = 40_000
EDITS = 12
PACKAGES = pathlib.Path(__file__).parents[2] / "vscode-extension" / "node_modules"


def sources(folders, only):
    """Language name -> paths of its files that are not too long to be read hundreds of times."""
    found = {}
    for folder in folders:
        for path in sorted(pathlib.Path(folder).rglob("*")):
            language = language_of(path.name)
            if language is None or only not in {None, language.name} or not path.is_file():
                continue
            if path.stat().st_size <= MAX_BYTES:
                found.setdefault(language.name, []).append(path)
    return found


def text_of(path):
    """The file as an editor gets it; None if it is no text."""
    try:
        return decode_source(path.read_bytes()).data.decode()
    except BinarySource:
        return None


def type_in(path, random):
    """Someone types in the file."""
    text = text_of(path)
    if text is None:
        return
    typing = Typing(text, language_of(path.name), random, sliced=random.random() < 0.3)
    for _ in range(EDITS):
        typing.edit()
    typing.make_whole()


def damage(path, other, random):
    """The file is read with bytes of it changed, cut out, or taken from another one."""
    check_damaged(damaged(path.read_bytes(), other.read_bytes(), random), language_of(path.name))


def main(seconds, folders, seed, only):
    """Fuzz for so long; the number of failures."""
    found = sources(folders, only)
    counts, failures = Counter(), 0
    started = perf_counter()
    while perf_counter() - started < seconds:
        random = Random(seed)
        language = random.choice(sorted(found))
        path, other = random.choice(found[language]), random.choice(found[language])
        try:
            if seed % 2:
                damage(path, other, random)
            else:
                type_in(path, random)
        except Exception:  # noqa: BLE001 - whatever it is, it is a finding
            failures += 1
            print(f"--seed={seed}: {path}")
            traceback.print_exc(limit=-3, file=sys.stdout)
        counts[language, "damaged" if seed % 2 else "typed in"] += 1
        seed += 1
    print(", ".join(f"{language} {count} {how}" for (language, how), count in sorted(counts.items())))
    print(f"{sum(counts.values())} sessions, {failures} failures")
    return failures


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("seconds", type=float)
    parser.add_argument("folders", nargs="*", default=[sysconfig.get_path("stdlib"), PACKAGES])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--language")
    given = parser.parse_args()
    sys.exit(1 if main(given.seconds, given.folders, given.seed, given.language) else 0)
