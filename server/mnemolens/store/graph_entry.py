"""How the graph's process begins: `python -m mnemolens.store.graph_entry`.

Owns the one answer that `graph_database.py` can't give: that kuzu is there, but can't be imported. A wheel
for another system, or a library that it needs and that is missing, would else end the process without a word.
"""

import sys

from mnemolens.store.graph_frames import write_frame


def main() -> None:
    """Says that it is ready and answers requests, or says why it can't."""
    try:
        from mnemolens.store.graph_database import main as answer
    except Exception as error:  # noqa: BLE001  a broken native library may raise anything
        words = " ".join(str(error).split()) or type(error).__name__
        write_frame(sys.stdout.buffer, ("error", "missing", f"kuzu can't be imported ({words})"))
        return
    answer()


if __name__ == "__main__":
    main()
