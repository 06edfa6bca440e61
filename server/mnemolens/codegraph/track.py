"""Follows definitions across change: which of the new ones each old one has become, if any.

Pure and blind to languages. All old definitions are matched against all new ones at once, one to one, in
stages: the same key, an equal hash, the parent's fate, likeness. What is not sure is said to be so; a note is
never moved by a guess. A copy never takes the place of its original, since that is matched before it.

Where anchors are and what verdicts follow is decided by whoever asks.
"""

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping
from itertools import pairwise

from mnemolens.codegraph.tokens import dice
from mnemolens.codegraph.track_known import known_anchor, known_file, known_symbol
from mnemolens.codegraph.track_pool import Finder, Indexed, Listed, Pool
from mnemolens.codegraph.track_score import (
    WEIGHTS,
    Place,
    Weights,
    common_end,
    name_likeness,
    place_of,
    score,
)
from mnemolens.codegraph.track_values import (
    LIKELY,
    MAX_CANDIDATES,
    NO_GRAMS,
    SURE,
    Candidate,
    Fate,
    Grams,
    Known,
    Match,
    Stage,
)
from mnemolens.core.symbols import CLASS_KINDS, SymbolKey

SHORT_BODY = 12
"""Tokens below which an equal body says little: many getters look the same."""

ALIKE_NAME = 0.5
"""Share of common words from which the likeness of short definitions says something."""

UNLIKE = 0.25
"""Likeness below which a definition under the same key may be another one."""

LONG = 36
"""Tokens above which two definitions that are so unlike are two."""

HOLLOW = 0.5
"""Share of its text below which a definition may have given what it did to another one."""

INSIDE = 0.65
"""Likeness from which that one has it."""

MOVED_INSIDE = 0.74
"""What such a move scores at most: the old name still stands, so the user is asked."""

CLEARLY = 0.25
"""How much more of the text it must have than what is left."""

RENAMED = 0.85
"""Likeness from which a definition is followed although one of its name stands in its place."""

LITTLE = 0.35
"""Share of what has its name now below which that is not what it was."""

NEARER = 0.1
"""How much more alike it must be there, where the text of that one came from elsewhere."""

APART = 0.15
"""How much more alike than what else is there a definition in another place must be."""

MARGIN = 0.02
"""Two candidates whose scores are this close are equal."""

SHOWN = 0.3
"""Score from which a place is offered as a candidate."""

COPY = 0.45
"""Score of a copy, which is offered where the original is gone, never taken."""

TAKEN_UP = 0.48
"""Score of a definition that was there and has the text now, offered first, never taken: it is another's."""

SCORES: dict[Stage, float] = {"same": 1.0, "full_hash": 0.98, "body_hash": 0.9}

_HOLDERS = CLASS_KINDS | {"file"}
"""Kinds that are what their members are."""

_TOKEN = re.compile(r"""[A-Za-z0-9_]+|"[^"]*"|'[^']*'|[^\sA-Za-z0-9_]""")
_MANY = 20
"""Definitions of one hash, or of one key but for the ordinal, beyond which not every pair is looked at."""


def track(
    old: Iterable[Known],
    new: Iterable[Known] | Pool,
    occupied: Container[SymbolKey] = frozenset(),
    weights: Weights = WEIGHTS,
) -> tuple[Match, ...]:
    """What became of each old definition.

    Args:
        old: definitions that once stood side by side, each key once. Records of different times, as two
            anchors' that were born on different branches, may be the same code: follow these one by one.
        new: what is there now: all definitions, or a `Pool` to look in. A `Pool` can be used again.
        occupied: keys of new definitions that stood there beside the old ones: copies, never moved to.
        weights: what counts how much where only likeness can tell.

    Returns:
        A match for each old one, in the order given; then for each new one without an old, by key, where
        `new` was given whole.

    Raises:
        ValueError: a key stands in `old` twice.
    """
    pool = new if isinstance(new, Listed | Indexed) else Listed(new)
    tracking = _Tracking(list(old), pool, occupied, weights)
    tracking.run()
    return tracking.matches()


class _Tracking:
    """One run: what was found so far.

    Attributes:
        found: {old key: (new one, stage, score)}.
        taken: {new key: old key}.
        places: {what encloses old definitions: what it has become}.
        doubted: {old key: the new one of that key, which is unlike it}.
        hollow: {old key: (the new one of that key, which has less of its text than an edit would leave,
            the share of the text that it has)}.
        ties: {old key: new ones that are equally near}.
        near: {old key: (likeness, a new one that it may have become)}, when it was asked for first.
        seen: {old key: places with what speaks for them}, to be offered should nothing be found.
        edited: finds new definitions that were found and are other ones than before, once asked for.
    """

    def __init__(
        self, old: list[Known], pool: Pool, occupied: Container[SymbolKey], weights: Weights
    ) -> None:
        self.old = {known.key: known for known in old}
        if len(self.old) < len(old):
            raise ValueError("a key stands in `old` twice")
        self.order = sorted(self.old)
        self.pool = pool
        self.occupied = occupied
        self.weights = weights
        self.members = Counter(place_of(key) for key in self.order if key.qualname)
        self.found: dict[SymbolKey, tuple[Known, Stage, float]] = {}
        self.taken: dict[SymbolKey, SymbolKey] = {}
        self.places: dict[Place, Place] = {}
        self.doubted: dict[SymbolKey, Known] = {}
        self.hollow: dict[SymbolKey, tuple[Known, float]] = {}
        self.ties: dict[SymbolKey, list[Known]] = {}
        self.finder: Finder = lambda *_: ()
        self.near: dict[SymbolKey, list[tuple[float, Known]]] = {}
        self.seen: dict[SymbolKey, dict[SymbolKey, float]] = defaultdict(dict)
        self.edited: Finder | None = None

    def run(self) -> None:
        """All stages, the surest first."""
        self.by_key()
        self.by_hash("full_hash")
        self.by_hash("body_hash")
        self.by_call()
        self.given_away()
        self.by_parent()
        if len(self.found) < len(self.old):
            self.finder = self.look_through()
        for least in (SURE, LIKELY):  # what is sure tells where the rest may be
            self.by_likeness(least)
            self.by_parent()
        self.take_doubted()
        self.take_last_of_ties()

    # Stages -------------------------------------------------------------------------------------------

    def by_key(self) -> None:
        """Each that is where it was, unless what is there now is another."""
        groups: dict[tuple[str, str], list[Known]] = defaultdict(list)
        for key in self.order:
            groups[key.file, key.qualname].append(self.old[key])
        for olds in groups.values():
            news = [new for new in self.pool.homonyms(olds[0].key) if self.fits(olds[0], new)]
            if len(olds) == len(news) == 1 and olds[0].key == news[0].key:
                self.stay(olds[0], news[0])
            elif news:
                self.by_ordinal(olds, news)

    def by_ordinal(self, olds: list[Known], news: list[Known]) -> None:
        """Definitions of one name in one place: by equal text, then likeness, then their order."""
        for alike in (_same_full, _same_body):
            groups: dict[tuple[Known, ...], list[Known]] = defaultdict(list)
            for old in olds:
                if old.key not in self.found:
                    groups[tuple(new for new in news if self.fits(old, new) and alike(old, new))].append(old)
            for same, group in groups.items():
                in_order = len(same) == len(group)
                for at, old in enumerate(group):
                    left = [new for new in (same[at : at + 1] if in_order else same) if self.fits(old, new)]
                    if left:  # more often something was put before it than taken away
                        self.stay(old, min(left, key=lambda new: _steps(old.key.ordinal, new.key.ordinal)))
        pairs = [
            (self.likeness(old, new) or 0.0, old.key == new.key, old, new)
            for old in olds[:_MANY]
            for new in news[:_MANY]
            if old.key not in self.found and self.fits(old, new)
        ]
        for _, _, old, new in sorted(
            pairs, key=lambda pair: (-pair[0], not pair[1], pair[2].key, pair[3].key)
        ):
            if old.key not in self.found and old.key not in self.doubted and self.fits(old, new):
                self.stay(old, new)

    def stay(self, old: Known, new: Known) -> None:
        """The new one of the old one's key is it, unless it is too unlike."""
        likeness = 1.0 if _same_full(old, new) or _same_body(old, new) else self.likeness(old, new)
        if likeness is not None and likeness < UNLIKE:
            self.doubted[old.key] = new
        else:
            self.take(old, new, "same", SCORES["same"])
        if likeness is not None and (left := share(old, new)) < HOLLOW:
            self.hollow[old.key] = new, left

    def by_call(self) -> None:
        """Each that was made a shell, or whose name was given to another: what it did is elsewhere now."""
        for key, (shell, left) in sorted(self.hollow.items()):
            if key in self.found and self.found[key][0] != shell:
                continue
            inside = self.inside(self.old[key], shell, left)
            if inside is None:
                continue
            part = self.part_of(self.old[key], inside[0])
            if part is not None:  # what went there is what stood in it
                self.take(part, *inside)
            else:
                if key in self.found:
                    del self.taken[self.found[key][0].key]
                self.take(self.old[key], *inside)

    def inside(self, old: Known, shell: Known, left: float) -> tuple[Known, Stage, float] | None:
        """A new definition with the text of an old one whose name a shell has, with a share that is left.

        That is one that the shell calls, or one of the same name in another class of the file.
        """
        calls = shell.calls()
        if old.key.name in old.calls():
            calls -= {old.key.name}  # it calls itself, and no copy elsewhere
        found = [
            (worth, new)
            for name in sorted({*calls, old.key.name})
            for new in self.pool.named(name)
            if name in calls or new.key.file == shell.key.file
            if new.key not in self.old and self.fits(old, new)
            if (worth := self.likeness(old, new) or 0.0) >= INSIDE and share(old, new) >= left + CLEARLY
        ]
        if not found:
            return None
        worth, new = max(found, key=lambda pair: (pair[0], pair[1].key))
        return new, "similar", min(worth, MOVED_INSIDE)

    def given_away(self) -> None:
        """Each whose name another one took over, to the letter, where its own text stands in a new one.

        What took it over was an old one, too. If the name stood for little else, nothing of it is left.
        """
        taken_over = list(self.taken_over())
        if taken_over:
            self.finder = self.look_through()
        for old, new, comer in taken_over:
            if not self.holds(old, new) or comer.key in self.found:
                continue
            worth, there = self.nearest_new(old)
            if there is not None and worth >= (self.likeness(old, new) or 0.0) + NEARER:
                del self.taken[new.key]
                self.take(old, there, "similar", min(worth, MOVED_INSIDE))
            elif share(new, old) < LITTLE:
                del self.taken[new.key], self.found[old.key]
            if self.fits(comer, new):
                self.take(comer, new, "body_hash", SCORES["body_hash"])

    def taken_over(self) -> Iterator[tuple[Known, Known, Known]]:
        """(old one, the new one of its key, the old one whose text that has)."""
        for comer in self.missing():
            if body_tokens(comer) >= SHORT_BODY:
                news = [new for new in self.with_hash(comer, "body_hash") if new.key in self.taken]
                if len(news) == 1:
                    yield self.old[self.taken[news[0].key]], news[0], comer

    def nearest_new(self, old: Known) -> tuple[float, Known | None]:
        """(likeness, what was not there before and is most like it, if it is that at all)."""
        found = [
            (worth, new)
            for new in self.nearby(old)
            if new.key not in self.old and (worth := self.likeness(old, new) or 0.0) >= RENAMED
        ]
        return max(found, key=lambda pair: (pair[0], pair[1].key), default=(0.0, None))

    def holds(self, old: Known, new: Known) -> bool:
        """Whether an old one is the new one of its key, edited."""
        found = self.found.get(old.key)
        return found is not None and found[0] == new and found[1] == "same" and not _same_full(old, new)

    def look_through(self) -> Finder:
        """Finds what an old one may have become among what is free now."""
        return self.pool.finder(lambda key: key not in self.taken and key not in self.occupied)

    def part_of(self, old: Known, new: Known) -> Known | None:
        """What stood inside an old definition and is nowhere now, if a new one is more like that."""
        worth = self.likeness(old, new) or 0.0
        inside = f"{old.key.qualname}."
        found = []
        for key in self.order[bisect_left(self.order, (old.key.file, inside)) :]:
            if key.file != old.key.file or not key.qualname.startswith(inside):
                break
            part = self.old[key]
            if key not in self.found and self.fits(part, new):
                found.append((self.likeness(part, new) or 0.0, key))
        best, key = max(found, default=(0.0, old.key))
        return self.old[key] if best >= worth else None

    def by_hash(self, stage: Stage) -> None:
        """Each whose text stands elsewhere, unless several are equally near."""
        best: dict[SymbolKey, tuple[tuple[int, ...], list[Known]]] = {}
        for old in self.missing():
            near: dict[tuple[int, ...], list[Known]] = defaultdict(list)
            for new in self.with_hash(old, stage):
                if self.fits(old, new) and self.says_enough(old, new):
                    near[self.agreement(old, new)].append(new)
            if near:
                agreement = max(near)
                best[old.key] = agreement, near[agreement]
        self.in_order({key: news for key, (_, news) in best.items() if len(news) > 1}, stage)
        for key, (_, news) in sorted(best.items(), key=lambda item: item[1][0], reverse=True):
            if key in self.found:
                continue
            free = [new for new in news if new.key not in self.taken]
            if len(free) == 1:
                self.take(self.old[key], free[0], stage, SCORES[stage])
            elif free:
                self.ties.setdefault(key, free)
        self.beside_found(stage)

    def in_order(self, tied: Mapping[SymbolKey, list[Known]], stage: Stage) -> None:
        """Equal definitions of one name that went to another place together, one for one."""
        groups: dict[tuple[SymbolKey, tuple[SymbolKey, ...]], list[SymbolKey]] = defaultdict(list)
        for key, news in tied.items():
            groups[key._replace(ordinal=0), tuple(sorted(new.key for new in news))].append(key)
        for (_, there), keys in groups.items():
            if len(keys) == len(there) and len({key._replace(ordinal=0) for key in there}) == 1:
                by_key = {new.key: new for new in tied[keys[0]]}
                for old, new in zip(sorted(keys), there, strict=True):
                    if self.fits(self.old[old], by_key[new]):
                        self.take(self.old[old], by_key[new], stage, SCORES[stage])

    def beside_found(self, stage: Stage) -> None:
        """Equal ones that stand right before or after one that was found, here as there.

        What moves in one piece keeps its order: so grows the piece in which one was known by its text.
        """
        here: dict[str, list[SymbolKey]] = {key.file: [] for key in self.ties}
        for key in self.old:
            if key.file in here:
                here[key.file].append(key)
        texts: dict[str, dict[SymbolKey, int]] = {}
        for keys in here.values():
            for step in (1, -1):
                for before, key in pairwise(keys[::step]):
                    if before not in self.found or key in self.found or key not in self.ties:
                        continue
                    beside = self.beside_in(texts, self.found[before][0].key, step)
                    new = next((new for new in self.ties[key] if new.key == beside), None)
                    if new is not None and self.fits(self.old[key], new):
                        self.take(self.old[key], new, stage, SCORES[stage])

    def beside_in(
        self, texts: dict[str, dict[SymbolKey, int]], key: SymbolKey, step: int
    ) -> SymbolKey | None:
        """What stands so many definitions further in a new file's text; `texts` holds those read already."""
        keys = self.pool.in_text(key.file)
        if key.file not in texts:
            texts[key.file] = {one: at for at, one in enumerate(keys)}
        at = texts[key.file].get(key, -2) + step
        return keys[at] if 0 <= at < len(keys) else None

    def by_parent(self) -> None:
        """Members of what was renamed or moved, and what holds members that were; until nothing changes."""
        before = -1
        while before < len(self.found):
            before = len(self.found)
            votes = self.vote()
            for old in self.missing():
                self.with_parent(old)
                if old.key not in self.found:
                    self.with_members(old, votes.get((old.key.file, old.key.qualname)))

    def vote(self) -> dict[Place, Counter[Place]]:
        """Where the members of each place have gone."""
        votes: dict[Place, Counter[Place]] = defaultdict(Counter)
        for key, (new, _, _) in self.found.items():
            if key.qualname:  # a file is no member of itself
                votes[place_of(key)][place_of(new.key)] += 1
        self.places = {}
        for place, counts in votes.items():
            there, count = max(counts.items(), key=lambda item: (item[1], item[0]))
            if count * 2 > counts.total():
                self.places[place] = there
        for key, (new, _, _) in self.found.items():
            self.places[key.file, key.qualname] = (new.key.file, new.key.qualname)
        return votes

    def with_parent(self, old: Known) -> None:
        """A member of the same name in what its parent has become."""
        here = place_of(old.key)
        file, parent = self.moved(here)
        if (file, parent) == here:
            return
        qualname = f"{parent}.{old.key.name}" if parent else old.key.name
        wanted = SymbolKey(file, qualname, old.key.ordinal)
        news = [new for new in self.pool.homonyms(wanted) if self.fits(old, new)]
        if not news:
            return
        new = next((new for new in news if new.key == wanted), news[0])
        likeness = self.likeness(old, new)
        if likeness is None:
            self.take(old, new, "parent", SURE)
        elif likeness >= UNLIKE or max(old.token_count, new.token_count) <= LONG:
            left = share(old, new)
            inside = self.inside(old, new, left) if left < HOLLOW else None
            self.take(old, *(inside or (new, "parent", SURE + 0.2 * likeness)))

    def with_members(self, old: Known, votes: Counter[Place] | None) -> None:
        """A class or file that most of its members have gone to."""
        if not votes:
            return
        there, count = max(votes.items(), key=lambda item: (item[1], item[0]))
        new = self.pool.get(SymbolKey(*there))
        if new is None or not self.fits(old, new):
            return
        if old.kind not in _HOLDERS and (self.likeness(old, new) or 0.0) < HOLLOW:
            return  # what is inside a function is often the same in many: it does not stand for the whole
        if count * 2 > max(votes.total(), self.members[old.key.file, old.key.qualname]):
            self.take(old, new, "parent", SURE + 0.2 * count / votes.total())

    def by_likeness(self, least: float) -> None:
        """Each that is nearest to one new definition, in text, name and place together."""
        pairs: list[tuple[float, SymbolKey, SymbolKey]] = []
        rivals: dict[SymbolKey, list[tuple[float, SymbolKey]]] = {}
        for old in self.missing():
            scores = sorted(self.scores(old), reverse=True)
            rivals[old.key] = scores
            self.seen[old.key].update((there, worth) for worth, there in scores if worth >= SHOWN)
            pairs += [(worth, old.key, there) for worth, there in scores if worth >= least]
        pairs.sort(key=lambda pair: (-pair[0], pair[1], pair[2]))
        for worth, key, there in pairs:
            if key in self.found or there in self.taken:
                continue
            close = [one for value, one in rivals[key] if value > worth - MARGIN and one not in self.taken]
            new = self.pool.get(there)
            if new is None or (worth < SURE and not self.stands_out(self.old[key], new)):
                continue
            if all(one == there or _inside(one, there) for one in close):
                self.take(self.old[key], new, "similar", worth)
            elif not any(_inside(there, one) for one in close):
                self.ties[key] = [tied for one in close if (tied := self.pool.get(one)) is not None]

    def scores(self, old: Known) -> list[tuple[float, SymbolKey]]:
        """(score, key) of the free ones that it may have become."""
        near = self.near.get(old.key)
        if near is None:
            near = self.near[old.key] = [(self.likeness(old, new) or 0.0, new) for new in self.nearby(old)]
        free = [(likeness, new) for likeness, new in near if new.key not in self.taken]
        return [
            (score(old, new, likeness, self.moved, self.became, self.weights), new.key)
            for likeness, new in free
        ]

    def stands_out(self, old: Known, new: Known) -> bool:
        """Whether a text is more alike than what else stands around there, clearly so in another place.

        Where every definition looks the same, likeness tells nothing; only a name that nothing else has does.
        """
        if old.key.name == new.key.name and len(list(self.pool.named(new.key.name))) == 1:
            return True
        in_place = self.moved(place_of(old.key)) == place_of(new.key)
        most = (self.likeness(old, new) or 0.0) - (0.0 if in_place else APART)
        around = self.pool.around(old, (old.key.file, new.key.file))
        others = (
            one
            for one in around
            if one.key != new.key and _same_sort(old, one) and not _inside(one.key, new.key)
        )
        return all((self.likeness(old, one) or 0.0) <= most for one in others)

    def take_doubted(self) -> None:
        """What was found nowhere else is where it was, changed, where it is too short to be sure of that."""
        for key, new in self.doubted.items():
            old = self.old[key]
            if key in self.found or new.key in self.taken:
                continue
            if min(old.token_count, new.token_count) <= LONG:
                self.take(old, new, "same", SCORES["same"])

    def take_last_of_ties(self) -> None:
        """Of several equal ones all but one were found to be another's."""
        for key, news in sorted(self.ties.items()):
            free = [new for new in news if self.fits(self.old[key], new)]
            if key not in self.found and len(free) == 1:
                self.take(self.old[key], free[0], "body_hash", LIKELY)

    # What stages ask ----------------------------------------------------------------------------------

    def missing(self) -> Iterator[Known]:
        """The old ones that were not found yet, by key."""
        return (self.old[key] for key in self.order if key not in self.found)

    def fits(self, old: Known, new: Known) -> bool:
        """Whether a new one may be an old one at all."""
        return (
            new.key not in self.taken
            and new.key not in old.refused
            and (new.key == old.key or new.key not in self.occupied)
            and _same_sort(old, new)
        )

    def with_hash(self, old: Known, stage: Stage) -> Iterable[Known]:
        """The new ones of the old one's hash."""
        own = old.full_hash if stage == "full_hash" else old.body_hash
        look_up = self.pool.with_full if stage == "full_hash" else self.pool.with_body
        found = {new.key: new for value in {own, *old.other_hashes} if value for new in look_up(value)}
        return found.values()

    def says_enough(self, old: Known, new: Known) -> bool:
        """Whether a like body says anything: it is long or a whole file, or the name or the place agrees."""
        if old.kind == "file" or body_tokens(new) >= SHORT_BODY or old.key.name == new.key.name:
            return True
        if place_of(old.key) != place_of(new.key):
            # Its name is what it stands in now, or the other way round.
            return _inside(new.key, old.key) or _inside(old.key, new.key)
        # A declaration is all head: in its place it is known by that.
        alike = new.token_count >= 2 * SHORT_BODY and _same_full(old, new)
        return alike or any(self.beside(old, new))

    def agreement(self, old: Known, new: Known) -> tuple[int, ...]:
        """How well the places of two agree: name, parent, its name, path, neighbours, in this order."""
        here, there = place_of(old.key), place_of(new.key)
        return (
            old.key.name == new.key.name,
            here == there,
            common_end(here[1], there[1], "."),
            here[1] == there[1],
            common_end(old.key.file, new.key.file, "/"),
            len({*old.key.file.split("/")} & {*new.key.file.split("/")}),
            sum(self.beside(old, new)),
        )

    def beside(self, old: Known, new: Known) -> Iterator[bool]:
        """Whether the definitions before and after are the same."""
        return (
            bool(then) and self.became(SymbolKey(old.key.file, then)) == SymbolKey(new.key.file, now)
            for then, now in zip(old.neighbours, new.neighbours, strict=True)
        )

    def nearby(self, old: Known) -> Iterable[Known]:
        """Those whose likeness is worth looking at; not what was doubted, as name and place would win."""
        if not old.grams():
            return []
        doubted = self.doubted.get(old.key)
        files = {old.key.file, self.moved(place_of(old.key))[0]}
        near = self.finder(old, files)
        return [
            new
            for new in near
            if new != doubted
            and self.fits(old, new)
            and (self.says_enough(old, new) or _names_alike(old, new))
            and new.grams()
        ]

    def moved(self, place: Place) -> Place:
        """What a place has become; a nested one goes with what encloses it."""
        there = self.places.get(place)
        if there is not None or not place[1]:
            return there or place
        outer, _, name = place[1].rpartition(".")
        file, parent = self.moved((place[0], outer))
        return file, f"{parent}.{name}" if parent else name

    def became(self, key: SymbolKey) -> SymbolKey:
        """What a definition has become, as far as that is known; of unknown ones what is likely."""
        found = self.found.get(key)
        if found is not None:
            return found[0].key._replace(ordinal=0)
        file, parent = self.moved(place_of(key))
        return SymbolKey(file, f"{parent}.{key.name}" if parent else key.name)

    def likeness(self, old: Known, new: Known) -> float | None:
        """How alike two texts are; None where that can't be told."""
        first, second = old.grams(), new.grams()
        return dice(first, second) if first and second else None

    def take(self, old: Known, new: Known, stage: Stage, worth: float) -> None:
        """The old one is the new one."""
        self.found[old.key] = (new, stage, worth)
        self.taken[new.key] = old.key

    # Results ------------------------------------------------------------------------------------------

    def matches(self) -> tuple[Match, ...]:
        """What became of everything."""
        fates = [self.match(old) for old in self.old.values()]
        added = [Match("added", None, new.key) for new in self.pool.everything() if new.key not in self.taken]
        return (*fates, *added)

    def match(self, old: Known) -> Match:
        """What became of one."""
        found = self.found.get(old.key)
        if found is None:
            return self.unfound(old)
        new, stage, worth = found
        return Match(self.fate(old.key, new.key), old.key, new.key, stage, worth, _changed(old, new))

    def fate(self, old: SymbolKey, new: SymbolKey) -> Fate:
        """Of a found one. Members of a class that was renamed in its place are renamed with it."""
        if (old.file, old.qualname) == (new.file, new.qualname):
            return "kept"
        here, there = place_of(old), place_of(new)
        outer = self.found.get(SymbolKey(*here))
        if outer is not None:
            here = (outer[0].key.file, outer[0].key.qualname)
        return "renamed" if old.file == new.file and here == there else "moved"

    def unfound(self, old: Known) -> Match:
        """Of one that is nowhere: with what it may be."""
        tied = [new.key for new in self.ties.get(old.key, ()) if self.fits(old, new)]
        if len(tied) > 1:
            shown = [Candidate(key, max(self.seen[old.key].get(key, 0), 1 / len(tied))) for key in tied]
            return Match("ambiguous", old.key, None, candidates=_best(shown))
        offered = dict(self.seen[old.key])
        doubted = self.doubted.get(old.key)
        if doubted is not None:
            offered.setdefault(doubted.key, SHOWN)
        if body_tokens(old) >= SHORT_BODY:
            copies = (*self.with_hash(old, "full_hash"), *self.with_hash(old, "body_hash"))
            offered.update((new.key, COPY) for new in copies if _same_sort(old, new))
        copies_too = {key for key, worth in offered.items() if worth == COPY or key not in self.taken}
        worths = {key: min(offered[key], COPY) for key in copies_too}
        worths.update(dict.fromkeys(self.taken_up(old), TAKEN_UP))
        kept = [Candidate(key, worth) for key, worth in worths.items() if key not in old.refused]
        return Match("lost", old.key, None, candidates=_best(kept))

    def taken_up(self, old: Known) -> Iterator[SymbolKey]:
        """The edited definitions that have most of its text now; of short ones that says nothing."""
        if body_tokens(old) < SHORT_BODY or not old.grams():
            return
        if self.edited is None:
            pairs = ((self.old[key], new) for key, (new, _, _) in self.found.items())
            edited = {new.key for was, new in pairs if not _same_full(was, new)}
            self.edited = self.pool.finder(lambda key: key in edited)
        for new in self.edited(old, (old.key.file,)):
            if _same_sort(old, new) and share(old, new) >= INSIDE:
                yield new.key


def share(old: Known, new: Known) -> float:
    """How much of an old text a new one has, 0..1."""
    grams = old.grams()
    return len(grams & new.grams()) / len(grams) if grams else 0.0


def body_tokens(known: Known) -> int:
    """Tokens of a definition less those of its head."""
    return tokens_of_body(known.token_count, known.signature)


def tokens_of_body(token_count: int, signature: str) -> int:
    """Tokens of a definition less those of its head, which is on one line, as a symbol has it."""
    return token_count - len(_TOKEN.findall(signature))


def _best(candidates: list[Candidate]) -> tuple[Candidate, ...]:
    return tuple(sorted(candidates, key=lambda one: (-one.score, one.key))[:MAX_CANDIDATES])


def _names_alike(old: Known, new: Known) -> bool:
    return name_likeness(old.key.name, new.key.name) >= ALIKE_NAME


def _same_full(old: Known, new: Known) -> bool:
    return bool(new.full_hash) and new.full_hash in {old.full_hash, *old.other_hashes}


def _same_body(old: Known, new: Known) -> bool:
    return bool(new.body_hash) and new.body_hash in {old.body_hash, *old.other_hashes}


def _steps(old: int, new: int) -> tuple[int, int]:
    """How far one ordinal is from another; of two that are as far the later one is nearer."""
    return abs(new - old), old - new


def _inside(inner: SymbolKey, outer: SymbolKey) -> bool:
    """Whether one place is in the other."""
    return inner.file == outer.file and inner.qualname.startswith(f"{outer.qualname}.")


def _same_sort(old: Known, new: Known) -> bool:
    """Both files, both of the sorts of class, or neither."""
    if "file" in {old.kind, new.kind}:
        return old.kind == new.kind
    return (old.kind in CLASS_KINDS) == (new.kind in CLASS_KINDS)


def _changed(old: Known, new: Known) -> bool:
    if old.full_hash and new.full_hash:
        return old.full_hash != new.full_hash
    return bool(old.body_hash and new.body_hash and old.body_hash != new.body_hash)


__all__ = [
    "LIKELY",
    "MAX_CANDIDATES",
    "NO_GRAMS",
    "SURE",
    "WEIGHTS",
    "Candidate",
    "Fate",
    "Grams",
    "Indexed",
    "Known",
    "Listed",
    "Match",
    "Pool",
    "Stage",
    "Weights",
    "known_anchor",
    "known_file",
    "known_symbol",
    "tokens_of_body",
    "track",
]
