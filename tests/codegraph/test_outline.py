"""What a definition calls, raises and branches on, as a reader of its text would list it."""

import pytest

from mnemolens.codegraph.languages import language_of
from mnemolens.codegraph.outline import MAX_ITEMS, MAX_WORDS, Outline, outline

PYTHON = '''
def charge(order, retries=3):
    """Charges; calls nothing()."""
    for attempt in range(retries):
        try:
            answer = provider.post(order.id, cents=to_cents(order.total))
        except (Timeout, ConnectionError) as error:
            continue
        if answer.status >= 500:
            raise ProviderDown(answer.status) from error
        elif answer.status == 402:
            raise errors.CardRefused
    def inner():
        if hidden():
            raise Hidden
    raise
'''
TYPESCRIPT = """charge(order: Order): Promise<void> {
  for (const row of order.rows) {
    if (!row.ok) throw new Error("no");
  }
  try { this.send(order); } catch (e) { throw e; }
  switch (order.kind) { case "a": return first(); default: last(); }
  const h = () => hidden();
}"""
GO = """func (c *Client) Do(req *Request) error {
	if err := c.check(req); err != nil {
		return err
	}
	for _, m := range c.all {
		m.Handle(req)
	}
	switch req.Kind {
	case A, B:
		panic("x")
	case D:
		panic(fmt.Errorf("of %v", c.kind()))
	default:
		defer func() { panic(late) }()
		panic(err) // of it
	}
	return c.send(req)
}"""


@pytest.mark.parametrize(
    ("file", "kind", "text", "expected"),
    [
        (
            "a.py",
            "function",
            PYTHON,
            Outline(
                ("range", "provider.post", "to_cents", "ProviderDown"),
                ("ProviderDown", "errors.CardRefused"),
                (
                    "for attempt in range(retries)",
                    "except (Timeout, ConnectionError) as error",
                    "if answer.status >= 500",
                    "elif answer.status == 402",
                ),
            ),
        ),
        (
            "a.ts",
            "method",
            TYPESCRIPT,
            Outline(
                ("Error", "this.send", "first", "last"),
                ("Error", "e"),
                ("for (const row of order.rows)", "if (!row.ok)", "catch (e)", 'case "a"'),
            ),
        ),
        (
            "a.go",
            "method",
            GO,
            Outline(
                ("c.check", "m.Handle", "fmt.Errorf", "c.kind", "c.send"),
                ('"x"', "fmt.Errorf", "late", "err"),
                ("if err := c.check(req); err != nil", "for _, m := range c.all", "case A, B", "case D"),
            ),
        ),
    ],
    ids=["python", "typescript", "go"],
)
def test_lists_what_the_text_does_in_its_order(file, kind, text, expected):
    assert outline(text, language_of(file), kind) == expected


def test_is_short_whatever_the_text():
    many = "".join(f"    f{n}()\n    if x == {n}{'0' * 200}:\n        pass\n" for n in range(50))
    found = outline(f"def long():\n{many}", language_of("a.py"))
    assert len(found.calls) == len(found.branches) == MAX_ITEMS
    assert all(len(head) <= MAX_WORDS for head in found.branches)


@pytest.mark.parametrize("text", ["", "def broken(:", "x = 1", "\0", "def f(): ...", "é" * 10])
def test_text_without_a_definition_has_an_empty_one(text):
    assert outline(text, language_of("a.py")) == Outline()
