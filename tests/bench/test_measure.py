"""A figure's verdict, how several sizes stand in one line, and what is compared with a former run."""

import pytest

from bench import measure
from bench.measure import Figure, exit_code, quantile, read_json, show, write_json


@pytest.mark.parametrize(
    ("median", "p95", "verdict"),
    [
        (5, 15, "met"),
        (5.1, 1, "missed"),
        (1, 15.1, "missed"),
        (15, 45, "missed"),
        (15.1, 1, "FAR OFF"),
        (1, 45.1, "FAR OFF"),
        (5, None, "met"),
        (None, None, "skipped"),
    ],
)
def test_a_gate_stands_at_three_times_a_target(median, p95, verdict):
    assert Figure("s", "hover", "ms", median, p95, target=5, target95=15).verdict == verdict


@pytest.mark.parametrize(
    ("unit", "median", "code"),
    [("ms", 99.0, 0), ("s", 99.0, 0), ("%", 99.0, 1), ("%", 15.0, 0)],
)
def test_only_what_no_machine_changes_fails_a_run(unit, median, code, capsys):
    assert exit_code([Figure("s", "one", unit, median, target=5), Figure("s", "two", "%", 1.0)]) == code
    assert ("FAR OFF: s, one" in capsys.readouterr().err) == bool(code)


def test_what_is_not_promised_has_no_verdict():
    assert Figure("s", "hover", "ms", 1000.0).verdict == "–"


def test_a_quantile_is_a_value_that_was_measured():
    assert quantile(range(101), 0.95) == 95
    assert quantile([3.0], 0.95) == 3.0
    assert quantile([4.0, 1.0], 0.5) in {1.0, 4.0}


def test_a_figure_in_several_sizes_is_one_line_beside_a_former_run(tmp_path, capsys):
    then = [
        Figure("wire", "hover", "ms", value, functions=size) for size, value in ((1000, 2.0), (10_000, 4.0))
    ]
    now = [
        Figure("wire", "hover", "ms", value, functions=size) for size, value in ((1000, 2.0), (10_000, 6.0))
    ]
    file = tmp_path / "former.json"
    write_json(file, then, 1.0, quick=True)
    show(now, read_json(file))
    head, _, line, *_ = capsys.readouterr().out.splitlines()
    assert head.split() == ["wire", "1k", "10k", "growth", "95%", "target", "verdict", "floor", "now/then"]
    assert line.split() == ["hover", "2.00", "ms", "6.00", "ms", "×", "3.0", "–", "1.50"]


@pytest.mark.parametrize("text", ["", "[]", '{"figures": [{}]}', '{"figures": 1}'])
def test_a_file_that_is_no_run_is_named(tmp_path, text):
    file = tmp_path / "other.json"
    file.write_text(text)
    with pytest.raises(SystemExit, match=r"other\.json is no run"):
        read_json(file)


def test_work_is_timed_without_what_comes_before():
    calls = []
    taken = measure.timed(lambda: calls.append("work"), 3, lambda: calls.append("before"))
    assert calls == ["before", "work"] * 3
    assert len(taken) == 3
