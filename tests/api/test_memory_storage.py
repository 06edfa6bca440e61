"""`MemoryStorage` and `StoredMemory`: what is stored comes back whole, the nearest first."""

import hashlib
import math
import time

import pytest

from mnemolens import InvalidArgument, KuzuBackend, MemoryStorage, StoredMemory

NOW = 1_790_000_000.25


def stored(number=1, embedding=(1.0, 0.0), **fields):
    given = {
        "id": f"mem_{number:03}",
        "content": f"Memory number {number}, which is about vectors",
        "embedding": list(embedding),
        "layer": "core",
        "base_importance": 0.9,
        "created_at": NOW - 7200,
        "last_accessed": NOW,
        "access_count": 3,
        "token_count": 50,
        "metadata": {"module": "auth"},
    }
    return StoredMemory(**{**given, **fields})


@pytest.fixture
def storage(tmp_path):
    root = tmp_path / "project"
    root.mkdir()
    with MemoryStorage(tmp_path / "store", root=root) as storage:
        yield storage


def ids(found):
    return [one.id for one in found]


def test_a_stored_memory_is_a_dict_and_back():
    memory = stored()
    assert StoredMemory.from_dict(memory.to_dict()) == memory
    assert memory.to_dict()["embedding"] == [1.0, 0.0]
    assert memory.content_hash() == hashlib.sha256(memory.content.encode()).hexdigest()[:16]
    assert stored(content="x" * 300).content_preview == "x" * 100


def test_the_nearest_come_first_and_whole(storage):
    memories = [stored(1, (1, 0)), stored(2, (0.75, 0.75)), stored(3, (0, 1)), stored(4, (-1, 0))]
    for memory in memories:
        assert storage.store(memory) == []
    found = storage.retrieve_by_similarity([2.0, 0.5])  # 14 degrees: 1 is 14 off, 2 31, 3 76, 4 166
    assert found == memories
    assert ids(storage.retrieve_by_similarity([2.0, 0.5], top_k=2)) == ["mem_001", "mem_002"]
    assert storage.retrieve_by_similarity([1, 0], top_k=0) == []


def test_only_one_layer(storage):
    storage.store(stored(1, layer="core"))
    storage.store(stored(2, layer="archive"))
    assert ids(storage.retrieve_by_similarity([1, 0], layer="archive")) == ["mem_002"]
    assert storage.retrieve_by_similarity([1, 0], layer="active") == []


def test_the_same_id_is_an_update(storage):
    storage.store(stored(1, (1, 0)))
    storage.store(stored(1, (0, 1), content="It says this now", layer="active"))
    (found,) = storage.retrieve_by_similarity([1, 0])
    assert (found.content, found.embedding, found.layer) == ("It says this now", [0, 1], "active")


def test_the_same_content_is_told_and_replaces_nothing(storage):
    storage.store(stored(1, content="The provider double-charges"))
    told = storage.store(stored(2, content="The provider double-charges"))
    assert len(told) == 1
    assert "mem_001" in told[0]
    assert ids(storage.retrieve_by_similarity([1, 0])) == ["mem_001", "mem_002"]


def test_it_is_there_for_others_and_later(storage, tmp_path):
    storage.store(stored(1))
    with KuzuBackend(tmp_path / "store", root=tmp_path / "project") as backend:
        assert backend.get_memory_by_id("mem_001").importance == 0.9
        assert backend.access_memory("mem_001") == 1
        with MemoryStorage(tmp_path / "store", root=tmp_path / "project") as other:
            (found,) = other.retrieve_by_similarity([1, 0])
            assert (found.access_count, found.content) == (4, stored(1).content)
            assert found.last_accessed == pytest.approx(time.time(), abs=60)
            other.store(stored(2))
        assert ids(storage.retrieve_by_similarity([1, 0])) == ["mem_001", "mem_002"]
        backend.delete_memory("mem_001")
        assert ids(storage.retrieve_by_similarity([1, 0])) == ["mem_002"]


def test_vectors_of_two_models_are_never_compared(tmp_path):
    for model, vector in (("small", [1, 0]), ("large", [1, 0, 0])):
        with MemoryStorage(tmp_path / "store", root=tmp_path, model=model) as storage:
            storage.store(stored(len(vector), vector))
            assert ids(storage.retrieve_by_similarity(vector)) == [f"mem_{len(vector):03}"]


def test_nothing_is_written_by_looking(storage, tmp_path):
    assert storage.retrieve_by_similarity([1, 0]) == []
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"embedding": []}, "embedding"),
        ({"embedding": [1, math.nan]}, "embedding"),
        ({"embedding": [0, 0]}, "embedding"),
        ({"embedding": "near"}, "embedding"),
        ({"layer": "attic"}, "layer"),
        ({"base_importance": 1.5}, "base_importance"),
        ({"base_importance": math.nan}, "base_importance"),
        ({"created_at": math.inf}, "created_at"),
        ({"created_at": -1}, "created_at"),
        ({"last_accessed": "today"}, "last_accessed"),
        ({"access_count": -1}, "access_count"),
        ({"token_count": 1.5}, "token_count"),
        ({"metadata": []}, "metadata"),
        ({"metadata": {"stored_memory": 1}}, "metadata"),
        ({"content": ""}, "content"),
        ({"id": ""}, "id"),
    ],
)
def test_what_is_wrong_is_named_and_not_stored(storage, tmp_path, fields, field):
    with pytest.raises(InvalidArgument) as caught:
        storage.store(stored(**fields))
    assert caught.value.field == field
    assert not (tmp_path / "store").exists()


def test_a_vector_of_another_length_is_refused(storage):
    storage.store(stored(1, (1, 0)))
    with pytest.raises(InvalidArgument, match="embedding: has 3 numbers"):
        storage.store(stored(2, (1, 0, 0)))
    with pytest.raises(InvalidArgument, match="query_embedding: has 3 numbers"):
        storage.retrieve_by_similarity([1, 0, 0])
    assert ids(storage.retrieve_by_similarity([1, 0])) == ["mem_001"]


def test_other_bad_arguments(storage, tmp_path):
    for field, call in {
        "memory": lambda: storage.store({"id": "m"}),
        "top_k": lambda: storage.retrieve_by_similarity([1, 0], top_k=-1),
        "layer": lambda: storage.retrieve_by_similarity([1, 0], layer="attic"),
        "query_embedding": lambda: storage.retrieve_by_similarity(None),
        "model": lambda: MemoryStorage(tmp_path / "store", model=""),
        "embeding": lambda: StoredMemory.from_dict({**stored().to_dict(), "embeding": []}),
        "content": lambda: StoredMemory.from_dict({"id": "m"}),
    }.items():
        with pytest.raises(InvalidArgument) as caught:
            call()
        assert caught.value.field == field
