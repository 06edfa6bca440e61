"""The table of Ruby. A module counts as a class; what is in `class << self` is named under the class."""

import re

from mnemolens.codegraph.languages.base import Grammar, Language
from mnemolens.codegraph.languages.shallow import Syntax, bases_in, defined, in_class

_SYNTAX = Syntax(
    names=frozenset({"identifier", "constant", "self"}),
    members={"call": ("receiver", "method"), "scope_resolution": ("scope", "name")},
    calls={"call": ""},
    binds={"assignment": "left", "method_parameters": "", "block_parameters": ""},
)

RUBY = Language(
    name="ruby",
    lsp_ids=("ruby",),
    extensions=(".rb", ".rake", ".gemspec"),
    grammar=Grammar("tree_sitter_ruby"),
    rules=_SYNTAX.rules(
        {
            "class": defined("class", bases=bases_in("superclass")),
            "module": defined("class"),
            "method": defined("function", may_lack_body=True),
            "singleton_method": defined("function", may_lack_body=True),
        }
    ),
    references=_SYNTAX.names,
    reference=_SYNTAX.reference,
    comments=frozenset({"comment"}),
    doc_comments=True,
    doc_lines=re.compile(rb"#+ ?(?!frozen_string_literal)"),
    methods_in_classes=True,
    shallow=True,
    folds_signatures=False,
    frames=in_class("class A\n", "\nend\n"),
)
