"""All outputs count the same cells; an analysis of exchanges counts each once."""

from __future__ import annotations

import re
from typing import Any

import samples
from dlbench.analysis import scaling
from dlbench.document import exchanges_once
from dlbench.exporters import export
from dlbench.plots.report import facts, tables
from dlbench.terminal import heading, terminal
from typed import doc, merged_of

CLOCKS = ("call", "ready")


def measured(**given: Any) -> list[dict[str, Any]]:
    return [samples.measured("numpy", "jax", 900.0, clock=clock, **given) for clock in CLOCKS]


def crashed(*clocks: str) -> list[dict[str, Any]]:
    given = {"signal": "SIGSEGV", "protocol": "convert"}
    return [
        samples.missing("numpy", "jax", "crashed", "died in call", clock=clock, **given)
        for clock in clocks
    ]


def test_all_outputs_count_the_same_cells() -> None:
    phases = [{**each, "phase": "export"} for each in crashed(*CLOCKS)]
    document = doc(samples.document(*measured(), *crashed(*CLOCKS), *phases))
    (about,) = facts.of(document)
    counted = "2 measured, 4 crashed"
    assert f"6 cells: {counted}" in about.headline
    assert dict(about.run)["cells"] == "4 crashed, 2 zero-copy"
    (refused,) = tables.refusals(document.not_measured, 0)
    assert refused.cells == 4
    assert terminal.footer(document, 100, "")[0].startswith(f"{counted}   ")
    # numpy -> jax; jax -> numpy would be a second pair.
    assert "1 pair, 6 cells" in "\n".join(heading.header(document, 100))
    text = export(document, "markdown")
    assert text.startswith("### dlbench: 2 of 6 cells measured\n")
    assert "| zero-copy | 2 |" in text
    assert "<summary>Without a number: 4 cells, and why</summary>" in text
    assert re.search(
        r"\| crashed \| numpy -> jax \| convert \| SIGSEGV: died in call \| 4 \|", text
    )
    # Each failed exchange is explained once.
    assert text.count("| crashed | numpy -> jax convert 4 KiB | SIGSEGV: died in call |") == 1


def test_a_pair_has_a_direction() -> None:
    document = doc(samples.document(*measured(), samples.measured("jax", "numpy", 90.0)))
    assert "2 pairs, 3 cells" in "\n".join(heading.header(document, 100))
    ends = [line.plain for line in terminal.render(document, 100, is_ending=True)]
    assert any("none of 2 measured pairs" in line for line in ends)


def test_a_failure_by_one_clock_is_listed_beside_a_number_by_another() -> None:
    number, _ = measured(protocol="convert")
    text = export(doc(samples.document(number, *crashed("ready"))), "markdown")
    assert text.startswith("### dlbench: 1 of 2 cells measured\n")
    assert "| crashed | numpy -> jax convert ready 4 KiB | SIGSEGV: died in call |" in text


def test_a_phase_is_no_exchange_and_each_machine_has_its_own() -> None:
    one = samples.document(*measured(), samples.measured("numpy", "jax", 90.0, phase="export"))
    assert [entry.clock for entry in exchanges_once(doc(one).entries)] == ["call"]
    both = merged_of([("box", one), ("gpu", one)])
    assert len(exchanges_once(both.entries)) == 2


def test_one_that_grows_with_size_grows_once() -> None:
    large = [
        samples.measured("numpy", "jax", 9000.0, clock=clock, bytes=262144) for clock in CLOCKS
    ]
    flat = [samples.measured("jax", "numpy", 90.0, bytes=size) for size in (4096, 262144)]
    grown = scaling.scaling(doc(samples.document(*measured(), *large, *flat)), ["dlpack"], 100)
    assert grown[0].plain.startswith("grows with size: 1 of 2 exchanges; the others")
    (line,) = scaling.scaling(doc(samples.document(*flat, *alike())), ["dlpack"], 100)
    assert line.plain.startswith("none of 2 exchanges ")


def alike() -> list[dict[str, Any]]:
    return [*measured(), *measured(bytes=262144)]
