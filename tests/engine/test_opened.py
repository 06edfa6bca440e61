"""The form of a memory's document, and the three-way comparison, without any file."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemolens.core.errors import InvalidArgument
from mnemolens.core.memories import Memory
from mnemolens.engine.capture import new_memory
from mnemolens.engine.opened import (
    fields_of,
    file_name,
    id_in_name,
    id_of_hash,
    merge,
    parse,
    read_document,
    refuse_undecided,
    render,
    with_both,
)
from mnemolens.engine.requests import CaptureRequest

HEAD = "---\ntitle: A title\ntype: semantic\ntags: [a, b]\nimportance: 0.5\npinned: false\n---\n\nWords.\n"


def memory(**fields) -> Memory:
    request = CaptureRequest("Words.", title="A title", tags=("a", "b"), id="m")
    return replace(new_memory(request, datetime(2026, 3, 1, tzinfo=UTC), None, None), **fields)


def refusal(text: str) -> str:
    with pytest.raises(InvalidArgument) as caught:
        read_document(text)
    return str(caught.value).removeprefix("document: ")


class TestNames:
    @pytest.mark.parametrize("memory_id", ["a/b", ".", "..", ".a.md.b", "%2e", "a b", "é", "x" * 100])
    def test_an_id_is_found_in_its_name_which_is_never_hidden(self, memory_id):
        name = file_name(memory_id)
        assert not name.startswith(".")
        assert "/" not in name
        assert id_in_name(name) == memory_id

    @pytest.mark.parametrize("memory_id", ["x" * 101, "é" * 17, "😀" * 9])
    def test_a_long_id_is_found_by_its_hash(self, memory_id):
        name = file_name(memory_id)
        assert id_in_name(name) != memory_id
        assert id_of_hash(name, ["other", "y" * 101, memory_id]) == memory_id
        assert id_of_hash(name, ["other"]) is None

    def test_a_short_id_in_hex_is_itself(self):
        assert id_in_name(file_name("0" * 32)) == "0" * 32


class TestTheHead:
    @pytest.mark.parametrize(
        ("line", "instead", "message"),
        [
            (1, "title: [A", "line 2: "),
            (1, "titel: A", "line 2: titel is no field"),
            (2, "type: semantic\n  tags: x", "line 4: "),
            (3, "title: again", "line 4: title stands on line 2 already"),
            (4, "importance: 2026-99-99", "line 5: "),
            (5, "pinned: a\x07b", "line 6: the character U+0007"),
            (0, "--", "line 1: "),
            (6, "", "line 10: the head has no end"),
        ],
    )
    def test_what_cannot_be_read_is_named_by_its_line(self, line, instead, message):
        lines = HEAD.split("\n")
        lines[line] = instead
        assert refusal("\n".join(lines)).startswith(message)

    def test_a_head_without_end_of_nesting(self):
        assert refusal(f"---\ntitle: {'[' * 3000}\n---\n").startswith("line 2: ")

    @pytest.mark.parametrize("text", ["Yes", "on", "2024-01-01", "1_000", "012", "1e3", "~x", "3.10"])
    def test_texts_are_taken_as_they_stand(self, text):
        fields = parse(HEAD.replace("A title", text).replace("[a, b]", f"[{text}, b]"))
        assert fields["title"] == text
        assert fields["tags"] == [text, "b"]

    def test_lines_of_fields(self):
        assert read_document(HEAD).lines == {
            "title": 2, "type": 3, "tags": 4, "importance": 5, "pinned": 6, "content": 8,
        }  # fmt: skip

    @given(
        st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), max_size=40), st.text(max_size=80)
    )
    def test_what_is_rendered_reads_as_it_was(self, title, content):
        content = content.encode("utf-8", "replace").decode().replace("\r", "")
        one = memory(title=" ".join(title.split()) or "x", content=content, tags=("yes", "1"))
        assert parse(render(one, ["a note"])) == fields_of(one)


BASE = {"title": "T", "type": "semantic", "tags": ["a", "b"], "importance": 0.5, "content": "v1\n"}


class TestThreeWays:
    def test_what_nobody_changed_is_not_stored(self):
        assert merge(BASE, BASE, BASE) == ({}, ())

    def test_what_only_they_changed_is_left_to_them(self):
        assert merge(BASE, {**BASE, "tags": ["a", "b", "t"]}, {**BASE, "content": "v2\n"}) == (
            {"tags": ["a", "b", "t"]},
            (),
        )

    def test_tags_are_merged_one_by_one(self):
        found = merge(BASE, {**BASE, "tags": ["b", "mine"]}, {**BASE, "tags": ["a", "b", "theirs"]})
        assert found == ({"tags": ["b", "theirs", "mine"]}, ())

    def test_the_same_change_on_both_sides_is_none(self):
        new = {**BASE, "content": "v2\n", "title": "New"}
        assert merge(BASE, new, {**new, "title": " New "}) == ({}, ())

    def test_different_changes_on_both_sides_are_told(self):
        found = merge(
            BASE, {**BASE, "title": "mine", "content": "mine\n"}, {**BASE, "title": "x", "content": "y\n"}
        )
        assert found == ({"title": "mine", "content": "mine\n"}, ("title", "content"))

    def test_without_a_base_every_difference_is_doubtful_and_no_tag_is_removed(self):
        found = merge(None, {**BASE, "content": "old\n", "tags": ["c"]}, BASE)
        assert found == ({"content": "old\n", "tags": ["a", "b", "c"]}, ("content",))

    def test_both_versions_are_shown_where_they_differ(self):
        document = read_document(HEAD.replace("Words.", "same\nmine\nend"))
        text = with_both(document, "same\ntheirs 1\ntheirs 2\nend\n", "Ana")
        assert text.startswith("---\ntitle: A title\n")
        assert text.endswith(
            "---\n\nsame\n<<<<<<< your text\nmine\n=======\ntheirs 1\ntheirs 2\n"
            ">>>>>>> the memory, as changed by Ana\nend\n"
        )
        theirs = {"content": "same\ntheirs 1\ntheirs 2\nend\n"}
        with pytest.raises(InvalidArgument, match="line 10: both versions are here"):
            refuse_undecided(read_document(text), theirs)
        refuse_undecided(document, theirs)

    def test_a_memory_about_such_marks_can_be_edited(self):
        content = "<<<<<<< your text\n"
        refuse_undecided(read_document(HEAD.replace("Words.", content + "more")), {"content": content})

    @given(st.lists(st.sampled_from("abc")), st.lists(st.sampled_from("abc")))
    def test_both_versions_can_be_taken_back_out(self, mine, theirs):
        document = read_document(HEAD.replace("Words.", "\n".join(["-", *mine, "-"])))
        body = with_both(document, "\n".join(["-", *theirs, "-"]), "x").split("---\n\n")[1].split("\n")
        start, middle = body.index("<<<<<<< your text"), body.index("=======")
        end = body.index(">>>>>>> the memory, as changed by x")
        assert body[:start] + body[start + 1 : middle] + body[end + 1 :] == ["-", *mine, "-", ""]
        assert body[:start] + body[middle + 1 : end] + body[end + 1 :] == ["-", *theirs, "-", ""]
