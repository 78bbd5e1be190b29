"""Calls by their number of arrays: lines, bends and the tables of them."""

from __future__ import annotations

import re
from typing import Any

import pytest

import synthetic
from dlbench import findings
from dlbench.analysis import calls, cells, matrices
from dlbench.exporters import rows
from dlbench.plots import figures
from dlbench.terminal import calls as tables
from dlbench.terminal import environments, pair
from synthetic import call
from typed import doc, entries_of

NUMBERS = (0, 1, 2, 4, 8, 14, 20)


def document(**times: dict[int, float]) -> Any:
    items = [call(name, n, ns) for name, of in times.items() for n, ns in of.items()]
    return doc({"benchmarks": items})


def calls_of(made: Any) -> dict[str, calls.Calls]:
    ((_, found),) = calls.of_document(made)
    return {each.binding: each for each in found}


def test_the_line_leaves_out_a_call_without_arrays() -> None:
    made = document(even={n: 50 + 10 * n if n else 5 for n in NUMBERS})
    line = calls_of(made)["even"].line
    assert line is not None
    assert (line.base, line.slope) == pytest.approx((50, 10))
    assert 0 < line.half_width < 0.5


def test_points_off_the_line_widen_its_interval() -> None:
    points = [(1, 10.0, 0.1), (2, 20.0, 0.1), (3, 30.0, 0.1), (4, 40.0, 0.1)]
    even, scattered = calls.line_through(points), calls.line_through([*points, (5, 60.0, 0.1)])
    assert even is not None
    assert scattered is not None
    assert scattered.half_width > 10 * even.half_width
    assert calls.line_through(points[:1]) is None


@pytest.mark.parametrize("more", [1.0, 1.05, 2.0, 0.5])
def test_a_bend_is_found_where_the_slope_changes(more: float) -> None:
    times = {n: 50 + 10 * n + 10 * (more - 1) * max(n - 4, 0) for n in NUMBERS}
    assert calls_of(document(bent=times))["bent"].bend == (4 if abs(more - 1) > 0.1 else None)


def test_the_tables_have_a_line_for_each_binding() -> None:
    even = {n: 50 + 10.0 * n for n in NUMBERS}
    made = document(steep={n: 10 * ns for n, ns in even.items()}, even=even)
    copied = {"code": "arguments-copied", "text": "", "data": {"arguments": "2, 3"}}
    items = [call("even", n, ns, instructions=100 + 30 * n) for n, ns in even.items()]
    for name, more in (
        ("copies", {}),
        ("known", {"copied_by": "consumer"}),
        ("read", {"observed": {"guard": {"pages": 7, "read": 7, "by": ["libx.so"]}}}),
    ):
        items += [call(name, n, ns, warnings=[copied], **more) for n, ns in even.items()]
    absent = {**synthetic.axes("numpy", "none", "call", "cpu", 1024, "call"), "reason": "no array"}
    absent |= {"outcome": "refused", "code": "refused", "exception": "TypeError"}
    lines = [line.plain for line in tables.tables(made, 200)]
    assert lines[0] == "calls with arrays of numpy   1 KiB"
    assert [line.split()[0] for line in lines[1:]] == ["binding", "even", "steep"]
    assert "10.0 +-" in lines[2]
    found = doc({"benchmarks": items, "not_measured": [absent]})
    text = "\n".join(line.plain for line in tables.tables(found, 200))
    assert "100 + 30 an array" in text
    ends = {line.split()[0]: line.rpartition("argument ")[2].strip() for line in text.splitlines()}
    assert (ends["copies"], ends["known"], ends["read"]) == (
        "2, 3",
        "2, 3 by known",
        "2, 3 by libx.so",
    )
    assert "none: refused (TypeError: no array)" in text
    assert matrices.of_document(found) == []
    assert tables.tables(doc({}), 80) == []


def test_the_binding_that_costs_most_is_a_finding() -> None:
    def found(slow: float, fast: float) -> list[str]:
        times = {"slow": slow, "fast": fast}
        made = document(**{name: {n: 50 + ns * n for n in NUMBERS} for name, ns in times.items()})
        return [each.text for each in findings.find(made) if each.label == "calls"]

    # Both by one request, which explains nothing.
    expected = "an array of numpy costs 1.80 us in slow, 90 ns in fast: 20 times"
    assert [re.sub(r"(\.\d+)? ", " ", text) for text in found(1800, 90)] == [
        re.sub(r"(\.\d+)? ", " ", expected)
    ]
    assert found(90, 90) == []


@pytest.mark.parametrize(
    ("fast", "end"),
    [
        ([], ""),
        (["buffer"], ", by __dlpack__ and by buffer"),
        (["dltensor_from_py_object_no_sync()"], ", by __dlpack__ and by the C exchange API"),
    ],
)
def test_a_finding_names_the_requests_that_were_observed(fast: list[str], end: str) -> None:
    slow = ["__dlpack__(max_version=(1,1))", "__array_struct__ -> AttributeError"]
    items = [
        call(name, n, ns * n, observed={"used": "call", "calls": requests})
        for name, ns, requests in (("slow", 900, slow), ("fast", 90, fast))
        for n in NUMBERS[1:]
    ]
    (found,) = (one for one in findings.find(doc({"benchmarks": items})) if one.label == "calls")
    assert found.text.endswith(f" times{end}")
    assert found.command.endswith("numpy slow")


def test_a_row_of_a_cell_names_its_number_of_arrays() -> None:
    items = [call("even", n, 50 + n) for n in (1, 8)]
    head, *rows = [line.plain for line in pair.table(entries_of(items), 200)][:3]
    at = head.index("arrays") + len("arrays")
    assert [row[:at].split()[-1] for row in rows] == ["1", "8"]
    alike = [call("even", 8, 50)]
    assert "arrays" not in pair.table(entries_of(alike), 200)[0].plain


def test_rows_of_environments_and_of_a_table_name_the_number_of_arrays() -> None:
    items = [call("even", n, 50 + n) for n in (1, 8)]
    (at,) = (i for i, name in enumerate(rows.COLUMNS) if name == "arrays")
    assert [row[at] for row in rows.rows(doc({"benchmarks": items}))] == [1, 8]
    others = [{**each, "environment": "other"} for each in items]
    made = doc({"benchmarks": [*items, *others]})
    _, head, *lines = [line.plain for line in environments.table(made, ["call"], 200)]
    assert head.split()[3:5] == ["protocol", "arrays"]
    assert {line.split()[4] for line in lines[:2]} == {"1", "8"}


def test_a_figure_does_not_mix_numbers_of_arrays() -> None:
    made = document(even={n: 50 + 10.0 * n for n in NUMBERS})
    assert figures.has(made, "calls")
    assert not figures.has(made, "scaling")
    texts = [text.get_text() for text in figures.FIGURES["matrix"](made).findobj(match=_is_text)]
    assert any("call with 8 arrays" in text for text in texts)


def _is_text(artist: Any) -> bool:
    return hasattr(artist, "get_text")


def test_a_word_chooses_the_number_of_arrays() -> None:
    entries = entries_of([call("even", n, 50) for n in NUMBERS])
    for entry in entries:
        words = cells.words_for(entry, entries)
        assert words == ["call", *([f"arrays:{entry.arrays}"] if entry.arrays else [])]
