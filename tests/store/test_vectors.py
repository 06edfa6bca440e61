"""Vectors on disk."""

import sqlite3

import numpy as np
import pytest

from mnemolens.core.errors import InvalidArgument, StoreError
from mnemolens.store.vectors import Made, VectorStore


def row(*values) -> np.ndarray:
    return np.array(values, dtype=np.float32)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "store" / "vectors.sqlite"


@pytest.fixture
def store(file):
    opened = VectorStore(file)
    yield opened
    opened.close()


def test_nothing_is_written_before_the_first_vector(store, file):
    assert store.given().memory_ids == ()
    assert store.made("m").memory_ids == ()
    store.keep_only("m", 3)
    store.remove(["a"])
    assert not file.parent.exists()


def test_what_is_put_is_there_for_the_next_process(store, file):
    store.put_given("a", row(1, 2.5), "unixcoder")
    store.put_made("minilm", [Made("a", "hash-1", row(1, 0, 0)), Made("b", "hash-2", row(0, 1, 0))])
    store.close()
    again = VectorStore(file)
    given, made = again.given(), again.made("minilm")
    again.close()
    assert (given.memory_ids, given.rows.tolist()) == (("a",), [[1, 2.5]])
    assert (made.memory_ids, made.sources) == (("a", "b"), ("hash-1", "hash-2"))
    assert made.rows.tolist() == [[1, 0, 0], [0, 1, 0]]
    assert made.rows.dtype == np.float32
    assert file.stat().st_mode & 0o777 == 0o600


def test_given_and_made_do_not_replace_each_other(store):
    store.put_given("a", row(1, 2))
    store.put_made("minilm", [Made("a", "h", row(3, 4, 5))])
    store.keep_only("another model", 7)
    assert store.made("minilm").memory_ids == ()
    assert store.given().rows.tolist() == [[1, 2]]


def test_a_given_vector_of_another_dimension_is_refused_with_both_numbers(store):
    store.put_given("a", row(1, 2), "m")
    with pytest.raises(InvalidArgument, match="has 3 numbers, but the vectors of 'm' have 2"):
        store.put_given("b", row(1, 2, 3), "m")
    assert store.given("m").memory_ids == ("a",)
    store.put_given("b", row(1, 2, 3), "another")
    store.put_given("a", row(1, 2, 3), "m")  # the only one of its model may change
    assert store.given("m").rows.tolist() == [[1, 2, 3]]
    assert (store.given_model("b"), store.given_model("c")) == ("another", None)


def test_a_batch_is_stored_whole_or_not_at_all(store):
    def batch():
        yield Made("a", "h", row(1, 0))
        raise RuntimeError("the endpoint went away")

    with pytest.raises(RuntimeError):
        store.put_made("m", batch())
    assert store.made("m").memory_ids == ()


def test_removing(store):
    store.put_given("a", row(1, 2))
    store.put_made("m", [Made("a", "h", row(1, 0)), Made("b", "h", row(1, 0))])
    store.remove(["a"])
    assert (store.given().memory_ids, store.made("m").memory_ids) == ((), ("b",))


def test_a_damaged_file_is_set_aside_and_begun_anew(store, file):
    file.parent.mkdir()
    file.write_bytes(b"no database, but long enough to look like one" * 100)
    store.put_given("a", row(1, 2))
    assert store.given().memory_ids == ("a",)
    assert file.with_name("vectors.sqlite.damaged").read_bytes().startswith(b"no database")


def test_a_newer_versions_file_is_left_alone(store, file):
    file.parent.mkdir()
    with sqlite3.connect(file) as database:
        database.execute("PRAGMA user_version = 99")
    database.close()
    with pytest.raises(StoreError, match="newer version"):
        store.put_given("a", row(1, 2))
    with pytest.raises(StoreError, match="newer version"):
        store.given()


def test_a_row_of_another_length_is_passed_over(store, file):
    store.put_made("m", [Made(key, "h", row(1, 0)) for key in "abc"])
    with sqlite3.connect(file) as database:
        database.execute("UPDATE vectors SET data = x'00' WHERE memory = 'b'")
    database.close()
    assert store.made("m").memory_ids == ("a", "c")
