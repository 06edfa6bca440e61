"""Values of the code graph that are kept packed."""

from mnemolens.core.symbols import FileSymbols, PackedNames, Range, Symbol, SymbolRange, apart, shared

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


def made(*names):
    return tuple(Symbol(name, name, 0, "function", -1) for name in names)


def test_what_may_differ_is_what_stands_between_the_same_objects():
    first, second, third, new = made("first", "second", "third", "new")
    assert apart((first, second, third), (first, new, third)) == ((second,), (new,))
    assert apart((first, third), (first, new, third)) == ((), (new,))
    assert apart((first, first), (first,)) == ((first,), ())
    assert apart((), (new,)) == ((), (new,))
    assert apart((first, second), (first, second)) == ((), ())


def test_equal_symbols_are_shared_and_nothing_else_changes():
    place = (SymbolRange(Range((4, 0), (5, 0)), Range((4, 4), (4, 9))),) * 3
    before = FileSymbols("python", made("first", "second"))
    after = FileSymbols("python", made("new", "second", "first"), ranges=place)
    found = shared(after, before)
    assert found == after
    assert found.ranges is after.ranges
    assert found.symbols[1] is before.symbols[1]
    assert found.symbols[2] is before.symbols[0]
    changed = FileSymbols("python", (Symbol("first", "first", 0, "function", -1, signature="def first(x)"),))
    assert shared(changed, before).symbols[0] is changed.symbols[0]
