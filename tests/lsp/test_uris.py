"""File URIs and paths. The POSIX side; drive letters are Windows's."""

import sys
from pathlib import Path

import pytest

from mnemolens.lsp.uris import path_of_uri, uri_of_path

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX paths")

ODD_NAMES = ["a b.py", "50%.py", "a#b.py", "q?.py", "ü😀名.py", "c++.py", "a%20b.py", "[x]{y}.py", "'q\"`.py"]


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///home/ana/a.py", "/home/ana/a.py"),
        ("file:///home/a%20b/c%23d.py", "/home/a b/c#d.py"),
        ("file:///100%25/a.py", "/100%/a.py"),
        ("file:///%F0%9F%98%80.py", "/😀.py"),
        ("file:///😀.py", "/😀.py"),
        ("file:///c%3A/x.py", "/c:/x.py"),
        ("FILE:///a.py", "/a.py"),
        ("file://localhost/a.py", "/a.py"),
        ("file:/a.py", "/a.py"),
        ("file:///a/../b//c/./d.py", "/b/c/d.py"),
        ("file:///a#b.py", "/a#b.py"),
        ("file:///a/", "/a"),
    ],
)
def test_path(uri, path):
    assert path_of_uri(uri) == Path(path)


@pytest.mark.parametrize(
    "uri",
    [
        "untitled:Untitled-1",
        "git:/home/a.py?%7B%22ref%22%3A%22%22%7D",
        "vscode-notebook-cell:/home/a.ipynb#W0sZmlsZQ%3D%3D",
        "vscode-vfs://github/x/y/a.py",
        "file:relative.py",
        "file://elsewhere/share/a.py",
        "file:///nul%00.py",
        "file:",
        "",
        "/home/a.py",
    ],
)
def test_no_path(uri):
    assert path_of_uri(uri) is None


@pytest.mark.parametrize("name", ODD_NAMES)
def test_round_trip(name):
    path = Path("/odd folder") / name
    uri = uri_of_path(path)
    assert path_of_uri(uri) == path
    assert uri.isascii()
    assert not set(uri[len("file://") :]) & set(' #?"`<>{}[]\\')


def test_a_name_that_is_no_utf8():
    path = Path("/a\udcff.py")
    assert uri_of_path(path) == "file:///a%FF.py"
    assert path_of_uri("file:///a%FF.py") == path
