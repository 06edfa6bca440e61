"""Editors for tests: each drives a real server process, and every message it is sent must be expected."""

import asyncio
import concurrent.futures
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.protocol import default_converter
from pytest_lsp import LanguageClient, client_capabilities
from pytest_lsp.client import register_lsp_features
from pytest_lsp.protocol import LanguageClientProtocol

from mnemolens.lsp.uris import uri_of_path

PATIENCE = 60.0
"""Seconds until what is waited for counts as not to come: many times what a busy machine takes."""
SERVE = (sys.executable, "-W", "error", "-m", "mnemolens", "serve")

BILLING = '''"""Billing."""


def charge(amount):
    """Charge the card."""
    return provider.post(amount)


class Payment:
    def refund(self):
        return charge(-1)
'''
SHOP = """from billing import charge


def checkout(cart):
    return charge(cart.total)
"""


class TestClient(LanguageClient):
    """Records what pytest-lsp only logs."""

    __test__ = False

    def __init__(self) -> None:
        super().__init__(converter_factory=default_converter, protocol_cls=LanguageClientProtocol)
        register_lsp_features(self)
        self.refreshes = 0
        self.registrations: dict[str, types.Registration] = {}
        self.problems: list[str] = []

        @self.feature(types.WORKSPACE_CODE_LENS_REFRESH)
        def refresh(ls: TestClient, _params: None) -> None:
            ls.refreshes += 1

        @self.feature(types.CLIENT_REGISTER_CAPABILITY)
        def registered(ls: TestClient, params: types.RegistrationParams) -> None:
            for registration in params.registrations:
                if registration.id in ls.registrations:
                    ls.problems.append(f"registered twice: {registration.id}")
                ls.registrations[registration.id] = registration

        @self.feature(types.CLIENT_UNREGISTER_CAPABILITY)
        def unregistered(ls: TestClient, params: types.UnregistrationParams) -> None:
            for registration in params.unregisterations:
                ls.registrations.pop(registration.id)

    def report_server_error(self, error: Exception, source: type[Exception]) -> None:
        self.problems.append(f"{source.__name__}: {error}")
        super().report_server_error(error, source)


class Editor:
    """One editor with a server of its own, which `command` starts; helpers in an editor's terms."""

    def __init__(self, client: TestClient, kind: str, command: Sequence[str] = SERVE) -> None:
        self.client = client
        self.kind = kind
        self.command = command
        self.result: types.InitializeResult
        self._versions: dict[str, int] = {}

    async def start(
        self,
        *roots: Path | str,
        options: dict[str, Any] | None = None,
        settings: dict[str, Any] | None = None,
        encodings: list[str] | None = None,
        capabilities: Callable[[types.ClientCapabilities], None] | None = None,
        environment: dict[str, str] | None = None,
        root_uri: str | None = None,
    ) -> "Editor":
        env = {**os.environ, **(environment or {})}
        await self.client.start_io(*self.command, env=env)
        caps = client_capabilities(self.kind)
        if encodings is not None:
            assert caps.general is not None
            caps.general.position_encodings = encodings
        if capabilities is not None:
            capabilities(caps)
        if settings is not None:
            self.client.set_configuration(settings, section="mnemolens")
        folders = [types.WorkspaceFolder(uri=uri(root), name=str(root)) for root in roots]
        params = types.InitializeParams(
            capabilities=caps,
            workspace_folders=folders or None,
            root_uri=root_uri,
            initialization_options=options,
        )
        self.result = await self.client.initialize_session(params)
        return self

    # Documents

    def open(self, path: Path | str, text: str | None = None, language: str = "python") -> str:
        if text is None:
            text = Path(path).read_bytes().decode("utf-8", "replace")
        item = types.TextDocumentItem(uri=uri(path), language_id=language, version=1, text=text)
        self._versions[item.uri] = 1
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return item.uri

    def change(self, path: Path | str, *changes: tuple[tuple[int, int, int, int] | None, str]) -> None:
        """Changes as ((line, character, line, character), text), or (None, whole text)."""
        there = uri(path)
        self._versions[there] += 1
        events: list[Any] = []
        for where, text in changes:
            if where is None:
                events.append(types.TextDocumentContentChangeWholeDocument(text))
            else:
                events.append(types.TextDocumentContentChangePartial(span(*where), text))
        identifier = types.VersionedTextDocumentIdentifier(self._versions[there], there)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(identifier, events))

    def save(self, path: Path | str, text: str | None = None) -> None:
        params = types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(uri(path)), text)
        self.client.text_document_did_save(params)

    def close(self, path: Path | str) -> None:
        self.client.text_document_did_close(
            types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri(path)))
        )

    # Requests

    async def hover(self, path: Path | str, line: int, character: int) -> types.Hover | None:
        return await self.client.text_document_hover_async(
            types.HoverParams(types.TextDocumentIdentifier(uri(path)), types.Position(line, character))
        )

    async def hover_text(self, path: Path | str, line: int, character: int) -> str | None:
        found = await self.hover(path, line, character)
        return None if found is None else found.contents.value

    async def lenses(self, path: Path | str) -> dict[int, str]:
        """{0-based line: resolved title}."""
        found = await self.client.text_document_code_lens_async(
            types.CodeLensParams(types.TextDocumentIdentifier(uri(path)))
        )
        resolved = [await self.client.code_lens_resolve_async(lens) for lens in found or ()]
        return {lens.range.start.line: lens.command.title for lens in resolved}

    async def actions(self, path: Path | str, *where: int, **context: Any) -> list[dict[str, Any]]:
        """Code actions as JSON: pytest-lsp can't tell actions from commands."""
        params = types.CodeActionParams(
            types.TextDocumentIdentifier(uri(path)), span(*where), types.CodeActionContext([], **context)
        )
        return await self.request("textDocument/codeAction", params)

    async def request(self, method: str, params: Any) -> Any:
        """A request whose answer stays JSON."""
        protocol = self.client.protocol
        message = str(len(protocol._result_types)) + method
        future = protocol.send_request(method, params, msg_id=message)
        protocol._result_types[message] = None
        return await asyncio.wait_for(asyncio.wrap_future(future), PATIENCE)

    async def raw(self, method: str, params: Any) -> Any:
        """Sends what the protocol library would refuse to build; the error that it is answered with."""
        protocol = self.client.protocol
        message = f"raw-{method}-{len(protocol._request_futures)}"
        waiting = protocol._request_futures[message] = concurrent.futures.Future()
        self.send({"jsonrpc": "2.0", "id": message, "method": method, "params": params})
        try:
            await asyncio.wait_for(asyncio.wrap_future(waiting), PATIENCE)
        except JsonRpcException as error:
            return error
        raise AssertionError(f"{method} was not refused")

    def send(self, content: Any) -> None:
        """Sends bytes, or anything as JSON, as one message."""
        body = content if isinstance(content, bytes) else dumps(content).encode()
        self.client.protocol.writer.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))

    async def run(self, command: str, *arguments: Any) -> Any:
        params = types.ExecuteCommandParams(f"mnemolens.{command}", list(arguments) if arguments else None)
        return await asyncio.wait_for(self.client.workspace_execute_command_async(params), PATIENCE)

    async def refusal(self, command: str, *arguments: Any) -> str:
        """The message of the error that the command must be answered with."""
        with pytest.raises(JsonRpcException) as caught:
            await self.run(command, *arguments)
        assert caught.value.code == -32602
        return caught.value.message

    async def capture(
        self, content: str, path: Path | str | None = None, line: int = 0, character: int = 0, **more: Any
    ) -> Any:
        where = {} if path is None else {"uri": uri(path), "position": {"line": line, "character": character}}
        return await self.run("memory.capture", {"content": content, **where, **more})

    # Waiting

    async def indexed(self, *, files: int | None = None) -> dict[str, Any]:
        """Wait until no folder is being indexed (and one holds that many files); the status."""

        async def look() -> dict[str, Any] | None:
            status = await self.run("status")
            folders = status["folders"]
            found = [folder["files"] for folder in folders]
            idle = all(folder["indexing"] is None for folder in folders)
            return status if idle and (sum(found) > 0 if files is None else files in found) else None

        return await self.until(look)

    async def until(self, look: Callable[[], Any]) -> Any:
        """Ask until the answer is true, and give it."""
        end = asyncio.get_running_loop().time() + PATIENCE
        while True:
            answer = look()
            if asyncio.iscoroutine(answer):
                answer = await answer
            if answer:
                return answer
            assert asyncio.get_running_loop().time() < end, "it did not happen"
            await asyncio.sleep(0.02)

    async def messages(self, count: int = 1) -> list[str]:
        """The texts of that many messages shown to the user, now seen."""
        await self.until(lambda: len(self.client.messages) >= count)
        texts = [message.message for message in self.client.messages]
        self.client.messages.clear()
        return texts

    def expect_logged(self, words: str) -> None:
        """A warning or error with these words was logged, and that is right."""
        seen = [message for message in self.client.log_messages if words in message.message]
        assert seen, [message.message for message in self.client.log_messages]
        self.client.log_messages = [message for message in self.client.log_messages if message not in seen]

    # The end

    def assert_nothing_unexpected(self) -> None:
        client = self.client
        serious = [
            message.message
            for message in client.log_messages
            if message.type.value <= types.MessageType.Warning
        ]
        assert serious == []
        assert [message.message for message in client.messages] == []
        assert client.shown_documents == []
        assert client.problems == []
        assert all(report[-1].kind == "end" for report in client.progress_reports.values() if report)


def dumps(content: Any) -> str:
    """JSON of any depth."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(100_000)
    try:
        return json.dumps(content)
    finally:
        sys.setrecursionlimit(limit)


def uri(path: Path | str) -> str:
    return path if isinstance(path, str) else uri_of_path(path)


def span(
    line: int, character: int, end_line: int | None = None, end_character: int | None = None
) -> types.Range:
    start = types.Position(line, character)
    if end_line is None or end_character is None:
        return types.Range(start, start)
    return types.Range(start, types.Position(end_line, end_character))


def make_repository(folder: Path) -> Path:
    """A git repository with two modules, one calling the other."""
    folder.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", "-b", "main", folder], check=True)
    (folder / "billing.py").write_text(BILLING)
    (folder / "shop.py").write_text(SHOP)
    return folder
