"""Whatever is stored, changed and deleted in any order: the backend answers what a dictionary would."""

import tempfile
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from mnemolens import KuzuBackend, MemoryEntry, MemoryQuery, MemoryType

DAY = datetime(2026, 1, 1, tzinfo=UTC)
IDS = st.sampled_from(["a", "b", "c:1", "d'"])
NAMES = st.sampled_from([None, "one", "two"])
TAGS = st.lists(st.sampled_from(["x", "y", "z"]), unique=True)
VALUES = st.recursive(
    st.booleans() | st.integers(-5, 5) | st.sampled_from(["", "ü", "'"]),
    lambda inner: st.lists(inner, max_size=2),
)

ENTRIES = st.builds(
    MemoryEntry,
    id=IDS,
    session_id=NAMES,
    agent_id=NAMES,
    memory_type=st.sampled_from(MemoryType),
    title=st.sampled_from(["First", "Second"]),
    content=st.sampled_from(["alpha", "beta gamma", "Gamma\n delta"]),
    metadata=st.dictionaries(st.sampled_from(["k", "l"]), VALUES),
    created_at=st.integers(0, 3).map(lambda days: DAY + timedelta(days=days)),
    tags=TAGS,
    importance=st.sampled_from([0.0, 0.5, 1.0]),
    expires_at=st.sampled_from([None, DAY, DAY + timedelta(days=400_000)]),
    author=st.just("Ana"),
)
QUERIES = st.builds(
    MemoryQuery,
    session_id=NAMES,
    agent_id=NAMES,
    memory_type=st.none() | st.sampled_from(MemoryType),
    tags=st.none() | TAGS,
    content_search=st.sampled_from([None, "gamma", "alpha x"]),
    min_importance=st.sampled_from([None, 0.5, 1]),
    created_after=st.sampled_from([None, DAY + timedelta(days=1)]),
    created_before=st.sampled_from([None, DAY + timedelta(days=2)]),
    limit=st.sampled_from([None, 1, 2, 5000]),
    offset=st.sampled_from([0, 1, 2]),
    include_expired=st.booleans(),
)


class Backend(RuleBasedStateMachine):
    @initialize()
    def begin(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = Path(self.folder.name)
        self.backend = KuzuBackend(root=self.root)
        self.kept: dict[str, MemoryEntry] = {}
        self.deleted: dict[str, MemoryEntry] = {}

    def teardown(self):
        if hasattr(self, "backend"):
            self.backend.close()
            self.folder.cleanup()

    @rule(entry=ENTRIES)
    def store(self, entry):
        assert self.backend.store_memory(entry) is True
        self.kept[entry.id] = entry
        self.deleted.pop(entry.id, None)

    @rule(entry=ENTRIES)
    def update(self, entry):
        assert self.backend.update_memory(entry) is (entry.id in self.kept)
        if entry.id in self.kept:
            self.kept[entry.id] = entry

    @rule(memory_id=IDS)
    def delete(self, memory_id):
        assert self.backend.delete_memory(memory_id) == int(memory_id in self.kept)
        if memory_id in self.kept:
            self.deleted[memory_id] = self.kept.pop(memory_id)

    @rule(memory_id=IDS)
    def restore(self, memory_id):
        assert self.backend.restore_memory(memory_id) == int(memory_id in self.deleted)
        if memory_id in self.deleted:
            entry = self.deleted.pop(memory_id)
            self.kept[memory_id] = replace(entry, expires_at=None) if entry.expires_at == DAY else entry

    @rule(session=st.sampled_from(["one", "two"]))
    def delete_session(self, session):
        gone = [entry for entry in self.kept.values() if entry.session_id == session]
        assert self.backend.delete_session(session) == len(gone)
        for entry in gone:
            self.deleted[entry.id] = self.kept.pop(entry.id)

    @rule()
    def cleanup(self):
        gone = [entry for entry in self.kept.values() if entry.expires_at == DAY]
        assert self.backend.cleanup_expired() == len(gone)
        for entry in gone:
            self.deleted[entry.id] = self.kept.pop(entry.id)

    @rule()
    def reopen(self):
        self.backend.close()
        self.backend.initialize()

    @rule(query=QUERIES)
    def retrieve(self, query):
        found = self.backend.retrieve_memories(query)
        assert [entry.id for entry in found] == expected(self.kept.values(), query)

    @invariant()
    def the_same_is_there(self):
        if not hasattr(self, "backend"):
            return
        for memory_id in ("a", "b", "c:1", "d'"):
            found = self.backend.get_memory_by_id(memory_id)
            entry = self.kept.get(memory_id)
            if entry is None or entry.expires_at == DAY:
                assert found is None
            else:
                assert {**vars(found), "tags": set(found.tags), "accessed_at": None} == {
                    **vars(entry),
                    "tags": set(entry.tags),
                }


def expected(entries, query):
    """The ids that a query finds, by its documentation."""
    found = [
        entry
        for entry in entries
        if (query.include_expired or entry.expires_at != DAY)
        and query.session_id in {None, entry.session_id}
        and query.agent_id in {None, entry.agent_id}
        and query.memory_type in {None, entry.memory_type}
        and set(query.tags or ()) <= set(entry.tags)
        and (query.min_importance is None or entry.importance >= query.min_importance)
        and (query.created_after is None or entry.created_at >= query.created_after)
        and (query.created_before is None or entry.created_at <= query.created_before)
        and all(
            any(word in text.lower() for text in (entry.title, entry.content, *entry.tags))
            for word in (query.content_search or "").split()
        )
    ]
    found.sort(key=lambda entry: (-entry.created_at.timestamp(), entry.id))
    end = None if query.limit is None else query.offset + query.limit
    return [entry.id for entry in found[query.offset : end]]


TestBackend = Backend.TestCase
TestBackend.settings = settings(max_examples=12, stateful_step_count=25, deadline=None)
