"""`conflicts`, `clusters`, and marks of memories that others supersede."""

import pytest


@pytest.fixture
def notes(shell):
    return [
        shell.remember("Never retry", "--at", "shop/pay.py::refund"),
        shell.remember("Retries are safe now", "--at", "shop/pay.py::refund"),
        shell.remember("Ask Ana"),
    ]


def test_conflicts(shell, notes):
    old, new, other = notes
    assert shell("conflicts").code == 1
    assert shell("link", old, "--to", new, "--type", "CONTRADICTS").code == 0
    ran = shell("conflicts")
    assert ran.code == 0
    assert ran.out == f"Never retry  {old[-8:]}\n  contradicts Retries are safe now  {new[-8:]}\n"
    assert [one["targetId"] for one in shell("conflicts", new[-8:], "--json").json["edges"]] == [new]
    ran = shell("conflicts", other, "--json")
    assert (ran.code, ran.json) == (1, {"edges": []})
    assert "no memory 'nobody'" in shell("conflicts", "nobody").error


def test_clusters(shell, notes):
    old, new, other = notes
    assert shell("clusters").code == 1
    shell("link", old, "--to", new)
    shell("link", new, "--to", other)
    ran = shell("clusters", "--min-size", "3")
    assert ran.code == 0
    assert ran.out.splitlines() == [
        f"Retries are safe now  {new[-8:]} · 2 around it, 33% of all pairs connected",
        f"  Never retry  {old[-8:]}",
        f"  Ask Ana  {other[-8:]}",
    ]
    (cluster,) = shell("clusters", "--json").json["clusters"]
    assert (cluster["clusterId"], cluster["memberIds"]) == (new, [old, new, other])
    assert shell("clusters", "--min-size", "4").code == 1
    assert shell("clusters", "--min-size", "0").code == 2


def test_what_is_superseded_says_so(shell, notes):
    old, new, _ = notes
    shell("link", new, "--to", old, "--type", "SUPERSEDES")
    assert "Never retry (superseded)" in shell("list").out
    assert "superseded by “Retries are safe now”" in shell("show", old).out
    ran = shell("recall", "--at", "shop/pay.py::refund", "--no-record")
    assert "superseded by “Retries are safe now”" in ran.out
    assert ran.out.index("Retries are safe now") < ran.out.index("Never retry")


def test_confirming_and_recalling_count_as_use(shell, notes):
    old, new, _ = notes
    shell("confirm", old)
    memory = shell("show", old, "--json").json["memory"]
    assert memory["accessCount"] == 1
    shell("recall", "--at", "shop/pay.py::refund")
    (edge,) = shell("show", new, "--json").json["edges"]
    assert (edge["type"], edge["weight"]) == ("CO_ACTIVATED", 0.1)
    assert {edge["sourceId"], edge["targetId"]} == {old, new}
