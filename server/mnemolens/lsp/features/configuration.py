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
_STAYS = "The earlier settings stay in force."
PULL_SECONDS = 5.0
"""A client that does not answer by then has no settings for us."""


def register(server: MnemolensServer) -> None:
    """Follow the client's settings."""

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def did_change(ls: MnemolensServer, params: types.DidChangeConfigurationParams) -> None:
        if ls.caps.configuration_pull:
            ls.spawn(pull(ls), "reading the client's settings")
            return
        take(ls, "", _section(params.settings))
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
        take(ls, uri, answer)
    _apply(ls)


def _apply(ls: MnemolensServer) -> None:
    for folder in ls.folders:
        apply_settings(ls, folder)


def take(ls: MnemolensServer, uri: str, settings: Any) -> None:
    """Keep what the client says of the folder `uri` ("" for all); no object changes nothing, and is told.

    Nothing at all is no settings, and so is an empty list: Lua can't tell that from an empty object.
    """
    if settings is None or settings == []:
        settings = {}
    if isinstance(settings, dict):
        ls.editor_settings[uri] = settings
    else:
        ls.notice(
            f"The editor's settings: {SECTION} must be an object of settings, not {settings!r:.80}. {_STAYS}"
        )


def take_options(ls: MnemolensServer, options: Any) -> None:
    """Keep the settings that `initializationOptions` came with."""
    if not isinstance(options, dict):
        if options is not None and options != []:
            ls.notice(f"initializationOptions must be an object, not {options!r:.80}: they have no effect.")
        return
    settings = options.get("settings")
    if settings is None or settings == []:
        return
    if isinstance(settings, dict):
        take(ls, "", _section(settings))
    else:
        ls.notice(
            f"initializationOptions.settings must be an object of settings, not {settings!r:.80}: "
            "they have no effect."
        )


def _section(settings: Any) -> Any:
    """Our part of what was pushed; clients push it with or without the section's name."""
    return settings[SECTION] if isinstance(settings, dict) and SECTION in settings else settings
