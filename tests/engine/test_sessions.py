"""Sessions, agents and expiry, whichever surface asks."""

from datetime import timedelta

import pytest

from folders import START, Folder
from mnemolens.core.errors import NotFound
from mnemolens.core.views import AgentView, SessionView
from mnemolens.engine.requests import ListRequest, RecallRequest
from mnemolens.engine.status import status_of

HOUR = timedelta(hours=1)


@pytest.fixture
def folder(tmp_path):
    folder = Folder(tmp_path, {"a.py": "def charge():\n    return 1\n\n\ndef refund():\n    return 2\n"})
    yield folder
    folder.close()


def remember(folder, name, session=None, agent=None, **fields):
    return folder.remember(f"Note {name}", id=name, session_id=session, agent_id=agent, **fields)


def test_sessions_and_agents_with_counts_and_times(folder):
    remember(folder, "one", "monday", "ana")
    folder.clock.advance(60)
    remember(folder, "two", "monday", "bo")
    folder.clock.advance(60)
    remember(folder, "three", "tuesday", "ana")
    remember(folder, "four")
    minute = timedelta(minutes=1)
    assert folder.workspace.sessions.sessions(folder.now) == (
        SessionView("tuesday", 1, ("ana",), START + 2 * minute, START + 2 * minute),
        SessionView("monday", 2, ("ana", "bo"), START, START + minute),
    )
    assert folder.workspace.sessions.agents(folder.now) == (
        AgentView("ana", 2, ("monday", "tuesday"), START, START + 2 * minute),
        AgentView("bo", 1, ("monday",), START + minute, START + minute),
    )
    assert folder.workspace.sessions.session("monday", folder.now).memories == 2
    with pytest.raises(NotFound, match="no session 'friday'"):
        folder.workspace.sessions.session("friday", folder.now)


def test_forgetting_a_session_can_be_taken_back(folder):
    remember(folder, "one", "monday")
    remember(folder, "two", "monday", expires_at=START + HOUR)
    remember(folder, "three", "tuesday")
    folder.clock.advance(7200)
    assert folder.commit(folder.workspace.sessions.forget_session("monday")) == 2
    assert folder.commit(folder.workspace.sessions.forget_session("monday")) == 0
    assert [view.id for view in folder.workspace.sessions.sessions(folder.now)] == ["tuesday"]
    folder.commit(folder.workspace.writing.restore("one", folder.now))
    assert folder.workspace.sessions.session("monday", folder.now).memories == 1
    assert folder.commit(folder.workspace.sessions.restore_session("monday", folder.now)) == 1
    assert folder.workspace.sessions.session("monday", folder.now).memories == 2, (
        "what has expired counts again"
    )
    assert folder.commit(folder.workspace.sessions.restore_session("monday", folder.now)) == 0


def test_an_expired_memory_is_left_out_everywhere_and_can_be_brought_back(folder):
    folder.open("a.py")
    folder.remember("Charges twice", "a.py", "charge", id="m", session_id="s", expires_at=START + HOUR)

    def seen():
        workspace, now = folder.workspace, folder.now
        return {
            "hover": folder.hover("a.py", "charge") is not None,
            "lens": list(folder.lenses("a.py")) == [0] and len(workspace.lenses.of("a.py", now)) == 1,
            "actions": workspace.actions.at("a.py", folder.find("a.py", "charge"), now) != (),
            "list": workspace.listing.page(ListRequest(), now).total == 1,
            "list of the file": workspace.listing.page(ListRequest(file="a.py"), now).total == 1,
            "recall": len(workspace.recall.recall(RecallRequest("charges"), now).memories) == 1,
            "recall here": len(workspace.recall.recall(RecallRequest(file="a.py"), now).memories) == 1,
            "sessions": len(workspace.sessions.sessions(now)) == 1,
            "status": status_of(workspace).memories == 1,
        }

    assert set(seen().values()) == {True}, seen()
    folder.clock.advance(3600)
    assert set(seen().values()) == {False}, seen()
    assert folder.workspace.show.detail("m", folder.now).view.memory.status == "active"
    folder.commit(folder.workspace.writing.restore("m", folder.now))
    assert set(seen().values()) == {True}, seen()
    assert folder.workspace.show.detail("m", folder.now).view.memory.expires_at is None


def test_an_expired_memory_is_no_duplicate(folder):
    folder.remember("Charges twice", "a.py", "charge", expires_at=START + HOUR)
    assert folder.capture("Charges twice", "a.py", "charge").duplicate_of is not None
    folder.clock.advance(3600)
    assert folder.capture("Charges twice", "a.py", "charge").duplicate_of is None


def test_forgetting_what_has_expired(folder):
    remember(folder, "gone", expires_at=START + HOUR)
    remember(folder, "later", expires_at=START + 9 * HOUR)
    remember(folder, "always")
    assert folder.commit(folder.workspace.sessions.forget_expired(folder.now)) == 0
    folder.clock.advance(3600)
    assert folder.commit(folder.workspace.sessions.forget_expired(folder.now)) == 1
    assert folder.commit(folder.workspace.sessions.forget_expired(folder.now)) == 0
    assert folder.workspace.show.detail("gone", folder.now).view.memory.status == "forgotten"
