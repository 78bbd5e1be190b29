"""How a document of several environments is shown: each separately, equal facts once."""

from __future__ import annotations

from typing import Any

import pytest

import samples
from dlbench import findings
from dlbench.analysis import case_sweep, cells, matrices
from dlbench.findings import grouping
from dlbench.terminal import environments, heading, terminal
from typed import doc, entries_of


def rounds(ns: float) -> dict[str, Any]:
    """Six rounds about that time."""
    samples_ns = [ns * share for share in (0.99, 1.0, 1.01, 1.0, 0.995, 1.005)]
    workers = [{"median_ns": ns, "first_ns": ns, "samples_ns": samples_ns}]
    return {"workers": workers, "between_half_width": 0.05}


def reported(python: str, **libraries: str) -> dict[str, Any]:
    found = {"python": python, "executable": f"/opt/{python}/bin/python", "libraries": libraries}
    return found | {"floors_ns": {"call": 21.0}}


def two(*more: dict[str, Any]) -> dict[str, Any]:
    """numpy -> numpy is slower in `old`, numpy -> torch takes as long; `old` sorts first."""
    return samples.document(
        samples.measured("numpy", "numpy", 230.0, environment="a-old", **rounds(230.0)),
        samples.measured("numpy", "numpy", 115.0, **rounds(115.0)),
        samples.measured("numpy", "torch", 905.0, environment="a-old", **rounds(905.0)),
        samples.measured("numpy", "torch", 900.0, **rounds(900.0)),
        *more,
        environments={
            "a-old": reported("3.10.13", numpy="1.26.4"),
            "default": reported("3.13.1", numpy="2.4.6"),
        },
    )


def texts(lines: Any) -> list[str]:
    return [str(line) for line in lines]


def test_the_header_tells_of_our_own_first() -> None:
    lines = heading.header(doc(two()), 120)
    assert "Python 3.13.1  numpy 2.4.6" in lines[0]
    assert lines[1] == "a-old:  Python 3.10.13  numpy 1.26.4"
    assert lines[2].startswith("2 pairs, 4 cells")


def test_a_matrix_is_of_one_environment_ours_first() -> None:
    titles = [one.title for one in matrices.of_document(doc(two()))]
    assert titles == [
        "cpu   4 KiB   dlpack   host time of one exchange",
        "cpu   4 KiB   dlpack   in a-old   host time of one exchange",
    ]


def test_what_takes_another_time_stands_beside() -> None:
    lines = texts(environments.table(doc(two()), ["dlpack"], 80))
    assert lines[0] == "beside default   1 of 2 exchanges differ in time"
    assert lines[1].split() == ["from", "->", "to", "protocol", "default", "a-old", "times"]
    assert lines[2].split()[:8] == ["numpy", "->", "numpy", "dlpack", "115", "ns", "230", "ns"]
    assert lines[2].split()[8] == "2.0"
    assert lines[3:] == ["times: relative to default, with its 95 % interval"]


def test_environments_that_the_document_does_not_list_are_shown() -> None:
    made = two()
    made["context"]["dlbench"]["environments"] = {}
    shown = texts(terminal.render(doc(made), 120))
    assert any(line.startswith("beside ") and "1 of 2 exchanges" in line for line in shown)


@pytest.mark.parametrize(("exchanges", "reported_"), [(1, 1), (40, 0)])
def test_of_many_exchanges_some_differ_by_chance(exchanges: int, reported_: int) -> None:
    found = [
        samples.measured(f"p{number}", "c", ns, environment=name, **rounds(ns))
        for number in range(exchanges)
        for name, ns in (("default", 100.0), ("a-old", 100.0 if number else 112.0))
    ]
    named = {"a-old": reported("3.10.13"), "default": reported("3.13.1")}
    made = samples.document(*found, environments=named)
    lines = texts(environments.table(doc(made), ["dlpack"], 80))
    assert lines[0].endswith(f"   {reported_} of {exchanges} exchanges differ in time")


def test_what_differs_is_decided_by_the_printed_intervals() -> None:
    """92 ns +-1.7 % and 124 ns +-2.3 % differ, however far the processes of other cells do."""
    document = two()
    numbers = ((92, 17), (124, 23), (900, 20), (905, 20))
    for entry, (ns, share) in zip(document["benchmarks"], numbers, strict=True):
        low, high = ns * (1 - share / 1000), ns * (1 + share / 1000)
        entry |= {"real_time": ns, "lo_ns": low, "hi_ns": high, "interval": "processes"}
        entry |= {"between_half_width": 0.4}
    lines = texts(environments.table(doc(document), ["dlpack"], 80))
    assert lines[0] == "beside default   1 of 2 exchanges differ in time"


def test_without_a_second_process_nothing_is_reported_to_differ() -> None:
    document = two()
    for entry in document["benchmarks"]:
        del entry["between_half_width"]
    lines = texts(environments.table(doc(document), ["dlpack"], 80))
    assert "not decided: one process each" in lines[0]
    assert "2.00?" in lines[2]
    assert lines[-1].endswith("  ?: one process each, interval unknown")


def test_a_run_of_one_environment_has_nothing_beside() -> None:
    assert environments.table(doc(samples.pair()), ["dlpack", "convert"], 80) == []


def test_every_size_but_the_smallest_is_left_out() -> None:
    large = [
        samples.measured("numpy", "numpy", 1e6, bytes=1 << 20, environment=name, **rounds(1e6))
        for name in ("default", "a-old")
    ]
    assert len(environments.shared(doc(two(*large)), ["dlpack"])) == 2


def refused(environment: str, why: str) -> dict[str, Any]:
    given = {"environment": environment, "exception": "BufferError"}
    return samples.missing("torch", "numpy", "refused", why, **given)


def lines_of(document: dict[str, Any], label: str) -> list[findings.Finding]:
    return [one for one in findings.find(doc(document), "RUN") if one.label == label]


def test_what_is_found_everywhere_is_reported_once() -> None:
    same = two(refused("default", "no grad"), refused("a-old", "no grad"))
    (one,) = lines_of(same, "refused")
    assert one.text == "in all environments, torch -> numpy: BufferError: no grad"
    assert one.command == "dlbench repro RUN torch numpy"


def test_what_is_found_in_one_says_where() -> None:
    (one,) = lines_of(two(refused("a-old", "no grad")), "refused")
    assert one.text == "in a-old, torch -> numpy: BufferError: no grad"
    assert one.command == "dlbench repro RUN torch numpy a-old"
    (one,) = lines_of(two(refused("default", "no grad")), "refused")
    assert one.text == "torch -> numpy: BufferError: no grad"


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("dlbench show RUN numpy torch", "dlbench show RUN numpy torch old"),
        ("dlbench show RUN", "dlbench show RUN"),
        ("dlbench doctor", "dlbench doctor"),
        ("dlbench --resume RUN", "dlbench --resume RUN"),
        ("dlbench a b --replicas 6", "dlbench a b --replicas 6 --env old=/o/python"),
        ("", ""),
    ],
)
def test_a_command_means_the_same_environment(command: str, expected: str) -> None:
    place = grouping.Place("old", "/o/python", False, [])
    assert place.named(findings.Finding("label", "text", command)).command == expected
    failed = grouping.Place("old", "/o/python", True, [])
    named = failed.named(findings.Finding("crashed", "text", command))
    assert named.command == "dlbench doctor --env old=/o/python"


def test_one_cell_is_ours_unless_another_environment_is_named() -> None:
    assert cells.single(doc(two()), ["numpy", "numpy"]).environment == "default"
    assert cells.single(doc(two()), ["numpy", "numpy", "a-old"]).environment == "a-old"


def test_a_case_sweep_is_climbed_in_each_by_itself() -> None:
    sweep_cases = [
        samples.measured("numpy", "torch", 900.0, **given)
        for environment in ("default", "old")
        for given in (
            {"environment": environment},
            {
                "environment": environment,
                "case": "f64",
                "outcome": "copy" if environment == "old" else "zero-copy",
            },
        )
    ]
    (one,) = case_sweep.fallbacks(case_sweep.case_sweeps(entries_of(sweep_cases)))
    assert (one.environment, one.becomes, one.cases) == ("old", "copy", ("f64",))
