"""Ids and hashes; the expected digits are coreutils' sha256sum."""

from mnemolens.core.ids import content_hash, derived_anchor_id, new_ulid, short_hash


def test_content_hash_is_sixteen_digits_of_sha256_of_the_raw_content():
    assert content_hash("hello") == "2cf24dba5fb0a30e"
    assert content_hash("") == "e3b0c44298fc1c14"
    assert content_hash("hello ") != content_hash("hello")


def test_a_derived_anchor_id_is_over_the_nul_joined_parts():
    # printf 'm1\0a/b.py\0C.f\0000\0call' | sha256sum
    assert derived_anchor_id("m1", "a/b.py", "C.f", 0, "call") == "3a04f327e09888ef"


def test_parts_do_not_run_together():
    assert short_hash("ab", "c") != short_hash("a", "bc")


def test_lone_surrogates_have_a_hash():
    assert len(content_hash("\ud800")) == 16


def test_ulids_are_26_characters_and_unique():
    made = {new_ulid() for _ in range(1000)}
    assert len(made) == 1000
    assert {len(one) for one in made} == {26}
