"""Identifiers: what one is, how it splits, which words are everyday English."""

import pytest

from mnemolens.core.identifiers import is_common_word, is_identifier, split_identifier, without_colours


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("load_config", ("load", "config")),
        ("loadConfig", ("load", "config")),
        ("LoadConfig", ("load", "config")),
        ("LOAD_CONFIG", ("load", "config")),
        ("HTTPServer", ("http", "server")),
        ("parseHTTPHeader", ("parse", "http", "header")),
        ("getURL", ("get", "url")),
        ("parse_header_v2", ("parse", "header", "v", "2")),
        ("utf8Decode", ("utf", "8", "decode")),
        ("base64", ("base", "64")),
        ("__init__", ("init",)),
        ("$scope", ("scope",)),
        ("requests.sessions.Session", ("requests", "sessions", "session")),
        ("x", ("x",)),
        ("", ()),
        ("___", ()),
        ("größe_maß", ("größe", "maß")),
    ],
)
def test_split(name, parts):
    assert split_identifier(name) == parts


@pytest.mark.parametrize("text", ["a", "_", "$el", "load_config", "A1", "__init__"])
def test_is_identifier(text):
    assert is_identifier(text)


@pytest.mark.parametrize("text", ["", "1a", "a-b", "a b", "a.b", "函数", "naïve", "a\n", " a"])
def test_is_no_identifier(text):
    assert not is_identifier(text)


@pytest.mark.parametrize(
    "word",
    [
        *(
            "get",
            "load",
            "update",
            "close",
            "test",
            "run",
            "main",
            "index",
            "set",
            "read",
            "write",
            "open",
            "list",
        ),
        *("join", "process", "save", "delete", "validate", "render", "connect", "commit", "login", "parse"),
        *("match", "setup", "start", "stop", "reload", "unload", "preload", "loads", "loading", "loaded"),
        *("stopped", "validation", "cached", "retries", "Session", "User", "TEST", "connection", "handlers"),
    ],
)
def test_common_words(word):
    assert is_common_word(word)


@pytest.mark.parametrize(
    "word",
    ["load_config", "loadConfig", "getattrs", "urlopen", "HTTPAdapter", "v2", "", "x1", "größe", "charset"],
)
def test_words_that_say_something(word):
    assert not is_common_word(word)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("\x1b[31mred\x1b[0m", "     red    "),
        ("\x1b[38;5;9mred", "         red"),
        ("\x1b]8;;http://x\x1b\\a\x1b]8;;\x07b", " " * 15 + "a" + " " * 6 + "b"),
        ("\x1bred [31m", "\x1bred [31m"),
        ("\x1b[", "\x1b["),
        ("red", "red"),
    ],
)
def test_what_a_terminal_is_told_is_blank(text, left):
    assert without_colours(text) == left
