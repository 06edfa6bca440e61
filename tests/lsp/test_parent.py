"""Whether the client's process is gone."""

import os
import subprocess
import sys

import pytest

from mnemolens.lsp.parent import ParentWatch


def a_process():
    return subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)


def end(process):
    process.stdin.close()
    process.wait()


def test_a_living_process_and_its_end():
    process = a_process()
    watch = ParentWatch(process.pid)
    assert not watch.is_gone()
    end(process)
    assert watch.is_gone()


def test_a_process_that_was_never_seen_counts_as_alive():
    process = a_process()
    end(process)
    assert not ParentWatch(process.pid).is_gone()


def test_our_own_parent_lives():
    assert not ParentWatch(os.getppid()).is_gone()


@pytest.mark.parametrize("pid", [None, 0, -1])
def test_no_process_is_named(pid):
    assert not ParentWatch(pid).is_gone()
