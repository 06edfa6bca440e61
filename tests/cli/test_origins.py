"""`mnemolens sessions`, `agents`, `forget --session`; what has expired."""

import json

import pytest


@pytest.fixture
def noted(shell):
    shell.remember("One", "--session", "monday", "--agent", "claude")
    shell.remember("Two", "--session", "monday")
    shell.remember("Three", "--session", "tuesday", "--agent", "claude")
    return shell


def titles(shell, *arguments):
    return [one["title"] for one in shell("list", "--json", *arguments).json["memories"]]


def test_sessions_and_agents(noted):
    answer = noted("sessions", "--json").json
    assert [(one["id"], one["memories"], one["agents"]) for one in answer["sessions"]] == [
        ("tuesday", 1, ["claude"]),
        ("monday", 2, ["claude"]),
    ]
    (agent,) = noted("agents", "--json").json["agents"]
    assert (agent["id"], agent["memories"], agent["sessions"]) == ("claude", 2, ["monday", "tuesday"])
    shown = noted("sessions").out.splitlines()
    assert [line.split()[:2] for line in shown] == [
        ["session", "memories"],
        ["tuesday", "1"],
        ["monday", "2"],
    ]


def test_a_session_is_forgotten_as_one(noted):
    assert noted("forget", "--session", "monday", "--json").json == {"forgotten": 2}
    assert titles(noted) == ["Three"]
    ran = noted("forget", "--session", "monday")
    assert (ran.code, ran.out) == (1, "")
    assert "monday" in ran.error
    (one, _) = [m["id"] for m in noted("list", "--all", "--session", "monday", "--json").json["memories"]]
    noted("restore", one)
    assert titles(noted, "--session", "monday") == ["Two"]
    ran = noted("restore", "--session", "monday")
    assert (ran.code, ran.out.split(";")[0]) == (0, "Restored: 1 memory")
    assert titles(noted) == ["Three", "Two", "One"]
    assert noted("restore", "--session", "monday").code == 1


def test_without_any(shell):
    ran = shell("sessions")
    assert (ran.code, ran.out) == (0, "")
    assert "--session" in ran.error
    assert shell("agents", "--json").json == {"agents": []}
    assert not (shell.folder / ".git" / "mnemolens").exists()


@pytest.mark.parametrize("arguments", [("forget",), ("restore", "7XK2M4QF", "--session", "monday")])
def test_wrong_use(noted, arguments):
    ran = noted(*arguments)
    assert ran.code == 2
    assert "--session" in ran.error


def test_what_has_expired_is_left_out_and_can_be_restored(shell):
    one = shell.remember(
        "Charges twice", "--at", "shop/pay.py::refund", "--expires", "2020-01-01", "--session", "s"
    )
    here = ("--at", "shop/pay.py::refund")
    assert titles(shell) == titles(shell, *here) == []
    assert titles(shell, "--all") == ["Charges twice"]
    assert shell("recall", "charges", "--json").json["memories"] == []
    assert shell("recall", *here, "--json").json["memories"] == []
    assert shell("sessions", "--json").json == {"sessions": []}
    assert shell("status", "--json").json["folders"][0]["memories"] == 0
    stats = shell("stats", "--json").json
    assert (stats["memories"], stats["expired"], stats["forgotten"]) == (0, 1, 0)
    assert [json.loads(line)["memory"]["id"] for line in shell.process("export").out.splitlines()] == [one]
    assert shell("restore", one).code == 0
    assert titles(shell) == titles(shell, *here) == ["Charges twice"]
