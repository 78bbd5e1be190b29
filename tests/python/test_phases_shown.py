"""The phases in the terminal: side by side, as one exchange's breakdown, and the slowest part."""

from __future__ import annotations

from typing import Any

import pytest

import samples
from dlbench import findings
from dlbench.analysis import phases
from dlbench.command import cells
from dlbench.terminal import pair, terminal
from typed import doc, entry_of

TIMES = {"query": 1210.0, "export": 1690.0, "import": 820.0, "release": 186.0}
CALLS = {
    "query": "__dlpack_device__()",
    "export": "__dlpack__(max_version=(1,0))",
    "import": "the consumer's own work",
    "release": "dropping the result",
}


def exchange(producer: str, consumer: str, scale: float = 1.0, **given: Any) -> list[Any]:
    """The entries of one exchange and its phases; what is left over is 1 %."""
    whole = sum(TIMES.values()) / 0.99 * scale
    parts = [{"phase": name, "what": CALLS[name], "ns": ns * scale} for name, ns in TIMES.items()]
    told = {"unexplained_ns": 0.01 * whole, "unexplained_lo_ns": -2.0, "unexplained_hi_ns": 80.0}
    told["phases"] = {"via": "type", "exchange_ns": whole, "parts": parts}
    made = [samples.measured(producer, consumer, whole, **told, **given)]
    return made + [
        samples.measured(producer, consumer, ns * scale, phase=name, **given)
        for name, ns in TIMES.items()
    ]


def document() -> dict[str, Any]:
    short = exchange("numpy", "numpy", 0.03)
    no_query = [entry for entry in short if entry["phase"] != "query"]
    return samples.document(
        *exchange("torch", "torch"),
        *no_query,
        samples.missing("numpy", "numpy", "no-protocol", "does not ask", phase="query"),
    )


def test_the_phases_stand_side_by_side() -> None:
    assert [line.plain.rstrip() for line in phases.table(doc(document()), 90)] == [
        "cpu   4 KiB   dlpack   one exchange by its phases",
        " from -> to      exchange    query   export   import  release     left  share  via",
        " torch -> torch   3.95 us  1.21 us  1.69 us   820 ns   186 ns  39.5 ns  1.0 %  type",
        " numpy -> numpy    118 ns             51 ns  24.6 ns   5.6 ns  1.18 ns         type",
        "exchange: the one that the phases belong to   left: exchange less its phases",
    ]


def test_the_exchange_is_the_one_that_the_phases_are_parts_of() -> None:
    """Its own rounds ran while the machine was in another state."""
    whole, *parts = exchange("torch", "torch")
    slower = {key: 2 * whole[key] for key in ("real_time", "lo_ns", "hi_ns")}
    other = samples.document(whole | slower, *parts)
    heads, row = (line.plain.split("  ") for line in phases.table(doc(other), 120)[1:3])
    named = dict(zip(*([word.strip() for word in words if word.strip()] for words in (heads, row)),
                     strict=True))  # fmt: skip
    assert (named["exchange"], named["own rounds"]) == ("3.95 us", "7.9 us")
    facts = pair.details(entry_of(cells.single(doc(other), ["torch", "torch"])))
    assert any(line.startswith("median") and "7.9 us" in line for line in facts)
    assert any(line.startswith("phases") and "3.95 us" in line for line in facts)


@pytest.mark.parametrize("width", [80, 100, 120])
def test_no_line_is_wider_than_asked_for(width: int) -> None:
    long = samples.document(*exchange("array_api_strict", "tensorflow"), *exchange("a", "b"))
    for lines in (
        phases.table(doc(long), width),
        terminal.render(doc(long), width),
    ):
        assert all(len(line) <= width for line in lines)


def test_each_protocol_and_size_is_a_block() -> None:
    both = samples.document(
        *exchange("torch", "torch"), *exchange("torch", "torch", protocol="convert", bytes=65536)
    )
    text = "\n".join(line.plain for line in phases.table(doc(both), 100))
    assert "cpu   4 KiB   dlpack   one" in text
    assert "cpu   64 KiB   convert   one" in text


def test_without_phases_nothing_is_said() -> None:
    plain = samples.pair()
    assert phases.table(doc(plain), 100) == []
    assert phases.slowest(doc(plain)) is None
    assert "slowest" not in [finding.label for finding in findings.find(doc(plain))]


def test_the_breakdown_of_one_exchange() -> None:
    lines = pair.details(entry_of(cells.single(doc(document()), ["torch", "torch"])))
    assert "query        1.21 us  __dlpack_device__()" in lines
    assert "export       1.69 us  __dlpack__(max_version=(1,0))" in lines
    assert "unexplained  39.5 ns, 1.0 % of 3.95 us  (-2.00 ns .. 80.0 ns)" in lines


def test_a_short_exchange_has_no_share() -> None:
    lines = pair.details(entry_of(cells.single(doc(document()), ["numpy", "numpy"])))
    assert "unexplained  1.18 ns of 118 ns  (-2.00 ns .. 80.0 ns)" in lines


def test_the_slowest_part_is_named_with_the_next_command() -> None:
    (found,) = [f for f in findings.find(doc(document()), "latest") if f.label == "slowest"]
    assert found.text == "torch -> torch: 1.69 us of 3.95 us is export (__dlpack__)"
    words = found.command.split()[3:]
    assert len(cells.matching(doc(document()), words)) == 1


def test_what_the_proxy_itself_refuses_is_not_the_slowest_part() -> None:
    call = "__dlpack__(dl_device=None,copy=None,max_version=(1,0))"
    (whole, *_) = exchange("tvm_ffi", "numpy", protocol="dlpack_legacy")
    whole["phases"]["parts"] = [
        {"phase": "export", "what": call, "ns": 112.0, "failed_by": "proxy"},
        {"phase": "query", "what": "__dlpack_device__()", "ns": 61.0},
    ]
    (found,) = [f for f in findings.find(doc(samples.document(whole))) if f.label == "slowest"]
    assert " 61.0 ns of " in found.text
    assert found.text.endswith(" is query (__dlpack_device__)")


def test_a_cell_is_the_exchange_where_no_phase_is_named() -> None:
    assert cells.single(doc(document()), ["torch", "torch"]).phase == "exchange"
    assert [e.phase for e in cells.matching(doc(document()), ["torch", "torch", "query"])] == [
        "query"
    ]


def test_a_phase_that_is_not_there_is_no_finding_and_not_counted() -> None:
    text = "\n".join(line.plain for line in terminal.render(doc(document()), 100))
    assert "does not ask" not in text
    assert "no-protocol" not in text
    assert "9 measured   38 s" in text
