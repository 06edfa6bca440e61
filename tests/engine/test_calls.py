"""Who calls whom, asked again and again while files change."""

import pytest

from folders import Folder
from mnemolens.core.symbols import SymbolKey
from mnemolens.engine.calls import CallTables

FILES = {
    "net.py": "def retry(call):\n    return retry(call)\n",
    "pay.py": "from net import retry as again\n\n\ndef charge():\n    again(1)\n    return again(2)\n",
    "mail.py": "def retry():\n    return 1\n\n\ndef send():\n    return retry()\n",
}
RETRY = SymbolKey("net.py", "retry")
CHARGE = SymbolKey("pay.py", "charge")


@pytest.fixture
def folder(tmp_path):
    folder = Folder(tmp_path, FILES)
    yield folder
    folder.close()


@pytest.fixture
def calls(folder):
    return CallTables(folder.workspace.code.index)


def test_under_another_name_and_each_once_but_not_itself(calls):
    assert calls.called(CHARGE) == [RETRY]
    assert calls.callers(RETRY) == [CHARGE]
    assert calls.called(RETRY) == []


def test_an_equal_name_is_no_call(calls):
    assert calls.callers(SymbolKey("mail.py", "retry")) == [SymbolKey("mail.py", "send")]


def test_a_file_that_changed_is_read_again(folder, calls):
    assert calls.callers(RETRY) == [CHARGE]
    folder.write_seen("pay.py", "def charge():\n    return 1\n")
    assert calls.callers(RETRY) == []
    assert calls.called(CHARGE) == []
    folder.write_seen("new.py", "from net import retry\n\n\ndef refund():\n    return retry(1)\n")
    assert calls.callers(RETRY) == [SymbolKey("new.py", "refund")]


def test_what_is_gone_calls_nothing(folder, calls):
    (folder.root / "pay.py").unlink()
    folder.run(folder.workspace.files_changed([folder.root / "pay.py"]))
    assert calls.called(CHARGE) == []
    assert calls.called(SymbolKey("nowhere.py", "")) == []


def test_users_are_counted_by_name_up_to_a_limit(folder, calls):
    assert calls.users("charge", 40) == 0
    assert calls.users("retry", 40) == 3  # in each file one, whatever it means
    many = "from net import retry\n\n\n" + "".join(f"def f{n}():\n    retry(1)\n\n\n" for n in range(30))
    folder.write_seen("many.py", many)
    assert calls.users("retry", 40) == 33
    assert calls.users("retry", 10) > 10
