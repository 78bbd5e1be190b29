"""The sweep of all cases: cases with another outcome are found and timed, the others are not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dlbench import _core, cli, findings
from dlbench.analysis import case_sweep
from dlbench.plots import fallbacks as figure
from dlbench.plots.report import facts
from dlbench.terminal import fallbacks, terminal
from typed import doc, entries_of

pytestmark = pytest.mark.process

PICKY = '''\
"""Shares aligned memory, and copies memory that is not aligned or is empty."""
import numpy as np

DISTRIBUTION = None


def convert(array):
    array = np.asarray(array)
    if array.ndim > 1 and not array.flags.c_contiguous:
        raise ValueError("rows must lie one behind another")
    aligned = array.__array_interface__["data"][0] % 64 == 0
    return array if aligned and array.size else array.copy()


PROTOCOLS = {"convert": convert}
'''


@pytest.fixture(scope="module")
def sweeps(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """NumPy on the case sweep of a consumer with one known fallback and one known refusal."""
    folder = tmp_path_factory.mktemp("case_sweep")
    (folder / "adapters" / "consumers").mkdir(parents=True)
    (folder / "adapters" / "consumers" / "picky.py").write_text(PICKY)
    words = ["--matrix", "--producers", "numpy", "--consumers", "picky", "--protocols", "convert"]
    words += [
        "--cases",
        "all",
        "--adapters",
        str(folder / "adapters"),
        "--out",
        str(folder / "run"),
    ]
    assert cli.main([*words, "--quiet"]) == 0
    assert (folder / "run" / "fallbacks.png").is_file()
    document: dict[str, Any] = json.loads((folder / "run" / "results.json").read_text())
    return document


def by_case(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {entry["case"]: entry for entry in document["benchmarks"] + document["not_measured"]}


UNALIGNED = {"u8-align1", "f32-unaligned", "f32-align8", "f32-align16", "f32-align32"}


def test_every_case_has_one_entry(sweeps: dict[str, Any]) -> None:
    entries = sweeps["benchmarks"] + sweeps["not_measured"]
    assert sorted(entry["case"] for entry in entries) == sorted(_core.case_names)


def test_the_fallback_is_found_and_timed_and_nothing_else(sweeps: dict[str, Any]) -> None:
    timed = {entry["case"]: entry for entry in sweeps["benchmarks"]}
    # The last element of a line, which is the first of the reversed one, is not aligned either.
    assert set(timed) == {"f32", "f32-reversed", *UNALIGNED}
    assert timed["f32"]["outcome"] == "zero-copy"
    for case in UNALIGNED:
        assert timed[case]["outcome"] == "copy"
        assert timed[case]["copied_by"] == "consumer"
        assert timed[case]["gb_per_s"] > 0


def test_what_ends_as_the_plain_array_does_is_reported_without_a_time(
    sweeps: dict[str, Any],
) -> None:
    entry = by_case(sweeps)["f64"]
    assert (entry["outcome"], entry["code"], entry["found"]) == ("not-run", "untimed", "zero-copy")
    assert entry["evidence"]["address"] == entry["evidence"]["guard"] == "yes"


def test_the_refused_and_the_unmakable_keep_their_reasons(sweeps: dict[str, Any]) -> None:
    entries = by_case(sweeps)
    assert entries["f32-fortran"]["outcome"] == "refused"
    assert entries["f32-fortran"]["reason"] == "rows must lie one behind another"
    assert entries["f32-grad"]["outcome"] == "unsupported"


def test_the_table_says_which_library(sweeps: dict[str, Any]) -> None:
    climbs = case_sweep.case_sweeps(entries_of(sweeps["benchmarks"] + sweeps["not_measured"]))
    found = {one.becomes: one for one in case_sweep.fallbacks(climbs)}
    assert set(found["copy by picky"].cases) == UNALIGNED
    assert found["copy by picky"].pairs == (("numpy", "picky"),)
    assert len(found["copy by picky"].rates) == len(UNALIGNED)
    assert found["changes layout"].cases == ("f32-reversed",)
    assert "f32-fortran" in found["refused"].cases
    assert "f32-grad" in found["not made"].cases
    assert found["not made"].producer == "numpy"


def test_the_terminal_shows_one_matrix(sweeps: dict[str, Any]) -> None:
    text = "\n".join(line.plain for line in terminal.render(doc(sweeps), 100))
    assert text.count("host time of one exchange") == 1
    assert "7 measured, " in text
    untimed = [entry for entry in sweeps["not_measured"] if entry.get("code") == "untimed"]
    assert by_case(sweeps)["f32-empty"] in untimed
    assert f"{len(untimed) - 1} same as f32, not timed, 1 without elements" in text
    assert "--resume" not in text


def test_the_copies_of_all_cases_are_counted(sweeps: dict[str, Any]) -> None:
    copied = [entry["case"] for entry in sweeps["benchmarks"] if entry["outcome"] == "copy"]
    assert copied
    assert "f32" not in copied
    (text,) = (one.text for one in findings.find(doc(sweeps), "RUN") if one.label == "copies")
    assert f"in {len(copied)} of {len(sweeps['benchmarks'])} timed cells" in text


def test_an_array_without_elements_ends_like_nothing(sweeps: dict[str, Any]) -> None:
    entry = by_case(sweeps)["f32-empty"]
    assert (entry["code"], entry["found"]) == ("untimed", "unproven")
    assert case_sweep.untimed_words(entries_of([entry])) == ["1 without elements"]
    headline = facts.of(doc(sweeps))[0].headline
    assert " same as f32, not timed, 1 without elements, " in headline[-1]


def test_the_figure_tells_kinds_apart(sweeps: dict[str, Any]) -> None:
    [one] = case_sweep.case_sweeps(entries_of(sweeps["benchmarks"] + sweeps["not_measured"]))
    assert figure.kind_of(one, "f32-unaligned") == "copy by the consumer"
    assert figure.kind_of(one, "f64") == "zero-copy"
    assert figure.kind_of(one, "f32-fortran") == "refused"
    assert figure.kind_of(one, "f32-grad") == "not made"
    assert figure.kind_of(one, "f32-empty") == "not proven"


def test_where_the_plain_array_is_refused_its_equals_are_too() -> None:
    """They end as it does, and are still not zero-copy."""
    common = {"producer": "a", "consumer": "b", "protocol": "dlpack", "device": "cpu",
              "environment": "default", "phase": "exchange", "clock": "call", "bytes": 4096,
              "outcome": "refused", "code": "refused", "reason": "no"}  # fmt: skip
    [one] = case_sweep.case_sweeps(
        entries_of([{**common, "case": "f32"}, {**common, "case": "f64"}])
    )
    assert one.becomes("f64") == ""
    assert figure.kind_of(one, "f64") == "refused"


def test_named_cases_are_no_case_sweep() -> None:
    document = {"context": {}, "benchmarks": [], "not_measured": []}
    assert fallbacks.table(doc(document), 100, "latest", 8) == []
    assert not figure.has_fallbacks(doc(document))


def test_all_cases_are_a_case_sweep_where_nothing_ended_like_the_plain_array() -> None:
    common = {"producer": "a", "consumer": "b", "protocol": "dlpack", "device": "cpu",
              "environment": "default", "phase": "exchange", "clock": "call", "bytes": 65536,
              "case": "f32", "outcome": "refused", "code": "refused", "reason": "no"}  # fmt: skip
    requested = {"dlbench": {"request": {"cases": ["all"]}}}
    assert case_sweep.has_case_sweep(
        doc({"context": requested, "benchmarks": [], "not_measured": [common]})
    )
