"""What the first importers find, that a second import stores nothing, that one import is undone as one."""

import random
from dataclasses import replace
from datetime import UTC, datetime
from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from folders import Folder
from mnemolens.codegraph.extract import extract
from mnemolens.codegraph.languages import LANGUAGES, language_named, language_of
from mnemolens.core.memories import Memory
from mnemolens.core.text import to_bytes
from mnemolens.engine.importers import (
    agent_sections,
    has_todo_comments,
    is_agent_file,
    new_batch,
    plan,
    todo_comments,
    undo,
)
from mnemolens.engine.importers.sections import _headings
from mnemolens.engine.status import status_of

NOW = datetime(2026, 3, 1, tzinfo=UTC)
BATCH = "import-1"


def found_in(text, file="billing.py"):
    data = dedent(text).removeprefix("\n") if isinstance(text, str) else text
    return todo_comments(file, data, language_of(file))


def about(text, file="billing.py"):
    """[(marker, symbol, text)] of what is found."""
    return [(one.label, one.symbol.qualname, one.content) for one in found_in(text, file)]


class TestTodoComments:
    def test_python(self):
        text = '''
            # TODO: split this file
            import os


            class Payment:
                """TODO: a docstring is no comment."""

                # FIXME: charge twice
                def charge(self):
                    label = "TODO: nor is a string"
                    return label  # HACK: the provider wants text

                # NOTE: the end of the class


            def refund():
                pass
                # XXX: the end of the function
        '''
        assert about(text) == [
            ("TODO", "", "split this file"),
            ("FIXME", "Payment.charge", "charge twice"),
            ("HACK", "Payment.charge", "the provider wants text"),
            ("NOTE", "Payment", "the end of the class"),
            ("XXX", "refund", "the end of the function"),
        ]

    @pytest.mark.parametrize("file", ["shop.ts", "shop.tsx", "shop.js", "shop.jsx", "shop.mjs"])
    def test_typescript_and_javascript(self, file):
        text = """
            // TODO: of the file

            /* FIXME: of total */
            export function total(cart) {
              const label = "TODO: no"; // HACK: of total too
              return `NOTE: no ${label}`;
            }

            /**
             * Pays.
             * @todo retry
             * NOTE: slow
             * @param {Cart} cart TODO is no word of its own here
             */
            const pay = async (cart) => {
              return cart; /* XXX: of pay */
            };

            class Cart {
              // TODO: of add
              add() {}
            }
        """
        assert about(text, file) == [
            ("TODO", "", "of the file"),
            ("FIXME", "total", "of total"),
            ("HACK", "total", "of total too"),
            ("TODO", "pay", "retry"),
            ("NOTE", "pay", "slow"),
            ("XXX", "pay", "of pay"),
            ("TODO", "Cart.add", "of add"),
        ]

    def test_jsx_comments(self):
        text = "export const App = () => <div>{/* TODO: a label */}<p>TODO: text is no comment</p></div>;\n"
        assert about(text, "app.tsx") == [("TODO", "App", "a label")]

    def test_every_language_that_the_code_graph_knows(self):
        for language in LANGUAGES:
            for extension in language.extensions:
                sign = "#" if language.name in {"python", "ruby"} else "//"
                opening = "<?php\n" if language.name == "php" else ""
                text = f"{opening}{sign} TODO: here\n"
                assert about(text, f"a{extension}") == [("TODO", "", "here")], extension

    def test_types(self):
        kinds = {
            one.label: one.type
            for one in found_in("# TODO: a\n\n# FIXME: b\n\n# XXX: c\n\n# HACK: d\n\n# NOTE: e\n")
        }
        assert kinds == {
            "TODO": "prospective",
            "FIXME": "prospective",
            "XXX": "prospective",
            "HACK": "semantic",
            "NOTE": "semantic",
        }

    @pytest.mark.parametrize(
        "text",
        [
            "# TODO\n",
            "# TODO:   \n",
            "# todo: in small letters\n",
            "# TODOs are counted elsewhere\n",
            "# see TODO_LIST = 3\n",
            "# the word `TODO` starts a note\n",
            "# no TODO here, nor a NOTE\n",
            "# ANNOTATED: a NOTEBOOK\n",
            "x = '# TODO: not this'\n",
            'x = """\n# TODO: not this\n"""\n',
            "# ---- TODO ----\n",
            "",
        ],
    )
    def test_finds_nothing(self, text):
        assert about(text) == []

    @pytest.mark.parametrize(
        ("comment", "text"),
        [
            ("# TODO: retry", "retry"),
            ("#TODO retry", "retry"),
            ("# TODO - retry", "retry"),
            ("# TODO(ana): retry", "retry"),
            ("# TODO (ana) retry", "retry"),
            ("# TODO[#12]: retry", "retry"),
            ("# @todo retry", "retry"),
            ("# * TODO: retry", "retry"),
            ("#: TODO: retry", "retry"),
            ("x = 1  # type: ignore  # TODO: retry", "retry"),
            ("# Works for now. FIXME: retry", "retry"),
            ("# TODO: 重试 🔁", "重试 🔁"),
        ],
    )
    def test_ways_to_write_it(self, comment, text):
        assert [one.content for one in found_in(comment + "\n")] == [text]

    @pytest.mark.parametrize(
        ("note", "author", "reference"),
        [
            ("(ana)", "ana", None),
            ("(@ana)", "ana", None),
            ("(Ana Lima)", "Ana Lima", None),
            ("(ana, bo)", "ana, bo", None),
            ("(#12)", None, "#12"),
            ("(SHOP-12)", None, "SHOP-12"),
            ("(fix)", None, "fix"),
            ("(b/1234)", None, "b/1234"),
            ("(2026-03-01)", None, "2026-03-01"),
            ("", None, None),
        ],
    )
    def test_author_and_reference(self, note, author, reference):
        (one,) = found_in(f"# TODO{note}: retry\n")
        assert (one.author, one.details.get("reference")) == (author, reference)
        assert one.request(BATCH).author == (author or "import")

    def test_goes_on_over_several_lines(self):
        text = """
            # TODO: retry when the provider
            # answers with 503:
            # - at once
            # - then after a second
            #
            # Another remark.
            x = 1  # FIXME: one
                   # two
            y = 2  # not this
        """
        assert [one.content for one in found_in(text)] == [
            "retry when the provider answers with 503:\n- at once\n- then after a second",
            "one two",
        ]

    def test_stops_at_the_next_one_and_at_directives(self):
        text = """
            # TODO: one
            # FIXME: two
            # noqa: E501
            x = 1
            # HACK: three
            # type: ignore
            y = 2
            # NOTE: four
            # ---------
            # head of a list
        """
        assert [one.content for one in found_in(text)] == ["one", "two", "three", "four"]

    def test_a_block_comment_goes_on_to_a_blank_line_or_a_tag(self):
        text = "/*\n * TODO: one\n *   two\n *\n * three\n * FIXME: four\n * @returns five\n */\n"
        assert [one.content for one in found_in(text, "a.ts")] == ["one two", "four"]

    def test_above_a_decorated_definition(self):
        text = """
            # TODO: of f
            @cache(
                size=1)
            def f(): ...


            # TODO: of the file

            def g(): ...

            # TODO: of the call
            register(lambda: 0)
        """
        assert [one.symbol.qualname for one in found_in(text)] == ["f", "", ""]

    def test_line_ends_and_emoji_do_not_matter(self):
        text = "# 🙂 café\ndef f():\n    # TODO: 🔁 retry\n    #   twice\n    pass\n"
        (expected,) = found_in(text)
        for other in (text.replace("\n", "\r\n"), text.replace("\n", "\r")):
            assert found_in(other.encode()) == (expected,)
        assert (expected.line, expected.symbol.qualname, expected.content) == (2, "f", "🔁 retry twice")

    def test_text_with_syntax_errors_is_read_all_the_same(self):
        assert about("def f(:\n    # TODO: mend\n    x = = 1\n")[0][2] == "mend"

    def test_a_position_in_the_symbol_is_given(self):
        text = "# TODO: a\n@dec\ndef f():\n    pass\n"
        (one,) = found_in(text)
        symbols = extract(to_bytes(text), language_of("a.py"))
        assert symbols.ranges[0].definition.contains(one.position)
        assert found_in("# TODO: a\n")[0].position is None

    def test_given_symbols_are_used(self):
        text = "def f():\n    pass  # TODO: x\n"
        symbols = extract(to_bytes(text), language_of("a.py"))
        assert todo_comments("a.py", text, language_of("a.py"), symbols)[0].symbol.qualname == "f"

    def test_a_file_in_another_language_has_none(self):
        assert todo_comments("a.rb", "# TODO: x\n", None) == ()

    def test_a_look_costs_no_parse(self):
        assert has_todo_comments("x = 1 # TODO: y")
        assert not has_todo_comments("x = 1 # done")

    def test_a_huge_file(self):
        text = "".join(f"def f_{n}(a):\n    return a  # TODO: step {n}\n\n" for n in range(4_000))
        found = found_in(text)
        assert [one.symbol.qualname for one in found] == [f"f_{n}" for n in range(4_000)]
        assert [one.content for one in found] == [f"step {n}" for n in range(4_000)]

    def test_odd_huge_files(self):
        assert len(found_in("# TODO: a\n" * 20_000)) == 20_000
        (one,) = found_in("# TODO: " + "a " * 100_000 + "\n")
        assert len(one.content) <= 4_000
        (one,) = found_in("# TODO: a\n" + "# b\n" * 50_000)
        assert len(one.content) <= 4_000
        deep = "[" * 5_000 + "1, # TODO: deep\n" + "]" * 5_000
        assert [found.content for found in found_in(f"x = {deep}\n")] == ["deep"]

    @given(st.text(alphabet="# TODO:/*-()\n\r\t@a'\"\\é🙂", max_size=80))
    def test_any_text(self, text):
        for file in ("a.py", "a.ts"):
            for one in found_in(text, file):
                assert one.content.strip() == one.content != ""
                assert 0 <= one.line <= text.count("\n") + text.count("\r")


GUIDE = """\
---
owner: ana
---
Read this first.

# Shop

## Build
Run `make`.

```sh
# not a heading
make
```

Tests
-----
- run `make test`
<!--
## hidden
-->

## Empty
### Deep ##
~~~
## no
~~~
Deep text.
"""


MARKDOWN = (
    "# A",
    "## B ##",
    "#C",
    "    # D",
    "text",
    "more",
    "",
    "",
    "```",
    "```sh",
    "~~~~",
    "===",
    "---",
    "***",
    "- a",
    "#",
)


class TestAgentSections:
    def test_sections_with_their_headings(self):
        found = agent_sections("AGENTS.md", GUIDE)
        assert [(one.line, one.label, one.title) for one in found] == [
            (3, "", "Read this first."),
            (8, "Shop › Build", "Build"),
            (17, "Shop › Tests", "Tests"),
            (24, "Shop › Empty › Deep", "Deep"),
        ]
        assert found[1].content == "Run `make`.\n\n```sh\n# not a heading\nmake\n```"
        assert found[3].content == "~~~\n## no\n~~~\nDeep text."

    def test_they_are_procedures_about_the_file(self):
        one = agent_sections("server/CLAUDE.md", "# Style\nUse tabs.\n")[0]
        assert one.type == "procedural"
        assert one.symbol == ("server/CLAUDE.md", "", 0)
        assert one.position is None
        assert one.details == {"heading": "Style", "folder": "server"}

    @pytest.mark.parametrize(
        "text", ["", "\n\n", "# Only\n## headings\n", "---\nx: y\n---\n", "<!-- a -->\n"]
    )
    def test_nothing_to_import(self, text):
        assert agent_sections("AGENTS.md", text) == ()

    def test_line_ends_do_not_matter(self):
        expected = agent_sections("AGENTS.md", GUIDE)
        assert agent_sections("AGENTS.md", GUIDE.replace("\n", "\r\n")) == expected
        assert agent_sections("AGENTS.md", "\ufeff" + GUIDE) == expected

    @pytest.mark.parametrize(
        ("file", "expected"),
        [
            ("AGENTS.md", True),
            ("CLAUDE.md", True),
            ("a/b/agents.md", True),
            ("README.md", False),
            ("AGENTS.md.bak", False),
        ],
    )
    def test_files_by_name(self, file, expected):
        assert is_agent_file(file) is expected

    def test_a_huge_file(self):
        text = "".join(f"# Step {n}\n" + f"Do {n}.\n" * 20 for n in range(5_000))
        assert len(agent_sections("AGENTS.md", text)) == 5_000
        assert len(agent_sections("AGENTS.md", "<!--" * 200_000)) == 0
        assert len(agent_sections("AGENTS.md", "`" * 500_000 + "\nx\n")) == 1

    @given(st.lists(st.sampled_from(MARKDOWN), max_size=9))
    @settings(max_examples=300, deadline=None)
    def test_headings_are_where_commonmark_has_them(self, lines):
        if "- a" in lines:  # headings inside lists are left to them
            lines = [line for line in lines if line != "    # D"]
        text = "\n".join(lines)
        tokens = MarkdownIt().parse(text)
        expected = [
            (token.map[0], int(token.tag[1]), " ".join(tokens[at + 1].content.split()))
            for at, token in enumerate(tokens)
            if token.type == "heading_open" and token.level == 0
        ]
        found = [(heading.line, heading.level, heading.text) for heading in _headings(lines, 0)]
        assert found == expected


def memory_of(found, batch=BATCH, memory_id=None, **changes):
    """The memory that capturing it makes."""
    request = found.request(batch, memory_id)
    memory = Memory(
        id=request.id,
        type=request.type,
        title=request.title,
        content=request.content,
        created_at=NOW,
        accessed_at=NOW,
        tags=request.tags,
        metadata=request.metadata,
        session_id=request.session_id,
        author=request.author,
    )
    return replace(memory, **changes)


def updated(memory, changes):
    """The memory after an update."""
    metadata = {**memory.metadata, **changes.get("metadata", {})}
    fields = {key: value for key, value in changes.items() if key != "metadata"}
    fields["tags"] = tuple(fields.get("tags", memory.tags))
    return replace(memory, **fields, metadata={k: v for k, v in metadata.items() if v is not None})


def imported(found, memories=(), batch=BATCH, scanned=("billing.py",), **more):
    """(plan, memories after carrying it out)."""
    todo = plan(found, memories, scanned, **more)
    after = {memory.id: memory for memory in memories}
    for new in todo.new:
        assert new.memory_id not in after
        after[new.memory_id] = memory_of(new.found, batch, new.memory_id)
    for change in (*todo.changed, *todo.moved):
        after[change.memory.id] = updated(change.memory, change.changes(batch))
    return todo, list(after.values())


TEXT = """\
# TODO: one
x = 1
# TODO: one
y = 2


def f():
    # FIXME(ana): retry when the provider answers with 503
    return x
"""


class TestPlan:
    def test_everything_is_new_at_first(self):
        todo, memories = imported(found_in(TEXT))
        assert [new.found.content for new in todo.new] == [
            "one",
            "one",
            "retry when the provider answers with 503",
        ]
        assert len({memory.id for memory in memories}) == 3
        assert {memory.session_id for memory in memories} == {BATCH}
        assert not todo.is_empty

    def test_importing_again_stores_nothing(self):
        _, memories = imported(found_in(TEXT))
        again, after = imported(found_in(TEXT), memories, "import-2")
        assert again.is_empty
        assert set(again.known) == {memory.id for memory in memories}
        assert after == memories
        assert again.gone == ()

    def test_text_that_moved_down_or_was_wrapped_anew_is_the_same(self):
        _, memories = imported(found_in(TEXT))
        moved = "import os\n\n\n" + TEXT.replace("when the provider", "when the\n    # provider")
        again, _ = imported(found_in(moved), memories)
        assert again.is_empty
        assert again.gone == ()

    def test_another_name_of_the_function_is_the_same(self):
        _, memories = imported(found_in(TEXT))
        assert imported(found_in(TEXT.replace("def f", "def g")), memories)[0].is_empty

    def test_an_edited_comment_updates_its_memory(self):
        _, memories = imported(found_in(TEXT))
        edited = found_in(TEXT.replace("with 503", "with 503 or 504"))
        todo, after = imported(edited, memories, "import-2")
        assert (todo.new, todo.gone) == ((), ())
        (change,) = todo.changed
        fixed = next(memory for memory in after if memory.id == change.memory.id)
        assert fixed.content == "retry when the provider answers with 503 or 504"
        assert len(after) == 3
        assert imported(edited, after, "import-3")[0].is_empty

    def test_another_word_before_the_same_text_updates_too(self):
        _, memories = imported(found_in("# TODO: round up\n"))
        todo, after = imported(found_in("# NOTE: round up\n"), memories, "import-2")
        assert todo.new == ()
        assert [(memory.type, memory.tags) for memory in after] == [("semantic", ("note",))]

    def test_tags_that_a_user_added_stay(self):
        _, (memory,) = imported(found_in("# TODO: round up to cents\n"))
        memory = replace(memory, tags=("todo", "money"))
        _, (after,) = imported(found_in("# FIXME: round up to full cents\n"), [memory], "import-2")
        assert set(after.tags) == {"fixme", "money"}

    def test_words_that_a_user_changed_stay(self):
        _, (memory,) = imported(found_in("# TODO: round up to cents\n"))
        memory = replace(memory, content="round up to cents, as the bank does")
        todo, (after,) = imported(found_in("# TODO: round up to full cents\n"), [memory], "import-2")
        assert (todo.new, todo.changed) == ((), ())
        assert after.content == "round up to cents, as the bank does"
        assert imported(found_in("# TODO: round up to full cents\n"), [after], "import-3")[0].is_empty

    def test_a_comment_that_is_gone_is_only_offered(self):
        _, memories = imported(found_in(TEXT))
        todo, after = imported(found_in("x = 1\n"), memories)
        assert set(todo.gone) == {memory.id for memory in memories}
        assert after == memories
        assert imported((), memories, scanned=("other.py",))[0].gone == ()

    def test_a_comment_that_moved_to_another_file_is_known(self):
        _, memories = imported(found_in("# TODO: round up\n"))
        there = found_in("# TODO: round up\n", "money.py")
        todo, after = imported(there, memories, "import-2", scanned=("billing.py", "money.py"))
        assert (todo.new, todo.gone) == ((), ())
        assert len(after) == 1
        assert imported(there, after, scanned=("billing.py", "money.py"))[0].is_empty

    def test_a_copy_in_another_file_is_new(self):
        _, memories = imported(found_in("# TODO: round up\n"))
        both = found_in("# TODO: round up\n") + found_in("# TODO: round up\n", "money.py")
        todo, _ = imported(both, memories, scanned=("billing.py", "money.py"))
        assert [new.found.file for new in todo.new] == ["money.py"]

    @pytest.mark.parametrize("text", ["# TODO: round up\n", "# TODO: round up again\n"])
    def test_what_a_user_forgot_stays_forgotten(self, text):
        _, (memory,) = imported(found_in("# TODO: round up\n"))
        todo, _ = imported(found_in(text), [replace(memory, status="forgotten")])
        assert todo.is_empty
        assert (todo.known, todo.forgotten) == ((), (memory.id,))

    def test_what_is_done_stays_done(self):
        _, (memory,) = imported(found_in("# TODO: round up\n"))
        assert imported(found_in("# TODO: round up\n"), [replace(memory, status="done")])[0].is_empty

    def test_what_was_purged_never_comes_back(self):
        (one,) = found_in("# TODO: round up\n")
        todo, _ = imported([one], is_purged=lambda memory_id: memory_id == one.memory_id)
        assert (todo.new, todo.forgotten) == ((), (one.memory_id,))

    def test_new_words_that_an_edited_memory_began_with_get_an_id_of_their_own(self):
        _, memories = imported(found_in("# TODO: round up to cents\n"))
        _, memories = imported(found_in("# TODO: round up to full cents\n"), memories, "import-2")
        both = found_in("# TODO: round up to full cents\nx = 1\n# TODO: round up to cents\n")
        todo, after = imported(both, memories, "import-3")
        assert len(todo.new) == 1
        assert len({memory.id for memory in after}) == 2
        assert imported(both, after)[0].is_empty

    def test_two_windows_make_one_memory(self):
        assert [new.memory_id for new in plan(found_in(TEXT), (), ()).new] == [
            new.memory_id for new in plan(found_in(TEXT), (), ()).new
        ]

    def test_memories_of_others_are_left_alone(self):
        mine = Memory("m", "semantic", "one", "one", NOW, NOW, metadata={"import": "by hand"})
        odd = Memory("n", "semantic", "one", "one", NOW, NOW, metadata={"import": {"id": 3}})
        todo, after = imported(found_in(TEXT), [mine, odd])
        assert len(todo.new) == 3
        assert after[:2] == [mine, odd]
        assert undo(BATCH, [replace(mine, session_id=BATCH)]).forget == ()

    def test_a_secret_is_refused_by_its_place(self):
        token = "ghp_" + "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xYz1A2"
        todo, after = imported(found_in(f"x = 1\n# TODO: take {token} out\n# FIXME: mend\n"))
        assert [memory.content for memory in after] == ["mend"]
        (refused,) = todo.refused
        assert (refused.file, refused.line) == ("billing.py", 1)
        assert refused.secrets[0][:2] == ("content", "GitHub token")
        assert "aB3dE5" not in repr(refused)
        guide = agent_sections("AGENTS.md", "# Login\npassword: hunter2!\n")
        assert len(plan(guide, (), ()).refused) == 1

    def test_a_secret_that_came_by_an_edit_is_refused(self):
        _, memories = imported(found_in("# TODO: the staging password is in the vault, ask Ana\n"))
        edited = found_in("# TODO: the staging password is hunter2!, ask Ana\n")
        todo, after = imported(edited, memories, "import-2")
        assert len(todo.refused) == 1
        assert after == memories


class TestSections:
    def test_an_edited_section_updates(self):
        _, memories = imported(agent_sections("AGENTS.md", GUIDE), scanned=("AGENTS.md",))
        edited = agent_sections("AGENTS.md", GUIDE.replace("Run `make`.", "Use ninja instead, please."))
        todo, after = imported(edited, memories, "import-2", scanned=("AGENTS.md",))
        assert (len(todo.changed), todo.new, todo.gone) == (1, (), ())
        assert imported(edited, after, scanned=("AGENTS.md",))[0].is_empty

    def test_a_copy_of_the_file_is_imported_once(self):
        both = agent_sections("AGENTS.md", GUIDE) + agent_sections("CLAUDE.md", GUIDE)
        scanned = ("AGENTS.md", "CLAUDE.md")
        todo, memories = imported(both, scanned=scanned)
        assert {new.found.file for new in todo.new} == {"AGENTS.md"}
        assert imported(both, memories, scanned=scanned)[0].is_empty

    def test_a_copy_that_comes_later_is_known(self):
        _, memories = imported(agent_sections("CLAUDE.md", GUIDE), scanned=("CLAUDE.md",))
        both = agent_sections("AGENTS.md", GUIDE) + agent_sections("CLAUDE.md", GUIDE)
        assert imported(both, memories, scanned=("AGENTS.md", "CLAUDE.md"))[0].is_empty


class TestUndo:
    def test_forgets_exactly_that_import(self):
        _, first = imported(found_in(TEXT), batch="import-1")
        more = TEXT + "\n\n# NOTE: a note at the end\n"
        _, both = imported(found_in(more), first, batch="import-2")
        by_hand = Memory("m", "semantic", "one", "one", NOW, NOW, session_id="import-2")
        taken_back = undo("import-2", [*both, by_hand])
        assert set(taken_back.forget) == {memory.id for memory in both} - {memory.id for memory in first}
        assert taken_back.revert == {}

    def test_takes_edits_back(self):
        _, memories = imported(found_in("# TODO: round up to cents\n"), batch="import-1")
        _, after = imported(found_in("# FIXME: round up to full cents\n"), memories, "import-2")
        assert after != memories
        taken_back = undo("import-2", after)
        assert taken_back.forget == ()
        reverted = [updated(memory, taken_back.revert[memory.id]) for memory in after]
        assert [(m.content, m.title, m.type, m.tags) for m in reverted] == [
            (m.content, m.title, m.type, m.tags) for m in memories
        ]
        assert imported(found_in("# TODO: round up to cents\n"), reverted)[0].is_empty

    def test_words_that_a_user_changed_since_stay(self):
        _, memories = imported(found_in("# TODO: round up to cents\n"), batch="import-1")
        _, (after,) = imported(found_in("# TODO: round up to full cents\n"), memories, "import-2")
        assert undo("import-2", [replace(after, content="mine")]).revert == {}

    def test_an_import_that_was_undone_is_not_undone_twice(self):
        _, memories = imported(found_in(TEXT))
        hidden = [replace(memory, status="forgotten") for memory in memories]
        assert undo(BATCH, hidden).forget == ()

    def test_batches_differ(self):
        assert new_batch() != new_batch()


@given(
    st.lists(st.sampled_from(["TODO: a b c", "TODO: a b d", "NOTE: x", "FIXME: a b c"]), max_size=6),
    st.randoms(),
)
@settings(deadline=None)
def test_any_edits_keep_one_memory_for_each_comment(comments, random_):
    def source(lines):
        return "".join(f"# {line}\nx = {at}\n" for at, line in enumerate(lines))

    memories = []
    lines = list(comments)
    for step in range(3):
        found = found_in(source(lines))
        todo, memories = imported(found, memories, f"import-{step}")
        again, after = imported(found, memories, "import-again")
        assert again.is_empty
        assert after == memories
        active = [memory for memory in memories if memory.id not in todo.gone]
        assert sorted(memory.content for memory in active) == sorted(one.content for one in found)
        lines = [
            random_.choice(["TODO: a b c", "TODO: a b e", "HACK: y", line])
            for line in lines
            if random_.random() < 0.8
        ]
        random.Random(step).shuffle(lines)


class TestInAWorkspace:
    @pytest.fixture
    def shop(self, tmp_path):
        folder = Folder(tmp_path, {"billing.py": TEXT, "AGENTS.md": GUIDE})
        yield folder
        folder.close()

    def find(self, shop):
        text = (shop.root / "billing.py").read_text()
        return todo_comments("billing.py", text, language_of("billing.py")) + agent_sections(
            "AGENTS.md", (shop.root / "AGENTS.md").read_text()
        )

    def memories(self, shop):
        from mnemolens.engine.requests import ListRequest

        page = shop.workspace.listing.page(ListRequest(include_forgotten=True, limit=1000), shop.now)
        return [view.memory for view in page.memories]

    def carry_out(self, shop, batch):
        todo = plan(self.find(shop), self.memories(shop), ("billing.py", "AGENTS.md"))
        for new in todo.new:
            shop.run(
                shop.workspace.journaling.commit(
                    shop.workspace.writing.capture(new.found.request(batch, new.memory_id), shop.now)
                )
            )
        for change in (*todo.changed, *todo.moved):
            write = shop.workspace.writing.update(change.memory.id, change.changes(batch), shop.now)
            shop.run(shop.workspace.journaling.commit(write))
        return todo

    def test_from_files_to_hovers_and_back(self, shop):
        assert len(self.carry_out(shop, "import-1").new) == 7
        shop.open("billing.py")
        assert shop.titles("billing.py", "f()") == ["retry when the provider answers with 503"]
        shop.restart()
        assert self.carry_out(shop, "import-2").is_empty
        shop.write("billing.py", TEXT.replace("503", "504"))
        assert len(self.carry_out(shop, "import-3").changed) == 1
        assert self.carry_out(shop, "import-4").is_empty
        taken_back = undo("import-3", self.memories(shop))
        for memory_id, fields in taken_back.revert.items():
            shop.run(
                shop.workspace.journaling.commit(shop.workspace.writing.update(memory_id, fields, shop.now))
            )
        shop.write("billing.py", TEXT)
        assert self.carry_out(shop, "import-5").is_empty
        for memory_id in undo("import-1", self.memories(shop)).forget:
            shop.run(shop.workspace.journaling.commit(shop.workspace.writing.forget(memory_id, shop.now)))
        assert {memory.status for memory in self.memories(shop)} == {"forgotten"}
        assert status_of(shop.workspace).memories == 0


@pytest.mark.parametrize(
    ("head", "mark", "language"),
    [("x = 1\n", "#", "python"), ("let x = 1;\n", "//", "typescript")],
)
def test_a_long_run_of_comments_is_read_whole(head, mark, language):
    """The parser sees only the first lines of such a run; thousands took it seconds."""
    lines = [f"{mark} note {n}" for n in range(3000)]
    lines[7], lines[2900], lines[-1] = f"{mark} TODO: seven", f"{mark} TODO: late", f"{mark} FIXME: last"
    lines[2901] = ""
    found = todo_comments("a", head + "\n".join(lines) + "\n", language_named(language))
    assert [(item.label, item.line) for item in found] == [("TODO", 8), ("TODO", 2901), ("FIXME", 3000)]
    assert found[1].content == "late"
    assert found[0].content.startswith("seven note 8 note 9 ")


def test_lines_that_only_look_like_a_long_run_of_comments_are_none():
    lines = "\n".join(["# a", "# TODO: no comment", *(f"# {n}" for n in range(200))])
    assert todo_comments("a", f'x = """\n{lines}\n"""\n', language_named("python")) == ()
