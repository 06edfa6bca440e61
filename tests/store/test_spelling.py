"""Names on a disk that takes both cases for one; its answers are made here by links to the same file."""

import os
from pathlib import Path

import pytest

from mnemolens.store.spelling import is_spelt_otherwise


@pytest.fixture
def answering(tmp_path, monkeypatch):
    """Makes a file answer to every spelling, while its folder lists only the one it was written with."""

    def make(written, *others):
        (tmp_path / written).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / written).touch()
        for other in others:
            (tmp_path / other).parent.mkdir(parents=True, exist_ok=True)
            os.link(tmp_path / written, tmp_path / other)
        names, listed = set(written.split("/")), Path.iterdir
        monkeypatch.setattr(Path, "iterdir", lambda at: [one for one in listed(at) if one.name in names])
        return tmp_path

    return make


def test_another_spelling_of_the_name(answering):
    top = answering("Pay.py", "pay.py", "PAY.PY", "pAY.PY")
    assert is_spelt_otherwise(top, "pay.py")
    assert not is_spelt_otherwise(top, "Pay.py")


def test_another_spelling_of_a_folder(answering):
    top = answering("Lib/pay.py", "lib/pay.py", "lib/PAY.PY", "Lib/PAY.PY")
    assert is_spelt_otherwise(top, "lib/pay.py")
    assert not is_spelt_otherwise(top, "Lib/pay.py")


@pytest.mark.parametrize("names", [("pay.py",), ("pay.py", "PAY.PY")])
def test_where_case_counts_every_name_is_its_own(tmp_path, names):
    for name in names:
        (tmp_path / name).touch()
    assert not any(is_spelt_otherwise(tmp_path, name) for name in names)


def test_two_links_to_one_file_are_both_there(tmp_path):
    (tmp_path / "pay.py").touch()
    os.link(tmp_path / "pay.py", tmp_path / "PAY.PY")
    assert not is_spelt_otherwise(tmp_path, "pay.py")


@pytest.mark.parametrize("name", ["none.py", "12"])
def test_a_file_that_is_not_there_or_has_no_letters(tmp_path, name):
    (tmp_path / "12").touch()
    assert not is_spelt_otherwise(tmp_path, name)
