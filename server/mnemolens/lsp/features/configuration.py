"""The client's settings: pulled where it answers `workspace/configuration`, else taken as they are pushed."""

import asyncio
import logging
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from mnemolens.lsp.language_server import MnemolensServer
from mnemolens.lsp.starting import apply_settings

logger = logging.getLogger(__name__)

SECTION = "mnemolens"
PULL_SECONDS = 5.0
"""A client that does not answer by then has no settings for us."""


def register(server: MnemolensServer) -> None:
    """Follow the client's settings."""

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def did_change(ls: MnemolensServer, params: types.DidChangeConfigurationParams) -> None:
        if ls.caps.configuration_pull:
            ls.spawn(pull(ls), "reading the client's settings")
            return
        ls.editor_settings[""] = _section(params.settings)
        _apply(ls)


async def subscribe(ls: MnemolensServer) -> None:
    """Ask to be told of changes, where that must be asked for."""
    if not ls.caps.configuration_registration:
        return
    registration = types.Registration(
        "mnemolens-configuration",
        types.WORKSPACE_DID_CHANGE_CONFIGURATION,
        register_options=types.DidChangeConfigurationRegistrationOptions(section=SECTION),
    )
    await ls.client_register_capability_async(types.RegistrationParams([registration]))


async def pull(ls: MnemolensServer) -> None:
    """Ask the client for its settings of every folder, and use them."""
    if not ls.caps.configuration_pull:
        return
    uris = [folder.uri for folder in ls.folders]
    items = [types.ConfigurationItem(section=SECTION, scope_uri=uri) for uri in uris]
    if not items:
        return
    request = ls.workspace_configuration_async(types.ConfigurationParams(items))
    try:
        answers = await asyncio.wait_for(request, PULL_SECONDS)
    except (TimeoutError, JsonRpcException):
        logger.warning("The client did not say what its settings are")
        return
    for uri, answer in zip(uris, answers, strict=False):
        ls.editor_settings[uri] = answer if isinstance(answer, dict) else {}
    _apply(ls)


def _apply(ls: MnemolensServer) -> None:
    for folder in ls.folders:
        apply_settings(ls, folder)


def _section(settings: Any) -> dict[str, Any]:
    """Our part of what was pushed; clients push it with or without the section's name."""
    if not isinstance(settings, dict):
        return {}
    section = settings.get(SECTION)
    return section if isinstance(section, dict) else settings
