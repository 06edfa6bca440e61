"""Settings: order of layers, what a repository may set, wrong values, the seeds' files."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from mnemolens.core.settings import (
    SETTINGS,
    RepositoryFile,
    Settings,
    SettingsSources,
    parse_repository_text,
    read_repository_file,
    resolve_settings,
)

DATA = Path(__file__).parent.parent / "data" / "settings"


def resolve(*, previous=None, yaml=None, editor=None, env=None, command_line=None):
    repository = parse_repository_text(yaml.encode()) if yaml is not None else RepositoryFile()
    sources = SettingsSources(repository, editor or {}, env or {}, command_line or {})
    return resolve_settings(sources, previous)


def quiet(**layers):
    found, notices = resolve(**layers)
    assert notices == ()
    return found


class TestDefaults:
    def test_what_the_contract_says(self):
        s = quiet()
        assert s == Settings()
        assert (s.hover.enabled, s.hover.max_items, s.hover.neighbour_threshold) == (True, 3, 0.25)
        assert s.lens.enabled
        assert not s.diagnostics.drifted
        assert s.index.max_file_bytes == 1_500_000
        assert s.linking.enabled
        assert (s.memory.decay.rate, s.memory.decay.min_weight) == (0.0001, 0.01)
        assert s.memory.budget.total == 50000
        assert s.background_tasks.cleanup_threshold == 0.01

    def test_settings_are_frozen(self):
        with pytest.raises(ValidationError, match="frozen"):
            Settings().hover.max_items = 5

    def test_the_list_names_every_setting_of_the_contract(self):
        keys = {info.key for info in SETTINGS}
        assert keys >= {
            "hover.enabled",
            "hover.maxItems",
            "hover.neighbourThreshold",
            "lens.enabled",
            "diagnostics.drifted",
            "diagnostics.contradictions",
            "diagnostics.due",
            "index.exclude",
            "index.maxFileBytes",
            "index.languages",
            "linking.enabled",
            "linking.rules",
            "store.path",
            "server.command",
            "trace.server",
            "memory.decay.rate",
            "memory.decay.half_life",
            "memory.decay.min_weight",
            "preset",
        }
        assert len(keys) == len(SETTINGS)

    def test_the_list_says_type_default_scope_and_what_for(self):
        by_key = {info.key: info for info in SETTINGS}
        items = by_key["hover.maxItems"]
        assert (items.type, items.default, items.scope) == ("integer", 3, "resource")
        assert by_key["index.exclude"].type == "array"
        assert by_key["trace.server"].choices == ("off", "messages", "verbose")
        assert by_key["store.path"].type == "string"
        assert by_key["memory.decay.rate"].type == "number"
        assert {key for key, info in by_key.items() if info.scope == "machine"} == {
            "store.path",
            "server.command",
            "trace.server",
            "search.embedder",
            "search.modelPath",
            "search.endpoint",
            "search.model",
            "search.keyVariable",
        }
        assert all(info.description.endswith(".") for info in SETTINGS)


class TestOrder:
    def test_each_layer_over_the_one_before(self):
        layers = {
            "yaml": "hover: {maxItems: 4}\npreset: large_codebase",
            "editor": {"hover": {"maxItems": 5}},
            "env": {"MNEMOLENS_HOVER__MAX_ITEMS": "6"},
            "command_line": {"hover.maxItems": 7},
        }
        got = []
        while layers:
            got.append(quiet(**layers).hover.max_items)
            layers.popitem()
        assert got == [7, 6, 5, 4]

    def test_a_preset_is_over_the_defaults_and_under_the_file(self):
        s = quiet(yaml="preset: large_codebase\nmemory: {layers: {core_min: 0.95}}")
        assert s.memory.decay.rate == 0.0002
        assert (s.memory.layers.core_min, s.memory.layers.active_min, s.memory.layers.long_term_min) == (
            0.95,
            0.6,
            0.3,
        )

    def test_the_highest_layer_chooses_the_preset(self):
        s = quiet(yaml="preset: large_codebase", editor={"preset": "default"})
        assert s.memory.decay.rate == 0.0001

    def test_layers_are_merged_deeply(self):
        s = quiet(yaml="hover: {maxItems: 4}", editor={"hover": {"enabled": False}})
        assert (s.hover.enabled, s.hover.max_items) == (False, 4)

    @pytest.mark.parametrize(
        "yaml",
        ["hover: {maxItems: 9}", "hover: {max_items: 9}", "hover.maxItems: 9", "hover:\n  maxItems: 9\n"],
    )
    def test_camel_and_snake_case_nested_and_dotted(self, yaml):
        assert quiet(yaml=yaml).hover.max_items == 9

    @pytest.mark.parametrize(
        "editor",
        [
            {"mnemolens": {"hover": {"maxItems": 9}}},
            {"mnemolens.hover.maxItems": 9},
            {"mnemolens": {"hover.maxItems": 9}},
            {"hover": {"max_items": 9}},
        ],
    )
    def test_the_editors_ways_of_nesting(self, editor):
        assert quiet(editor=editor).hover.max_items == 9

    def test_null_and_empty_mean_not_set(self):
        s = quiet(editor={"hover": {"maxItems": None}, "store": {"path": ""}, "lens": {}}, yaml="hover:\n")
        assert s == Settings()

    def test_the_environment_is_text(self):
        s = quiet(
            env={
                "MNEMOLENS_LENS__ENABLED": "false",
                "MNEMOLENS_INDEX__EXCLUDE": "build, *.gen.py",
                "MNEMOLENS_INDEX__LANGUAGES": '["python", "tsx"]',
                "MNEMOLENS_MEMORY__DECAY__RATE": "1e-3",
                "HOVER__MAX_ITEMS": "1",
                "PATH": "/bin",
            }
        )
        assert not s.lens.enabled
        assert s.index.exclude == ("build", "*.gen.py")
        assert s.index.languages == ("python", "typescript")
        assert s.memory.decay.rate == 0.001
        assert s.hover.max_items == 3


class TestTheRepositorysFile:
    def test_it_may_not_set_what_belongs_to_the_machine(self):
        yaml = (
            "server: {command: [evil]}\nstore: {path: /tmp/x}\ntrace: {server: verbose}\nhover: {maxItems: 8}"
        )
        s, notices = resolve(yaml=yaml)
        assert s == Settings(hover={"maxItems": 8})
        assert len(notices) == 1
        assert notices[0].level == "warning"
        assert set(notices[0].paths) == {"server.command", "store.path", "trace.server"}
        assert ".mnemolens.yaml" in notices[0].message

    def test_the_editor_may(self):
        s = quiet(editor={"server": {"command": ["py", "-m", "mnemolens"]}, "store": {"path": "/m"}})
        assert s.server.command == ("py", "-m", "mnemolens")
        assert s.store.path == "/m"

    def test_a_missing_file_says_nothing(self, tmp_path):
        assert read_repository_file(tmp_path / ".mnemolens.yaml") == RepositoryFile()

    def test_a_file_is_read(self, tmp_path):
        path = tmp_path / ".mnemolens.yaml"
        path.write_bytes(b"\xef\xbb\xbfhover:\r\n  maxItems: 2\r\n")
        assert read_repository_file(path).data == {"hover": {"maxItems": 2}}

    def test_a_folder_in_its_place_is_told(self, tmp_path):
        (tmp_path / ".mnemolens.yaml").mkdir()
        problem = read_repository_file(tmp_path / ".mnemolens.yaml").problem
        assert problem is not None
        assert "can't be read" in problem.message

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            (b"hover:\n  maxItems: [3\n", "line 3"),
            (b"hover: {\n\tx", "line 2"),
            (b"hover: \xff", "not UTF-8 (byte 7)"),
            (b"- a list\n", "must hold settings"),
            (b"just a word", "must hold settings"),
            (b"a: &x [1]\nb: *x\n", "line 2: aliases are not allowed"),
            (b"hover: !!python/object/apply:os.system [ls]", "line 1"),
            (b"a: " + b"[" * 5000, "nested too deeply"),
            (b"#" * 65537, "larger than 64 kB"),
            (b"a: 2026-99-99", "not valid YAML"),
            (b"a: " + b"9" * 6000, "not valid YAML"),
            (b"a: 1\n---\nb: 2\n", "not valid YAML"),
            (b"a: \x00", "not valid YAML"),
            (b"? [a]\n: 1\n", "line 1"),
        ],
    )
    def test_a_broken_file_is_told_once_and_the_last_good_one_stays(self, text, said):
        last = parse_repository_text(b"hover: {maxItems: 4}")
        broken = parse_repository_text(text, last)
        s, notices = resolve_settings(SettingsSources(broken))
        assert s.hover.max_items == 4
        assert len(notices) == 1
        assert notices[0].message.startswith(".mnemolens.yaml ")
        assert said in notices[0].message

    def test_a_mended_file_is_told_no_more(self):
        broken = parse_repository_text(b"[", parse_repository_text(b"hover: {maxItems: 4}"))
        assert parse_repository_text(b"", broken) == RepositoryFile()

    def test_a_billion_laughs(self):
        lines = ["a: &a [x,x,x,x,x,x,x,x,x]"]
        lines += [
            f"{n}: &{n} [{','.join(['*' + p] * 9)}]" for p, n in zip("abcdefgh", "bcdefghi", strict=True)
        ]
        assert parse_repository_text("\n".join(lines).encode()).data == {}


class TestWrongValues:
    @pytest.mark.parametrize(
        ("path", "value"),
        [
            ("hover.maxItems", "many"),
            ("hover.maxItems", 0),
            ("hover.maxItems", 10**9),
            ("hover.maxItems", 2.5),
            ("hover.maxItems", True),
            ("hover.maxItems", {"a": 1}),
            ("hover.enabled", "perhaps"),
            ("hover.neighbourThreshold", 1.5),
            ("hover.neighbourThreshold", float("nan")),
            ("memory.decay.rate", -1),
            ("memory.decay.half_life", 0),
            ("memory.decay.rate", float("inf")),
            ("index.languages", ["python", "cobol"]),
            ("index.languages", [["python"]]),
            ("index.exclude", 3),
            ("index.exclude", ["ok", 3]),
            ("linking.kinds", ["guess"]),
            ("linking.rules", ["charge"]),
            ("linking.rules", [{"kind": "file"}]),
            ("linking.rules", [{"pattern": "("}]),
            ("linking.rules", [{"pattern": "(?=lookahead)"}]),
            ("linking.rules", [{"pattern": ""}]),
            ("linking.rules", [{"pattern": "a{0,900}a{0,900}b"}]),
            ("linking.rules", [{"pattern": "(" * 300 + "a" + ")*" * 300}]),
            ("linking.rules", [{"pattern": "(((a{100}){100}){100})"}]),
            ("linking.rules", [{"pattern": "x", "score": 2}]),
            ("linking.rules", [{"pattern": "x", "kind": "module"}]),
            ("linking.rules", [{"pattern": "x", "flags": "i"}]),
            ("preset", "huge"),
            ("trace.server", 3),
        ],
    )
    def test_one_warning_names_it_and_all_else_applies(self, path, value):
        s, notices = resolve(editor={path: value, "lens.enabled": False})
        assert s == Settings(lens={"enabled": False})
        assert len(notices) == 1
        assert notices[0].level == "warning"
        assert notices[0].paths == (path,)
        assert path in notices[0].message
        assert "editor" in notices[0].message

    def test_the_last_good_value_stays(self):
        before = quiet(editor={"hover.maxItems": 7})
        s, notices = resolve(editor={"hover.maxItems": "x", "hover.enabled": False}, previous=before)
        assert (s.hover.max_items, s.hover.enabled) == (7, False)
        assert "7 stays" in notices[0].message

    def test_a_right_value_of_a_higher_layer_counts(self):
        s, notices = resolve(yaml="hover: {maxItems: x}", editor={"hover.maxItems": 5})
        assert s.hover.max_items == 5
        assert notices[0].message.startswith(".mnemolens.yaml: hover.maxItems")

    @pytest.mark.parametrize("value", [3, "on", [1], True])
    def test_a_section_that_is_no_section(self, value):
        s, notices = resolve(editor={"hover": value})
        assert s == Settings()
        assert [n.paths for n in notices] == [("hover",)]

    def test_unknown_keys_are_told_once_a_layer(self):
        s, notices = resolve(
            editor={"hover": {"maxItmes": 1, "maxItems": 2}, "colour": "red", "memory": {"x": 1}}
        )
        assert s == Settings(hover={"maxItems": 2})
        assert len(notices) == 1
        assert set(notices[0].paths) == {"hover.maxItmes", "colour", "memory.x"}

    def test_an_unknown_variable_of_the_environment(self):
        s, notices = resolve(env={"MNEMOLENS_HOVER__COLOUR": "red"})
        assert s == Settings()
        assert len(notices) == 1

    def test_thresholds_in_the_wrong_order(self):
        s, notices = resolve(yaml="memory: {layers: {core_min: 0.3, active_min: 0.6}}")
        assert s == Settings()
        assert len(notices) == 1
        assert "memory.layers.core_min" in notices[0].message

    def test_thresholds_in_the_wrong_order_leave_the_last_good_ones(self):
        before = quiet(yaml="memory: {layers: {core_min: 0.9, active_min: 0.6}}")
        s, _ = resolve(yaml="memory: {layers: {core_min: 0.3, active_min: 0.6}}", previous=before)
        assert s == before

    def test_ratios_that_are_not_one_together(self):
        before = quiet(yaml="memory: {budget: {core_ratio: 0.3, archive_ratio: 0.15}}")
        assert before.memory.budget.core_ratio == 0.3
        for wrong in (
            "{core_ratio: 0.5}",
            "{core_ratio: 0, active_ratio: 0, long_term_ratio: 0, archive_ratio: 0}",
        ):
            s, notices = resolve(yaml=f"memory: {{budget: {wrong}}}", previous=before)
            assert s == before
            assert [notice.level for notice in notices] == ["warning"]
            assert "memory.budget.core_ratio" in notices[0].message
            assert "must be 1" in notices[0].message
            assert resolve(yaml=f"memory: {{budget: {wrong}}}")[0] == Settings()

    @given(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(
                    st.sampled_from(
                        [*(i.key for i in SETTINGS), "hover", "memory", "maxItems", "storage", "", "."]
                    )
                    | st.text(max_size=5),
                    inner,
                    max_size=4,
                )
            ),
            max_leaves=12,
        )
    )
    @settings(max_examples=150, deadline=None)
    def test_nothing_that_can_be_written_raises(self, value):
        data = value if isinstance(value, dict) else {"hover": value}
        for sources in (SettingsSources(RepositoryFile(data)), SettingsSources(editor=data)):
            found, _ = resolve_settings(sources, Settings())
            assert Settings.model_validate(found.model_dump()) == found


class TestTheSeedsFiles:
    def test_memory_config_loads_unchanged(self):
        s, notices = resolve_settings(SettingsSources(read_repository_file(DATA / "memory_config.yaml")))
        assert s.memory.decay.rate == 0.0001
        assert s.memory.decay.half_life == 168
        assert s.memory.model_copy(update={"decay": Settings().memory.decay}) == Settings().memory
        assert s.background_tasks == Settings().background_tasks
        assert s.store.path is None
        assert [n.level for n in notices] == ["info", "info"]
        storage, rate = sorted(notices, key=lambda n: n.paths, reverse=True)
        assert "store.path" in storage.message
        assert rate.paths == ("memory.decay.rate", "memory.decay.half_life")

    def test_large_codebase_config_loads_unchanged(self):
        s, notices = resolve_settings(
            SettingsSources(read_repository_file(DATA / "large_codebase_config.yaml"))
        )
        assert s.memory.decay.rate == 0.0002
        assert s.memory.layers.core_min == 0.85
        assert s.index.languages == ("python", "typescript", "javascript", "go")
        assert [n.paths for n in notices] == [("memory.decay.rate", "memory.decay.half_life")]

    def test_the_preset_means_what_that_file_says(self):
        file = read_repository_file(DATA / "large_codebase_config.yaml")
        from_file = resolve_settings(SettingsSources(file))[0].memory
        from_preset = quiet(editor={"preset": "large_codebase"}).memory
        assert from_file.layers == from_preset.layers
        assert from_file.decay.rate == from_preset.decay.rate

    def test_half_life_alone_sets_the_rate(self):
        s = quiet(yaml="memory: {decay: {half_life: 168}}")
        assert s.memory.decay.rate == pytest.approx(0.004125876074761579)

    def test_half_life_is_over_the_presets_rate(self):
        s = quiet(yaml="preset: large_codebase\nmemory: {decay: {half_life: 84}}")
        assert s.memory.decay.rate == pytest.approx(0.008251752149523159)

    def test_a_higher_layers_rate_is_over_a_lower_ones_half_life(self):
        s = quiet(yaml="memory: {decay: {half_life: 168}}", editor={"memory.decay.rate": 0.5})
        assert s.memory.decay.rate == 0.5

    def test_rate_and_half_life_that_agree_need_no_word(self):
        quiet(editor={"memory": {"decay": {"rate": 0.0041259, "half_life": 168}}})

    def test_storage_is_one_notice_and_never_the_stores_path(self):
        for storage in ({"path": "/x", "sqlite_path": "/y"}, "/x", None, ["x"]):
            data = {"storage": storage, "memory": {"storage": {"sqlite_path": "/z"}}}
            s, notices = resolve_settings(SettingsSources(RepositoryFile(data), editor=data))
            assert s == Settings()
            assert len(notices) == 2  # one for the file, one for the editor
            assert all("store.path" in n.message for n in notices)

    def test_code_graph_off_means_no_language(self):
        assert quiet(yaml="code_graph: {enabled: false}").index.languages == ()

    def test_what_is_always_on_says_so(self):
        s, notices = resolve(yaml="code_metadata: {ast_summarization: false, track_file_changes: true}")
        assert s == Settings()
        assert [(n.level, n.paths) for n in notices] == [("info", ("code_metadata.ast_summarization",))]

    def test_min_weight_in_its_short_form(self):
        assert quiet(yaml="memory: {min_weight: 0.1}").memory.decay.min_weight == 0.1
