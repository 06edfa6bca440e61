"""What storing a memory would mean, and what becomes of an offer."""

import pytest

from mnemolens import CodeGraph, InvalidArgument, KuzuBackend, MemoryEntry, NotFound

CODE = '''\
def charge(card, amount):
    """Take money from a customer's credit card through the payment provider."""
    return card.provider.take(amount)


def reserve(shelf, count):
    """Put articles aside for an order until it is paid."""
    return shelf.put_aside(count)
'''
ABOUT_CHARGE = "The credit card of a customer may be declined by the provider of payment at night"


@pytest.fixture
def backend(project):
    (project / "src" / "billing.py").write_text(CODE)
    with KuzuBackend(root=project) as made:
        CodeGraph(made).index("src")
        yield made


def test_a_preview_names_the_code_and_stores_nothing(backend, project):
    found = backend.preview_memory(MemoryEntry(content="`validate_token` of src/auth.py never logs"))
    links = {(link.target, link.kind, link.candidate) for link in found.links}
    assert links == {("src/auth.py", "file", False), ("src/auth.py::validate_token", "function", False)}
    assert (found.duplicate_of, found.similar, found.suggestion, found.warnings) == (None, [], None, [])
    assert backend.retrieve_memories() == []
    assert not (project / ".mnemolens").exists()


def test_what_is_known_in_almost_the_same_words(backend):
    known = MemoryEntry(title="Known", content=f"{ABOUT_CHARGE}, and the order is then kept for an hour")
    backend.store_memory(known)
    (one,) = backend.preview_memory(MemoryEntry(content=f"{known.content} or two")).similar
    assert (one.id, one.title) == (known.id, "Known")
    assert 0.75 <= one.likeness < 1
    assert backend.preview_memory(known).similar == []  # it is not like itself
    same = MemoryEntry(content=known.content)
    assert backend.preview_memory(same).duplicate_of == known.id


def test_a_suggestion_is_taken_up_or_refused(backend):
    entry = MemoryEntry(content=ABOUT_CHARGE)
    assert backend.preview_memory(entry).suggestion == "src/billing.py::charge"
    backend.store_memory(entry)
    links = backend.link_memory(entry.id, "src/billing.py::charge")
    assert [(link.target, link.relevance) for link in links] == [("src/billing.py::charge", 1.0)]
    other = MemoryEntry(content=f"{ABOUT_CHARGE}!")
    backend.store_memory(other)
    backend.refuse_suggestion(other.id, "src/billing.py::charge")
    assert backend.preview_memory(other).suggestion is None


def test_an_offer_means_the_repositorys_file_wherever_the_program_stands(backend, project, monkeypatch):
    entry = MemoryEntry(content="note")
    backend.store_memory(entry)
    (project / "sub" / "src").mkdir(parents=True)
    (project / "sub" / "src" / "billing.py").write_text(CODE)
    monkeypatch.chdir(project / "sub")
    assert [link.target for link in backend.link_memory(entry.id, "src/billing.py::charge")] == [
        "src/billing.py::charge"
    ]


def test_places_and_ids_that_are_not_there(backend):
    entry = MemoryEntry(content="note")
    backend.store_memory(entry)
    for call in (backend.link_memory, backend.refuse_suggestion):
        with pytest.raises(NotFound):
            call("nobody", "src/billing.py::charge")
        with pytest.raises(InvalidArgument, match=r"^at: "):
            call(entry.id, "src/none.py")
        with pytest.raises(InvalidArgument, match=r"^at: "):
            call(entry.id, "src/billing.py::nothing")
        with pytest.raises(InvalidArgument, match=r"^at: "):
            call(entry.id, 3)
