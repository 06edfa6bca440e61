"""Subject: notes of a megabyte, and forty of them: no request may wait for one."""

import time
from collections.abc import Iterator

from client import Client
from lab import WATCHED, Lab, change, open_document, wait_for_index
from measure import Figure, figure, timed
from storms import holds

SUBJECT = "notes of 1 MB"
NOTES = 40
SIZE = 1_000_000
TEXT = "the provider repeats calls when a payment fails and the ledger must be merged with care"


def measure(lab: Lab) -> Iterator[Figure]:
    """Captured, touched all at once by a save, and read at a start."""
    root = lab.work / "notes"
    root.mkdir()
    path = root / "shop.py"
    path.write_text(
        "".join(f"def step_{n}_of(rows):\n    total = {n}\n    return total\n\n\n" for n in range(NOTES))
    )
    environment = lab.environment()
    with lab.serving(root, environment, WATCHED) as client:
        open_document(client, path)
        uri = path.as_uri()
        texts = iter([_note(number) for number in range(NOTES)])
        numbers = iter(range(NOTES))

        def capture() -> None:
            place = {"line": next(numbers) * 5, "character": 5}
            client.command("mnemolens.memory.capture", content=next(texts), uri=uri, position=place)

        holds(client, "")
        yield figure(SUBJECT, "captured", timed(capture, NOTES))
        yield holds(client, "while notes of 1 MB are captured")
        for number in range(NOTES):
            line = number * 5 + 1
            client.notify("textDocument/didChange", change(uri, number + 2, line, 4, 4, "total = 0; "))
        client.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
        hover = {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 6}}
        taken = timed(lambda: client.request("textDocument/hover", hover), 1)
        yield Figure(SUBJECT, f"hover right after a save that touches {NOTES}", "ms", taken[0], target=100)
        time.sleep(3)
        yield holds(client, f"while a save touches {NOTES} notes of 1 MB")
    client = Client(WATCHED, environment)
    try:
        client.initialize(root)
        ready = time.perf_counter() - client.started_at
        client.request("bench/holds", None)
        wait_for_index(client)
        time.sleep(4)
        yield Figure(SUBJECT, f"start with {NOTES}: initialize is answered", "s", ready)
        yield holds(client, f"the start with {NOTES} notes of 1 MB")
    finally:
        client.close()


def _note(number: int) -> str:
    words = TEXT.split()
    lines = [f"`step_{number}_of` is slow (note {number})."]
    size = 0
    while size < SIZE - 200:
        first = (number * 7 + len(lines)) % len(words)
        turned = " ".join(words[first:] + words[:first])
        lines.append(f"{turned}; see step_{len(lines) % NOTES}_of and item{len(lines) * 7919 % 10**6}.")
        size += len(lines[-1]) + 1
    return "\n".join(lines)
