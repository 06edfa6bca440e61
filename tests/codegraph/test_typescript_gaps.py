"""What TypeScript's grammar can't read, against what the compiler says these texts define."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemolens.codegraph.document import Document
from mnemolens.codegraph.extract import extract
from mnemolens.codegraph.languages import language_named
from mnemolens.codegraph.languages.typescript_gaps import mended
from mnemolens.core.text import TextChange

ROOT = Path(__file__).parents[2]
PACKAGES = ROOT / "vscode-extension" / "node_modules"
TYPESCRIPT = language_named("typescript")

SIGNATURES = """\
export const map: {
  /** Data last. */
  <A, B>(f: (a: A) => B): (self: A[]) => B[] // why
  /**
   * Data first.
   */
  <A, B>(self: A[], f: (a: A) => B): B[]
} = dual(2, (self, f) => self.map(f))

export interface Factory<
  State,
  Options = {}
> {
  (state: State): Options
  (state: State, more: string): Options
  withTypes<T>(): Factory<T>
}

function after() {
  return 1
}
"""
VARIANCE = """\
export interface Box<in out T, out U extends string = "">
  extends Base<T> {
  get(): U
}
export class Sink<
  /** taken */
  in A,
  // given
  out B
> {
  put(a: A): B { return use(a) }
}
const made = class<in E> extends Base { run() {} }
"""
IMPORTED = """\
export type A = import('./a').Box<string>
export function use(box: import("./b").deep.Box<number>): void {}
"""
PROPERTY = """\
interface Parameter {
  name: string
  in: "query" | "header"
  read(): void
}
function after() {}
"""
TEMPLATES = """\
type Missing<P extends string = ""> =
  `Missing \\`Self\\`: use \\`class Self extends ${P}\\``
interface After { run(): void }
const rows = (id: string) =>
  sql<{ id: string }>`SELECT * FROM t WHERE id = ${id}`.pipe(
    done
  )
const found = {
  all: () => sql<
    Row
  >`SELECT ${rows("1")}`,
}
"""

GAPS = {
    "signatures": (SIGNATURES, [
        ("Factory", "interface", 10, 17), ("Factory.withTypes", "method_sig", 16, 16),
        ("after", "function", 19, 21),
    ]),
    "variance": (VARIANCE, [
        ("Box", "interface", 1, 4), ("Box.get", "method_sig", 3, 3),
        ("Sink", "class", 5, 12), ("Sink.put", "method", 11, 11),
        ("made", "class", 13, 13), ("made.run", "method", 13, 13),
    ]),
    "imported types": (IMPORTED, [("A", "type", 1, 1), ("use", "function", 2, 2)]),
    "a property named in": (PROPERTY, [
        ("Parameter", "interface", 1, 5), ("Parameter.read", "method_sig", 4, 4), ("after", "function", 6, 6),
    ]),
    "templates": (TEMPLATES, [
        ("Missing", "type", 1, 2), ("After", "interface", 3, 3), ("After.run", "method_sig", 3, 3),
        ("rows", "function", 4, 7), ("found.all", "method", 9, 11),
    ]),
}  # fmt: skip


def definitions(source):
    symbols = extract(source.encode(), TYPESCRIPT)
    assert not symbols.partial
    return [
        (s.qualname, s.kind, r.definition.start.line + 1, r.definition.end.line + 1)
        for s, r in zip(symbols.symbols, symbols.ranges, strict=True)
    ]


@pytest.mark.parametrize("name", GAPS)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_what_the_grammar_cannot_read_is_read(name, end):
    source, expected = GAPS[name]
    assert definitions(source.replace("\n", end)) == expected


@pytest.mark.skipif(
    not (PACKAGES / "typescript").is_dir() or shutil.which("node") is None,
    reason="needs node and the extension's packages",
)
def test_the_compiler_says_so_too(tmp_path):
    files = []
    for number, (source, _) in enumerate(GAPS.values()):
        path = tmp_path / f"{number}.ts"
        path.write_text(source, "utf-8")
        files.append(str(path))
    done = subprocess.run(
        ["node", str(ROOT / "tests" / "data" / "truth" / "definitions.cjs"), *files],
        env=os.environ | {"NODE_PATH": str(PACKAGES)},
        capture_output=True,
        check=True,
        timeout=60,
    )
    truth = json.loads(done.stdout)
    assert [[tuple(d) for d in truth[file]] for file in files] == [expected for _, expected in GAPS.values()]


@pytest.mark.parametrize(
    "source",
    [
        "const a = {\n  b: 1,\n  c: f\n    (d)\n}\n",
        "if (a) {\n  b\n  (c as any).d()\n}\n",
        "switch (a) {\n  case b: {\n    c\n    (d)\n  }\n}\n",
        "class A extends B {\n  c = d\n  (e)\n}\n",
        "const f = () => {\n  a\n  <T>(b)\n}\n",
        "interface A {\n  (a: string): void;\n  (a: number): void;\n}\n",
        "for (const a in b) use(a < in_, out)\n",
        "const a = b < c, d = e > f\n",
        "import('./a').then((a) => a.b<string>())\n",
    ],
)
def test_what_the_grammar_can_read_stays(source):
    assert mended(source.encode()) == source.encode()


def test_every_byte_and_every_line_keeps_its_place():
    for source, _ in GAPS.values():
        before = source.encode()
        after = mended(before)
        assert after != before
        assert len(after) == len(before)
        assert [i for i, b in enumerate(after) if b == 10] == [i for i, b in enumerate(before) if b == 10]


PIECES = ["\n", " ", "{", "}", "(", "<", "in ", "out ", "\\`", "`", "x", "// c\n", "", "interface X {\n", ";"]


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([source for source, _ in GAPS.values()]),
    st.lists(
        st.tuples(st.integers(0, 20), st.integers(0, 40), st.integers(0, 6), st.sampled_from(PIECES)),
        min_size=1,
        max_size=6,
    ),
    st.booleans(),
)
def test_an_open_document_is_read_as_a_whole_text_is(text, edits, sliced):
    document = Document(text, TYPESCRIPT)
    for line, column, length, piece in edits:
        document._slow = sliced
        document.apply([TextChange(piece, (line, column), (line, column + length))])
        while document.pending:
            document.parse_slice(0.01)
        full = extract(document.text.data, TYPESCRIPT)
        assert document.symbols.partial == full.partial
        if not full.partial:
            assert document.symbols == full
            assert document.symbols.ranges == full.ranges
    document.apply([TextChange(text)])
    while document.pending:
        document.parse_slice(0.01)
    full = extract(text.encode(), TYPESCRIPT)
    assert document.symbols == full
    assert document.symbols.ranges == full.ranges


@pytest.mark.parametrize(
    "piece", [b"\n  <", b"</*", b",//", b"<{", b"type a=`", b"import('", b"in:", b"  in:"]
)
def test_no_text_takes_long_to_look_through(piece):
    """Quadratic time would be minutes here."""
    steps = b"".join(b"\n" + b" " * (400 - n) + b"(x" for n in range(400))
    source = b"type A = {" + steps + piece * 30_000
    assert len(mended(source)) == len(source)
