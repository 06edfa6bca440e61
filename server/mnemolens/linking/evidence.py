"""Names a memory is to be found by, and whether its text still holds the evidence of a link."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from mnemolens.core.memories import Evidence
from mnemolens.linking.mentions import SCAN_LIMIT, mentions, mentions_in, name_parts
from mnemolens.linking.paths import basename, metadata_paths, module_parts, without_escapes
from mnemolens.linking.values import Mention, Rule

_NEEDS_MARK = frozenset({"code_span", "call", "role", "stack_trace", "import", "symbol_id", "markdown_link"})


def names_in(text: str, rules: tuple[Rule, ...] = ()) -> frozenset[str]:
    """The names that an inverted index should hold this text under.

    A new symbol is looked up by its last name, a new file by `names_of_file`.
    """
    names: set[str] = set()
    for mention in mentions("", text, rules):
        if mention.rule == "path" or (mention.custom is not None and mention.custom.kind == "file"):
            names.update((basename(mention.text), basename(without_escapes(mention.text))))
        else:
            names.update(name_parts(mention.text))
        if mention.scope is not None:
            names.add(basename(mention.scope))
    names.discard("")
    return frozenset(names)


def names_in_metadata(metadata: Mapping[str, Any]) -> frozenset[str]:
    """The base names of the files in a memory's metadata, to be indexed beside `names_in`."""
    return frozenset(name for path in metadata_paths(metadata) if (name := basename(path.text)))


def names_of_file(path: str) -> frozenset[str]:
    """The names under which to look up a file that appears: its base name and its module's name."""
    return frozenset({path.rpartition("/")[2], module_parts(path)[-1]})


def evidence_holds(
    evidence: Evidence,
    title: str,
    content: str,
    metadata: Mapping[str, Any],
    rules: tuple[Rule, ...] = (),
) -> bool:
    """Whether the memory still says what the evidence says, wherever in that field it now stands.

    A name that was written as code or called and is now a plain word no longer counts, unless a plain word of
    that shape would.
    """
    if evidence.field.startswith("metadata."):
        key = evidence.field.removeprefix("metadata.")
        return any(path.key == key and path.text == evidence.text for path in metadata_paths(metadata))
    text = {"title": title, "content": content}.get(evidence.field, "")
    return any(
        mention.rule == evidence.rule or mention.marked or evidence.rule not in _NEEDS_MARK
        for mention in _by_text(evidence.field, text[:SCAN_LIMIT], rules).get(evidence.text, ())
    )


@lru_cache(maxsize=16)
def _by_text(field: str, text: str, rules: tuple[Rule, ...]) -> Mapping[str, Sequence[Mention]]:
    """{name: where the field mentions it}; remembered, since a memory has up to hundreds of links."""
    found = defaultdict(list)
    for mention in mentions_in(field, text, rules):
        found[mention.text].append(mention)
    return dict(found)
