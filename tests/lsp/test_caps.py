"""What the two recorded editors can do, and what is made of odd initialization options."""

import pytest
from lsprotocol import types
from pytest_lsp import client_capabilities

from mnemolens.lsp.caps import ClientCaps, ClientOptions


def test_visual_studio_code():
    caps = ClientCaps.of(client_capabilities("visual-studio-code"))
    assert caps == ClientCaps(
        hover_markdown=True,
        lens_refresh=True,
        work_done_progress=True,
        show_document=True,
        watched_files=True,
        watched_files_relative=False,
        configuration_pull=True,
        configuration_registration=True,
        action_literals=True,
    )


def test_neovim_can_not_refresh_lenses():
    caps = ClientCaps.of(client_capabilities("neovim"))
    assert (caps.hover_markdown, caps.lens_refresh) == (True, False)


def test_a_client_that_says_nothing_can_do_nothing():
    assert ClientCaps.of(types.ClientCapabilities()) == ClientCaps()


@pytest.mark.parametrize(
    "options", [None, [], "x", {}, {"commandLinks": "yes", "captureCommand": 3, "settings": []}]
)
def test_odd_options_are_left_out(options):
    assert ClientOptions.of(options) == ClientOptions()


def test_options():
    given = {"commandLinks": True, "captureCommand": "x.y", "settings": {"hover.enabled": False}, "more": 1}
    assert ClientOptions.of(given) == ClientOptions(True, "x.y")
