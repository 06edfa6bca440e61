"""The rows that a file brings into the graph, packed."""

from mnemolens.engine.graph_packed import PackedRows, Unpacking, packing, unpacked
from mnemolens.store.graph_schema import NO_ROWS, Rows


def packed(rows):
    steps = packing(rows)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def rows(nodes, rels):
    return Rows(
        tuple(("CodeFunction", f"a.py::f{n}", f"f{n}", None, "x" * n, True, n, -1) for n in range(nodes)),
        tuple(("CALLS|CodeFunction|CodeFunction", f"a.py::f{n}", "ü", "import", 2) for n in range(rels)),
    )


def test_what_is_packed_comes_out_as_it_was():
    for given in (rows(1, 0), rows(0, 1), rows(3, 4), rows(399, 2), rows(1_000, 1_000)):
        kept = packed(given)
        assert isinstance(kept, PackedRows)
        assert kept == packed(rows(len(given.nodes), len(given.rels)))
        assert unpacked(kept) == given


def test_nothing_is_nothing_packed_or_not():
    assert packed(NO_ROWS) == NO_ROWS
    assert packed(rows(1, 0)) != NO_ROWS
    assert unpacked(NO_ROWS) == NO_ROWS


def test_it_can_be_read_again():
    units = [rows(2, 3), NO_ROWS, rows(500, 1)]
    every = Unpacking(packed(unit) for unit in units)
    assert list(every) == units
    assert list(every) == units
