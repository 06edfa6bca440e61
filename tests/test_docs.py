"""The documents against the code: what tables, paths and targets name exists, and nothing is left out."""

import ast
import importlib.metadata
import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

import mnemolens
from mnemolens.cli.main import app, main
from mnemolens.codegraph.languages import LANGUAGES
from mnemolens.core.memories import VERDICTS
from mnemolens.core.settings import SETTINGS, RepositoryFile, SettingsSources, resolve_settings
from mnemolens.lsp.commands.table import COMMANDS

pytest.register_assert_rewrite("editors")

from editors import Editor, TestClient, make_repository, uri  # noqa: E402  after the rewriting is asked for
from repositories import git, init  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]
SERVER = ROOT / "server"
EXTENSION = ROOT / "vscode-extension"


def read(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


README = read("README.md")
REFERENCE = read("server/REFERENCE.md")
ARCHITECTURE = read("server/ARCHITECTURE.md")
DOCUMENTS = ["README.md", "server/REFERENCE.md", "server/ARCHITECTURE.md", "CHANGELOG.md"]
MANIFEST = json.loads(read("vscode-extension/package.json"))
PACKAGES = json.loads(read("vscode-extension/package-lock.json"))["packages"]
PROJECT = tomllib.loads(read("pyproject.toml"))


def tables(text: str, *header: str) -> list[list[list[str]]]:
    """The rows, as cells, of every table with exactly this header."""
    found = []
    lines = iter(text.splitlines())
    for line in lines:
        if cells(line) == list(header):
            next(lines)
            rows = []
            for row in lines:
                if not row.startswith("|"):
                    break
                rows.append(cells(row))
                assert len(rows[-1]) == len(header), row
            found.append(rows)
    return found


def table(text: str, *header: str) -> list[list[str]]:
    (found,) = tables(text, *header)
    return found


def cells(line: str) -> list[str]:
    if not line.startswith("|"):
        return []
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]]


def code(cell: str) -> str:
    """What stands in a cell as code, which is all that stands in it."""
    assert re.fullmatch(r"`[^`]+`", cell), cell
    return cell[1:-1]


# Commands of the server

COMMAND_ROWS = {code(row[0]): row[1:] for row in table(REFERENCE, "command", "argument", "result")}


def test_every_server_command_has_its_row():
    assert list(COMMAND_ROWS) == [command.id for command in COMMANDS]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.id)
def test_arguments_are_those_of_the_command(command):
    said = COMMAND_ROWS[command.id][0]
    if said.startswith("as "):
        said = COMMAND_ROWS[f"mnemolens.memory.{said.removeprefix('as ')}"][0]
    expected = {
        (field.alias or name) + ("" if field.is_required() else "?")
        for name, field in command.arguments.model_fields.items()
        if name != "root"
    }
    assert set(filter(None, said.split(", "))) == expected


@pytest.fixture
async def editor(tmp_path: Path) -> AsyncIterator[Editor]:
    """An editor with a file of a repository open."""
    made = Editor(TestClient(), "neovim")
    folder = make_repository(tmp_path / "project")
    await made.start(folder)
    await made.indexed(files=2)
    made.open(folder / "billing.py")
    yield made
    await made.client.shutdown_session()
    await made.client.stop()


@pytest.mark.graph
async def test_results_have_the_keys_that_the_table_says(editor, tmp_path):
    there = {"uri": uri(tmp_path / "project" / "billing.py"), "position": {"line": 3, "character": 5}}
    first = (await editor.run("memory.capture", {"content": "Never retry", **there}))["memory"]["id"]
    other = (await editor.run("memory.capture", {"content": "Ask Ana first"}))["memory"]["id"]
    arguments: dict[str, dict[str, Any]] = {
        "memory.capture": {"content": "Never retry", **there},  # again: a duplicate
        "memory.preview": {"content": "Never retry", **there},
        "memory.get": {"id": first},
        "memory.list": {"text": "retry"},
        "recall": {"query": "retry", "includeCode": True},
        "context": there,
        "suggestion.refuse": {"id": first, **there},
        "memory.update": {"id": first, "title": "Retry"},
        "memory.forget": {"id": first},
        "memory.restore": {"id": first},
        "memory.done": {"id": first},
        "memory.due": {},
        "memory.snooze": {"id": other},
        "memory.notNow": {"id": other},
        "memory.access": {"ids": [first]},
        "memory.confirm": {"id": first},
        "memory.reanchor": {"id": other, **there},
        "memory.link": {"id": first, "targetId": other},
        "memory.unlink": {"id": first, "targetId": other},
        "memory.open": {"id": first},
        "memory.purge": {"id": other},
        "sessions": {},
        "agents": {},
        "session.forget": {"sessionId": "none"},
        "session.restore": {"sessionId": "none"},
        "conflicts": {},
        "clusters": {},
        "graph.neighbors": there,
        "graph.query": {"cypher": "RETURN 1"},
        "store.export": {"path": str(tmp_path / "out.jsonl")},
        "store.import": {"path": str(tmp_path / "out.jsonl"), "dryRun": True},
        "import.preview": {},
        "import.run": {},
        "index.rebuild": {},
        "linking.resume": {},
        "status": {},
    }
    # These answer only where there is something to take back, or in.
    seen_elsewhere = {"mnemolens.store.restore", "mnemolens.import.undo", "mnemolens.memory.undoMove"}
    assert {f"mnemolens.{name}" for name in arguments} | seen_elsewhere == set(COMMAND_ROWS)
    wrong = {}
    for name, argument in arguments.items():
        result = set(await editor.run(name, argument))
        said = COMMAND_ROWS[f"mnemolens.{name}"][1].split(";")[0].split(", ")
        needed = {key for key in said if not key.endswith("?")}
        allowed = {key.removesuffix("?") for key in said}
        if not needed <= result <= allowed:
            wrong[name] = (said, result)
    assert wrong == {}


# The command line


def test_programs_their_options_and_help():
    programs = {}
    for name, command in typer.main.get_command(app).commands.items():
        if command.hidden:
            continue
        label, options = f"mnemolens {name}", set()
        for parameter in command.params:
            if parameter.param_type_name == "argument":
                label += f" {parameter.metavar}" if parameter.required else f" [{parameter.metavar}]"
            else:
                options |= {option for option in parameter.opts if option.startswith("--")}
        programs[label] = (options - {"--help"}, command.help.split("\n\n")[0])
    rows = table(REFERENCE, "program", "options", "what it does")
    assert {code(row[0]): (set(row[1].replace("`", "").split()), row[2]) for row in rows} == programs


def test_the_terminal_prints_what_the_readme_shows(tmp_path, monkeypatch, capsys):
    (session,) = re.findall(r"^```console\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    shop = tmp_path / "sample"
    shutil.copytree(ROOT / "tests" / "e2e" / "sample", shop)
    init(shop)
    git(shop, "config", "user.name", "Ana")
    monkeypatch.chdir(shop)
    printed = ""
    for command in re.findall(r"^\$ mnemolens (.*)$", session, re.MULTILINE):
        assert main(shlex.split(command)) == 0
        printed += f"$ mnemolens {command}\n{capsys.readouterr().out}"
    some_id = re.compile(r"\b[0-9A-Z]{8}$", re.MULTILINE)
    assert some_id.sub("ID", printed) == some_id.sub("ID", session)


# The palette


def test_palette_commands_titles_and_keys():
    contributed = MANIFEST["contributes"]
    keys = {binding["command"]: binding for binding in contributed["keybindings"]}

    def key(command: str) -> str:
        if command not in keys:
            return ""
        return f"`{keys[command]['key']}` (Mac: `{keys[command]['mac']}`)"

    assert table(README, "command", "title", "key") == [
        [f"`{one['command']}`", one["title"], key(one["command"])] for one in contributed["commands"]
    ]
    assert {one["category"] for one in contributed["commands"]} == {"Mnemolens"}


def test_the_server_advertises_no_palette_command():
    palette = {one["command"] for one in MANIFEST["contributes"]["commands"]}
    assert palette & {command.id for command in COMMANDS} == set()


def test_prose_names_the_key_and_commands_that_there_are():
    (binding,) = MANIFEST["contributes"]["keybindings"]
    for name in (binding["key"], binding["mac"]):
        assert f"`{'+'.join(part.capitalize() for part in name.split('+'))}`" in README
    titles = {one["title"] for one in MANIFEST["contributes"]["commands"]}
    prose = README.replace("\n", " ")
    assert set(re.findall(r"\*Mnemolens: ([^*]+)\*", prose)) - titles == set()


# Settings

SETTING_ROWS = {code(row[0]): row[1:] for row in table(REFERENCE, "key", "default", "where", "what it does")}
PROPERTIES = {
    key.removeprefix("mnemolens."): about
    for group in MANIFEST["contributes"]["configuration"]
    for key, about in group["properties"].items()
}
EXAMPLES: dict[str, object] = {
    "memory.decay.half_life": 100,
    "store.path": "elsewhere",
    "server.command": ["program"],
    "search.modelPath": "model",
    "search.endpoint": "http://127.0.0.1:1",
    "search.model": "some",
    "search.keyVariable": "KEY",
}


def test_every_setting_has_its_row_and_its_place_in_the_manifest():
    keys = {setting.key for setting in SETTINGS}
    assert set(SETTING_ROWS) == keys
    assert set(PROPERTIES) == keys


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.key)
def test_setting_in_readme_and_manifest(setting):
    default, where, what = SETTING_ROWS[setting.key]
    about = PROPERTIES[setting.key]
    assert json.loads(code(default)) == setting.default
    assert about["default"] == setting.default
    assert where == {"resource": "file", "machine": "machine"}[setting.scope]
    assert (
        about["scope"]
        in {"resource": {"resource"}, "machine": {"machine", "machine-overridable"}}[setting.scope]
    )
    kind = {"enum": "string"}.get(setting.type, setting.type)
    assert about["type"] in (kind, [kind, "null"])
    values = about["items"] if setting.type == "array" else about
    assert tuple(values.get("enum", ())) == setting.choices
    assert what.endswith(".")


def test_the_settings_that_matter_first_are_those_of_the_reference():
    for key, default, _ in table(README, "key", "default", "what it does"):
        assert default == SETTING_ROWS[code(key)][0], key


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.key)
def test_only_settings_marked_file_may_stand_in_the_repository(setting):
    value = EXAMPLES.get(setting.key, setting.default)
    data = yaml.safe_load(yaml.safe_dump({setting.key: value}))
    notices = resolve_settings(SettingsSources(repository=RepositoryFile(data)))[1]
    refused = [notice for notice in notices if setting.key in notice.paths and notice.level == "warning"]
    assert bool(refused) == (SETTING_ROWS[setting.key][1] == "machine")


READ_ELSEWHERE = {"preset", "memory.decay.half_life", "server.command", "trace.server"}
"""By the merging of settings, or by the extension."""


def settings_read() -> Iterator[str]:
    """`section.name` of every attribute that the server reads of something called like a section."""
    for path in SERVER.rglob("*.py"):
        if path.name in {"settings.py", "settings_model.py"}:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute):
                owner = node.value
                name = owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")
                yield f"{name}.{node.attr}"


def test_settings_without_effect_are_marked_so():
    used = set(settings_read())
    idle = set()
    for setting in SETTINGS:
        *_, section, name = ["", *re.sub(r"(?<=[a-z])([A-Z])", r"_\1", setting.key).lower().split(".")]
        if f"{section}.{name}" not in used and setting.key not in READ_ELSEWHERE:
            idle.add(setting.key)
    assert {key for key, row in SETTING_ROWS.items() if row[2].startswith("*Not yet:*")} == idle


# Words and languages


def test_verdicts_are_explained():
    explained = [row[0] for row in table(README, "it says", "it means", "what you can do")]
    assert sorted(explained) == sorted(VERDICTS)


def test_languages_and_their_files():
    rows = table(README, "language", "files", "how")
    said = {ending for row in rows for ending in re.findall(r"`(\.\w+)`", row[1])}
    assert said == {ending for language in LANGUAGES for ending in language.extensions}


# Dependencies


def requirement(text: str) -> str:
    return re.split(r"[\s<>=!~;\[]", text, maxsplit=1)[0]


LICENCES = {
    "MIT License": "MIT",
    "BSD License": "BSD-3-Clause",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
}


def licence(package: str) -> str:
    about = importlib.metadata.metadata(package)
    for classifier in about.get_all("Classifier", []):
        if classifier.startswith("License :: OSI Approved :: "):
            return LICENCES[classifier.rpartition(" :: ")[2]]
    return about.get("License-Expression") or about["License"]


DEPENDENCIES = [
    {code(name): said for name, said, _ in rows} for rows in tables(REFERENCE, "package", "licence", "why")
]


def test_there_are_four_tables_of_dependencies():
    assert len(DEPENDENCIES) == 4


@pytest.mark.parametrize(
    ("rows", "required"),
    [
        (DEPENDENCIES[0], PROJECT["project"]["dependencies"]),
        (DEPENDENCIES[2], PROJECT["dependency-groups"]["dev"]),
    ],
    ids=["run time", "development"],
)
def test_python_dependencies(rows, required):
    assert rows == {name: licence(name) for name in map(requirement, required)}


@pytest.mark.parametrize(
    ("rows", "group"), [(DEPENDENCIES[1], "dependencies"), (DEPENDENCIES[3], "devDependencies")]
)
def test_extension_dependencies(rows, group):
    assert rows == {name: PACKAGES[f"node_modules/{name}"]["license"] for name in MANIFEST[group]}


def test_the_readme_says_why_each_dependency_at_run_time():
    named = [name for row in table(README, "package", "why") for name in re.findall(r"`([^`]+)`", row[0])]
    required = {requirement(text) for text in PROJECT["project"]["dependencies"]}
    assert set(named) == required | set(MANIFEST["dependencies"])
    assert len(named) == len(set(named))


# Targets, files, versions

TARGETS = dict(re.findall(r"^([a-z0-9-]+):.*?(?:## (.*))?$", read("Makefile"), re.MULTILINE))


def test_make_targets():
    rows = table(README, "command", "what it does")
    documented = {target for target, about in TARGETS.items() if about and target != "help"}
    assert {code(row[0]) for row in rows} == {f"make {target}" for target in documented}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_named_target_exists(document):
    named = set(re.findall(r"\bmake ([a-z][a-z0-9-]*)", "\n".join(snippets(read(document)))))
    assert named - set(TARGETS) == set()


def snippets(text: str) -> Iterator[str]:
    """What stands as code, in blocks or in lines."""
    yield from re.findall(r"^```\w*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    yield from re.findall(
        r"`([^`\n]+)`", re.sub(r"^```\w*\n.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    )


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_lead_to_files_of_the_repository(document):
    targets = re.findall(r"\]\(([^)#\s]+)\)", read(document))
    dead = [
        target
        for target in targets
        if not target.startswith("https://") and not (ROOT / document).parent.joinpath(target).is_file()
    ]
    assert dead == []


def anchors(text: str) -> set[str]:
    """What a link to a heading of it may name, as GitHub makes it of the words."""
    prose = re.sub(r"^ *```.*?^ *```", "", text, flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", prose, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_lead_to_headings(document):
    for target, heading in re.findall(r"\]\(([^)#\s]*)#([^)\s]+)\)", read(document)):
        other = (ROOT / document).parent / target if target else ROOT / document
        assert heading in anchors(other.read_text(encoding="utf-8")), (target, heading)


def test_the_screenshot_is_a_small_picture():
    (picture,) = re.findall(r"!\[[^\]]+\]\((\S+\.png)\)", README)
    data = (ROOT / picture).read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    assert len(data) < 200_000


def test_one_version_everywhere():
    version = PROJECT["project"]["version"]
    assert mnemolens.__version__ == version
    assert MANIFEST["version"] == version
    assert set(re.findall(r"mnemolens-(\d[\w.]*?)(?:-py3-none-any\.whl|\.vsix)", README)) == {version}
    assert re.findall(r"^## \[(\d[^\]]*)\]", read("CHANGELOG.md"), re.MULTILINE)[0] == version


def test_documents_name_no_place_of_one_machine():
    for document in DOCUMENTS:
        assert re.findall(r"(?<![\w.~>])/(?:home|root|work|tmp|Users)\b", read(document)) == [], document


def test_the_server_opens_no_connection():
    """README's promise that nothing leaves the machine."""
    imported = set()
    asks_servers = SERVER / "mnemolens" / "engine" / "embedders.py"  # those that the user chose
    for path in set(SERVER.rglob("*.py")) - {asks_servers}:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                imported |= {f"{node.module}.{alias.name}" for alias in node.names}
    network = (
        "socket",
        "ssl",
        "http",
        "urllib.request",
        "urllib3",
        "requests",
        "httpx",
        "aiohttp",
        "smtplib",
    )
    assert {name for name in imported if f"{name}.".startswith(tuple(f"{one}." for one in network))} == set()
    assert imported >= {"asyncio", "urllib.parse.quote"}  # the reading of imports works


# The page on the server


def modules() -> set[str]:
    package = SERVER / "mnemolens"
    return {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if path.name not in {"__init__.py", "__main__.py"}
    }


def test_the_code_map_names_every_module_and_no_other():
    named: list[str] = []
    for title, body in re.findall(
        r"^### `([\w/]+/)`[^\n]*\n(.*?)(?=^##|\Z)", ARCHITECTURE, re.MULTILINE | re.DOTALL
    ):
        for names in re.findall(r"^- ((?:`\w+\.py`(?:, )?)+): \S", body, re.MULTILINE):
            folder = title.removeprefix("mnemolens/")
            named += [folder + name for name in re.findall(r"`(\w+\.py)`", names)]
    assert sorted(named) == sorted(modules())


def test_modules_named_in_prose_exist():
    named = set(
        re.findall(r"`((?:lsp|cli|engine|codegraph|linking|ranking|store|core)/[\w/]+\.py)`", ARCHITECTURE)
    )
    assert named
    assert named - modules() == set()


def test_names_of_code_in_the_page_exist():
    """What the page writes as a Python name (`Workspace.commit`, `SLOW_PARSE_MS`) stands in the code."""
    defined: set[str] = set()
    for path in SERVER.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                defined.add(node.name)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                defined.add(node.id)
    named = set(re.findall(r"`([A-Z][a-z]\w+|[A-Z][A-Z_]{3,})(?:\.\w+)?(?:\(\))?`", ARCHITECTURE))
    assert named
    assert named - defined == set()
    methods = set(re.findall(r"`[A-Z][a-z]\w+\.(\w+)(?:\(\))?`", ARCHITECTURE))
    assert methods - defined == set()


# Neovim

NVIM = shutil.which("nvim")
DRIVE = """
local function wait(what, ask)
  local answer
  assert(vim.wait(60000, function() answer = ask(); return answer end, 20), "waited in vain for " .. what)
  return answer
end
local function floating()
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    if vim.api.nvim_win_get_config(window).relative ~= "" then
      return table.concat(vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false), "\\n")
    end
  end
end
local fine, problem = pcall(function()
  vim.cmd("edit billing.py")
  vim.bo.filetype = "python"
  wait("the server", function()
    for _, one in pairs((vim.lsp.get_clients or vim.lsp.get_active_clients)()) do return one.initialized end
  end)
  vim.api.nvim_win_set_cursor(0, { 4, 5 })
  vim.cmd("Remember The provider double-charges")
  vim.wait(300)
  io.stdout:write(wait("the hover", function() vim.cmd("normal K"); vim.wait(300); return floating() end))
end)
if not fine then io.stdout:write(tostring(problem)) end
vim.cmd("qall!")
"""


@pytest.mark.skipif(NVIM is None, reason="Neovim is not installed")
def test_the_neovim_snippet(tmp_path, monkeypatch):
    folder = make_repository(tmp_path / "project")
    (snippet,) = re.findall(r"^```lua\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    (tmp_path / "init.lua").write_text(snippet)
    (tmp_path / "drive.lua").write_text(DRIVE)
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "mnemolens").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m mnemolens "$@"\n')
    (programs / "mnemolens").chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=":")
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "xdg"))
    command = [
        NVIM,
        "--headless",
        "-u",
        tmp_path / "init.lua",
        "-i",
        "NONE",
        "-n",
        "-S",
        tmp_path / "drive.lua",
    ]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=180, check=True)
    assert "The provider double-charges" in done.stdout, done.stdout + done.stderr
    assert "charge()" in done.stdout
