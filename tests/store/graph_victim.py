"""A process that writes to a graph until it is killed: see test_graph.py."""

import sys
from itertools import count
from pathlib import Path

from mnemolens.core.clock import SystemClock
from mnemolens.store.graph import GraphStore
from mnemolens.store.graph_schema import Changes


def main() -> None:
    store = GraphStore(Path(sys.argv[1]), SystemClock())
    store.open().result()
    store.build([]).result()
    print("writing", flush=True)
    for number in count():
        rows = tuple(("Session", f"{number}-{place}") for place in range(50))
        store.write(Changes(add_nodes=rows)).result()


if __name__ == "__main__":
    main()
