"""One typed character in a 5,000-line file until the document's symbols know it, in process.

Usage: python tests/bench/keystroke.py [LINES]
"""

import statistics
import sys
from time import process_time as perf_counter

from mnemolens.codegraph.document import Document
from mnemolens.codegraph.index import CodeIndex
from mnemolens.codegraph.languages import language_named
from mnemolens.core.text import TextChange

METHOD = """
    def method_{n}(self, item, count=1):
        \"\"\"Adds an item {n}.\"\"\"
        if item in self.items:
            self.items[item] += count
        else:
            self.items[item] = helper_{n}(count)
        return self.method_{n}(item, count - 1) if count else None
"""


def made_source(lines, methods_a_class):
    """A source text of about `lines` lines, in classes of `methods_a_class` methods."""
    parts, n = ["import os\n\n"], 0
    while sum(p.count("\n") for p in parts[-1:]) + n * 8 < lines:
        if n % methods_a_class == 0:
            parts.append(f"\n\nclass Shop{n}(Base):\n    items = {{}}\n")
        parts.append(METHOD.format(n=n))
        n += 1
    return "".join(parts)


def measure(name, source, line):
    """Time typing in the body of a method near `line`."""
    document = Document(source, language_named("python"))
    while document.pending:
        document.parse_slice()
    index = CodeIndex()
    index.put("a.py", document.symbols)
    text = source.splitlines()
    at = next(i for i in range(line, len(text)) if "else:" in text[i])
    times, puts = [], []
    for k, char in enumerate("  # typed here, one by one and then deleted" + "x" * 20):
        before = perf_counter()
        document.apply([TextChange(char, (at, len(text[at]) + k), (at, len(text[at]) + k))])
        while document.pending:
            document.parse_slice()
        times.append((perf_counter() - before) * 1000)
        before = perf_counter()
        index.put("a.py", document.symbols)
        puts.append((perf_counter() - before) * 1000)
    at += 1
    for k in range(30):
        before = perf_counter()
        document.apply([TextChange("y", (at, 17 + k), (at, 17 + k))])
        while document.pending:
            document.parse_slice()
        times.append((perf_counter() - before) * 1000)
    assert not document.symbols.partial
    print(
        f"{name:30} {len(text):6} lines {len(document.symbols.symbols):5} symbols  "
        f"median {statistics.median(times):6.2f} ms  worst {max(times):6.2f} ms  "
        f"index.put {statistics.median(puts):5.2f} ms"
    )


if __name__ == "__main__":
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
    measure("many classes, at the start", made_source(size, 10), 20)
    measure("many classes, in the middle", made_source(size, 10), size // 2)
    measure("one class, in the middle", made_source(size, 10_000), size // 2)
