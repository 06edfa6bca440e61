"""No edit of a memory's document is lost, and none silently replaces another."""

from pathlib import Path

import pytest

from folders import Folder
from mnemolens.core.errors import InvalidArgument, NotFound, StoreError
from mnemolens.core.text import TextChange
from mnemolens.engine.workspace import Workspace
from mnemolens.store.journal import Journal


class Desk(Folder):
    """A folder whose memories are edited as documents."""

    def remember(self, content: str, *where: str, **fields) -> str:
        return super().remember(content, *where, **{"title": "T", **fields})

    def open_memory(self, memory_id: str) -> Path:
        (opened,) = self.run(self.workspace.opened.open([memory_id], self.now))
        assert opened.trouble == ""
        return Path(opened.path)

    def show(self, path: Path) -> str:
        """The editor opens the document."""
        self.workspace.opened.editor_opened(path, path.read_text("utf-8"))
        return self.run(self.workspace.opened.read_back(path, self.now))

    def type(self, path: Path, old: str, new: str) -> str:
        """The editor holds the document with something replaced, and has not saved it."""
        text = path.read_text("utf-8")
        assert old in text
        text = text.replace(old, new)
        self.workspace.opened.editor_changed(path, [TextChange(text)])
        return text

    def save(self, path: Path):
        """The editor tells that it has saved."""
        return self.run(self.workspace.opened.save(path, self.workspace.opened.editor_saved(path), self.now))

    def write_down(self, path: Path, old: str, new: str) -> None:
        text = path.read_text("utf-8")
        assert old in text
        path.write_text(text.replace(old, new), "utf-8")

    def close_memory(self, path: Path) -> str:
        return self.run(self.workspace.opened.close(path, self.now))

    def kill(self) -> Workspace:
        """The server dies with its documents open, and another starts."""
        for folder in self.workspace.opened._folders:
            for marker in folder._markers.values():
                marker.release()
            folder._markers.clear()
        return self.restart()

    def update(self, memory_id: str, **changes) -> None:
        self.commit(self.workspace.writing.update(memory_id, changes, self.now))

    def memory(self, memory_id: str):
        return self.workspace.show.detail(memory_id, self.now).view.memory

    def content(self, memory_id: str) -> str:
        return self.memory(memory_id).content.strip()


@pytest.fixture
def desk(tmp_path):
    folder = Desk(tmp_path / "folder", {"a.py": "def f(): pass\n"}, indexed=False)
    yield folder
    folder.close()


def test_an_edit_that_failed_to_save_once_is_saved_the_next_time(desk):
    one = desk.remember("first")
    path = desk.open_memory(one)
    desk.write_down(path, "first", "second")
    desk.write_down(path, "importance: 0.5", "importance: 5")
    with pytest.raises(InvalidArgument, match=r"line 7: importance must be .*5"):
        desk.save(path)
    assert desk.content(one) == "first"
    desk.write_down(path, "importance: 5", "importance: 0.5")
    desk.save(path)
    assert desk.content(one) == "second"


def test_an_edit_is_saved_again_when_the_journal_could_not_be_written(desk, monkeypatch):
    one = desk.remember("first")
    path = desk.open_memory(one)
    desk.write_down(path, "first", "second")
    with monkeypatch.context() as patch:
        patch.setattr(Journal, "append", lambda *_: (_ for _ in ()).throw(StoreError("full")))
        with pytest.raises(StoreError):
            desk.save(path)
    desk.save(path)
    assert desk.content(one) == "second"


class TestSavedWhileNoServerRan:
    @pytest.fixture
    def edited(self, desk):
        one = desk.remember("first")
        path = desk.open_memory(one)
        desk.kill()
        desk.write_down(path, "first", "second")
        return one, path

    def test_it_is_stored_when_the_editor_shows_it_again(self, desk, edited):
        one, path = edited
        assert desk.show(path) == ""
        assert desk.content(one) == "second"
        assert desk.close_memory(path) == ""
        assert list(path.parent.iterdir()) == []

    def test_it_is_stored_when_the_memory_is_opened_again(self, desk, edited):
        one, path = edited
        assert desk.open_memory(one) == path
        assert desk.content(one) == "second"
        assert "second" in path.read_text()

    def test_it_is_stored_by_itself(self, desk, edited):
        one, path = edited
        desk.pass_time(1)
        assert desk.content(one) == "second"
        assert path.exists(), "an editor may still show it"

    def test_what_cannot_be_stored_is_neither_overwritten_nor_removed(self, desk, edited):
        one, path = edited
        desk.write_down(path, "title: T", "title: [T")
        desk.pass_time(1)
        (opened,) = desk.run(desk.workspace.opened.open([one], desk.now))
        assert opened.trouble.startswith("line 4: ")
        assert desk.show(path).startswith("line 4: ")
        text = path.read_text()
        assert desk.close_memory(path).startswith("line 4: ")
        assert path.read_text() == text
        desk.restart()
        assert path.read_text() == text
        desk.write_down(path, "title: [T", "title: New")
        assert desk.show(path) == ""
        assert (desk.content(one), desk.memory(one).title) == ("second", "New")

    def test_only_what_was_changed_is_stored(self, desk, edited):
        one, path = edited
        desk.update(one, title="By an agent", tags=["theirs"])
        assert desk.show(path) == ""
        memory = desk.memory(one)
        assert (memory.title, memory.tags, memory.content.strip()) == ("By an agent", ("theirs",), "second")

    def test_what_was_changed_on_both_sides_waits_for_its_user(self, desk, edited):
        one, path = edited
        desk.update(one, content="by an agent")
        desk.pass_time(1)
        assert desk.content(one) == "by an agent"
        assert "second" in path.read_text()
        assert "both versions" in desk.show(path)
        assert {"second", "by an agent"} <= set(path.read_text().split("\n"))
        assert desk.content(one) == "by an agent"

    def test_a_document_of_unknown_origin_is_left_alone(self, desk, edited):
        one, path = edited
        (path.parent / f".{path.name}.shown").unlink()
        desk.pass_time(1)
        text = path.read_text()
        (opened,) = desk.run(desk.workspace.opened.open([one], desk.now))
        assert "save it" in opened.trouble
        assert desk.show(path) == opened.trouble
        assert (desk.content(one), path.read_text()) == ("first", text)
        with pytest.raises(InvalidArgument, match="both versions"):
            desk.save(path)


class TestAfterARestart:
    @pytest.mark.parametrize("memory_id", ["x" * 150, "é" * 30, ".hidden", "../x", "plain"])
    def test_any_id_is_saved_back(self, desk, memory_id):
        desk.remember("first", id=memory_id)
        path = desk.open_memory(memory_id)
        desk.kill()
        assert desk.workspace.opened.id_of(path) == memory_id
        desk.show(path)
        desk.write_down(path, "first", "second")
        desk.save(path)
        assert desk.content(memory_id) == "second"

    def test_a_change_of_tags_alone_leaves_newer_content(self, desk):
        one = desk.remember("first version")
        path = desk.open_memory(one)
        desk.kill()
        desk.update(one, content="newer, by an agent")
        desk.write_down(path, "tags: []", "tags: [t]")
        desk.save(path)
        assert (desk.content(one), desk.memory(one).tags) == ("newer, by an agent", ("t",))

    def test_a_stale_document_that_nobody_edited_is_written_anew(self, desk):
        one = desk.remember("first version")
        desk.open_memory(one)
        desk.kill()
        desk.update(one, content="newer")
        assert "newer" in desk.open_memory(one).read_text()
        assert desk.content(one) == "newer"


class TestChangedMeanwhile:
    @pytest.fixture
    def shown(self, desk):
        desk.workspace.author.name = "Ana"
        one = desk.remember("v1")
        path = desk.open_memory(one)
        desk.show(path)
        return one, path

    def test_content_changed_on_both_sides_is_decided_by_the_user(self, desk, shown):
        one, path = shown
        desk.update(one, content="v2 by agent")
        path.write_text(desk.type(path, "v1", "v1 edited"))
        with pytest.raises(InvalidArgument, match=r"changed meanwhile by Ana; both versions"):
            desk.save(path)
        assert desk.content(one) == "v2 by agent"
        text = path.read_text()
        assert "v1 edited" in text
        assert "v2 by agent" in text
        desk.workspace.opened.editor_changed(path, [TextChange(text)])
        with pytest.raises(InvalidArgument, match="line 11: both versions are here"):
            desk.save(path)
        assert desk.close_memory(path) != "", "an open question is not thrown away"
        assert path.read_text() == text
        desk.show(path)
        path.write_text(desk.type(path, text[text.index("<<<<") :], "v3 of both\n"))
        desk.save(path)
        assert desk.content(one) == "v3 of both"
        assert desk.close_memory(path) == ""

    def test_a_title_changed_on_both_sides_is_the_users_and_told(self, desk, shown):
        one, path = shown
        desk.update(one, title="By agent")
        path.write_text(desk.type(path, "title: T", "title: Mine"))
        (warning,) = desk.save(path).warnings
        assert "'By agent'" in warning
        assert "Ana" in warning
        assert desk.memory(one).title == "Mine"

    def test_different_fields_are_merged_and_shown(self, desk, shown):
        one, path = shown
        desk.update(one, content="v2 by agent")
        path.write_text(desk.type(path, "pinned: false", "pinned: true"))
        assert desk.save(path).warnings == ()
        memory = desk.memory(one)
        assert (memory.content.strip(), memory.pinned) == ("v2 by agent", True)
        assert "v2 by agent" in path.read_text()

    def test_what_another_process_stored_just_now_counts_too(self, desk, shown):
        one, path = shown
        other = Workspace.open(desk.root, desk.settings, desk.clock)
        try:
            other.journaling.commit_sync(other.writing.update(one, {"content": "v2 elsewhere"}, desk.now))
        finally:
            other.close()
        path.write_text(desk.type(path, "v1", "v1 edited"))
        with pytest.raises(InvalidArgument, match="both versions"):
            desk.save(path)

    def test_a_clean_document_follows_its_memory(self, desk, shown):
        one, path = shown
        desk.update(one, content="v2 by agent")
        desk.pass_time(1)
        assert path.read_text().endswith("---\n\nv2 by agent\n")
        desk.workspace.opened.editor_changed(
            path, [TextChange(path.read_text())]
        )  # the editor has reloaded it
        path.write_text(desk.type(path, "v2 by agent", "v3"))
        desk.save(path)
        assert desk.content(one) == "v3"

    def test_a_document_in_work_does_not(self, desk, shown):
        one, path = shown
        before = path.read_text()
        desk.type(path, "v1", "v1 edited")
        desk.update(one, content="v2 by agent")
        desk.pass_time(1)
        assert path.read_text() == before

    def test_an_editor_that_did_not_reload_replaces_nothing_silently(self, desk, shown):
        one, path = shown
        mine = path.read_text().replace("v1", "v1 edited")
        desk.update(one, content="v2 by agent")
        desk.pass_time(1)
        desk.workspace.opened.editor_changed(path, [TextChange(mine)])
        path.write_text(mine)
        with pytest.raises(InvalidArgument, match="both versions"):
            desk.save(path)


class TestEncodings:
    def test_another_encoding_is_no_damage_where_the_editor_has_told_its_text(self, desk):
        one = desk.remember("first")
        path = desk.open_memory(one)
        desk.show(path)
        for text, encoding in (("café", "latin-1"), ("naïve", "utf-16")):
            before = str(desk.workspace.opened._editors[path].text)
            after = before.replace(desk.content(one), text)
            desk.workspace.opened.editor_changed(path, [TextChange(after)])
            path.write_bytes(after.encode(encoding))
            desk.save(path)
            assert desk.content(one) == text
            desk.save(path)  # once more, without a change
            path.write_bytes(after.replace(text, "caf\xe9s").encode("latin-1"))
            with pytest.raises(InvalidArgument, match="UTF-8"):  # another program wrote it
                desk.save(path)
            path.write_bytes(after.encode(encoding))
        assert desk.close_memory(path) == "", "all of it is stored"

    def test_it_is_refused_where_only_the_disk_can_tell(self, desk):
        one = desk.remember("first")
        path = desk.open_memory(one)
        path.write_bytes(path.read_text().replace("first", "café").encode("latin-1"))
        with pytest.raises(InvalidArgument, match="UTF-8"):
            desk.save(path)
        assert desk.content(one) == "first"
        assert "UTF-8" in desk.close_memory(path)
        assert b"caf\xe9" in path.read_bytes()

    def test_a_byte_order_mark_and_other_line_ends(self, desk):
        one = desk.remember("first")
        path = desk.open_memory(one)
        text = path.read_text().replace("first", "one\ntwo \u2028 three").replace("\n", "\r\n")
        path.write_bytes(b"\xef\xbb\xbf" + text.encode())
        desk.save(path)
        assert desk.memory(one).content == "one\ntwo \u2028 three\n"


class TestAStoreThatCannotBeWritten:
    @pytest.fixture
    def sealed(self, desk, monkeypatch, tmp_path):
        one = desk.remember("first")
        full = StoreError("No space left on device")
        monkeypatch.setattr(Journal, "append", lambda *_: (_ for _ in ()).throw(full))
        monkeypatch.setattr(Journal, "access", lambda *_: (_ for _ in ()).throw(full))
        (desk.workspace.layout.store / "open").write_text("nothing can be made here")
        (tmp_path / "tmp").mkdir()
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
        return one

    def test_a_memory_can_still_be_read(self, desk, sealed):
        path = desk.open_memory(sealed)
        assert "first" in path.read_text()
        assert path.parent.stat().st_mode & 0o777 == 0o700
        assert desk.workspace.opened.id_of(path) == sealed
        desk.show(path)
        desk.write_down(path, "first", "second")
        with pytest.raises(StoreError):
            desk.save(path)
        assert "No space" in desk.close_memory(path)
        assert "second" in path.read_text()

    def test_nothing_is_left_of_a_document_that_was_only_read(self, desk, sealed, tmp_path):
        desk.open_memory(sealed)
        desk.workspace.close()
        assert list((tmp_path / "tmp").iterdir()) == []


def test_a_memory_that_is_gone_says_so(desk):
    desk.remember("first")
    path = desk.workspace.layout.store / "open" / "gone.md"
    assert desk.workspace.opened.is_document(path)
    with pytest.raises(NotFound, match=r"gone\.md"):
        desk.run(desk.workspace.opened.save(path, "---\ntitle: x\n---\nmine", desk.now))


def test_what_its_user_discards_is_not_stored(desk):
    one = desk.remember("first")
    path = desk.open_memory(one)
    desk.write_down(path, "first", "second")
    desk.run(desk.workspace.opened.discard(path))
    assert list(path.parent.iterdir()) == []
    desk.pass_time(1)
    assert desk.content(one) == "first"


def test_an_id_of_a_hidden_name_does_not_unlock_another(desk):
    for memory_id in ("a", f".a.md.{'0' * 26}"):
        desk.remember(f"note {memory_id}", id=memory_id)
    path, hidden = desk.open_memory("a"), desk.open_memory(f".a.md.{'0' * 26}")
    desk.close_memory(path)
    assert hidden.exists()
