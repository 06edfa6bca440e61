"""The model of all settings: names, types, limits, defaults and what each is for.

Owns nothing of where values come from and how they are merged; that is `core.settings`.
"""

from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel
from pydantic.config import JsonDict

from mnemolens.core.memories import LinkContext

Preset = Literal["default", "large_codebase"]
Language = Literal[
    "python", "typescript", "javascript", "go",
    "rust", "java", "c", "cpp", "csharp", "ruby", "php", "kotlin",
]  # fmt: skip
OtherBranches = Literal["mark", "hide", "show"]

_MACHINE: JsonDict = {"scope": "machine"}
_MAX_LIST = 1000


def _as_list(value: object) -> object:
    """One string stands for a list of one; in the environment a list is comma-separated or JSON."""
    return [value] if isinstance(value, str) else value


def _as_languages(value: object) -> object:
    """TSX and JSX are read by their language's own table, so either name is fine."""
    values = _as_list(value)
    if not isinstance(values, list | tuple):
        return values
    if not all(isinstance(value, str) for value in values):
        return values
    same = {"tsx": "typescript", "jsx": "javascript"}
    return list(dict.fromkeys(same.get(value, value) for value in values))


def _empty_is_unset(value: object) -> object:
    """Editors have no null in a text field."""
    return None if value == "" else value


MAX_PATTERN_STEPS = 2_500
"""Of a compiled pattern: 20,000 characters take it 20 ms at most. A class of all letters alone has 1,200."""


def _pattern(value: str) -> str:
    """A regular expression that takes time in proportion to the text at most, and not much of it."""
    import re2  # only where a project has rules

    options = re2.Options()
    options.log_errors = False
    try:
        steps = re2.compile(value, options=options).programsize
    except re2.error as error:
        said = error.args[0]
        raise ValueError(said.decode() if isinstance(said, bytes) else str(said)) from None
    if steps > MAX_PATTERN_STEPS:
        raise ValueError(f"the pattern has {steps} steps, {MAX_PATTERN_STEPS} are allowed: repeat less often")
    return value


Share = Annotated[float, Field(ge=0, le=1)]
Words = Annotated[tuple[str, ...], BeforeValidator(_as_list), Field(max_length=_MAX_LIST)]


class _Section(BaseModel):
    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
    )


class HoverSettings(_Section):
    """What a hover shows."""

    enabled: bool = Field(default=True, description="Show memories when hovering code.")
    max_items: int = Field(default=3, ge=1, le=20, description="How many memories a hover shows at most.")
    neighbour_threshold: Share = Field(
        default=0.25, description="Least rank (0..1) of a memory on neighbouring code to be shown in a hover."
    )


class LensSettings(_Section):
    """Code lenses."""

    enabled: bool = Field(default=True, description="Show a lens above code that has memories.")


class DiagnosticsSettings(_Section):
    """Hints in the list of problems."""

    drifted: bool = Field(default=False, description="Hint at code whose memories may no longer be true.")
    contradictions: bool = Field(default=True, description="Hint at memories that contradict each other.")
    due: bool = Field(default=True, description="Hint at memories that are due.")


class IndexSettings(_Section):
    """What is indexed."""

    exclude: Words = Field(
        default=(), description="Patterns of files to leave out, added to .gitignore (its syntax)."
    )
    max_file_bytes: int = Field(
        default=1_500_000, ge=1, le=100_000_000, description="Larger files are left out of the index."
    )
    languages: Annotated[tuple[Language, ...], BeforeValidator(_as_languages)] = Field(
        default=get_args(Language),
        description="Languages to index. typescript includes TSX, javascript includes JSX.",
    )


class LinkRule(_Section):
    """A project's own way of naming code."""

    pattern: Annotated[str, Field(min_length=1, max_length=500), AfterValidator(_pattern)]
    kind: Literal["symbol", "function", "class", "file"] = "symbol"
    score: Share = 0.8


class LinkingSettings(_Section):
    """Links from memories to the code they name."""

    enabled: bool = Field(
        default=True, description="Link memories to the code that their text and metadata name."
    )
    kinds: Annotated[tuple[LinkContext, ...], BeforeValidator(_as_list)] = Field(
        default=("metadata_file_match", "content_name_match", "content_class_match", "content_file_match"),
        description="Which kinds of links are made.",
    )
    rules: tuple[LinkRule, ...] = Field(
        default=(),
        max_length=50,
        description="Own ways of naming code. Each has a `pattern` (RE2's syntax; its first group is the "
        "name), a `kind` (symbol, function, class or file) and a `score` (0..1, below .5 only offered).",
    )


class SearchSettings(_Section):
    """Search by meaning; search by words needs none of it."""

    embedder: Literal["off", "minilm", "transformers", "openai", "ollama"] = Field(
        default="off",
        description="What makes vectors, for search by meaning: off, minilm (the extra's model), "
        "transformers (a model in search.modelPath), or an openai or ollama server at search.endpoint: the "
        "text of every memory is sent there, and leaves this machine unless the server is on it.",
        json_schema_extra=_MACHINE,
    )
    model_path: Annotated[str | None, BeforeValidator(_empty_is_unset)] = Field(
        default=None,
        max_length=4096,
        description="Folder of the model for transformers, or of another model for minilm.",
        json_schema_extra=_MACHINE,
    )
    endpoint: Annotated[str | None, BeforeValidator(_empty_is_unset)] = Field(
        default=None,
        max_length=2048,
        description="Address of an OpenAI-compatible or Ollama server, such as http://127.0.0.1:11434. The "
        "text of every memory is sent there, and leaves this machine unless the server is on it.",
        json_schema_extra=_MACHINE,
    )
    model: Annotated[str | None, BeforeValidator(_empty_is_unset)] = Field(
        default=None,
        max_length=200,
        description="Which of the server's models makes the vectors.",
        json_schema_extra=_MACHINE,
    )
    key_variable: Annotated[str | None, BeforeValidator(_empty_is_unset)] = Field(
        default=None,
        max_length=200,
        description="Environment variable that holds the server's key. The key itself stands in no setting.",
        json_schema_extra=_MACHINE,
    )


class StoreSettings(_Section):
    """Where memories are kept."""

    path: Annotated[str | None, BeforeValidator(_empty_is_unset)] = Field(
        default=None,
        max_length=4096,
        description="Folder that keeps the memories. Empty: inside the repository's .git folder.",
        json_schema_extra=_MACHINE,
    )


class ServerSettings(_Section):
    """How the editor starts the server."""

    command: Words = Field(
        default=(),
        description="Command that starts the language server. Empty: the one the extension installed.",
        json_schema_extra=_MACHINE,
    )


class TraceSettings(_Section):
    """Tracing of the protocol."""

    server: Literal["off", "messages", "verbose"] = Field(
        default="off",
        description="Trace what editor and server say to each other.",
        json_schema_extra=_MACHINE,
    )


class DecaySettings(_Section):
    """How fast memories fade."""

    rate: float = Field(
        default=0.0001, ge=0, le=1000, description="Share of its weight that a memory loses an hour."
    )
    half_life: float | None = Field(
        default=None,
        gt=0,
        description="Hours after which half of the weight is lost; used where no rate is set.",
    )
    min_weight: Share = Field(default=0.01, description="Recall leaves out memories below this weight.")


class LayerSettings(_Section):
    """Least weight of each layer."""

    core_min: Share = Field(default=0.8, description="Least weight of the core layer.")
    active_min: Share = Field(default=0.5, description="Least weight of the active layer.")
    long_term_min: Share = Field(
        default=0.2, description="Least weight of the long-term layer; below is the archive."
    )


class BudgetSettings(_Section):
    """How recall shares its tokens among the layers."""

    total: int = Field(
        default=50_000, ge=0, le=100_000_000, description="Tokens that a recall returns at most."
    )
    core_ratio: Share = Field(default=0.4, description="Share of the core layer.")
    active_ratio: Share = Field(default=0.35, description="Share of the active layer.")
    long_term_ratio: Share = Field(default=0.2, description="Share of the long-term layer.")
    archive_ratio: Share = Field(default=0.05, description="Share of the archive.")


class ReinforcementSettings(_Section):
    """How use strengthens memories."""

    access_boost_max: Share = Field(default=0.5, description="Weight gained at 100 accesses.")
    recency_window: float = Field(
        default=168, ge=0, description="Hours for which an access counts as recent."
    )
    recency_bonus: Share = Field(default=0.2, description="Weight gained by a recent access.")


class MemorySettings(_Section):
    """How memories age and are recalled."""

    decay: DecaySettings = DecaySettings()
    layers: LayerSettings = LayerSettings()
    budget: BudgetSettings = BudgetSettings()
    reinforcement: ReinforcementSettings = ReinforcementSettings()
    other_branches: OtherBranches = Field(
        default="mark",
        description="Memories from branches that are not part of the one checked out: mark them and rank "
        "them lower, hide them in hovers, lenses and recall, or show them as all others.",
    )


class BackgroundSettings(_Section):
    """Work done now and then."""

    weight_update_interval: float = Field(
        default=3600, gt=0, description="Seconds between updates of stored weights."
    )
    archival_check_interval: float = Field(
        default=86_400, gt=0, description="Seconds between looks at the archive."
    )
    cleanup_threshold: Share = Field(
        default=0.01, description="Deletion is offered for memories below this weight."
    )


class Settings(_Section):
    """All settings, valid and complete. `memory.decay.rate` is the effective rate, however it was set."""

    preset: Preset = Field(default="default", description="A set of values for a kind of repository.")
    hover: HoverSettings = HoverSettings()
    lens: LensSettings = LensSettings()
    diagnostics: DiagnosticsSettings = DiagnosticsSettings()
    index: IndexSettings = IndexSettings()
    linking: LinkingSettings = LinkingSettings()
    memory: MemorySettings = MemorySettings()
    background_tasks: BackgroundSettings = BackgroundSettings()
    search: SearchSettings = SearchSettings()
    store: StoreSettings = StoreSettings()
    server: ServerSettings = ServerSettings()
    trace: TraceSettings = TraceSettings()
