"""How well and how fast search finds: words alone, and with the extra's model where that is asked for.

    python tests/bench/search.py [--quick] [--model] [--packages FOLDER NAME …]

Shares are told as what is missed, so that less is better as everywhere. R@5 is the share of queries whose
answer is among the first five.

- *docstring to function*: 1,000 functions of the standard library, drawn with a fixed seed, whose docstring
  begins with a paragraph of eight words or more. Docstrings of functions are cut out of the source before it
  is read; they are the queries, without doctest lines and the function's name. Asked for is also with no more
  than the *first paragraph*, which is harder. The index is that behind suggestions.
- *cursor to memory*: the same the other way round: notes are 60 words of each docstring, the query is what
  the function's code says.
- *paraphrases*: `tests/data/search/paraphrases.tsv`: notes, and how somebody else would ask for each. They
  lie among 130 notes on other things (`tests/data/linking/`) and are searched as `recall` does. What meaning
  and words count was chosen with these in sight. Nothing was tuned on two sets about one package each:
  *as asked*, `paraphrases_scrapy.tsv`, whose questions were written as a colleague asks, and *words shunned*,
  `paraphrases_execnet.tsv`, asked for with as few of the notes' words as could be.
- *speed*: 100,000 notes made by a script, of 40 words drawn by Zipf's law; queries of one to three words
  drawn alike, searched as `memory.list` and `recall` do. Some are words that others stand in for.

With --model docstrings and paraphrases are told once more, fused with vectors of the extra `[minilm]`; a
function has two, of its code and of its summary, and the nearer one counts. They take some minutes.

With --packages docstrings are asked of those packages in the folder alone, a pool for each: packages differ
more than methods do. They need not be installed: `pip install --no-deps --target FOLDER NAME …` will do.
"""

import argparse
import ast
import itertools
import json
import random
import re
import sys
import sysconfig
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from measure import Figure, exit_code, figure, show

from mnemolens.codegraph.extract import extract
from mnemolens.codegraph.languages import language_of
from mnemolens.core.errors import EmbedderUnavailable
from mnemolens.core.text import Text
from mnemolens.engine.embedders import MiniLm
from mnemolens.engine.searching import FIELDS, USUAL_LENGTH
from mnemolens.engine.suggestions import MARGIN
from mnemolens.search import functions
from mnemolens.search.fusion import fused
from mnemolens.search.index import Wanted, WordIndex
from mnemolens.search.query import MAX_WORDS, read_query
from mnemolens.search.words import terms_of_part, words_of_query

REPOSITORY = Path(__file__).parents[2]
DATA = REPOSITORY / "tests" / "data"
SUBJECT = "search"
FUNCTIONS = 1_000
NOTES = 100_000
HAVING_SYNONYMS = (
    "remove delete erase start launch stop kill folder directory send post error exception fail create make"
    " add change edit replace show print read load write save find search check verify allow need wait slow"
)
"""Every tenth of the words that are met most often."""


def measure(notes: int, model: MiniLm | None = None) -> list[Figure]:
    """All figures."""
    pool = library()
    return [
        *docstrings("", pool, model),
        cursor(pool),
        *paraphrases("paraphrases", "paraphrases.tsv", model),
        *paraphrases("as asked", "paraphrases_scrapy.tsv", model),
        *paraphrases("words shunned", "paraphrases_execnet.tsv", model),
        *speed(notes),
    ]


def missed(name: str, hits: list[bool], target: float, note: str = "") -> Figure:
    """The share of queries that were answered wrongly; the target is told as what must be right."""
    share = 1 - sum(hits) / len(hits)
    return Figure(SUBJECT, name, "missed", share, target=round(1 - target, 3), samples=len(hits), note=note)


@dataclass
class Function:
    fields: dict[str, str]
    code: str
    whole: str
    first: str

    @property
    def note(self) -> str:
        return " ".join(self.whole.split()[:60])


def library() -> list[Function]:
    """Functions of the standard library with a docstring, drawn at random with a fixed seed."""
    return drawn(Path(sysconfig.get_path("stdlib")), "", "site-packages", "idlelib")


def drawn(root: Path, package: str, *left_out: str) -> list[Function]:
    found = []
    for path in sorted((root / package).rglob("*.py")):
        name = path.relative_to(root).as_posix()
        if set(left_out) & set(path.parts) or "test" in name.lower():
            continue
        try:
            source = path.read_text(encoding="utf-8")
            tree = ast.parse(source)
        except (SyntaxError, ValueError):
            continue
        found += functions_of(name, source, tree)
    random.Random(0).shuffle(found)
    return found[:FUNCTIONS]


def functions_of(file: str, source: str, tree: ast.AST) -> list[Function]:
    lines = source.split("\n")
    said = {}
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        docstring = ast.get_docstring(node)
        first = node.body[0] if docstring else None
        if first is None or first.lineno == node.lineno:
            continue
        said[node.lineno] = docstring
        indent = re.match(r"\s*", lines[first.lineno - 1])[0]
        for line in range(first.lineno - 1, first.end_lineno):
            lines[line] = ""
        lines[first.lineno - 1] = f"{indent}pass"
    text = Text("\n".join(lines).encode())
    symbols = extract(text.data, language_of(file))

    def text_in(span):
        return text.data[text.offset(span.start) : text.offset(span.end)]

    found = []
    for at, fields in functions.documents(file, symbols, text_in):
        symbol, span = symbols.symbols[at], symbols.ranges[at]
        docstring = said.get(span.name.start.line + 1)
        if symbol.kind not in {"function", "method"} or docstring is None or symbol.name.startswith("__"):
            continue
        whole = "\n".join(
            line for line in docstring.split("\n") if not line.strip().startswith((">>>", "..."))
        )
        name = re.compile(rf"\b{re.escape(symbol.name)}\b", re.IGNORECASE)
        first, *_ = re.split(r"\n\s*\n", whole.strip())
        if len(first.split()) < 8:
            continue
        assert not fields["docs"], (file, symbol.qualname)
        code = f"{' '.join(words_of_query(symbol.qualname))}. {text_in(span.definition).decode()[:800]}"
        found.append(Function(fields, code, name.sub("", whole), name.sub("", first)))
    return found


def wanted_of(text: str) -> list[Wanted]:
    return [Wanted(term) for word in words_of_query(text) for term in terms_of_part(word)]


def in_five(scores: dict[str, float], key: str) -> bool:
    return key in sorted(scores, key=lambda one: (-scores[one], one))[:5]


def docstrings(where: str, pool: list[Function], model: MiniLm | None) -> list[Figure]:
    index = WordIndex(functions.FIELDS, functions.USUAL_LENGTH)
    for number, one in enumerate(pool):
        index.put(str(number), one.fields)
    name = f"{where}docstring to function, R@5 of {len(pool):,}"
    rows = None
    if model is not None:
        code = embedded(model, [one.code for one in pool])
        rows = code, embedded(model, [functions.summary(one.fields) for one in pool])
    figures = []
    for which, queries in (
        ("", [one.whole for one in pool]),
        (", first paragraph", [one.first for one in pool]),
    ):
        asked = [wanted_of(query)[:MAX_WORDS] for query in queries]
        words = [{found.key: found.score for found in index.search(wanted, loose=True)} for wanted in asked]
        hits = [in_five(found, str(number)) for number, found in enumerate(words)]
        figures.append(missed(name + which, hits, 0.72))
        if model is not None and rows is not None:
            hits = []
            for number, query in enumerate(embedded(model, queries)):
                nearer = np.maximum(*(kept @ query for kept in rows))
                cosines = {str(other): float(value) for other, value in enumerate(nearer)}
                scores = fused(words[number], cosines, whole=index.whole(asked[number]))
                hits.append(in_five(scores, str(number)))
            figures.append(missed(f"{name}{which}, with minilm", hits, 0.85))
    return [*figures, offers(where, words)]


def offers(where: str, words: list[dict[str, float]]) -> Figure:
    ahead = []
    for number, found in enumerate(words):
        (best, most), (_, second) = [
            *sorted(found.items(), key=lambda item: -item[1])[:2],
            ("", 0.0),
            ("", 0.0),
        ][:2]
        if most and most - second >= MARGIN * most:
            ahead.append(best == str(number))
    note = f"offered for {len(ahead)} of {len(words)}"
    return missed(f"{where}suggestions that are made", ahead, 0.85, note)


def cursor(pool: list[Function]) -> Figure:
    index = WordIndex(FIELDS, USUAL_LENGTH)
    for number, one in enumerate(pool):
        index.put(str(number), {"content": one.note})
    hits = [
        str(number)
        in [found.key for found in index.search(functions.wanted_by(one.fields), limit=5, loose=True)]
        for number, one in enumerate(pool)
    ]
    return missed(f"cursor to memory, R@5 of {len(pool):,}", hits, 0.72)


def paraphrases(name: str, file: str, model: MiniLm | None) -> list[Figure]:
    lines = (DATA / "search" / file).read_text(encoding="utf-8").splitlines()
    pairs = [line.split("\t") for line in lines if not line.startswith("#")]
    others = json.loads((DATA / "linking" / "pytest_notes.json").read_text(encoding="utf-8"))["notes"]
    notes = [note for note, _ in pairs] + [one["content"] for one in others]
    index = WordIndex(FIELDS, USUAL_LENGTH)
    for number, note in enumerate(notes):
        index.put(str(number), {"content": note})
    words = [
        {found.key: found.score for found in index.search(read_query(query).wanted()[0], loose=True)}
        for _, query in pairs
    ]
    name = f"{name}, R@5 of {len(pairs)} among {len(notes)} notes"
    hits = [in_five(found, str(number)) for number, found in enumerate(words)]
    figures = [missed(name, hits, 0.55)]
    if model is not None:
        kept, asked = embedded(model, notes), embedded(model, [query for _, query in pairs])
        hits = []
        for number, found in enumerate(words):
            cosines = {str(other): float(value) for other, value in enumerate(kept @ asked[number])}
            whole = index.whole(read_query(pairs[number][1]).wanted()[0])
            hits.append(in_five(fused(found, cosines, whole=whole), str(number)))
        figures.append(missed(f"{name}, with minilm", hits, 0.72))
    return figures


def embedded(model: MiniLm, texts: list[str]) -> np.ndarray:
    """As the background work does it, batch by batch; texts of a length together."""
    order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
    rows = np.empty((len(texts), model.dimension), dtype=np.float32)
    for start in range(0, len(order), model.batch):
        batch = order[start : start + model.batch]
        rows[batch] = model.embed([texts[at] for at in batch], is_query=False)
    return rows


def speed(count: int) -> list[Figure]:
    rng = random.Random(1)
    vocabulary = [made_word(number) for number in range(30_000)]
    for at, word in enumerate(HAVING_SYNONYMS.split(), 1):
        vocabulary[10 * at] = word
    weights = list(itertools.accumulate(1 / (number + 5) for number in range(len(vocabulary))))
    index = WordIndex(FIELDS, USUAL_LENGTH)
    begun = time.perf_counter()
    for number in range(count):
        words = rng.choices(vocabulary, cum_weights=weights, k=40)
        index.put(str(number), {"title": " ".join(words[:5]), "content": " ".join(words)})
    built = time.perf_counter() - begun
    queries = [
        " ".join(rng.choices(vocabulary, cum_weights=weights, k=rng.randint(1, 3))) for _ in range(150)
    ]
    index.search(read_query("warm up").wanted(as_typed=True)[0], every=True)
    figures = []
    for name, options, as_typed in (
        ("list", {"every": True}, True),
        ("recall", {"loose": True, "limit": 50}, False),
    ):
        taken = []
        for query in queries:
            begun = time.perf_counter()
            index.search(read_query(query).wanted(as_typed=as_typed)[0], **options)
            taken.append((time.perf_counter() - begun) * 1000)
        note = f"the index was built in {built:.1f} s"
        figures.append(figure(SUBJECT, f"{count:,} notes, as {name}", taken, 20, note=note))
    return figures


def made_word(number: int) -> str:
    """Different words for different numbers, spread over beginnings as real ones are."""
    consonants, vowels = "bcdfghjklmnprstv", "aeiou"
    word = ""
    number = number * 7919 % 65_536 + 65_536
    while number:
        number, rest = divmod(number, len(consonants) * len(vowels))
        word += consonants[rest % len(consonants)] + vowels[rest // len(consonants)]
    return word


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure search.")
    parser.add_argument("--quick", action="store_true", help="among fewer notes")
    parser.add_argument("--model", action="store_true", help="also with the model of the extra [minilm]")
    parser.add_argument("--packages", nargs="+", help="a folder, and names of packages in it", metavar="PATH")
    given = parser.parse_args()
    try:
        model = MiniLm(None) if given.model else None
    except EmbedderUnavailable as error:
        print(error, file=sys.stderr)
        return 2
    if given.packages:
        folder, *names = given.packages
        figures = [one for name in names for one in docstrings(f"{name}: ", drawn(Path(folder), name), model)]
    else:
        figures = measure(20_000 if given.quick else NOTES, model)
    show(figures)
    return exit_code(figures)


if __name__ == "__main__":
    sys.exit(main())
