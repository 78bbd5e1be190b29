"""An exchange counts once, whatever the number of its clocks."""

from __future__ import annotations

import re
from typing import Any

from dlbench.exporters import export
from dlbench.plots.report import facts

import samples
from dlbench.analysis import scaling
from dlbench.document import exchanges_once
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


def exchanges_of(document: dict[str, Any]) -> str:
    """What the report says of them."""
    (about,) = facts.of(doc(document))
    return dict(about.run)["exchanges"]


def test_a_number_by_two_clocks_is_one_exchange() -> None:
    text = export(doc(samples.document(*measured())), "markdown")
    assert text.startswith("### dlbench: 1 of 1 exchanges measured\n")
    assert "| zero-copy | 1 |" in text
    assert exchanges_of(samples.document(*measured())) == "1 zero-copy"


def test_one_that_failed_by_two_clocks_is_reported_once() -> None:
    document = samples.document(*measured(), *crashed(*CLOCKS))
    text = export(doc(document), "markdown")
    assert text.startswith("### dlbench: 1 of 2 exchanges measured\n")
    assert text.count("| crashed | numpy -> jax convert 4 KiB | SIGSEGV: died in call |") == 1
    assert "<summary>Without a number: 1 exchange, and why</summary>" in text
    assert re.search(
        r"\| crashed \| numpy -> jax \| convert \| SIGSEGV: died in call \| 1 \|", text
    )
    assert exchanges_of(document) == "1 zero-copy, 1 crashed"


def test_without_the_clock_call_it_still_counts() -> None:
    _, ready = measured()
    text = export(doc(samples.document(ready, *crashed("ready"))), "markdown")
    assert text.startswith("### dlbench: 1 of 2 exchanges measured\n")
    assert "| crashed | numpy -> jax convert ready 4 KiB | SIGSEGV: died in call |" in text


def test_what_fails_by_one_clock_is_not_hidden_by_the_other() -> None:
    number, _ = measured(protocol="convert")
    text = export(doc(samples.document(number, *crashed("ready"))), "markdown")
    assert text.startswith("### dlbench: 1 of 1 exchanges measured\n")
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
