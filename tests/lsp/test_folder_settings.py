"""The repository's settings file, followed while others write it."""

import os

import pytest

from mnemolens.lsp.folder_settings import FollowedFile


@pytest.fixture
def path(tmp_path):
    path = tmp_path / ".mnemolens.yaml"
    path.write_text("hover: {maxItems: 1}\n")
    return path


def test_what_is_written_counts_at_the_second_look(path):
    file = FollowedFile(path)
    assert file.content.data == {"hover": {"maxItems": 1}}
    assert not file.look()
    path.write_text("hover: {maxItems: 12}\n")
    assert not file.look()
    assert file.content.data == {"hover": {"maxItems": 1}}
    assert file.look()
    assert file.content.data == {"hover": {"maxItems": 12}}
    assert not file.look()


def test_a_file_that_was_emptied_to_be_written_is_not_taken_for_its_content(path):
    file = FollowedFile(path)
    with path.open("w") as writing:
        assert not file.look(), "half way"
        writing.write("hover: {maxItems: [\n")
    assert not file.look()
    assert file.look()
    assert file.content.problem is not None
    assert file.content.data == {"hover": {"maxItems": 1}}, "the last good settings, not those of half a file"


def test_a_file_replaced_by_another_of_its_size_and_time_is_read(path):
    file = FollowedFile(path)
    other = path.with_name("other")
    other.write_text("hover: {maxItems: 2}\n")
    found = path.stat()
    os.utime(other, ns=(found.st_atime_ns, found.st_mtime_ns))
    other.replace(path)
    assert [file.look(), file.look()] == [False, True]
    assert file.content.data == {"hover": {"maxItems": 2}}


def test_a_file_that_goes_and_comes_back(path):
    file = FollowedFile(path)
    text = path.read_text()
    path.unlink()
    assert not file.look()
    path.write_text(text)
    assert [file.look(), file.look()] == [False, True]
    path.unlink()
    assert [file.look(), file.look(), file.look()] == [False, True, False]
    assert file.content.data == {}
