"""Makes the tracker's values: of a file's symbols, of an anchor's birth record."""

from collections.abc import Callable
from functools import cache, partial

from mnemolens.codegraph.tokens import birth_look, grams_of, neighbours_of
from mnemolens.codegraph.track_values import NO_GRAMS, Grams, Known
from mnemolens.core.memories import Anchor, CodeState
from mnemolens.core.symbols import FileSymbols, SymbolKey


def known_symbol(
    file: str, symbols: FileSymbols, at: int, grams: Callable[[], Grams] = lambda: NO_GRAMS
) -> Known:
    """One symbol of a file.

    Args:
        file: its path.
        symbols: what is known of it.
        at: the symbol's place in `symbols.symbols`.
        grams: its token 3-grams, should they be needed.
    """
    return _known(file, symbols, at, neighbours_of(symbols, at), grams)


def known_file(
    file: str, symbols: FileSymbols, grams: Callable[[int], Grams] = lambda _: NO_GRAMS
) -> list[Known]:
    """All symbols of a file, in text order; the file itself is not among them.

    Args:
        file: its path.
        symbols: what is known of it.
        grams: the token 3-grams of a symbol by its place in `symbols.symbols`, should they be needed.
    """
    last: dict[int, int] = {}
    before = [""] * len(symbols.symbols)
    after = [""] * len(symbols.symbols)
    for at, symbol in enumerate(symbols.symbols):
        beside = last.get(symbol.parent)
        if beside is not None:
            before[at] = symbols.symbols[beside].qualname
            after[beside] = symbol.qualname
        last[symbol.parent] = at
    return [
        _known(file, symbols, at, (before[at], after[at]), partial(grams, at))
        for at in range(len(symbols.symbols))
    ]


def known_anchor(anchor: Anchor, state: CodeState | None = None) -> Known:
    """What an anchor's records know of its code.

    Args:
        anchor: the anchor.
        state: the one of its known states (birth, aliases) that is its latest place; None for the birth.
    """
    birth = anchor.birth
    state = state or birth.state
    known = (birth.state, *anchor.aliases, *anchor.confirmations)
    there = [one for one in anchor.confirmations if one.key == state.key]
    seen = (*reversed(there), state, *reversed(known))
    looks = [birth_look(birth) if one is birth.state else one.fingerprint for one in seen if one.fingerprint]
    return Known(
        state.key,
        birth.kind,
        state.full_hash,
        state.body_hash,
        birth.token_count,
        birth.signature,
        birth.neighbours if state.key == birth.state.key else ("", ""),
        other_hashes=frozenset(value for one in known for value in (one.full_hash, one.body_hash) if value)
        - {state.full_hash, state.body_hash},
        refused=anchor.refused,
        grams=cache(lambda: grams_of(looks[0]) if looks else NO_GRAMS),
    )


def _known(
    file: str, symbols: FileSymbols, at: int, neighbours: tuple[str, str], grams: Callable[[], Grams]
) -> Known:
    symbol = symbols.symbols[at]
    return Known(
        SymbolKey(file, symbol.qualname, symbol.ordinal),
        symbol.kind,
        symbol.full_hash,
        symbol.body_hash,
        symbol.token_count,
        symbol.signature,
        neighbours,
        grams=cache(grams),
        calls=lambda: frozenset(call.name for call in symbols.calls if call.caller == at),
    )
