"""Settings: how the layers that set them are merged, and the list of all there are.

Order: defaults < preset < `.mnemolens.yaml` < editor < environment < command line. Owns the repository
file's allow-list and the mapping of older keys; the model is `core.settings_model`. Never raises for what a
user wrote: each wrong value is told once, and the last good value stays. Reads nothing but what it is handed;
the one reader of the repository's file is `read_repository_file`.
"""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, get_args

import yaml
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError
from pydantic.alias_generators import to_camel, to_snake

from mnemolens.core.settings_model import Settings

__all__ = [
    "ENVIRONMENT_PREFIX",
    "FILE_NAME",
    "SETTINGS",
    "Notice",
    "RepositoryFile",
    "SettingInfo",
    "Settings",
    "SettingsSources",
    "parse_repository_text",
    "read_repository_file",
    "resolve_settings",
]

Scope = Literal["machine", "resource"]

FILE_NAME = ".mnemolens.yaml"
ENVIRONMENT_PREFIX = "MNEMOLENS_"
NOT_SETTINGS = frozenset({"MNEMOLENS_CACHE_DIR", "MNEMOLENS_DATA_DIR"})
"""Environment variables of ours that say where things are, read by those who keep them."""
MAX_FILE_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class SettingInfo:
    """One setting as documents and the extension's manifest must name it.

    Attributes:
        key: dotted name: our own in camelCase (`hover.maxItems`), the older ones in snake_case as ever.
        type: "boolean", "integer", "number", "string", "enum" or "array".
        choices: of an enum, or of an array's items; empty where any value goes.
        scope: "machine" where a repository must not set it.
    """

    key: str
    type: str
    default: Any
    description: str
    scope: Scope
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Notice:
    """One thing to tell the user about the settings.

    Attributes:
        level: "warning" where something written has no effect, "info" where it was understood differently.
        paths: the settings it is about, as written in the registry; empty for a whole file.
        message: one sentence or two, naming source and path.
    """

    level: Literal["warning", "info"]
    paths: tuple[str, ...]
    message: str


@dataclass(frozen=True, slots=True)
class RepositoryFile:
    """The settings file at the repository's top level, as last read well.

    Attributes:
        data: what it said; empty when there is no file.
        problem: why the file as it is now can't be read; `data` is then still the earlier content.
    """

    data: Mapping[str, Any] = field(default_factory=dict)
    problem: Notice | None = None


@dataclass(frozen=True, slots=True)
class SettingsSources:
    """What each layer says, unchecked.

    Attributes:
        editor: the client's settings, nested or with dotted keys, with or without the leading "mnemolens".
        environment: all environment variables; those beginning with `MNEMOLENS_` are looked at.
        command_line: nested or with dotted keys.
    """

    repository: RepositoryFile = RepositoryFile()
    editor: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    command_line: Mapping[str, Any] = field(default_factory=dict)


_PRESETS: dict[str, dict[str, Any]] = {
    "default": {},
    "large_codebase": {
        "memory.decay.rate": 0.0002,
        "memory.layers.core_min": 0.85,
        "memory.layers.active_min": 0.6,
        "memory.layers.long_term_min": 0.3,
    },
}
_REPOSITORY_SECTIONS = frozenset(
    {"hover", "lens", "diagnostics", "index", "linking", "memory", "background_tasks", "preset"}
)
_OLD_SECTIONS = frozenset({"storage", "code_graph", "code_metadata", "background_tasks"})
_ALWAYS_ON = frozenset(
    {
        "code_graph.incremental_index",
        "code_metadata.track_file_changes",
        "code_metadata.track_function_calls",
        "code_metadata.ast_summarization",
    }
)
_MEANINGLESS = (("code_graph.enabled", True), ("code_graph.parser", "tree-sitter"))
_RATE, _HALF_LIFE = "memory.decay.rate", "memory.decay.half_life"
_THRESHOLDS = ("memory.layers.core_min", "memory.layers.active_min", "memory.layers.long_term_min")
_RATIOS = tuple(f"memory.budget.{layer}_ratio" for layer in ("core", "active", "long_term", "archive"))


@dataclass(frozen=True, slots=True)
class _Leaf:
    """One setting: how it is shown, and how a value for it is checked."""

    info: SettingInfo
    adapter: TypeAdapter[Any]


def _leaves(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, _Leaf]]:
    for name, about in model.model_fields.items():
        path = prefix + name
        annotation = about.annotation
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            yield from _leaves(annotation, path + ".")
            continue
        extra = about.json_schema_extra if isinstance(about.json_schema_extra, dict) else {}
        kind, choices = _shape(annotation)
        info = SettingInfo(
            key=_shown(path),
            type=kind,
            default=list(about.default) if isinstance(about.default, tuple) else about.default,
            description=about.description or "",
            scope="machine" if extra.get("scope") == "machine" else "resource",
            choices=choices,
        )
        checked: Any = Annotated[(annotation, *about.metadata)] if about.metadata else annotation
        # Deferred: most settings are never set, and building a check takes a fifth of a millisecond.
        config = ConfigDict(allow_inf_nan=False, defer_build=True)
        yield path, _Leaf(info, TypeAdapter(checked, config=config))


def _shape(annotation: Any) -> tuple[str, tuple[str, ...]]:
    inner = getattr(annotation, "__origin__", None)
    if inner is tuple:
        return "array", _shape(get_args(annotation)[0])[1]
    if inner is Literal:
        return "enum", get_args(annotation)
    arguments = [a for a in get_args(annotation) if a is not NoneType]
    if arguments:
        return _shape(arguments[0])
    return {bool: "boolean", int: "integer", float: "number"}.get(annotation, "string"), ()


def _shown(path: str) -> str:
    """A setting's public name; the older documents' keys keep their snake_case."""
    if path.startswith(("memory.", "background_tasks.")) and path != "memory.other_branches":
        return path
    return ".".join(to_camel(part) for part in path.split("."))


_LEAVES: dict[str, _Leaf] = dict(_leaves(Settings))
_SECTIONS = frozenset(path.rpartition(".")[0] for path in _LEAVES) | {"memory"}
SETTINGS: tuple[SettingInfo, ...] = tuple(leaf.info for leaf in _LEAVES.values())
"""Every setting there is, in the model's order."""


def resolve_settings(
    sources: SettingsSources, previous: Settings | None = None
) -> tuple[Settings, tuple[Notice, ...]]:
    """Merges all layers into valid settings.

    Args:
        sources: what each layer says.
        previous: the settings in force until now: a value that is wrong falls back to what stands there.

    Returns:
        The settings, and what to tell the user: one notice for each wrong value, one a layer for unknown
        keys, one a layer for keys it may not set, one each for older keys that have no meaning any more.
    """
    merge = _Merge(previous)
    if sources.repository.problem is not None:
        merge.notices.append(sources.repository.problem)
    layers = (
        _Layer(FILE_NAME, sources.repository.data),
        _Layer("The editor's settings", _unwrapped(sources.editor)),
        _Layer("The environment", _environment_tree(sources.environment), is_text=True),
        _Layer("The command line", sources.command_line),
    )
    read = [merge.checked(layer) for layer in layers]
    preset = next((values["preset"] for values in reversed(read) if "preset" in values), "default")
    merge.apply("The preset", _PRESETS[preset])
    for layer, values in zip(layers, read, strict=True):
        merge.apply(layer.name, values)
    return merge.settings(), tuple(merge.notices)


def read_repository_file(path: Path, last: RepositoryFile | None = None) -> RepositoryFile:
    """Reads the repository's settings file.

    Args:
        path: the file; a missing one says nothing.
        last: what it said when it was last read well: kept where it can't be read now.
    """
    try:
        with path.open("rb") as file:
            text = file.read(MAX_FILE_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return RepositoryFile()
    except OSError as error:
        return _unreadable(f"can't be read ({error.strerror or error})", last)
    return parse_repository_text(text, last)


def parse_repository_text(text: bytes, last: RepositoryFile | None = None) -> RepositoryFile:
    """Parses the content of a repository's settings file; see `read_repository_file`."""
    try:
        data = _parsed(text)
    except _UnreadableError as error:
        return _unreadable(str(error), last)
    return RepositoryFile(data)


def _parsed(text: bytes) -> dict[str, Any]:
    if len(text) > MAX_FILE_BYTES:
        raise _UnreadableError(f"is larger than {MAX_FILE_BYTES // 1024} kB")
    try:
        data = yaml.load(text.decode("utf-8-sig"), Loader=_PlainLoader)  # noqa: S506 - derived from SafeLoader
    except UnicodeDecodeError as error:
        raise _UnreadableError(f"is not UTF-8 (byte {error.start})") from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"line {mark.line + 1}: " if mark is not None else ""
        raise _UnreadableError(f"is not valid YAML: {where}{error.problem or error.context}") from error
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        raise _UnreadableError(f"is not valid YAML: {str(error).splitlines()[0]}") from error
    except RecursionError as error:
        raise _UnreadableError("is nested too deeply") from error
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise _UnreadableError("must hold settings (`hover:` …), not a list or a single value")
    return data


class _UnreadableError(ValueError):
    """Why a repository's settings file can't be used, as the end of a sentence that begins with its name."""


class _PlainLoader(yaml.SafeLoader):
    """Safe YAML without anchors and aliases: a settings file needs none, and they make small files huge."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            event = self.get_event()  # type: ignore[no-untyped-call]  # the stubs leave it untyped
            raise yaml.MarkedYAMLError(problem="aliases are not allowed", problem_mark=event.start_mark)
        return super().compose_node(parent, index)


def _unreadable(reason: str, last: RepositoryFile | None) -> RepositoryFile:
    message = f"{FILE_NAME} {reason}. Its earlier settings stay in force."
    return replace(last or RepositoryFile(), problem=Notice("warning", (), message))


@dataclass(frozen=True, slots=True)
class _Layer:
    """One source of settings. `is_text`: all values are strings and have to be parsed."""

    name: str
    data: Mapping[str, Any]
    is_text: bool = False


class _Merge:
    """The work of one `resolve_settings`: values so far, and what to tell."""

    def __init__(self, previous: Settings | None) -> None:
        self.notices: list[Notice] = []
        self._values: dict[str, Any] = {path: leaf.info.default for path, leaf in _LEAVES.items()}
        self._previous = _flat(previous) if previous is not None else {}

    def checked(self, layer: _Layer) -> dict[str, Any]:
        """The layer's values that are known, allowed and right; tells about the others."""
        values: dict[str, Any] = {}
        unknown: list[str] = []
        refused: list[str] = []
        for written, value in _walk(layer.data):
            if value is None:
                continue
            path, meaning = self._meaning(layer, _canonical(written), value)
            if path is None:
                continue
            if path in _SECTIONS:
                self._wrong(layer, path, "must hold settings, not a single value")
            elif path not in _LEAVES:
                unknown.append(written)
            elif layer.name == FILE_NAME and path.partition(".")[0] not in _REPOSITORY_SECTIONS:
                refused.append(_shown(path))
            else:
                self._check(layer, path, meaning, values)
        self._tell_old_storage(layer)
        if unknown:
            self._tell(unknown, f"{layer.name}: unknown and ignored: {_listed(unknown)}.")
        if refused:
            text = "belong to the machine and can't be set by a repository; ignored"
            self._tell(refused, f"{layer.name}: {_listed(refused)}: {text}.")
        self._choose_rate(layer, values)
        return values

    def apply(self, name: str, values: Mapping[str, Any]) -> None:
        """Lays these values over what there is; a pair that contradicts itself is told and left out."""
        before = dict(self._values)
        self._values.update(values)
        core, active, long_term = (self._values[path] for path in _THRESHOLDS)
        last_good = self._previous or before
        if not core >= active >= long_term:
            self._values.update({path: last_good[path] for path in _THRESHOLDS})
            shown = " ≥ ".join(_THRESHOLDS)
            self._tell(_THRESHOLDS, f"{name}: {shown} must hold; the earlier thresholds stay.")
        total = math.fsum(self._values[path] for path in _RATIOS)
        if not math.isclose(total, 1, abs_tol=1e-6):
            self._values.update({path: last_good[path] for path in _RATIOS})
            shown = " + ".join(_RATIOS)
            self._tell(_RATIOS, f"{name}: {shown} must be 1, not {total:g}; the earlier ratios stay.")
        if _RATE in values:
            self._values[_HALF_LIFE] = values.get(_HALF_LIFE)
        elif values.get(_HALF_LIFE) is not None:
            self._values[_RATE] = math.log(2) / values[_HALF_LIFE]

    def settings(self) -> Settings:
        """The merged settings."""
        tree: dict[str, Any] = {}
        for path, value in self._values.items():
            *sections, name = path.split(".")
            node = tree
            for section in sections:
                node = node.setdefault(to_camel(section), {})
            node[to_camel(name)] = value
        return Settings.model_validate(tree)

    def _check(self, layer: _Layer, path: str, value: object, values: dict[str, Any]) -> None:
        leaf = _LEAVES[path]
        if layer.is_text and isinstance(value, str) and leaf.info.type == "array":
            value = _words(value)
        if leaf.info.type in {"integer", "number"} and isinstance(value, bool):
            self._wrong(layer, path, "must be a number", value)
        else:
            try:
                values[path] = leaf.adapter.validate_python(value)
            except ValidationError as error:
                self._wrong(layer, path, _reason(error), value)
            else:
                return
        if path in self._previous:
            values[path] = self._previous[path]

    def _wrong(self, layer: _Layer, path: str, reason: str, value: object = None) -> None:
        key = _shown(path)
        got = "" if value is None else f" (it is {_short(value)})"
        kept = ""
        if path in _LEAVES and path != "preset":
            last = self._previous.get(path, _LEAVES[path].info.default)
            kept = f" {_short(last)} stays." if path in self._previous else " The value it had stays."
        self._tell((key,), f"{layer.name}: {key} {reason}{got}.{kept}")

    def _meaning(self, layer: _Layer, path: str, value: Any) -> tuple[str | None, Any]:
        """What a key means today: (path, value), or (None, …) for an older key without effect."""
        if path.partition(".")[0] == "storage" or (path, value) in _MEANINGLESS:
            return None, None
        if path == "code_graph.languages":
            return "index.languages", value
        if path == "code_graph.enabled" and value is False:
            return "index.languages", []
        if path in _ALWAYS_ON and isinstance(value, bool):
            if not value:
                self._tell((path,), f"{layer.name}: {path}: this is always on and costs little.", "info")
            return None, None
        return path, value

    def _tell_old_storage(self, layer: _Layer) -> None:
        paths = [p for p, _ in _walk(layer.data) if _canonical(p).partition(".")[0] == "storage"]
        if paths:
            text = (
                "memories are kept in a journal beside the repository's history, without a database to set "
                "up; these have no effect. `store.path` in your editor's settings moves it"
            )
            self._tell(paths, f"{layer.name}: {_listed(paths)}: {text}.", "info")

    def _choose_rate(self, layer: _Layer, values: dict[str, Any]) -> None:
        if values.get(_HALF_LIFE) is None or _RATE not in values:
            return
        days = math.log(2) / values[_RATE] / 24 if values[_RATE] else math.inf
        text = (
            f"{layer.name}: {_RATE} and {_HALF_LIFE} say different things; {_RATE} counts "
            f"(a half-life of {days:.0f} days), {_HALF_LIFE} is ignored."
        )
        agree = values[_RATE] and math.isclose(math.log(2) / values[_RATE], values[_HALF_LIFE], rel_tol=0.01)
        if not agree:
            self._tell((_RATE, _HALF_LIFE), text, "info")

    def _tell(
        self, paths: tuple[str, ...] | list[str], message: str, level: Literal["warning", "info"] = "warning"
    ) -> None:
        self.notices.append(Notice(level, tuple(paths), message))


def _walk(data: Mapping[Any, Any], prefix: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """(dotted key as written, value) of every value that is no section."""
    for key, value in data.items():
        path = f"{prefix}{key}"
        deeper = isinstance(value, Mapping) and _canonical(path) not in _LEAVES and depth < 8
        if deeper and value:
            yield from _walk(value, path + ".", depth + 1)
        elif not deeper:
            yield path, value


def _canonical(written: str) -> str:
    """The path in the model for a key in camelCase or snake_case, wherever an older document put it."""
    parts = [to_snake(part) for part in written.split(".")]
    if len(parts) > 1 and parts[0] == "memory" and parts[1] in _OLD_SECTIONS:
        parts = parts[1:]
    path = ".".join(parts)
    return "memory.decay.min_weight" if path == "memory.min_weight" else path


def _unwrapped(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """The editor's settings without the leading "mnemolens"."""
    out: dict[str, Any] = {}
    for key, value in data.items():
        if key == "mnemolens" and isinstance(value, Mapping):
            out.update(value)
        else:
            out[str(key).removeprefix("mnemolens.")] = value
    return out


def _environment_tree(environment: Mapping[str, str]) -> dict[str, str]:
    return {
        name.removeprefix(ENVIRONMENT_PREFIX).lower().replace("__", "."): value
        for name, value in sorted(environment.items())
        if name.startswith(ENVIRONMENT_PREFIX) and name not in NOT_SETTINGS and value
    }


def _words(text: str) -> object:
    if text.lstrip().startswith("["):
        try:
            return json.loads(text)
        except ValueError:
            return text
    return [word.strip() for word in text.split(",") if word.strip()]


def _flat(settings: Settings) -> dict[str, Any]:
    def value(path: str) -> Any:
        node: Any = settings
        for part in path.split("."):
            node = getattr(node, part)
        return node

    return {path: value(path) for path in _LEAVES}


def _reason(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    message = first["msg"].removeprefix("Input ").removeprefix("Value error, ")
    where = "".join(f"[{part}]" for part in first["loc"] if isinstance(part, int))
    return f"{where} {message}".strip()


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"


def _listed(paths: tuple[str, ...] | list[str]) -> str:
    shown = ", ".join(_short(p)[1:-1] for p in paths[:8])
    return shown + (f" and {len(paths) - 8} more" if len(paths) > 8 else "")
