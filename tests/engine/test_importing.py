"""Which files an import looks at, and that a write which fails or is cancelled leaves nothing behind."""

import asyncio

import pytest

from folders import Folder
from mnemolens.core.errors import InvalidArgument, StoreError
from mnemolens.core.settings_model import IndexSettings, Settings

FILES = {
    "billing.py": "# TODO: never retry\ndef charge():\n    pass\n",
    "web/cart.ts": "// FIXME: rounds down\nexport function total() {}\n",
    "CLAUDE.md": "# Money\n\nIn cents.\n",
    "docs/AGENTS.md": "# Words\n\nPlain ones.\n",
    "vendor/lib.py": "# TODO: not ours\n",
    "node_modules/x/AGENTS.md": "# Theirs\n\nNot ours.\n",
}


@pytest.fixture
def folder(tmp_path):
    made = Folder(tmp_path, FILES, Settings(index=IndexSettings(exclude=["vendor/"])))
    yield made
    made.close()


def previewed(folder, *arguments):
    plan = folder.run(folder.workspace.importing.preview(*arguments))
    return [(new.found.file, new.found.title) for new in plan.new]


def imported(folder):
    async def run():
        workspace = folder.workspace
        return await workspace.journaling.commit_slowly(await workspace.importing.run(folder.now))

    return folder.run(run())


def test_looks_at_indexed_code_and_at_agent_files(folder):
    assert sorted(previewed(folder)) == [
        ("CLAUDE.md", "Money"),
        ("billing.py", "never retry"),
        ("docs/AGENTS.md", "Words"),
        ("web/cart.ts", "rounds down"),
    ]


def test_sees_what_changed_on_disk(folder):
    previewed(folder)
    folder.write_seen("billing.py", "# TODO: retry once\ndef charge():\n    pass\n")
    folder.write("CLAUDE.md", "# Money\n\nIn euros, with two digits.\n")
    found = folder.run(folder.workspace.importing.preview())
    assert {new.found.content for new in found.new} >= {"retry once", "In euros, with two digits."}
    assert "never retry" not in {new.found.content for new in found.new}


def test_a_file_that_is_gone_takes_its_notes_with_it(folder):
    assert imported(folder).stored == 4
    (folder.root / "docs" / "AGENTS.md").unlink()
    (folder.root / "billing.py").unlink()
    folder.run(folder.workspace.files_changed([folder.root / "billing.py"]))
    plan = folder.run(folder.workspace.importing.preview())
    titles = {folder.workspace.show.detail(one, folder.now).view.memory.title for one in plan.gone}
    assert titles == {"never retry", "Words"}


def test_no_such_file(folder):
    with pytest.raises(InvalidArgument, match=r"^uri: no file nowhere\.py"):
        previewed(folder, ("todo",), "nowhere.py")


def test_an_unwritable_journal_leaves_nothing_behind(folder, monkeypatch):
    def refuse(_events):
        raise StoreError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(folder.workspace.journal, "append", refuse)
        with pytest.raises(StoreError):
            imported(folder)
    assert tuple(folder.workspace.state.memories()) == ()
    # The same words by hand are no duplicate of what was never stored.
    assert folder.capture("never retry", "billing.py", "charge").duplicate_of is None


def test_a_cancelled_plan_leaves_nothing_behind(folder):
    async def cancelled():
        running = asyncio.ensure_future(folder.workspace.importing.run(folder.now))
        await asyncio.sleep(0)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    folder.run(cancelled())
    assert tuple(folder.workspace.state.memories()) == ()
    assert imported(folder).stored == 4
