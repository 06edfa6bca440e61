"""A process that parses: `python -m mnemolens.engine.worker`, started by `engine/parsing.py`.

Owns the frames on its standard input and output: a 4-byte big-endian length, then `marshal`. Once it is ready
it writes `READY`; a request is a list of (source bytes, language name), and each of these is answered by a
frame of its own, in order: (encoded symbols, None), or (None, the reason why there are none). It ends at the
end of its input, so it never outlives whoever started it; it reads no files and writes nothing else.

Arguments: the seconds of processor time that one text may take, after which the process ends itself (where
the system can do that); and, for tests, MODULE:FUNCTION that extracts (source, language name) -> FileSymbols.
"""

import codecs
import gc
import importlib
import marshal
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Any

from mnemolens.codegraph.extract import extract
from mnemolens.codegraph.languages import language_named, wheel_of
from mnemolens.core.symbols import FileSymbols
from mnemolens.store import frames
from mnemolens.store.symbols import encode

READY = "ready"
Extract = Callable[[bytes, str], FileSymbols]

COLLECT_AFTER = 100_000
"""Threshold of the garbage collector, which finds next to nothing here, and took 3% of the time."""
_NICE = 5
"""Whoever types goes first, but a machine busy with a build still indexes at a third of its speed."""


class LanguageMissing(Exception):
    """A language can't be read here."""


def extract_named(source: bytes, language: str) -> FileSymbols:
    """A text's symbols.

    Raises:
        LanguageMissing: its grammar is not installed, or there is no language of that name.
    """
    table = language_named(language)
    if table is None:
        wheel = wheel_of(language)
        raise LanguageMissing(
            f"the package {wheel} is not installed" if wheel else f"no language {language!r}"
        )
    return extract(source.removeprefix(codecs.BOM_UTF8), table)


def extract_safely(extract_symbols: Extract, source: bytes, language: str) -> tuple[bytes | None, str | None]:
    """(encoded symbols, None), or (None, reason): a text on which the extraction fails is only skipped."""
    try:
        return encode(extract_symbols(source, language)), None
    except LanguageMissing as error:
        return None, f"cannot be parsed: {error}"
    except Exception as error:  # noqa: BLE001 - one bad file must not end the run, and the reason is reported
        return None, f"cannot be parsed: {type(error).__name__}: {error}"[:300]


def write_frame(stream: IO[bytes], value: Any) -> None:
    """Write one value, and flush.

    Raises:
        OSError: the other side is gone.
    """
    frames.write(stream, marshal.dumps(value))


def read_frame(stream: IO[bytes]) -> Any:
    """Read one value.

    Raises:
        EOFError: the other side is gone, perhaps in the middle of a frame.
    """
    return marshal.loads(frames.read(stream))  # noqa: S302 - from a process of our own


def main(arguments: list[str]) -> None:
    """Answer requests until the input ends."""
    limit = float(arguments[0])
    gc.set_threshold(COLLECT_AFTER)
    extract_symbols: Extract = extract_named
    if len(arguments) > 1:
        module, _, function = arguments[1].partition(":")
        extract_symbols = getattr(importlib.import_module(module), function)
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    # a stray print must not get between the frames
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in a terminal is the starter's to answer
    with suppress(AttributeError, OSError):
        os.nice(_NICE)
    write_frame(answers, READY)
    with suppress(EOFError, OSError):
        while True:
            for source, language in read_frame(requests):
                _end_after(limit)
                write_frame(answers, extract_safely(extract_symbols, source, language))
            _end_after(0)


def _end_after(seconds: float) -> None:
    """End this process by SIGPROF once it has worked for so long; 0 for never.

    Processor time, not time: on a busy machine a niced process waits more than it works.
    """
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_PROF, seconds)


if __name__ == "__main__":
    main(sys.argv[1:])
    os._exit(0)  # nothing to tidy up, and a flush of a closed pipe would only complain
