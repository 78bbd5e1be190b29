"""The phases in the terminal: side by side, as one exchange's breakdown, and the slowest part."""

from __future__ import annotations

import re
from typing import Any

import samples
from dlbench import findings
from dlbench.analysis import cells, phases
from dlbench.document.facts import PHASES
from dlbench.exporters import markdown
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
    reported = {
        "unexplained_ns": 0.01 * whole,
        "unexplained_lo_ns": -2.0,
        "unexplained_hi_ns": 80.0,
    }
    reported["phases"] = {"via": "type", "exchange_ns": whole, "parts": parts}
    made = [samples.measured(producer, consumer, whole, **reported, **given)]
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


def matrix(made: dict[str, Any], width: int) -> list[str]:
    """From its headings on."""
    lines = [line.plain for line in terminal.render(doc(made), width, is_ending=True)]
    return lines[next(i for i, line in enumerate(lines) if line.startswith(" from \\ to")) :]


def of_pair(made: dict[str, Any], width: int) -> list[str]:
    """The table of a pair, and what follows."""
    lines = [line.plain for line in terminal.render(doc(made), width, is_pair=True, is_ending=True)]
    return lines[lines.index("") + 1 :]


def columns_of(line: str) -> list[str]:
    return re.split("  +", line.strip())


def test_the_phases_stand_beside_the_cell_of_their_exchange() -> None:
    """A consumer that makes no query has an empty column for it."""
    assert matrix(document(), 80)[:10] == [
        " from \\ to   numpy   exchange  query  export   import  release  unexplained",
        " numpy      118 ns     118 ns          51 ns  24.6 ns   5.6 ns      1.18 ns",
        " torch",
        "",
        " from \\ to    torch   exchange    query   export  import  release  unexplained",
        " numpy",
        " torch      3.95 us    3.95 us  1.21 us  1.69 us  820 ns   186 ns      39.5 ns",
        "",
        "query, export, import, release: phases, timed in their own rounds",
        "exchange: the whole exchange in the same rounds",
    ]


def test_the_exchange_is_the_one_that_the_phases_are_parts_of() -> None:
    """Its own rounds ran while the machine was in another state."""
    whole, *parts = exchange("torch", "torch")
    slower = {key: 2 * whole[key] for key in ("real_time", "lo_ns", "hi_ns")}
    other = samples.document(whole | slower, *parts)
    heads, row = (columns_of(line) for line in matrix(other, 120)[:2])
    named = dict(zip(heads, row, strict=True))
    assert (named["exchange"], named["torch"]) == ("3.95 us", "7.9 us")
    facts = pair.details(entry_of(cells.single(doc(other), ["torch", "torch"])))
    assert any(line.startswith("median") and "7.9 us" in line for line in facts)
    assert any(line.startswith("phases") and "3.95 us" in line for line in facts)


def test_the_phases_of_a_pair_are_columns_of_its_table() -> None:
    made = samples.document(*exchange("torch", "numpy"), *exchange("numpy", "torch", 2.0))
    heads, there, back, *legend = of_pair(made, 120)
    assert columns_of(heads)[4:-1] == ["median", "+-", *phases.COLUMNS[:-1]]
    assert columns_of(there)[-6:-1] == ["7.89 us", "2.42 us", "3.38 us", "1.64 us", "372 ns"]
    assert columns_of(back)[-6:-1] == ["3.95 us", "1.21 us", "1.69 us", "820 ns", "186 ns"]
    assert any("query, export, import, release: phases" in line for line in legend)


def test_the_phases_of_a_pair_that_do_not_fit_are_a_block_below() -> None:
    both = samples.document(
        *exchange("torch", "torch"), *exchange("torch", "torch", protocol="convert", bytes=65536)
    )
    lines = of_pair(both, 80)
    assert not set(phases.COLUMNS) & set(columns_of(lines[0]))
    heads, *rows = lines[lines.index("") + 1 :][:3]
    assert columns_of(heads) == ["from -> to", "protocol", "size", *phases.COLUMNS[:-1]]
    assert [columns_of(row)[:4] for row in rows] == [
        ["torch -> torch", "dlpack", "4 KiB", "3.95 us"],
        ["torch -> torch", "convert", "64 KiB", "3.95 us"],
    ]


def test_the_matrix_of_markdown_has_the_same_columns() -> None:
    text = markdown.export(doc(document()))
    heads = next(line for line in text.splitlines() if line.startswith("| from"))
    columns = ["numpy", *phases.COLUMNS, "torch", *phases.COLUMNS]
    assert [cell.strip() for cell in heads.strip("|").split("|")][1:] == columns
    assert "unexplained: that exchange less its phases" in text


def test_without_phases_nothing_is_reported() -> None:
    plain = samples.pair()
    assert phases.columns(doc(plain).entries) == {}
    assert not set(PHASES) & {*matrix(plain, 100)[0].split()}
    assert phases.slowest(doc(plain)) is None
    assert "slowest" not in [finding.label for finding in findings.find(doc(plain))]


def test_the_breakdown_of_one_exchange() -> None:
    lines = pair.details(entry_of(cells.single(doc(document()), ["torch", "torch"])))
    assert "query        1.21 us  __dlpack_device__()" in lines
    assert "export       1.69 us  __dlpack__(max_version=(1,0))" in lines
    assert "unexplained  39 ns, 1.0 % of 3.95 us  (-2.0 ns .. 80 ns)" in lines


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
