"""Where an anchor is in the code as it stands, and whether it may still be true.

Pure: asks a `Code` for symbols and their looks. It does not decide when to ask (`links.py` does, on settled
text), and it never follows code by mere likeness: `following.py` does, and says what it found.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Protocol

from mnemolens.codegraph.tokens import likeness
from mnemolens.codegraph.track import LIKELY, LONG, SHOWN, SURE, UNLIKE, tokens_of_body
from mnemolens.core.memories import Anchor, CodeState, Placement, Verdict
from mnemolens.core.symbols import CLASS_KINDS, Symbol, SymbolKey
from mnemolens.engine.following import ALIKE, Found

SHORT_BODY = 12
"""Tokens below which an equal body says little: many getters look the same (FACTS: following symbols)."""

COPY_SCORE = 0.5
"""Of a copy that is offered when the original is gone, never taken."""

STAGE_SCORES = {"place": 1.0, "alias": 1.0, "full_hash": 0.98, "body_hash": 0.9}

_UNJUDGED = CLASS_KINDS | {"file"}
"""Kinds whose notes don't drift."""


class Code(Protocol):
    """The code graph, as far as placing needs it."""

    def symbol(self, key: SymbolKey) -> Symbol | None:
        """The symbol of that identity."""

    def has_file(self, file: str) -> bool:
        """Whether the file is there."""

    def in_scope(self, file: str) -> bool:
        """Whether the file lies in the folder that is indexed."""

    def keys_with_full(self, full_hash: str) -> Iterable[SymbolKey]:
        """All symbols of that hash."""

    def keys_with_body(self, body_hash: str) -> Iterable[SymbolKey]:
        """All symbols of that hash."""

    def likeness(self, key: SymbolKey, fingerprints: Iterable[str]) -> float:
        """How alike the symbol's text now is to the nearest of the fingerprints, 0..1."""

    def is_only_laid_out_anew(self, key: SymbolKey, fingerprints: Iterable[str]) -> bool:
        """Whether a formatter may have made the symbol's text now of one with such a fingerprint."""

    def birth_look(self, anchor: Anchor) -> str:
        """The fingerprint of the anchor's code at its birth."""

    def unread(self, file: str) -> bool:
        """Whether the file is there but is not indexed: ignored, too big, of an unknown kind."""

    def neighbours(self, key: SymbolKey) -> tuple[str, str]:
        """Qualnames of the symbols right before and after, "" at an end."""

    def identifiers(self, key: SymbolKey) -> frozenset[str]:
        """The identifiers in the symbol's text now."""

    def snippet_identifiers(self, anchor: Anchor) -> frozenset[str]:
        """The identifiers in the anchor's snippet."""


def place(
    anchor: Anchor,
    named: frozenset[str],
    code: Code,
    was_there: Callable[[SymbolKey], bool],
    tracked: Found | None = None,
) -> Placement:
    """Finds the anchor by same place, known place, what the tracker found, then equal full or body hash.

    Args:
        anchor: what is remembered of it.
        named: the identifiers that the memory's text names.
        code: the code as it is now.
        was_there: whether a symbol stood beside the anchor's own while that was in its place: then it is a
            copy, and no place that the code moved to.
        tracked: where the tracker found its code in the last change that it left its place in.
    """
    states = _known_states(anchor)
    if not any(code.in_scope(state.key.file) for state in states):
        return Placement(anchor.id, None, "unanchored", in_scope=False)
    if anchor.birth.kind == "file":
        return _place_file(anchor, states, code, tracked)
    bodies = _known_bodies(anchor)
    found = _at_known_place(anchor, states, bodies, code)
    gone = tracked is not None and tracked.key is not None and code.symbol(tracked.key) is not None
    if found is None and not gone and any(code.unread(state.key.file) for state in states):
        return Placement(anchor.id, None, "unanchored", in_scope=False)
    if found is not None and not _is_shell(anchor, found[0], bodies, code, tracked):
        return _judged(anchor, *found, named, code)
    return _elsewhere(anchor, states, named, code, was_there, tracked)


def place_as_seen(anchor: Anchor, last: CodeState, tracked: Found | None = None) -> Placement:
    """Where the anchor was seen last, judged by how it looked: its file can't be judged now.

    Args:
        anchor: what is remembered of it.
        last: its latest place, and how it looked there.
        tracked: what the tracker said of it, which matters where that place is not known to be its own.
    """
    if last.key not in {anchor.birth.state.key, *(alias.key for alias in anchor.aliases)}:
        score = tracked.score if tracked is not None else LIKELY
        return Placement(anchor.id, last.key, "moved", "similar", score)
    true_of = vouching(anchor)
    same = anchor.birth.kind in _UNJUDGED or any(state.body_hash == last.body_hash for state in true_of)
    alike = same or any(likeness(last.fingerprint, state.fingerprint) >= ALIKE for state in true_of)
    return Placement(anchor.id, last.key, "fresh" if alike else "drifted", "place", 1.0, edited=not same)


def vouching(anchor: Anchor) -> tuple[CodeState, ...]:
    """The states that tell how the code looks while the memory is true of it.

    Birth and confirmations do. An accepted move does where the code was still alike then; otherwise the
    memory has to be confirmed, however well the code is known at its new place.
    """
    found = [anchor.birth.state, *anchor.confirmations]
    for alias in anchor.aliases:
        if any(
            alias.body_hash == state.body_hash or likeness(alias.fingerprint, state.fingerprint) >= ALIKE
            for state in found
        ):
            found.append(alias)
    return tuple(found)


def _known_states(anchor: Anchor) -> list[CodeState]:
    """Birth and accepted places, refused ones left out, the birth first."""
    states = [anchor.birth.state, *anchor.aliases]
    return [state for state in states if state.key not in anchor.refused] or [anchor.birth.state]


def _known_bodies(anchor: Anchor) -> frozenset[str]:
    known = (anchor.birth.state, *anchor.aliases, *anchor.confirmations)
    return frozenset(state.body_hash for state in known if state.body_hash)


def _place_file(anchor: Anchor, states: list[CodeState], code: Code, tracked: Found | None) -> Placement:
    for stage, state in zip(("place", *["alias"] * len(states)), states, strict=False):
        if code.has_file(state.key.file):
            return Placement(anchor.id, state.key, "fresh", stage, 1.0)
    if tracked is not None and tracked.key is not None and code.has_file(tracked.key.file):
        verdict: Verdict = "fresh" if tracked.score >= SURE else "moved"
        return Placement(anchor.id, tracked.key, verdict, tracked.stage, tracked.score)
    return Placement(anchor.id, None, "lost")


def _at_known_place(
    anchor: Anchor, states: list[CodeState], bodies: frozenset[str], code: Code
) -> tuple[SymbolKey, str] | None:
    """A known place that exists; one with a matching hash wins over the order of birth.

    Of several that were edited the one most alike does. Code that is long and quite unlike is other code.
    """
    existing = [(state.key, symbol) for state in states if (symbol := code.symbol(state.key))]
    found = [key for key, symbol in existing if symbol.body_hash in bodies]
    if not found:
        alike = {key: _likeness(anchor, key, code) for key, _ in existing}
        found = [key for key, symbol in existing if not _is_other(anchor, symbol, alike[key])]
        found.sort(key=lambda key: -alike[key])
    if not found:
        return None
    return found[0], "place" if found[0] == anchor.birth.state.key else "alias"


def _is_shell(
    anchor: Anchor, key: SymbolKey, bodies: frozenset[str], code: Code, tracked: Found | None
) -> bool:
    """Whether what has the anchor's name gave its text to another definition, where the tracker found it."""
    there, symbol = tracked.key if tracked is not None else None, code.symbol(key)
    if there in {None, key} or symbol is None or symbol.body_hash in bodies:
        return False
    return code.symbol(there) is not None and _likeness(anchor, there, code) > _likeness(anchor, key, code)


def _likeness(anchor: Anchor, key: SymbolKey, code: Code) -> float:
    return code.likeness(key, _looks(anchor, (*anchor.aliases, *anchor.confirmations), code))


def _looks(anchor: Anchor, states: Iterable[CodeState], code: Code) -> list[str]:
    """The fingerprints of the anchor's birth and of these states."""
    return [code.birth_look(anchor), *(state.fingerprint for state in states)]


def _is_other(anchor: Anchor, symbol: Symbol, alike: float) -> bool:
    """Whether what has the anchor's name now is another definition."""
    birth = anchor.birth
    if (symbol.kind in CLASS_KINDS) != (birth.kind in CLASS_KINDS):
        return True
    short = min(symbol.token_count, birth.token_count) <= LONG
    return not short and bool(birth.state.fingerprint) and alike < UNLIKE


def _elsewhere(
    anchor: Anchor,
    states: list[CodeState],
    named: frozenset[str],
    code: Code,
    was_there: Callable[[SymbolKey], bool],
    tracked: Found | None,
) -> Placement:
    """Where it is now that it is at no known place."""
    if tracked is not None and tracked.key is not None and code.symbol(tracked.key) is not None:
        return _carried(anchor, tracked.key, tracked, named, code)
    placement = _by_hash(anchor, states, _known_bodies(anchor), code, was_there)
    if placement.at is not None or placement.candidates:
        return placement
    if tracked is None or tracked.key is not None:
        standing = [state.key for state in states if code.symbol(state.key) is not None]
        return replace(placement, candidates=tuple((key, SHOWN) for key in dict.fromkeys(standing))[:3])
    verdict: Verdict = "ambiguous" if tracked.ambiguous else "lost"
    return Placement(anchor.id, None, verdict, tracked.stage, candidates=tracked.candidates)


def _carried(anchor: Anchor, key: SymbolKey, tracked: Found, named: frozenset[str], code: Code) -> Placement:
    """Where the tracker found it: to be confirmed, or else true of it as far as the code is alike."""
    if tracked.score < SURE:
        return Placement(anchor.id, key, "moved", tracked.stage, tracked.score)
    verdict, edited = _verdict(anchor, key, named, code)
    return Placement(anchor.id, key, verdict, tracked.stage, tracked.score, edited=edited)


def _judged(anchor: Anchor, key: SymbolKey, stage: str, named: frozenset[str], code: Code) -> Placement:
    verdict, edited = _verdict(anchor, key, named, code)
    return Placement(anchor.id, key, verdict, stage, STAGE_SCORES[stage], edited=edited)


def _verdict(anchor: Anchor, key: SymbolKey, named: frozenset[str], code: Code) -> tuple[Verdict, bool]:
    symbol = code.symbol(key)
    if symbol is None or symbol.kind in CLASS_KINDS:
        return "fresh", False
    known = (anchor.birth.state, *anchor.aliases, *anchor.confirmations)
    true_of = vouching(anchor) if anchor.aliases else known
    if any(state.body_hash == symbol.body_hash for state in true_of):
        return "fresh", False
    looks = _looks(anchor, true_of, code)
    if code.is_only_laid_out_anew(key, looks):
        return "fresh", False
    if code.likeness(key, looks) < ALIKE:
        return "drifted", True
    # The symbol's own old name may be gone by a rename, which is no reason to doubt what the memory says.
    spoken = (named & code.snippet_identifiers(anchor)) - {state.key.name for state in known}
    return ("drifted" if spoken - code.identifiers(key) else "fresh"), True


def _by_hash(
    anchor: Anchor,
    states: list[CodeState],
    bodies: frozenset[str],
    code: Code,
    was_there: Callable[[SymbolKey], bool],
) -> Placement:
    """The code stands nowhere it was known: look for the same text elsewhere."""
    copies: set[SymbolKey] = set()
    fulls = {state.full_hash for state in (*states, *anchor.confirmations) if state.full_hash}
    for stage, hashes, look_up in (
        ("full_hash", fulls, code.keys_with_full),
        ("body_hash", bodies, code.keys_with_body),
    ):
        found = {key for value in sorted(hashes) for key in look_up(value)}
        copies |= {key for key in found if was_there(key)}
        found = {key for key in found - copies if _may_be(anchor, key, code)}
        best = _nearest(anchor, found, code)
        if len(best) == 1:
            return Placement(anchor.id, best[0], "fresh", stage, STAGE_SCORES[stage])
        if best:
            shown = tuple((key, STAGE_SCORES[stage] / len(best)) for key in best[:3])
            return Placement(anchor.id, None, "ambiguous", stage, candidates=shown)
    offered = tuple((key, COPY_SCORE) for key in sorted(copies - anchor.refused)[:3])
    return Placement(anchor.id, None, "lost", candidates=offered)


def _may_be(anchor: Anchor, key: SymbolKey, code: Code) -> bool:
    """Whether an equal hash is enough: kinds agree, the place is not refused, and the body says something."""
    symbol = code.symbol(key)
    if symbol is None or key in anchor.refused:
        return False
    if (symbol.kind in CLASS_KINDS) != (anchor.birth.kind in CLASS_KINDS):
        return False
    if tokens_of_body(symbol.token_count, symbol.signature) >= SHORT_BODY:
        return True
    birth = anchor.birth.state.key
    if symbol.name == birth.name:
        return True
    beside = zip(code.neighbours(key), anchor.birth.neighbours, strict=True)
    return _same_parent(birth, key) and any(now and now == then for now, then in beside)


def _same_parent(a: SymbolKey, b: SymbolKey) -> bool:
    return a.file == b.file and a.qualname.rpartition(".")[0] == b.qualname.rpartition(".")[0]


def _nearest(anchor: Anchor, found: set[SymbolKey], code: Code) -> list[SymbolKey]:
    """Those of `found` that agree best with the birth in name, file and parent: one, or equals."""
    birth = anchor.birth.state.key

    def agreement(key: SymbolKey) -> tuple[bool, bool, bool]:
        symbol = code.symbol(key)
        name = symbol is not None and symbol.name == birth.name
        return name, key.file == birth.file, _same_parent(birth, key)

    if not found:
        return []
    top = max(agreement(key) for key in found)
    return sorted(key for key in found if agreement(key) == top)
