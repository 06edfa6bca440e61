"""The program as users run it: terminals, pipes, Ctrl-C, other processes, help and completion."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import typer

from mnemolens.cli.main import app
from mnemolens.core.identifiers import split_identifier

COMMANDS = set(typer.main.get_command(app).commands)
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def in_terminal(shell, *arguments, columns=80, env=None):
    """What the program writes to a terminal of that width, and its exit code."""
    pty = pytest.importorskip("pty")
    import fcntl
    import struct
    import termios

    child, ours = pty.fork()
    if child == 0:
        os.chdir(shell.folder)
        kept = {name: value for name, value in os.environ.items() if name not in {"COLUMNS", "NO_COLOR"}}
        os.execve(
            sys.executable,
            [sys.executable, "-m", "mnemolens", *arguments],
            {**kept, "TERM": "xterm-256color", **(env or {})},
        )
    fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    written = b""
    while True:
        try:
            data = os.read(ours, 65536)
        except OSError:
            break
        if not data:
            break
        written += data
    os.close(ours)
    return written.decode().replace("\r\n", "\n"), os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.fixture
def noted(shell):
    shell.remember(
        "The payment provider double-charges when a retry sends a new key; the key must therefore be kept"
        " until the provider has answered, whatever happens in between.",
        "--title", "Retry must stay idempotent", "--at", "shop/pay.py::charge", "--tag", "payment",
    )  # fmt: skip
    shell.remember(
        "支付服务会重复扣款，所以重试必须幂等，直到服务商回答为止", "--at", "shop/stock.py::reserve"
    )
    return shell


class TestTerminal:
    def test_colour_on_a_terminal(self, noted):
        written, code = in_terminal(noted, "recall", "--at", "shop/pay.py:6")
        assert code == 0
        assert "\x1b[1mRetry must stay idempotent\x1b[0m" in written
        assert "\x1b[32mfresh\x1b[0m" in written

    def test_none_where_the_user_wants_none(self, noted):
        written, _ = in_terminal(noted, "recall", "--at", "shop/pay.py:6", env={"NO_COLOR": "1"})
        assert "fresh" in written
        assert "\x1b[32m" not in written
        written, _ = in_terminal(noted, "list", env={"TERM": "dumb"})
        assert "\x1b[" not in written

    def test_none_in_a_pipe(self, noted):
        for command in ("recall", "list", "status", "stats", "doctor"):
            assert "\x1b" not in noted.process(command).out

    @pytest.mark.parametrize("columns", [30, 60, 80, 200])
    @pytest.mark.parametrize("command", [("recall",), ("list",), ("stats",), ("status",), ("doctor",)])
    def test_nothing_is_wider_than_the_terminal(self, noted, command, columns):
        from rich.cells import cell_len

        written, code = in_terminal(noted, *command, columns=columns)
        assert code == 0, written
        lines = [ESCAPE.sub("", line).rstrip() for line in written.splitlines()]
        assert lines
        assert [line for line in lines if cell_len(line) > columns] == []

    def test_a_narrow_table_leaves_columns_out_but_not_the_id(self, noted):
        written, _ = in_terminal(noted, "list", columns=40)
        head = ESCAPE.sub("", written).splitlines()[0].split()
        assert head == ["id", "title", "verdict"]
        wide, _ = in_terminal(noted, "list", columns=140)
        assert ESCAPE.sub("", wide).splitlines()[0].split() == [
            "id", "title", "on", "verdict", "type", "tags", "when",
        ]  # fmt: skip

    def test_what_does_not_fit_goes_on_below_its_beginning(self, noted):
        written, _ = in_terminal(noted, "doctor", columns=60)
        lines = ESCAPE.sub("", written).splitlines()
        [cache] = [at for at, line in enumerate(lines) if line.startswith("cache ")]
        assert lines[cache + 1].startswith(" " * 19)
        assert lines[cache + 1].strip()

    def test_of_a_place_that_is_too_long_the_end_is_shown(self, shell):
        for name in ("one", "two"):
            folder = shell.folder / name / "billing" / "documents"
            folder.mkdir(parents=True)
            (folder / "made.py").write_text(f"def the_total_of_{name}(lines):\n    return sum(lines)\n")
        written, _ = in_terminal(shell, "track", "one", "two", "--all", columns=80)
        assert "…" in written
        assert "made.py::the_total_of_one" in written
        assert "made.py::the_total_of_two" in written

    def test_json_loses_nothing_in_any_encoding(self, noted):
        whole = noted("list", "--json").json
        assert "支付服务" in whole["memories"][0]["content"]
        ran = noted.process("list", "--json", env={"PYTHONIOENCODING": "latin-1"})
        assert [one["content"] for one in ran.json["memories"]] == [
            one["content"] for one in whole["memories"]
        ]

    def test_in_a_pipe_nothing_is_cut(self, noted):
        assert "until the provider has answered, whatever happens in between." in noted.process("recall").out
        assert "直到服务商回答为止" in noted.process("list").out


def _wait_until_read(process, text):
    """Writes to a process, and returns when it has taken that in and waits for more, past its imports.

    A process that is stopped by the scheduler between two reads sees a signal only at its next system call.
    """
    import fcntl
    import termios

    pipe = process.stdin
    pipe.write(text)
    pipe.flush()
    until = time.monotonic() + 60
    while int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder) or _runs(process):
        assert time.monotonic() < until
        time.sleep(0.05)


def _runs(process):
    try:
        stat = Path(f"/proc/{process.pid}/stat").read_text()
    except OSError:  # no such files on macOS
        return False
    return stat.rpartition(")")[2].split()[0] == "R"


class TestProcesses:
    def test_a_reader_that_has_had_enough(self, shell):
        for number in range(40):
            shell.remember(f"note {number} " + "word " * 500)
        for command in (["list", "--json"], ["recall", "word", "--limit", "40"], ["list"]):
            with shell.start(*command) as process:
                process.stdout.close()
                assert process.stderr.read() == b""
                assert process.wait() == 0

    @pytest.mark.skipif(os.name == "nt", reason="signals are POSIX")
    def test_ctrl_c_is_quiet(self, shell):
        with shell.start("remember", "-", stdin=-1) as process:
            _wait_until_read(process, b"half a note")
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == 130
            assert process.stderr.read() == b""

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device")
    def test_a_full_disk_behind_the_output_is_told_in_one_line(self, noted):
        with open("/dev/full", "wb") as full:  # noqa: PTH123 - a device
            started = noted.start("list", "--json", stdout=full)
            _, said = started.communicate()
        assert started.returncode == 2
        assert said.decode() == "mnemolens: the output can't be written: No space left on device\n"

    @pytest.mark.skipif(os.name == "nt", reason="a POSIX shell")
    def test_closed_streams_lead_nowhere(self, noted):
        stored = noted("list", "--json").json["total"]
        closed = f"exec '{sys.executable}' -m mnemolens remember 'said into the void' <&- >&- 2>&-"
        assert subprocess.run(["sh", "-c", closed], cwd=noted.folder, check=False).returncode == 0
        assert noted("list", "--json").json["total"] == stored + 1
        assert noted("doctor").code == 0

    @pytest.mark.skipif(os.name == "nt", reason="there the current folder can't be removed")
    def test_a_folder_that_is_gone(self, noted, tmp_path, monkeypatch):
        gone = tmp_path / "gone"
        gone.mkdir()
        monkeypatch.chdir(gone)
        gone.rmdir()
        for command in (("list",), ("index",), ("remember", "x"), ("track", "a", "b")):
            ran = noted(*command)
            assert ran.code == 2
            assert "change to one that exists" in ran.error

    def test_many_at_once_beside_a_server(self, shell):
        with shell.start("serve", stdin=-1) as server:
            with ThreadPoolExecutor(3) as pool:
                ran = list(
                    pool.map(
                        lambda number: shell.process(
                            "remember", f"note {number}", "--at", "shop/pay.py:6", "--json"
                        ),
                        range(6),
                    )
                )
            server.kill()
        assert [(one.code, one.err) for one in ran] == [(0, "")] * 6
        stored = {one.json["memory"]["id"] for one in ran}
        listed = {memory["id"] for memory in shell("list", "--json").json["memories"]}
        assert stored == listed
        assert len(stored) == 6

    def test_reading_commands_write_nothing_into_a_fresh_folder(self, shell):
        before = sorted(path for path in shell.folder.rglob("*"))
        for command in ("recall", "list", "stats", "status", "doctor", "index"):
            assert shell(command).code in {0, 1}
        assert sorted(path for path in shell.folder.rglob("*")) == before


class TestHelp:
    @pytest.mark.parametrize("command", sorted(COMMANDS))
    def test_every_command_explains_itself_with_an_example(self, shell, command):
        ran = shell(command, "--help")
        assert ran.code == 0
        examples = ran.out.partition("Example")[2]
        assert f"mnemolens {command}" in examples or f"| mnemolens {command}" in examples

    def test_the_program_names_all_commands(self, shell):
        out = shell("-h").out
        assert set(re.findall(r"^│ (\w+) ", out, re.MULTILINE)) >= COMMANDS

    def test_commands_of_the_contract(self):
        assert {
            "serve", "index", "remember", "recall", "show", "list", "edit", "forget", "restore", "done",
            "confirm", "link", "unlink", "doctor", "stats", "status",
        } <= COMMANDS  # fmt: skip

    @pytest.mark.parametrize(
        "command", ["recall", "show", "list", "stats", "status", "doctor", "index", "remember"]
    )
    def test_reading_commands_answer_in_json(self, shell, command):
        assert "--json" in shell(command, "--help").out

    def test_messages_are_one_line(self, shell):
        ran = shell("show", "a\nb")
        assert "\n" not in ran.error


class TestCompletion:
    def complete(self, shell, words):
        env = {
            "_MNEMOLENS_COMPLETE": "complete_bash",
            "COMP_WORDS": " ".join(words),
            "COMP_CWORD": str(len(words) - 1),
        }
        ran = shell.process(env=env)
        assert ran.err == ""
        return ran.out.split()

    def test_commands(self, noted):
        assert self.complete(noted, ["mnemolens", "rec"]) == ["recall"]

    def test_options_and_values(self, noted):
        assert "--session" in self.complete(noted, ["mnemolens", "recall", "--s"])
        assert self.complete(noted, ["mnemolens", "list", "--verdict", "dri"]) == ["drifted"]

    def test_ids(self, noted):
        stored = [memory["id"] for memory in noted("list", "--json").json["memories"]]
        assert sorted(self.complete(noted, ["mnemolens", "show", ""])) == sorted(one[-8:] for one in stored)

    def test_scripts_are_shown(self, noted):
        ran = noted.process(
            "--show-completion", "bash", env={"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
        )
        assert "_MNEMOLENS_COMPLETE" in ran.out


class TestUpkeep:
    def test_stats(self, noted):
        counted = noted("stats", "--json").json
        assert counted["memories"] == 2
        assert counted["types"] == {"semantic": 2}
        assert counted["verdicts"] == {"fresh": 2}
        assert counted["tags"] == {"payment": 1}
        assert counted["authors"] == {"Ana": 2}
        assert counted["journal"]["skipped"] == 0
        lines = noted("stats").out.splitlines()
        assert [line.split()[0] for line in lines][:2] == ["memories", "tokens"]
        assert "fresh 2" in "".join(lines)

    def test_status(self, noted):
        answer = noted("status", "--json").json
        assert set(answer) == {"version", "folders", "journal"}
        [folder] = answer["folders"]
        assert (folder["files"], folder["symbols"], folder["memories"]) == (2, 5, 2)
        assert folder["verdicts"] == {"fresh": 2}
        out = noted("status").out
        assert "2 files, 5 symbols" in out
        assert "2 (2 fresh)" in out

    def test_files_read_only_in_part_are_told_also_when_they_broke_after_an_index(self, noted):
        noted("index")
        (noted.folder / "shop" / "half.py").write_text("def whole():\n    pass\n\ndef half(:\n", "utf-8")
        noted("index")
        assert "1 read only in part (see `mnemolens doctor`)" in noted("status").out
        [folder] = noted("status", "--json").json["folders"]
        assert (folder["partial"], folder["partialTotal"]) == (["shop/half.py"], 1)
        ran = noted("doctor", "--json")
        [told] = [finding for finding in ran.json["findings"] if finding["part"] == "code"]
        assert (told["level"], told["text"]) == ("note", "1 file could be read only in part: shop/half.py")
        assert ran.code == 0

    def test_doctor_on_a_sound_folder(self, noted):
        noted("list")
        ran = noted("doctor", "--json")
        assert ran.code == 0
        assert ran.json["ok"] is True
        assert {finding["part"] for finding in ran.json["findings"]} >= {"journal", "cache", "graph"}
        assert noted("doctor").code == 0

    def test_doctor_tells_each_line_that_is_skipped(self, noted):
        [segment] = (noted.folder / ".git" / "mnemolens" / "journal").glob("*.jsonl")
        before = segment.read_bytes()
        segment.write_bytes(before + b'{"v":1,"nonsense\n')
        lines = before.count(b"\n")
        ran = noted("doctor", "--json")
        assert ran.code == 1
        [trouble] = [finding for finding in ran.json["findings"] if finding["level"] == "trouble"]
        assert trouble["part"] == "journal"
        assert segment.name in trouble["text"]
        assert f"line {lines + 1}" in trouble["text"]
        assert segment.read_bytes() == before + b'{"v":1,"nonsense\n'
        assert len(noted("list", "--json").json["memories"]) == 2

    def test_doctor_repairs_the_cache(self, noted, tmp_path, monkeypatch):
        monkeypatch.setenv("MNEMOLENS_CACHE_DIR", str(tmp_path / "cache"))
        noted("status")
        file = tmp_path / "cache" / "symbols.sqlite"
        file.write_bytes(b"no database at all " * 1000)
        for ending in ("-wal", "-shm"):
            (tmp_path / "cache" / f"symbols.sqlite{ending}").unlink(missing_ok=True)
        ran = noted("doctor", "--json")
        [found] = [finding for finding in ran.json["findings"] if finding["part"] == "cache"]
        assert found["level"] == "repaired"
        assert "symbols.sqlite.damaged" in found["text"]
        assert (ran.code, noted("doctor").code) == (0, 0)
        assert noted("doctor", "--json").json["ok"] is True

    def test_doctor_says_where_nothing_can_be_cached(self, noted, tmp_path, monkeypatch):
        (tmp_path / "file").write_text("no folder")
        monkeypatch.setenv("MNEMOLENS_CACHE_DIR", str(tmp_path / "file" / "cache"))
        ran = noted("doctor", "--json")
        [found] = [finding for finding in ran.json["findings"] if finding["part"] == "cache"]
        assert (ran.code, found["level"]) == (1, "trouble")
        assert str(tmp_path / "file") in found["text"]

    def test_doctor_leaves_a_newer_cache_alone(self, noted, tmp_path, monkeypatch):
        import sqlite3

        monkeypatch.setenv("MNEMOLENS_CACHE_DIR", str(tmp_path / "cache"))
        noted("status")
        with sqlite3.connect(tmp_path / "cache" / "symbols.sqlite") as db:
            db.execute("PRAGMA user_version = 99")
        db.close()
        ran = noted("doctor", "--json")
        [found] = [finding for finding in ran.json["findings"] if finding["part"] == "cache"]
        assert found["level"] == "trouble"
        assert "newer version" in found["text"]

    def test_doctor_clears_documents_that_nobody_has_open(self, noted):
        one = noted("list", "--json").json["memories"][1]
        folder = noted.folder / ".git" / "mnemolens" / "open"
        folder.mkdir()
        head = "---\ntitle: {}\ntype: semantic\ntags: [payment]\nimportance: 0.5\npinned: false\n---\n\n{}\n"
        same, edited = folder / f"{one['id']}.md", folder / "unknown.md"
        same.write_text(head.format(one["title"], one["content"]))
        edited.write_text("mine")
        ran = noted("doctor", "--json")
        assert ran.code == 1
        levels = [one["level"] for one in ran.json["findings"] if one["part"] == "documents"]
        assert sorted(levels) == ["repaired", "trouble"]
        assert not same.exists()
        assert edited.read_text() == "mine"
        same.write_text(head.format("Changed by hand", one["content"]))
        ran = noted("doctor", "--json")
        assert any(one["id"] in found["text"] for found in ran.json["findings"])
        assert same.exists()

    @pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions")
    def test_doctor_closes_the_store_to_others(self, noted):
        store = noted.folder / ".git" / "mnemolens"
        [segment] = (store / "journal").glob("*.jsonl")
        segment.chmod(0o644)
        store.chmod(0o755)
        ran = noted("doctor", "--json")
        assert "repaired" in [finding["level"] for finding in ran.json["findings"]]
        assert segment.stat().st_mode & 0o777 == 0o600
        assert store.stat().st_mode & 0o777 == 0o700

    def test_doctor_before_anything_is_stored(self, shell):
        ran = shell("doctor", "--json")
        assert ran.code == 0
        [journal] = [finding for finding in ran.json["findings"] if finding["part"] == "journal"]
        assert "nothing is stored yet" in journal["text"]
        assert json.loads(ran.out)["ok"] is True


def test_choices_are_the_models_own():
    from typing import get_args

    from mnemolens.cli import arguments
    from mnemolens.core.memories import EDGE_TYPES, MEMORY_KINDS, VERDICTS

    assert get_args(arguments.MemoryType) == MEMORY_KINDS
    assert get_args(arguments.VerdictName) == VERDICTS
    assert get_args(arguments.EdgeName) == EDGE_TYPES


def test_flags_of_errors_are_options_that_there_are(shell):
    from mnemolens.cli.running import _FLAGS

    helps = " ".join(shell(command, "--help").out for command in COMMANDS)
    assert {flag for flag in _FLAGS.values() if flag not in helps} == set()
    assert all(split_identifier(field) for field in _FLAGS)
