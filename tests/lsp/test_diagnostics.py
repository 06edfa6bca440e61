"""Hints, and the gestures that answer them, as any client has them."""

from lsprotocol import types

LONG = '''"""Billing."""


def charge(amount):
    """Charge the card."""
    total = sum(line.price for line in order.lines)
    receipt = provider.post("/pay", total=total, customer=customer)
    ledger.append((customer, total, receipt.id))
    return receipt


class Shop:
    def open(self, door, key):
        door.unlock(key)
        self.lights.on()
        return self
'''
REWRITTEN = (
    LONG.replace("def charge", "def settle_invoice")
    .replace("total = sum(line.price for line in order.lines)", "amount = order.amount()")
    .replace("total=total", "amount=amount")
    .replace("(customer, total, receipt.id)", "(receipt.id, amount)")
)


async def start(editor, repository, **settings):
    await editor.start(repository, settings=settings or None)
    await editor.indexed(files=2)
    return repository / "billing.py"


async def test_a_due_memory_is_hinted_at_until_it_is_put_off(editor, repository):
    file = await start(editor, repository)
    there = editor.open(file)
    note = {"type": "prospective", "title": "Ask Ana", "dueAt": "2026-01-01T00:00:00Z"}
    memory = (await editor.capture("before the release", file, 3, 5, **note))["memory"]
    [hint] = await editor.until(lambda: editor.client.diagnostics.get(there))
    assert (hint.message, hint.code, hint.source) == (
        "Due, as its time has come: Ask Ana",
        "due",
        "mnemolens",
    )
    assert hint.severity == types.DiagnosticSeverity.Hint
    assert hint.range == types.Range(types.Position(3, 4), types.Position(3, 10))
    actions = await editor.actions(file, 3, 5)
    offered = [action["title"] for action in actions if "Ask Ana" in action["title"]]
    assert offered[:3] == ["Done: Ask Ana", "Snooze until tomorrow: Ask Ana", "Not now: Ask Ana"]
    listed = (await editor.run("memory.due"))["due"]
    assert [(one["memory"]["id"], one["why"]) for one in listed] == [(memory["id"], "its time has come")]
    snoozed = await editor.run("memory.snooze", {"id": memory["id"]})
    assert snoozed["memory"]["dueAt"] > "2026-01-02"
    await editor.until(lambda: not editor.client.diagnostics[there])
    assert (await editor.run("memory.due"))["due"] == []
    assert (await editor.refusal("memory.snooze", {"id": memory["id"], "dueAt": "2020-01-01T00:00:00Z"})) == (
        "dueAt: must lie in the future"
    )


async def test_what_is_due_where_no_editor_looks_is_named_once(vscode, repository):
    await start(vscode, repository)
    for title in ("one", "two"):
        await vscode.capture(title, title=title, dueAt="2026-01-01T00:00:00Z")
    said = await vscode.messages()
    assert said in (["Mnemolens, due: “one”, “two”"], ["Mnemolens, due: “one”"])
    if said == ["Mnemolens, due: “one”"]:
        assert await vscode.messages() == ["Mnemolens, due: “two”"]


async def test_a_doubtful_move_is_confirmed_or_undone(neovim, repository):
    (repository / "billing.py").write_text(LONG)
    file = await start(neovim, repository)
    neovim.open(file)
    memory = (await neovim.capture("Never retry", file, 3, 5))["memory"]
    neovim.change(file, (None, REWRITTEN))
    neovim.save(file)
    text = await neovim.until(lambda: neovim.hover_text(file, 3, 5))
    assert "moved here? confirm" in text.split("\n")[0]
    titles = [action["title"] for action in await neovim.actions(file, 3, 5)]
    assert titles[:2] == ["It moved here: Never retry", "Undo the move: Never retry"]
    undone = await neovim.run("memory.undoMove", {"id": memory["id"]})
    assert [anchor["verdict"] for anchor in undone["anchors"]] == ["lost"]
    assert await neovim.hover_text(file, 3, 5) is None
    back = await neovim.run(
        "memory.reanchor", {"id": memory["id"], "candidate": "billing.py::settle_invoice"}
    )
    assert [link["target"]["id"] for link in back["links"]] == ["billing.py::settle_invoice"]
