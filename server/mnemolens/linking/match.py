"""Decides which code a memory's mentions mean.

A name that exists once is that symbol. A name that exists in several places is decided by what else the
memory says: the file beside it, the metadata's files, the class named, files and other names in the text, the
file the memory was captured in. What stays undecided is offered as a candidate. Pure: reads code only through
`SymbolLookup`.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Mapping
from typing import Any

from mnemolens.core.identifiers import is_common_word, split_identifier
from mnemolens.core.memories import Evidence, LinkContext
from mnemolens.core.symbols import CLASS_KINDS, FUNCTION_KINDS, SymbolKey
from mnemolens.linking.mentions import mentions, name_parts
from mnemolens.linking.paths import Found, find_files, find_modules, metadata_paths, module_parts
from mnemolens.linking.receivers import (
    abbreviates,
    class_qualifies,
    ends_with,
    is_module,
    module_qualifies,
    module_suggests,
    words_shared,
)
from mnemolens.linking.values import CANDIDATE_BELOW, Match, Mention, Rule, SymbolLookup
from mnemolens.linking.vocabulary import BUILT_IN, FOREIGN

ALL_KINDS: frozenset[LinkContext] = frozenset(
    {"metadata_file_match", "content_name_match", "content_class_match", "content_file_match"}
)
SURE = 0.8
MAX_CANDIDATES = 8
"""A name in more places than this says nothing: none is offered."""
MAX_MATCHES = 200
MAX_COMPARED = 50_000
"""Places compared for one memory: a text that names more is a listing, and what comes after is left out."""

_FROM_METADATA = 1.0
_PROBABLE = 0.7
_PLAUSIBLE = 0.6
_CANDIDATE = 0.45
_WEAK = 0.4
_SELF = frozenset({"self", "this", "cls", "super", "prototype", "globalThis"})
_LEAD_IN = re.compile(r"\b(?:from|in|of|inside|within)\s+(?:the\s+)?`?([A-Za-z_][A-Za-z0-9_]*)")
_VERB = re.compile(r"(?:add|get|make|parse|read|run|set|write)(?=[a-z]{4})")
_NOUN = re.compile(
    r"(?:\(\))?`{0,2}\s?(?:(?P<function>function\b|\u51fd\u6570)|(?P<method>method\b|\u65b9\u6cd5)|(?P<class>class\b|\u7c7b))"
)
_WITHIN = re.compile(r"(?:\(\))?`{0,2}\s(?:in|from|of)\s(?:the\s)?`?([A-Za-z_][A-Za-z0-9_]*)")
_IN_TESTS = re.compile(
    r"(?:^|/)(?:tests?|testing|__tests__|spec|examples?|docs)/|(?:^|/)(?:test_|conftest)|[._](?:test|spec)\.[a-z]+$"
)
_CAPITALISED = re.compile(r"(?<![A-Za-z0-9_$])[A-Z][A-Za-z0-9_]+")
_READ_FOR_HINTS = 20_000
_NEAR_AFTER = re.compile(r"\W{0,3}(?:function|method|class)?\s?(?:\(|in|from|at|of|@|inside|within)?\W{0,3}")
_NEAR_BEFORE = re.compile(r"(?::\d{1,9})?[\W]{0,4}(?:'s)?\s?(?:the\s)?\W{0,2}")
_NEAR = 24


def match(
    title: str,
    content: str,
    metadata: Mapping[str, Any],
    lookup: SymbolLookup,
    origin_file: str | None = None,
    *,
    kinds: frozenset[LinkContext] = ALL_KINDS,
    rules: tuple[Rule, ...] = (),
    root: str = "",
) -> tuple[Match, ...]:
    """The code that a memory speaks of, most relevant first; each place once.

    Args:
        title: the memory's title.
        content: the memory's content.
        metadata: any JSON; `file`, `file_path` and `files` are looked at.
        lookup: the code.
        origin_file: the file the memory was captured in, which decides between equal names.
        kinds: the contexts to make.
        rules: the project's own ways of naming code.
        root: absolute path of the worktree's top level, where known, to judge absolute paths by.
    """
    work = _Matching(title, content, rules, lookup, origin_file, root)
    work.files_of_metadata(metadata)
    work.files_of_text()
    work.names_of_text()
    wanted = [found for found in work.found.values() if found.context in kinds]
    return tuple(sorted(wanted, key=lambda found: (-found.relevance, found.target))[:MAX_MATCHES])


class _Matching:
    """One memory's matching: what is known so far decides what comes next."""

    def __init__(
        self,
        title: str,
        content: str,
        rules: tuple[Rule, ...],
        lookup: SymbolLookup,
        origin_file: str | None,
        root: str,
    ) -> None:
        self.found: dict[SymbolKey, Match] = {}
        self._texts = {"title": title, "content": content}
        self._lookup = lookup
        self._origin = origin_file
        self._root = root
        self._mentions = mentions(title, content, rules)
        self._metadata_files: set[str] = set()
        self._text_files: set[str] = set()
        self._paths: dict[str, list[tuple[int, int, str]]] = {"title": [], "content": []}
        self._class_names: set[str] = set()
        self._sure: set[SymbolKey] = set()
        self._hints: tuple[frozenset[str], frozenset[str]] | None = None
        self._classes: dict[str, bool] = {}
        self._compared = 0
        self._places_of: dict[str, tuple[SymbolKey, ...]] = {}

    def files_of_metadata(self, metadata: object) -> None:
        for path in metadata_paths(metadata):
            end = path.start + len(path.text)
            evidence = Evidence(f"metadata.{path.key}", path.start, end, "metadata", path.text)
            files, relevance = self._decide_file(
                find_files(path.text, self._lookup, self._root), _FROM_METADATA
            )
            for file in files:
                self._add_file(file, relevance, "metadata_file_match", evidence)
                if relevance >= CANDIDATE_BELOW:
                    self._metadata_files.add(file)

    def files_of_text(self) -> None:
        for mention in self._mentions:
            if not _names_file(mention):
                continue
            certainty = SURE if mention.custom is None else mention.custom.score
            files, relevance = self._decide_file(
                find_files(mention.text, self._lookup, self._root), certainty
            )
            for file in files:
                self._add_file(file, relevance, "content_file_match", _evidence(mention))
            if len(files) == 1 and relevance >= CANDIDATE_BELOW:
                self._text_files.add(files[0])
                self._paths[mention.field].append((mention.start, mention.end, files[0]))

    def names_of_text(self) -> None:
        names = self._distinct_names()
        for mention in names:
            self._class_names.update(
                part for part in name_parts(mention.text) if self._is_class(part) and _names_class(mention)
            )
        undecided = [mention for mention in names if not self._resolve(mention, finally_=False)]
        for mention in undecided:
            self._resolve(mention, finally_=True)

    def _distinct_names(self) -> list[Mention]:
        """The mentions of names; of those that can't but mean the same, the first."""
        first: dict[tuple[str, str, str | None, str | None], Mention] = {}
        for mention in self._mentions:
            if not _names_file(mention) and not self._means_nothing(mention):
                same = (mention.text, mention.rule, mention.scope, self._near_file(mention))
                first.setdefault(same, mention)
        return list(first.values())

    def _means_nothing(self, mention: Mention) -> bool:
        """Whether the mention is a lone name that no code has, as most words of most notes are."""
        return (
            mention.scope is None
            and mention.text.isidentifier()
            and not self._lookup.keys_named(mention.text)
        )

    def _decide_file(self, found: Found, relevance: float) -> tuple[tuple[str, ...], float]:
        files = found.files
        if len(files) > 1:
            for hint in (self._metadata_files, {self._origin}):
                chosen = tuple(f for f in files if f in hint)
                if len(chosen) == 1:
                    return chosen, min(relevance, SURE)
            if "/" not in files[0]:
                return files[:1], relevance
            return (files, _CANDIDATE) if len(files) <= MAX_CANDIDATES else ((), 0.0)
        return files, relevance if found.sure else _CANDIDATE

    def _resolve(self, mention: Mention, *, finally_: bool) -> bool:
        """Adds what the mention means; False when it is undecided and `finally_` is not set."""
        parts = tuple(part for part in name_parts(mention.text) if part not in _SELF)
        if not parts:
            return True
        places, relevance = self._candidates(mention, parts)
        if not places:
            return True
        if len(places) > 1:
            places, certainty = self._narrow(mention, places, use_other_names=finally_)
            relevance = min(relevance, certainty)
            if not finally_ and relevance < SURE:
                return False
            if len(places) > MAX_CANDIDATES:
                return True
        for place in places:
            self._add_symbol(place, relevance, mention)
        if len(places) == 1 and relevance >= _PROBABLE:
            self._sure.add(places[0])
        return True

    def _candidates(self, mention: Mention, parts: tuple[str, ...]) -> tuple[tuple[SymbolKey, ...], float]:
        """The places that the mention's own words allow, and how certain they can be at best."""
        places = self._places(parts[-1])
        self._compared += len(places)
        if self._compared > MAX_COMPARED:
            return (), 0.0
        if mention.custom is not None:
            return self._of_rule(mention.custom, parts, places)
        if mention.scope is not None:
            scoped = tuple(p for p in places if self._in_scope(p, mention.scope) and ends_with(p, parts))
            if mention.rule == "stack_trace" and not scoped:  # behind what the runtime takes for the owner
                scoped = tuple(p for p in places if self._in_scope(p, mention.scope))
                scoped = scoped if len(scoped) == 1 else ()
            if mention.rule == "import":
                scoped = tuple(p for p in scoped if "." not in p.qualname)  # no member can be imported
            if mention.rule == "symbol_id" and not scoped:
                self._add_file_of(mention, mention.scope)
            if scoped or mention.rule in {"import", "symbol_id"}:
                return scoped, SURE
            if mention.rule == "markdown_link" and is_common_word(parts[-1]):
                return (), 0.0  # a word of the label, which says what is in the file
        if len(parts) > 1:
            return self._qualified(mention, parts, places)
        return self._alone(mention, parts[0], places)

    def _alone(
        self, mention: Mention, name: str, places: tuple[SymbolKey, ...]
    ) -> tuple[tuple[SymbolKey, ...], float]:
        """A name without qualifiers."""
        if mention.rule == "word":
            functions = tuple(p for p in places if self._is_function(p))
            # A method is hardly named without its receiver, unless its name is nothing but a name.
            telling = len(functions) == 1 and _runs_together(mention.text)
            return tuple(p for p in functions if telling or "." not in p.qualname), _PLAUSIBLE
        places = self._bare(mention, places)
        visible = tuple(p for p in places if not self._is_local(p)) or places
        if len(visible) == 1 and not self._is_called(mention) and is_common_word(name):
            return visible, self._certainty_of_word(visible[0])
        return visible, SURE

    def _of_rule(
        self, rule: Rule, parts: tuple[str, ...], places: tuple[SymbolKey, ...]
    ) -> tuple[tuple[SymbolKey, ...], float]:
        """What a project's own rule names: of the kind that it says, and as certain."""
        named = (p for p in places if ends_with(p, parts) or module_qualifies(p, parts))
        wanted = {"function": FUNCTION_KINDS, "class": CLASS_KINDS}.get(rule.kind)
        return tuple(p for p in named if wanted is None or self._lookup.kind_of(p) in wanted), rule.score

    def _bare(self, mention: Mention, places: tuple[SymbolKey, ...]) -> tuple[SymbolKey, ...]:
        """Less what a name without a receiver can't mean, since it means something else."""
        text = self._texts[mention.field]
        if {text[mention.start - 1 : mention.start], text[mention.end : mention.end + 1]} & {"/", "\\"}:
            places = tuple(p for p in places if mention.text not in p.file.split("/")[:-1])  # a folder
        whole_span = text[mention.start - 1 : mention.start] == "`" == text[mention.end : mention.end + 1]
        in_code = mention.rule == "call" or (mention.rule == "code_span" and not whole_span)
        if in_code and mention.text in BUILT_IN:
            places = tuple(p for p in places if "." not in p.qualname)  # `str()` is no `LineMatcher.str`
        return places

    def _certainty_of_word(self, place: SymbolKey) -> float:
        """How certain an English word in a code span means this symbol: it may be a variable as well."""
        if self._is_local(place):
            return _CANDIDATE
        owners = place.qualname.split(".")[:-1]
        return _PLAUSIBLE if owners and self._class_names.isdisjoint(owners) else SURE

    def _qualified(
        self, mention: Mention, parts: tuple[str, ...], places: tuple[SymbolKey, ...]
    ) -> tuple[tuple[SymbolKey, ...], float]:
        """A dotted name: by its qualifiers, else by what is known of its receiver."""
        if mention.rule in {"possessive", "receiver"}:
            owned = tuple(place for place in places if ends_with(place, parts))
            inherited = None if owned or not places else self._inherited(parts)
            return owned if inherited is None else (inherited,), SURE
        if (exported := self._exported(parts)) is not None:
            return (exported,), SURE
        for qualifies in (ends_with, module_qualifies, class_qualifies):
            if qualified := tuple(place for place in places if qualifies(place, parts)):
                return qualified, SURE
        if parts[0] == "main" and (of_program := tuple(p for p in places if self._is_of_program(p, parts))):
            return of_program, SURE
        if (found := self._of_class(mention, parts, places)) is not None:
            return found
        if not places and parts[0] not in FOREIGN:
            self._add_module(mention, parts)
        return ((), 0.0) if parts[0] in FOREIGN else self._of_unknown_receiver(parts, places)

    def _is_of_program(self, place: SymbolKey, parts: tuple[str, ...]) -> bool:
        """Whether Go may call it `main.name`: it is in a folder with a `main`, whatever that is called."""
        folder = place.file.rpartition("/")[0]
        return (
            place.file.endswith(".go")
            and place.qualname == ".".join(parts[1:])
            and any(key.file.rpartition("/")[0] == folder for key in self._places("main"))
        )

    def _of_class(
        self, mention: Mention, parts: tuple[str, ...], places: tuple[SymbolKey, ...]
    ) -> tuple[tuple[SymbolKey, ...], float] | None:
        """A member that the class named has from another; the class itself, where it has no such member."""
        methods = tuple(place for place in places if "." in place.qualname)
        if not methods:
            owner = next(filter(self._is_class, parts[-2::-1]), None)
            return (self._places(owner), SURE) if owner is not None else None
        if (inherited := self._inherited(parts)) is not None:
            return (inherited,), SURE
        if not self._is_class(parts[-2]):
            return None
        if (only := self._only_class(parts[-2])) is not None:
            self._add_symbol(only, SURE, mention)  # an attribute of it, which others have as a method
        return methods, _CANDIDATE

    def _of_unknown_receiver(
        self, parts: tuple[str, ...], places: tuple[SymbolKey, ...]
    ) -> tuple[tuple[SymbolKey, ...], float]:
        """A member of what is no class: of the class that the receiver's name suggests, else the only one."""
        methods = tuple(place for place in places if "." in place.qualname)
        said = max((words_shared(place, parts) for place in methods), default=0)
        suggested = tuple(place for place in methods if said and words_shared(place, parts) == said)
        suggested = suggested or tuple(place for place in methods if module_suggests(place, parts))
        suggested = suggested or tuple(place for place in methods if abbreviates(place, parts))
        if len(suggested) == 1:
            return suggested, _PROBABLE
        telling = not is_common_word(parts[-1]) and (len(places) == 1 or len(methods) > 1)
        return methods or places, _PROBABLE if telling else _WEAK

    def _exported(self, parts: tuple[str, ...]) -> SymbolKey | None:
        """What a module gives out under this name, be it defined elsewhere: `pytest.fixture`."""
        for cut in range(len(parts) - 1, 0, -1):
            files = find_modules(parts[:cut], self._lookup)
            if len(files) == 1 and parts[0] not in FOREIGN:
                return self._meaning(files[0], parts[cut:])
        return None

    def _inherited(self, parts: tuple[str, ...]) -> SymbolKey | None:
        """The method that the class written before it, or called like the receiver, has from another one."""
        as_class = "".join(map(str.capitalize, split_identifier(parts[-2])))
        for name in dict.fromkeys((parts[-2], as_class)):
            if (owner := self._only_class(name)) is not None:
                return self._meaning(owner.file, (*owner.qualname.split("."), parts[-1]))
        return None

    def _only_class(self, name: str) -> SymbolKey | None:
        """The class of that name, None where there are none or several."""
        owners = [place for place in self._places(name) if self._lookup.kind_of(place) in CLASS_KINDS]
        return owners[0] if len(owners) == 1 else None

    def _meaning(self, file: str, parts: tuple[str, ...]) -> SymbolKey | None:
        """What the name means in a file, as one of the places of that name."""
        found = self._lookup.meaning(file, parts[-1], ".".join(parts[:-1]))
        if found is None:
            return None
        same = (place for place in self._places(parts[-1]) if place[:2] == found[:2])
        return next(same, None)

    def _narrow(
        self, mention: Mention, places: tuple[SymbolKey, ...], *, use_other_names: bool
    ) -> tuple[tuple[SymbolKey, ...], float]:
        """Of several places, those that the rest of the memory speaks for, and how certain that is."""
        near = self._near_file(mention)
        imported = self._meaning(self._origin, name_parts(mention.text)) if self._origin else None
        within = self._module_after(mention)
        steps: list[tuple[float, Callable[[SymbolKey], bool]]] = [
            (SURE, lambda p: p.file == near),
            (SURE, lambda p: p == imported),
            (_PROBABLE, lambda p: self._noun_fits(mention, p)),
            (_PROBABLE, lambda p: bool(within) and module_parts(p.file)[-1] == within),
            (SURE, lambda p: p.file in self._metadata_files),
            (SURE, lambda p: not self._class_names.isdisjoint(p.qualname.split(".")[:-1])),
            (SURE, lambda p: p.file in self._text_files),
        ]
        if use_other_names:
            sure_files = {key.file for key in self._sure}
            steps += [
                (SURE, lambda p: p in self._sure),
                (_PROBABLE, lambda p: not self._capitalised_words().isdisjoint(p.qualname.split(".")[:-1])),
                (_PROBABLE, lambda p: p.file in sure_files and len(places) <= MAX_CANDIDATES),
                (_PLAUSIBLE, lambda p: module_parts(p.file)[-1] in self._led_in_words()),
                (_PROBABLE, lambda p: p.file == self._origin),
                (_PLAUSIBLE, lambda p: not _IN_TESTS.search(p.file)),
            ]
        written_beside = 5  # the steps that outweigh the cursor
        at_origin = {p for p in places if p.file == self._origin and len(name_parts(mention.text)) == 1}
        certainty = 1.0
        for number, (strength, speaks_for) in enumerate(steps):
            kept = tuple(p for p in places if speaks_for(p))
            if kept and len(kept) < len(places):
                places, certainty = kept, min(certainty, strength)
                if number >= written_beside and at_origin and at_origin.isdisjoint(kept):
                    certainty = min(certainty, _CANDIDATE)  # the text says one thing, the cursor another
            if len(places) == 1:
                return places, certainty
        if use_other_names and self._is_called(mention) and len({p.file for p in places}) == 1:
            without_receiver = tuple(p for p in places if "." not in p.qualname)
            if len(without_receiver) == 1:
                return without_receiver, min(certainty, _PLAUSIBLE)
        named_files = self._metadata_files | self._text_files
        if all(p.file in named_files for p in places) and len({p.file for p in places}) == len(places):
            return places, _PLAUSIBLE
        owners = {p.qualname.rpartition(".")[0] for p in places}
        if owners <= self._class_names and len(owners) == len(places):
            return places, _PLAUSIBLE
        return places, _CANDIDATE

    def _noun_fits(self, mention: Mention, place: SymbolKey) -> bool:
        """Whether the place is what the text calls it right after: "the `url_for` function"."""
        noun = _NOUN.match(self._texts[mention.field], mention.end)
        if noun is None:
            return False
        if self._is_function(place):
            owned = "." in place.qualname
            return noun.lastgroup == ("method" if owned else "function")
        return noun.lastgroup == "class"

    def _module_after(self, mention: Mention) -> str:
        """The word right after that may be its module: "`save` in utils"; "" where there is none."""
        after = _WITHIN.match(self._texts[mention.field], mention.end)
        return after.group(1) if after is not None else ""

    def _near_file(self, mention: Mention) -> str | None:
        """The file written right after or right before the mention (`save` in src/db.py)."""
        paths = self._paths[mention.field]
        text = self._texts[mention.field]
        index = bisect_left(paths, (mention.start,))
        if index < len(paths):
            start, _, file = paths[index]
            if start - mention.end <= _NEAR and _NEAR_AFTER.fullmatch(text, mention.end, start):
                return file
        if index > 0:
            _, end, file = paths[index - 1]
            if mention.start - end <= _NEAR and _NEAR_BEFORE.fullmatch(text, end, mention.start):
                return file
        return None

    def _in_scope(self, place: SymbolKey, scope: str) -> bool:
        if "/" in scope or "\\" in scope:
            files = find_files(scope, self._lookup, self._root).files
            if place.file in files:
                return True
            scope = scope.replace("\\", "/").lstrip("./").replace("/", ".")
        elif place.file == scope or place.file.endswith("/" + scope):
            return True
        return is_module(place.file, tuple(part for part in scope.split(".") if part))

    def _capitalised_words(self) -> frozenset[str]:
        """Words that may name a class, too common to be linked but good enough to decide."""
        return self._read_hints()[0]

    def _led_in_words(self) -> frozenset[str]:
        """Words after "from", "in", "of": a module may be meant."""
        return self._read_hints()[1]

    def _read_hints(self) -> tuple[frozenset[str], frozenset[str]]:
        if self._hints is None:
            texts = [text[:_READ_FOR_HINTS] for text in self._texts.values()]
            self._hints = (
                frozenset(word for text in texts for word in _CAPITALISED.findall(text)),
                frozenset(word for text in texts for word in _LEAD_IN.findall(text)),
            )
        return self._hints

    def _places(self, name: str) -> tuple[SymbolKey, ...]:
        """Where the name is defined: the first ordinal stands for all of one qualified name."""
        known = self._places_of.get(name)
        if known is None:
            first: dict[tuple[str, str], SymbolKey] = {}
            for key in sorted(self._lookup.keys_named(name)):
                if key.qualname:
                    first.setdefault((key.file, key.qualname), key)
            known = self._places_of[name] = tuple(first.values())
        return known

    def _is_called(self, mention: Mention) -> bool:
        """Whether the mention's form says that it is code, not merely that it is set like code."""
        if mention.rule not in {"code_span", "markdown_link"}:
            return True
        return self._texts[mention.field].startswith("(", mention.end)

    def _is_function(self, place: SymbolKey) -> bool:
        return self._lookup.kind_of(place) in FUNCTION_KINDS

    def _is_local(self, place: SymbolKey) -> bool:
        """Whether it is defined inside a function, where no other code can name it."""
        owner = place.qualname.rpartition(".")[0]
        return bool(owner) and self._is_function(SymbolKey(place.file, owner))

    def _is_class(self, name: str) -> bool:
        known = self._classes.get(name)
        if known is None:
            known = any(self._lookup.kind_of(key) in CLASS_KINDS for key in self._places(name))
            self._classes[name] = known
        return known

    def _add_file_of(self, mention: Mention, scope: str) -> None:
        """The file alone, where the symbol that was written with it is not there."""
        files, relevance = self._decide_file(find_files(scope, self._lookup, self._root), SURE)
        for file in files:
            self._add_file(file, relevance, "content_file_match", _evidence(mention))

    def _add_module(self, mention: Mention, parts: tuple[str, ...]) -> None:
        files = find_modules(parts, self._lookup) or (
            find_modules(parts[1:], self._lookup) if len(parts) > 2 else ()
        )
        if len(files) == 1:
            self._add_file(files[0], SURE, "content_file_match", _evidence(mention))
            self._text_files.add(files[0])

    def _add_symbol(self, key: SymbolKey, relevance: float, mention: Mention) -> None:
        kind = self._lookup.kind_of(key)
        if kind is None:
            return
        context: LinkContext = "content_class_match" if kind in CLASS_KINDS else "content_name_match"
        self._add(Match(key, kind, relevance, context, _evidence(mention), relevance < CANDIDATE_BELOW))

    def _add_file(self, file: str, relevance: float, context: LinkContext, evidence: Evidence) -> None:
        key = SymbolKey(file, "")
        self._add(Match(key, "file", relevance, context, evidence, relevance < CANDIDATE_BELOW))

    def _add(self, new: Match) -> None:
        old = self.found.get(new.target)
        if old is None or new.relevance > old.relevance:
            self.found[new.target] = new


def _runs_together(word: str) -> bool:
    """Whether a lower-case word is a verb and a noun without a gap, as only names are: `getoption`."""
    verb = _VERB.match(word)
    return verb is not None and is_common_word(word[verb.end() :])


def _evidence(mention: Mention) -> Evidence:
    return Evidence(mention.field, mention.start, mention.end, mention.rule, mention.text)


def _names_file(mention: Mention) -> bool:
    return mention.rule == "path" or (mention.custom is not None and mention.custom.kind == "file")


def _names_class(mention: Mention) -> bool:
    return mention.rule != "word" and not (mention.rule == "capitalised" and is_common_word(mention.text))
