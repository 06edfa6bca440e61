"""Values of the code graph that are kept packed."""

from mnemolens.core.symbols import FileSymbols, PackedNames

SETS = (frozenset({"row", "value =charge()", "naïve"}), frozenset(), frozenset({"line\nbreak", "nul\0"}))


def packed(sets):
    return PackedNames(tuple(map(PackedNames.pack, sets)))


def test_names_come_out_as_they_were():
    names = packed(SETS)
    assert tuple(names) == SETS
    assert (names[0], names[-1], len(names)) == (SETS[0], SETS[2], 3)
    assert names[1:] == SETS[1:]


def test_equal_sets_are_the_same_bytes_whichever_way_they_were_made():
    made = PackedNames.pack([b"value".decode(), "row", "a"])
    assert made == PackedNames.pack(["a", "row", "value"])
    assert made != PackedNames.pack(["a", "row"])


def test_packed_names_equal_those_that_are_not_packed():
    assert packed(SETS) == packed(SETS)
    assert packed(SETS) != packed(SETS[:2])
    assert FileSymbols("python", locals=packed(SETS)) == FileSymbols("python", locals=SETS)
    assert FileSymbols("python", locals=SETS) == FileSymbols("python", locals=packed(SETS))
    assert hash(packed(SETS)) == hash(SETS)
