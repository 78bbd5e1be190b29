"""The command of a finding shows a cell of that finding."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import Any

import pytest

import samples
import synthetic
from dlbench import findings, values
from dlbench.analysis import cells
from dlbench.findings import grouping
from typed import doc, entry_of, merged_of


def by_size() -> dict[str, Any]:
    """The smallest array comes over wrong, a larger one never."""
    given: dict[str, Any] = {"protocol": "convert"}
    return samples.document(
        samples.missing("tinygrad", "numpy", "wrong", "element 1 is 0.0", **given),
        samples.missing("tinygrad", "numpy", "timed-out", "no answer", bytes=4194304, **given),
        samples.measured("tinygrad", "numpy", 90.0, bytes=65536, **given),
    )


def by_case() -> dict[str, Any]:
    """An array without elements is smaller than the one that was refused."""
    return samples.document(
        samples.missing("torch", "pyarrow", "refused", "no bool8"),
        samples.measured("torch", "pyarrow", 90.0, case="f32-empty", bytes=0),
        samples.measured("torch", "pyarrow", 90.0, case="f64"),
        request={"cases": ["all"]},
    )


def by_device() -> dict[str, Any]:
    return samples.document(
        samples.missing("a", "b", "refused", "not on this device", device="cuda:0"),
        samples.missing("a", "b", "crashed", "died in call", signal="SIGSEGV"),
        samples.missing("a", "b", "no-device", "no driver", device="rocm:0"),
    )


def by_environment() -> dict[str, Any]:
    reported = {"python": "3.13.1", "libraries": {}, "floors_ns": {}, "executable": "/o/python"}
    sizes = (4096, 65536)
    return samples.document(
        *(samples.measured("a", "b", 90.0, bytes=size) for size in sizes),
        samples.measured("a", "b", 90.0, environment="old"),
        samples.missing("a", "b", "refused", "too large", environment="old", bytes=65536),
        samples.missing("b", "a", "refused", "nowhere"),
        samples.missing("b", "a", "refused", "nowhere", environment="old"),
        environments={"default": reported, "old": reported},
    )


def only_elsewhere() -> dict[str, Any]:
    """The same is found in two environments, neither of which is our own."""
    reported = {"python": "3.13.1", "libraries": {}, "floors_ns": {}, "executable": "/o/python"}
    names = ("new", "old")
    entries = [samples.missing("a", "b", "wrong", "why", environment=name) for name in names]
    return samples.document(*entries, environments=dict.fromkeys(names, reported))


def by_clock() -> dict[str, Any]:
    """All of it is there on the clock `ready` alone, as a filter leaves it."""
    sizes = (4096, 65536)
    given: dict[str, Any] = {"clock": "ready", "protocol": "buffer"}
    return samples.document(
        *(samples.missing("a", "b", "wrong", f"of {size}", bytes=size, **given) for size in sizes)
    )


def of_all_kinds() -> dict[str, Any]:
    made = synthetic.document(devices=("cpu", "cuda:0"), protocols=("dlpack", "buffer"),
                              failing=0.5)  # fmt: skip
    return synthetic.with_case_sweep(made)


def of_two_machines() -> dict[str, Any]:
    """The same libraries on each, and what fails on one ends otherwise on the other."""
    other = samples.document(
        samples.missing("a", "b", "wrong", "only here", device="cuda:0"),
        samples.missing("a", "b", "not-run", "the budget was used up"),
    )
    machines = {"box": by_environment(), "rocm": other, "third": by_device(), "fourth": by_clock()}
    return merged_of(machines.items())


KINDS = (by_size, by_case, by_device, by_environment, only_elsewhere, by_clock, of_all_kinds,
         of_two_machines)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_it_opens_a_cell_of_the_finding(kind: Callable[[], dict[str, Any]]) -> None:
    document = kind()
    opened = 0
    for machine, part in doc(document).shares():
        for found in findings.find(doc(part), "a run", most_lines=1000):
            verb, *words = shlex.split(found.command)[1:] or [""]
            if found.label in findings.FAILURES and verb in grouping.CHOOSING:
                entry = cells.single(doc(document), words[1:])
                assert (words[0], entry.outcome) == ("a run", found.label)
                assert entry.machine == machine
                assert values.reason(entry_of(entry)) in found.text
                opened += 1
    assert opened > 0


def commands(document: dict[str, Any]) -> list[str]:
    return [one.command for one in findings.find(doc(document)) if one.label in findings.FAILURES]


def test_it_has_no_more_words_than_that_takes() -> None:
    assert commands(by_size()) == [
        "dlbench repro latest tinygrad numpy convert",
        "dlbench debug latest tinygrad numpy convert 4194304",
    ]
    assert commands(by_case()) == ["dlbench repro latest torch pyarrow f32"]
    assert commands(by_device())[:2] == [
        "dlbench debug latest a b cpu",
        "dlbench repro latest a b cuda:0",
    ]
    assert commands(by_environment()) == [
        "dlbench repro latest b a",
        "dlbench repro latest a b 65536 old",
    ]
    assert commands(only_elsewhere()) == ["dlbench repro latest a b new"]


def test_of_several_machines_the_command_names_its_own() -> None:
    merged = of_two_machines()
    assert commands(merged.share_of("box"))[:2] == [
        "dlbench repro latest b a box",
        "dlbench repro latest a b 65536 old box",
    ]
    # A merged run cannot be resumed.
    assert commands(merged.share_of("rocm")) == [
        "dlbench repro latest a b cuda:0 rocm",
        "",
    ]
