"""The sweep of all cases: cases with another outcome are found and timed, the others are not."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

import samples
from dlbench import _core, cli, findings
from dlbench.analysis import case_sweep
from dlbench.case import Case
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
    aligned = array.__array_interface__["data"][0] % 16 == 0
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


UNALIGNED = {"f32-align4", "f32-align8"}


def is_copied(name: str) -> bool:
    """Does PICKY copy the case? Its elements are a block at an address that is not aligned."""
    array = Case(**_core.case(name), bytes=samples.own_size(name)).numpy()
    is_block = array.ndim <= 1 or array.flags.c_contiguous
    return bool(array.size and is_block and array.ctypes.data % 16)


def test_every_case_has_one_entry(sweeps: dict[str, Any]) -> None:
    entries = sweeps["benchmarks"] + sweeps["not_measured"]
    assert sorted(entry["case"] for entry in entries) == sorted(_core.case_names())


def test_the_fallback_is_found_and_timed_and_nothing_else(sweeps: dict[str, Any]) -> None:
    timed = {entry["case"]: entry for entry in sweeps["benchmarks"]}
    assert timed["f32"]["outcome"] == "zero-copy"
    copied = {case for case, entry in timed.items() if entry["outcome"] == "copy"}
    made = {case for case, entry in by_case(sweeps).items() if entry["outcome"] != "unsupported"}
    # Where NumPy allocates, chance decides.
    placed = {case for case in made if not Case(**_core.case(case), bytes=4096).own}
    # A line in reverse order begins at its last element.
    assert {*UNALIGNED, "f32-reversed"} <= copied
    assert copied & placed == set(filter(is_copied, placed))
    assert set(timed) & placed == copied & placed | {"f32"}
    for case in copied & placed:
        # ml_dtypes and not NumPy copies its dtypes, and one element fills no page.
        is_named = timed[case]["bytes"] > 16 and not Case(**_core.case(case), bytes=4096).foreign
        assert timed[case].get("copied_by", "") == "consumer" or not is_named
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
    copied = found["copy by picky"]
    assert set(copied.cases) >= UNALIGNED
    assert copied.pairs == (("numpy", "picky"),)
    assert len(copied.rates) == len(copied.cases)
    assert "f32-reversed" in found["changes layout"].cases
    assert "all fortran" in found["refused"].spelled
    assert "f32-fortran" in found["refused"].cases
    assert "f32-grad" in found["not made"].cases
    assert found["not made"].producer == "numpy"


def test_the_terminal_shows_one_matrix(sweeps: dict[str, Any]) -> None:
    text = "\n".join(line.plain for line in terminal.render(doc(sweeps), 100))
    assert text.count("host time of one exchange") == 1
    assert f"{len(sweeps['benchmarks'])} measured, " in text
    untimed = [entry for entry in sweeps["not_measured"] if entry.get("code") == "untimed"]
    assert by_case(sweeps)["f32-empty"] in untimed
    empty = [entry for entry in untimed if entry["bytes"] == 0]
    same = len(untimed) - len(empty)
    assert f"{same} same as f32, not timed, {len(empty)} without elements" in text
    assert "--resume" not in text


def test_the_copies_of_all_cases_are_counted(sweeps: dict[str, Any]) -> None:
    copied = [entry["case"] for entry in sweeps["benchmarks"] if entry["outcome"] == "copy"]
    assert copied
    assert "f32" not in copied
    texts = [one.text for one in findings.find(doc(sweeps), "RUN") if one.label == "copies"]
    counted = [re.search(r"in (\d+) of (\d+) timed cells", text) for text in texts]
    assert sum(int(found[1]) for found in counted if found) == len(copied)
    assert {int(found[2]) for found in counted if found} == {len(sweeps["benchmarks"])}


def test_an_array_without_elements_ends_like_nothing(sweeps: dict[str, Any]) -> None:
    entry = by_case(sweeps)["f32-empty"]
    assert (entry["code"], entry["found"]) == ("untimed", "unproven")
    assert case_sweep.untimed_words(entries_of([entry])) == ["1 without elements"]
    headline = facts.of(doc(sweeps))[0].headline
    assert re.search(r" same as f32, not timed, \d+ without elements, ", headline[-1])


def test_the_figure_tells_kinds_apart(sweeps: dict[str, Any]) -> None:
    [one] = case_sweep.case_sweeps(entries_of(sweeps["benchmarks"] + sweeps["not_measured"]))
    assert figure.kind_of(one, "f32-align4") == "copy by the consumer"
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
    assert not case_sweep.has_case_sweep(doc(document))


def test_all_cases_are_a_case_sweep_where_nothing_ended_like_the_plain_array() -> None:
    common = {"producer": "a", "consumer": "b", "protocol": "dlpack", "device": "cpu",
              "environment": "default", "phase": "exchange", "clock": "call", "bytes": 65536,
              "case": "f32", "outcome": "refused", "code": "refused", "reason": "no"}  # fmt: skip
    requested = {"dlbench": {"request": {"cases": ["all"]}}}
    assert case_sweep.has_case_sweep(
        doc({"context": requested, "benchmarks": [], "not_measured": [common]})
    )
