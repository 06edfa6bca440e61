"""Word lists that reading text needs: extensions, keywords, built-in functions, well-known foreign names."""

import builtins
import sys


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


FILE_EXTENSIONS = _words("""
    py pyi pyx ipynb ts tsx mts cts js jsx mjs cjs go rs java kt kts scala rb php cs c h cc cpp cxx hpp
    hh m mm swift sh bash zsh ps1 sql lua pl r jl ex exs erl hs ml clj dart vue svelte astro html css
    scss sass less json jsonc yaml yml toml ini cfg conf md mdx rst txt xml proto graphql tf gradle lock
""")
"""Extensions by which a word with a dot is a file's name."""

CODE_KEYWORDS = frozenset(
    _words("""
    and as assert async await break case catch class const continue def default del delete do elif else
    enum except export extends finally for from func function global if implements import in instanceof
    interface is lambda let match new nonlocal not or pass private protected public raise readonly
    return static struct super switch throw try type typeof var void while with yield
""")
)
"""Words that stand beside names in code: a code span of these and names is code, not a command."""

BUILT_IN = frozenset(dir(builtins)) | frozenset(
    _words("""
    fetch require parseInt parseFloat setTimeout setInterval clearTimeout make append len cap new panic
    rgb rgba hsl hsla
""")
)
"""Functions that code and style sheets call everywhere without meaning the project's own."""

FOREIGN = (
    frozenset(sys.stdlib_module_names)
    | frozenset(dir(builtins))
    | frozenset(
        _words("""
    Math JSON Object Array Promise Number String Date Map Set Symbol console window document process
    Reflect np numpy pd pandas plt tf torch React fs _ $ lodash axios fmt http strings errors
""")
    )
)
"""First names of dotted names that lead out of the project (`os.path.join`, `Math.max`)."""
