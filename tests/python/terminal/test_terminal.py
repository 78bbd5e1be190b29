"""The output on a terminal: exact in its first lines, limited in width everywhere."""

from __future__ import annotations

import io
import json
import math
import re
from ast import literal_eval
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.color import ANSI_COLOR_NAMES, Color, ColorSystem
from rich.console import Console
from rich.style import Style

import samples
import synthetic
from dlbench import _core, cli, findings, values
from dlbench.analysis import compared, matrices, phases
from dlbench.document import EnvironmentFacts, Measured
from dlbench.terminal import grid, pair, terminal
from dlbench.text import layout, output
from typed import cell_of, doc, entries_of, entry_of

ROOT = Path(__file__).parents[3]

PAIR_80 = """\
dlbench 0.1.0  Ryzen 9 7950X, 16 cores  Python 3.13.1  jax 0.10.2  numpy 2.4.6
  torch 2.13.0
4 pairs, 8 cells, budget 60s
  floors: empty 0.30 ns, clock 23.5 ns, call 21.0 ns, proxy 35.0 ns

cpu   4 KiB   dlpack   host time of one exchange   interval +-2.0 %, worst 2.0 %
 from \\ to    numpy     torch
 numpy       112 ns    940 ns
 torch      1.73 us   refused

cpu   4 KiB   convert   host time of one exchange   interval +-2.0 %
 from \\ to     numpy
 numpy      ~36.0 ns

~ less than 2x the overhead floor

grows with size: 1 of 2 exchanges; the others took less than 1.5x
                           4 KiB  256 KiB
 torch -> numpy  dlpack  1.73 us  16.6 us

copies        torch -> numpy: only 256 KiB, by numpy, 2.2 GB/s
                                                 dlbench show latest torch numpy
refused       torch -> torch:
              BufferError: Can't export tensors that require gradient
                                                dlbench repro latest torch torch
no-protocol   dlpack_c: not imported by torch
noise         turbo on, governor powersave                        dlbench doctor

6 measured, 1 refused, 1 no-protocol   38 s
  ->  dlbench-results/latest: matrix.svg
"""

MATRIX_100 = """\
cpu   4 KiB   dlpack   host time of one exchange   interval +-2.0 %, worst 2.0 %
 from \\ to    native       jax       mlx     numpy    paddle   tensorflow     torch   tvm_ffi
 native        60 ns    5.1 us   2.60 us*   265 ns    126 ns      22.7 us   1.17 us   10.8 us
 jax          560 ns     60 ns    7.2 us*  2.45 us   1.17 us       265 ns   10.8 us    126 ns
 mlx          5.1 us    560 ns   2.11 us*  22.7 us   10.8 us      2.45 us    126 ns   1.17 us
 numpy        126 ns   10.8 us   3.21 us*   560 ns    265 ns        60 ns   2.45 us   22.7 us
 paddle      2.45 us    265 ns   24.7 us*  10.8 us    5.1 us      1.17 us     60 ns     wrong
 tensorflow  1.17 us    126 ns   12.9 us*   5.1 us   2.45 us       560 ns   22.7 us    265 ns
 torch        265 ns   22.7 us   4.50 us*  1.17 us    560 ns       126 ns    5.1 us     60 ns
 tvm_ffi     22.7 us   2.45 us   2.31 us*   126 ns     60 ns      10.8 us    560 ns    5.1 us
 warp        10.8 us   refused   2.17 us*  refused   22.7 us       5.1 us    265 ns   2.45 us

 from \\ to        warp
 native        2.45 us
 jax         timed-out
 mlx            265 ns
 numpy          5.1 us
 paddle         126 ns
 tensorflow      60 ns
 torch         crashed
 tvm_ffi       1.17 us
 warp           560 ns

* copied
"""


def plain(lines: list[terminal.Text]) -> str:
    return "".join(f"{line.plain}\n" for line in lines)


def test_a_pair_at_80_columns() -> None:
    place = "dlbench-results/latest"
    lines = terminal.render(doc(samples.pair()), 80, place=place, files=("matrix.svg",))
    assert plain(lines) == PAIR_80


def test_consumers_that_do_not_fit_go_on_in_a_further_block() -> None:
    assert MATRIX_100 in plain(terminal.render(doc(samples.matrix()), 100))


def test_at_120_columns_the_matrix_is_one_block() -> None:
    text = plain(terminal.render(doc(samples.matrix()), 120))
    assert text.count("from \\ to") == 1
    assert (
        " jax          560 ns     60 ns    7.2 us*  2.45 us   1.17 us       265 ns   10.8 us"
        in text
    )


@pytest.mark.parametrize("width", [80, 100, 120])
@pytest.mark.parametrize("sample", [samples.pair, samples.matrix])
@pytest.mark.parametrize("is_pair", [False, True])
def test_no_line_is_wider_than_the_terminal(width, sample, is_pair) -> None:  # type: ignore[no-untyped-def]
    place = "dlbench-results/latest"
    files = ("matrix.svg", "results.json", "scaling.svg")
    lines = terminal.render(doc(sample()), width, place=place, files=files, is_pair=is_pair)
    assert [line.plain for line in lines if len(line.plain) > width] == []


def printed(monkeypatch: pytest.MonkeyPatch, **environment: str) -> str:
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=80)
    terminal.show(terminal.render(doc(samples.pair()), 80), console)
    return stream.getvalue()


def test_no_color_is_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b[36m" in printed(monkeypatch, TERM="xterm")
    assert "\x1b[36m" not in printed(monkeypatch, TERM="xterm", NO_COLOR="1")


def luminance(color: str) -> float:
    triplet = Color.parse(color).get_truecolor()
    channels = [channel / 255 for channel in triplet]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize(("word", "color"), output.COLORS.items())
def test_colors_can_be_read_on_white_and_on_black(word: str, color: str) -> None:
    """Web Content Accessibility Guidelines, 1.4.11: at least 3:1."""
    found = luminance(color)
    assert 1.05 / (found + 0.05) >= 3
    assert (found + 0.05) / 0.05 >= 3
    # A terminal of 16 colors shows the one of that name.
    assert Color.parse(color).downgrade(ColorSystem.STANDARD).number == ANSI_COLOR_NAMES[word]


def test_each_color_of_a_command_is_one_of_these() -> None:
    stream = io.StringIO()
    console = output.Console(stream)
    assert all(
        console.get_style(word) == Style.parse(color) for word, color in output.COLORS.items()
    )
    used = set()
    for path in (ROOT / "harness/dlbench").rglob("*.py"):
        words = re.findall(r'"([a-z _]+)"', path.read_text(encoding="utf-8"))
        used |= {word for word in words if set(word.split()) & set(ANSI_COLOR_NAMES)}
    assert used <= set(output.COLORS)


def test_only_the_label_of_a_finding_is_bold() -> None:
    finding = findings.Finding("copies", "torch -> numpy", "dlbench show latest torch numpy")
    for width in (80, 40):
        first, *_ = terminal.finding_lines(finding, width)
        bold = [first.plain[span.start : span.end] for span in first.spans if span.style == "bold"]
        assert (str(first.style), [text.strip() for text in bold]) == ("", ["copies"])


def test_a_ratio_has_the_digits_that_its_intervals_support() -> None:
    exact = samples.measured("a", "a", 41.3, lo_ns=41.3, hi_ns=41.3)
    near = samples.measured("a", "b", 61.0, lo_ns=60.9, hi_ns=61.1)
    wide = samples.measured("a", "b", 61.0, lo_ns=35.2, hi_ns=79.0)
    assert values.ratio(entry_of(near), entry_of(exact)) == "1.48"
    assert values.ratio(entry_of(wide), entry_of(exact)) == "1.5"
    assert values.ratio(entry_of(exact), entry_of(exact)) == "1.00"


def test_library_text_is_never_read_as_markup() -> None:
    entry = samples.missing("a", "b", "refused", "[red]odd[/nothing]")
    stream = io.StringIO()
    document = samples.document(samples.measured("a", "a", 10.0), entry)
    terminal.show(terminal.render(doc(document), 100), Console(file=stream, width=100))
    assert "[red]odd[/nothing]" in stream.getvalue()


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (0.3, "0.30 ns"), (9.994, "9.99 ns"), (9.996, "10.0 ns"), (99.94, "99.9 ns"),
        (99.96, "100 ns"), (112.4, "112 ns"), (999.4, "999 ns"), (999.6, "1.00 us"),
        (16_600, "16.6 us"), (2_050_000, "2.05 ms"), (3.2e9, "3.20 s"), (4.2e12, "4200 s"),
    ],
)  # fmt: skip
def test_durations_have_three_digits(ns: float, text: str) -> None:
    assert values.duration(ns) == text


#: A time, the half-width of its interval, and the text; the report's JavaScript has the same rule.
FORMATTERS = {"duration": values.duration, "number": values.number,
              "share": lambda value, _: values.percent(value),
              "bytes": lambda value, _: values.size(value)}  # fmt: skip


def formats() -> list[tuple[str, float, float, str]]:
    """The table that the tests of C++ and of the page read, too."""
    text = (Path(__file__).parents[2] / "core/model/formats.inc").read_text()
    rows = re.findall(r'FORMAT\((\w+), (\S+), (\S+), "(.*)"\)', text)
    return [(kind, literal_eval(value), literal_eval(half), shown)
            for kind, value, half, shown in rows]  # fmt: skip


@pytest.mark.parametrize(("kind", "value", "half_width", "text"), formats())
def test_a_number_has_the_digits_that_its_interval_supports(
    kind: str, value: float, half_width: float, text: str
) -> None:
    assert FORMATTERS[kind](value, half_width) == text


UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}


def in_ns(text: str) -> float:
    number, unit = text.split()
    return float(number) * UNITS[unit]


def ends_in_ns(text: str) -> list[float]:
    """ "35 .. 47 ns"."""
    low, high = text.split(" .. ")
    return [in_ns(low if " " in low else f"{low} {high.split()[1]}"), in_ns(high)]


def digits(text: str) -> int:
    return len(text.split()[0].replace(".", "").lstrip("-0"))


TIMES = st.floats(min_value=-1, max_value=12).map(lambda power: 10.0**power)


@given(st.lists(TIMES, min_size=3, max_size=3).map(sorted))
def test_a_printed_median_lies_in_its_printed_interval(ends: list[float]) -> None:
    low, median, high = ends
    entry = entry_of(samples.measured("a", "b", median, lo_ns=low, hi_ns=high))
    assert isinstance(entry, Measured)
    shown = values.time(entry)
    first, last = ends_in_ns(values.interval_ends(entry))
    assert first <= in_ns(shown) * (1 + 1e-12)
    assert in_ns(shown) <= last * (1 + 1e-12)
    assert digits(shown) >= 2 or median < 0.1
    assert abs(in_ns(shown) - median) <= max(0.05 * median, 0.005)


@given(st.lists(st.floats(min_value=-9, max_value=9), min_size=3, max_size=3).map(sorted))
def test_a_printed_change_lies_in_its_printed_interval(logs: list[float]) -> None:
    low, ratio, high = map(math.exp, logs)
    cell = cell_of({"ratio": ratio, "lo": low, "hi": high})
    shown = compared.change(ratio, cell.share)
    ends = compared.interval(cell).replace("x ", "").replace(" %", "").split("..")
    first, middle, last = (
        float(text.replace("over 1000", "1001"))
        for text in (ends[0], shown.replace("x ", "").replace(" %", ""), ends[1])
    )
    assert first <= middle <= last


def test_wide_intervals_are_marked_and_summed_up() -> None:
    exact = samples.measured("a", "a", 41.3, lo_ns=41.2, hi_ns=41.5, floor_ratio=9)
    wide = samples.measured("a", "b", 41.3, lo_ns=35.2, hi_ns=47.1, floor_ratio=9)
    text = plain(terminal.render(doc(samples.document(exact, wide)), 80))
    assert "host time of one exchange   interval +-7.6 %, worst 15 %\n" in text
    assert re.search(r" a +41.3 ns +41 ns\^", text)
    assert "^ interval wider than +-10 %" in text
    details = "\n".join(pair.details(entry_of(wide)))
    assert "41 ns  (35 .. 47 ns: " in details


def test_no_mark_is_cut_from_the_legend() -> None:
    wide = samples.measured("a", "b", 25.0, lo_ns=20.0, outcome="copy")
    text = plain(terminal.render(doc(samples.document(wide)), 60))
    assert "\n* copied   ^ interval wider than +-10 %\n" in text
    assert "\n~ less than 2x the overhead floor\n" in text


def test_the_summary_of_intervals_has_a_line_where_the_title_is_long() -> None:
    names = [("a", "a"), ("a", "b")]
    entries = [samples.measured(*pair, 41.3, environment="a-long-name-of-one") for pair in names]
    lines = plain(terminal.render(doc(samples.document(*entries)), 80)).splitlines()
    title = next(line for line in lines if line.endswith("host time of one exchange"))
    assert lines[lines.index(title) + 1] == " interval +-2.0 %, worst 2.0 %"


@pytest.mark.parametrize(
    ("outcome", "verb"),
    [("crashed", "debug"), ("timed-out", "debug"), ("wrong", "repro"), ("refused", "repro")],
)
def test_each_failure_names_the_next_command(outcome: str, verb: str) -> None:
    entry = samples.missing("a", "b", outcome, "why", protocol="convert", signal="SIGSEGV")
    (found,) = [f for f in findings.find(doc(samples.document(entry))) if f.label == outcome]
    assert found.command == f"dlbench {verb} latest a b convert"
    assert found.text == "a -> b: SIGSEGV: why"


def test_not_installed_and_interrupted_say_how_to_go_on() -> None:
    entry = samples.missing("a", "b", "not-run", "interrupted", code="interrupted")
    document = samples.document(entry, not_installed={"cupy": "pip install cupy"})
    commands = {f.label: (f.text, f.command) for f in findings.find(doc(document), "out dir")}
    assert commands["not installed"] == ("cupy (pip install cupy)", "dlbench list")
    assert commands["not-run"] == ("a -> b: interrupted", "dlbench --resume 'out dir'")


@pytest.mark.parametrize(
    ("request_", "compare", "command"),
    [
        ({"adapters": "/a b"}, None, "dlbench --resume r --adapters '/a b'"),
        ({"env": ["x=/p", "y=/q"]}, None, "dlbench --resume r --env x=/p --env y=/q"),
        (
            {"env": ["x=/p", "y=/q"], "adapters": "/a"},
            ["x=/p", "y=/q"],
            "dlbench compare --resume r --base-env x=/p --head-env y=/q --adapters /a",
        ),
        ({}, [], "dlbench compare --resume r"),
    ],
)
def test_each_hint_to_resume_repeats_what_names_code(
    request_: dict[str, Any], compare: list[str] | None, command: str
) -> None:
    entry = samples.missing("a", "b", "not-run", "interrupted", code="interrupted")
    document = samples.document(entry)
    own = document["context"]["dlbench"]
    own["request"] |= request_
    own["dropped"] = {"lines": 1, "first": "3: cut"}
    if compare is not None:
        own["compare"] = {"env": compare}
    found = {f.label: f.command for f in findings.find(doc(document), "r")}
    assert found["not-run"] == found["journal"] == command


def test_copies_name_library_time_and_rate() -> None:
    copied = {"outcome": "copy", "copied_by": "consumer", "late_read": True}
    document = samples.document(
        samples.measured("a", "jax", 50.0),
        samples.measured("a", "jax", 9000.0, case="f32-align4", gb_per_s=2.2, **copied),
        samples.measured("b", "jax", 50.0),
        samples.measured("b", "jax", 9000.0, case="f32-align4", gb_per_s=3.1, **copied),
    )
    (found,) = [f for f in findings.find(doc(document)) if f.label == "copies"]
    assert found.text == (
        "a, b -> jax when not aligned: by jax, 2.2..3.1 GB/s, "
        "still reading the source after it returned"
    )


def test_a_copy_stands_beside_what_a_plain_copy_takes() -> None:
    copied = samples.measured("a", "b", 90.0, outcome="copy", copied_by="producer", gb_per_s=2.2)
    document = samples.document(copied)
    (environment,) = document["context"]["dlbench"]["environments"].values()
    size = copied["bytes"]
    other = {"warm": 23.0, "fresh": 0.6, f"warm {2 * size}": 9.0}
    environment["copy_floors_gb_per_s"] = other | {f"warm {size}": 16.0, f"fresh {size}": 0.5}
    (found,) = [f for f in findings.find(doc(document)) if f.label == "copies"]
    assert found.text == "a -> b: by a, 2.2 GB/s (memcpy 16, fresh pages 0.5)"
    assert "2.2 GB/s (memcpy 16, fresh pages 0.5)" in "\n".join(
        pair.details(entry_of(copied), EnvironmentFacts(environment))
    )


@pytest.mark.parametrize(
    ("given", "size", "why"),
    [
        ({}, 4096, ", and the page guard needs a whole page: --sizes 256KiB"),
        ({}, 262144, ""),
        ({"copied_by": "consumer"}, 4096, None),
    ],
)
def test_why_the_copier_is_not_known(given: dict[str, Any], size: int, why: str | None) -> None:
    entry = samples.measured("a", "b", 90.0, outcome="copy", bytes=size, **given)
    entry["evidence"] = entry["evidence"] | {"guard": "skipped"}
    entry["observed"] = entry["observed"] | {"used": "own"}
    lines = [line for line in pair.details(entry_of(entry)) if line.startswith("copier ")]
    text = f"not known: the consumer makes no request, or treats a proxy in another way{why}"
    assert [line.partition(" ")[2].strip() for line in lines] == [text] * (why is not None)


def test_a_library_that_writes_into_an_exported_array_is_named() -> None:
    message = "the consumer wrote into 8 of 255 pages of the producer's array"
    guard = {"pages": 255, "read": 0, "written": 8, "late": 0, "by": ["libb.so"]}
    entry = samples.measured(
        "a",
        "b",
        90.0,
        warnings=[samples.warned("few-rounds"), samples.warned("source-written", message)],
    )
    entry["observed"] = entry["observed"] | {"guard": guard}
    (found,) = [f for f in findings.find(doc(samples.document(entry))) if f.label == "writes"]
    assert (found.text, found.command) == (f"a -> b: {message}", "dlbench show latest a b")
    assert "255 pages, 0 read, 8 written, by libb.so" in "\n".join(pair.details(entry_of(entry)))
    quiet = samples.document(samples.measured("a", "b", 90.0))
    assert not [f for f in findings.find(doc(quiet)) if f.label == "writes"]


def test_the_guard_says_what_was_read_when_and_by_which_library() -> None:
    guard = {"pages": 1024, "read": 1024, "written": 0, "late": 482, "by": ["libjax_common.so"]}
    entry = samples.measured("a", "b", 90.0)
    entry["observed"] = entry["observed"] | {"guard": guard}
    message = "1024 pages, 1024 read, 482 of them after the call, by libjax_common.so"
    assert message in "\n".join(pair.details(entry_of(entry)))


def test_rows_and_columns_that_only_lack_the_protocol_are_left_to_one_line() -> None:
    c_api: dict[str, str] = {"protocol": "dlpack_c"}
    document = samples.document(
        samples.measured("a", "a", 50.0, **c_api),
        samples.missing("a", "b", "no-protocol", "x", code="not-imported", **c_api),
        samples.missing("b", "a", "no-protocol", "y", code="not-exported", **c_api),
        samples.missing("b", "b", "no-protocol", "x", code="not-imported", **c_api),
    )
    (grid,) = matrices.of_document(doc(document))
    assert (grid.rows, grid.columns) == (["a"], ["a"])
    (found,) = [f for f in findings.find(doc(document)) if f.label == "no-protocol"]
    assert found.text == "dlpack_c: not imported by b; not offered by b"


def test_the_details_of_a_cell_hold_all_that_is_known() -> None:
    entry = samples.measured(
        "numpy", "torch", 940.0, warnings=[samples.warned("few-rounds")], gb_per_s=2.0
    )
    facts = "\n".join(pair.details(entry_of(entry)))
    for fact in ("940 ns  (930 .. 960 ns", "__dlpack__(max_version=(1,0))", "few rounds"):
        assert fact in facts
    crash = samples.missing("a", "b", "crashed", "died", signal="SIGSEGV", stderr_tail="one\ntwo")
    assert [line.split(maxsplit=1) for line in pair.details(entry_of(crash))][-2:] == [
        ["stderr", "one"],
        ["stderr", "two"],
    ]


@pytest.mark.parametrize("kind", ["within", "processes", "range"])
def test_an_interval_says_which_it_is(kind: str) -> None:
    entry = samples.measured("numpy", "torch", 940.0, interval=kind, between_half_width=0.28)
    environment = samples.document(entry)["context"]["dlbench"]["environments"]["default"]
    facts = pair.details(entry_of(entry), EnvironmentFacts(environment))
    assert values.INTERVALS[kind] in "\n".join(facts)
    # By how much other processes may differ stands beside it, for exchanges of its length.
    others = [line for line in facts if line.startswith("other processes")]
    assert len(others) == (kind == "within")
    assert all("+-28 % for exchanges of this length" in line for line in others)
    del entry["between_half_width"]
    unknown = "\n".join(pair.details(entry_of(entry), EnvironmentFacts(environment)))
    assert ("not known for exchanges of this length" in unknown) == (kind == "within")
    table = plain(pair.table(entries_of([entry]), 100))
    assert values.INTERVALS[kind] in table


def test_reasons_of_one_cause_are_one_line() -> None:
    document = samples.document(
        samples.missing("a", "warp", "refused", "Data must be a sequence, got scalar <A at 0x1>"),
        samples.missing("b", "warp", "refused", "Data must be a sequence, got scalar <B at 0x2>"),
        samples.missing("c", "warp", "refused", "Something else", exception="TypeError"),
    )
    found = [f.text for f in findings.find(doc(document)) if f.label == "refused"]
    assert found == [
        "a, b -> warp: Data must be a sequence, got scalar <A at 0x1> (and 1 other reason)",
        "c -> warp: TypeError: Something else",
    ]


def test_many_reasons_are_cut_but_where_requested() -> None:
    entries = [samples.missing("p", f"c{i}", "refused", "no good") for i in range(20)]
    document = samples.document(*entries)
    (*_, last) = [f for f in findings.find(doc(document)) if f.label == "refused"]
    assert (last.text, last.command) == ("and 12 more reasons", "dlbench show latest")
    everything = findings.find(doc(document), most_lines=1000)
    assert len([f for f in everything if f.label == "refused"]) == 20


def test_flat_exchanges_are_reported_in_a_line() -> None:
    entries = [samples.measured("a", "b", 50.0, bytes=size) for size in (4096, 262144)]
    text = plain(terminal.render(doc(samples.document(*entries)), 100))
    assert "none of 1 exchanges takes significantly longer" in text


@pytest.mark.parametrize("warning", sorted(findings.DISTURBED))
def test_a_disturbed_cell_is_a_line_with_a_next_command(warning: str) -> None:
    reported = samples.measured("numpy", "torch", 940.0, warnings=[samples.warned(warning)])
    honest = samples.measured("torch", "numpy", 940.0)
    found = {line.label: line for line in findings.find(doc(samples.document(reported, honest)))}
    assert found[warning.replace("-", " ")].text.startswith("1 cell: ")
    assert "numpy -> torch" in found[warning.replace("-", " ")].text
    assert found[warning.replace("-", " ")].command.startswith("dlbench ")
    silent = findings.find(doc(samples.document(honest)))
    labels = {code.replace("-", " ") for code in findings.DISTURBED}
    assert not {line.label for line in silent} & labels


def test_a_cell_that_loses_something_is_marked() -> None:
    document = samples.document(
        samples.measured("pint", "numpy", 100.0, changed=["unit"]),
        samples.measured("pint", "jax", 200.0, changed=["unit"], outcome="copy"),
        samples.measured("native", "numpy", 300.0, changed=["dtype", "layout"]),
    )
    text = plain(terminal.render(doc(document), 80))
    assert " pint       200 ns*!  100 ns!\n" in text
    assert "  300 ns\n" in text
    assert "! drops or converts" in text


@pytest.mark.parametrize("warning", ["drift", "few-rounds"])
def test_what_was_done_is_not_advised(warning: str) -> None:
    reported = samples.measured("numpy", "torch", 940.0, warnings=[samples.warned(warning)])
    for requested, is_advised in (({}, True), ({"replicas": 6}, False)):
        found = findings.find(doc(samples.document(reported, request=requested)))
        (command,) = [line.command for line in found if line.label == warning.replace("-", " ")]
        assert ("--replicas" in command) == is_advised


@pytest.mark.parametrize(
    ("requested", "width"),
    [("100", 100), ("", layout.UNCUT), ("9" * 20, layout.UNCUT), ("0", layout.UNCUT),
     ("-5", layout.UNCUT), ("\u00b2", layout.UNCUT)],
)  # fmt: skip
def test_a_pipe_is_as_wide_as_columns_says_or_not_cut(
    requested: str, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", requested)
    layout.forget_bad_columns()
    assert output.Console(io.StringIO()).width == width


def test_show_cuts_nothing_in_a_pipe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    reason = "a reason of many words " * 40
    document = samples.document(
        samples.measured("numpy", "numpy", 100.0),
        samples.missing("numpy", "torch", "refused", reason),
    )
    (tmp_path / "results.json").write_text(json.dumps(document))
    for words in ([], ["numpy", "torch"]):
        assert cli.main(["show", str(tmp_path), *words]) == 0
        shown = capsys.readouterr().out
        assert reason.strip() in shown
        assert "\u2026" not in shown


def test_nothing_is_cut_where_there_is_no_terminal() -> None:
    reason = "a reason of many words " * 40
    document = samples.document(
        samples.measured("numpy", "numpy", 100.0),
        samples.missing("numpy", "torch", "refused", reason),
    )
    for is_pair in (False, True):
        lines = terminal.render(doc(document), layout.UNCUT, "latest", "x", ("a",), is_pair=is_pair)
        text = "\n".join(line.plain for line in lines)
        assert "\u2026" not in text
        assert reason.strip() in text
        # Nor is anything filled up to that width.
        assert len(text) < 10_000


def test_counted_instructions_have_a_column_in_the_matrix() -> None:
    document = samples.document(
        samples.measured("numpy", "numpy", 112.4, instructions=2312.0),
        samples.measured("numpy", "torch", 940.0),
        samples.missing("torch", "torch", "refused", "a reason"),
    )
    [matrix] = matrices.of_document(doc(document))
    [block] = grid.blocks(matrix, 80)
    assert [line.plain.split() for line in block] == [
        ["from", "\\", "to", "numpy", "instr", "torch", "instr"],
        ["numpy", "112", "ns", "2,312", "940", "ns", "?"],
        ["torch", "refused"],
    ]
    # A consumer's two columns are never parted.
    for width in range(20, 60):
        heads = [block[0].plain for block in grid.blocks(matrix, width)]
        assert all(head.count("instr") == len(head.split()) // 2 - 1 for head in heads), heads
    assert matrices.legend([matrix], matrix.heads) == [
        "instr: instructions of one exchange",
        "? not counted",
    ]
    del document["benchmarks"][0]["instructions"]
    [matrix] = matrices.of_document(doc(document))
    assert "instr" not in grid.blocks(matrix, 80)[0][0].plain
    assert matrices.legend([matrix], matrix.heads) == []
    document["benchmarks"][0]["instructions"] = 2312.0
    row = next(
        line for line in pair.table(entries_of(document["benchmarks"]), 200) if "112" in line.plain
    )
    assert "2,312" in row.plain


def test_a_table_of_cells_has_a_legend_of_what_it_shows() -> None:
    near = samples.measured("numpy", "numpy", 36.0)
    shown = [line.plain for line in pair.table(entries_of([near]), 200)]
    reported = ["+-: unknown kind of interval", "~ less than 2x the overhead floor"]
    reported += ["used: the protocol observed"]
    reported += ["first: first call of the cell in a worker that other cells may have warmed"]
    assert shown[-1] == "   ".join(reported)


def test_cells_that_share_evidence_or_a_warning_share_a_line() -> None:
    proved = dict.fromkeys(("address", "guard"), "yes")
    entries = entries_of(
        [
            samples.measured("a", "b", 90.0, evidence=proved, warnings=[samples.warned("drift")]),
            samples.measured("a", "b", 90.0, evidence=proved, bytes=1 << 20),
            samples.measured("a", "b", 90.0, evidence={"address": "no"}, protocol="convert",
                             warnings=[samples.warned("drift")]),
        ]
    )  # fmt: skip
    assert [re.split(" {2,}", line.plain) for line in pair.shared_facts(entries, 80)] == [
        ["evidence", "address: yes", "guard: yes", "dlpack 4 KiB, 1 MiB"],
        ["warning", "drift", "dlpack 4 KiB; convert 4 KiB"],
        ["evidence", "address: no", "convert 4 KiB"],
        re.split(" {2,}", pair.EVIDENCE),
        ["drift: the times rise or fall over the rounds"],
    ]
    assert all(len(line.plain) <= 40 for line in pair.shared_facts(entries, 40)[-2:])
    assert pair.shared_facts(entries[:1], 80)[0].plain.endswith("  all cells")


def test_what_was_not_run_fills_no_matrix() -> None:
    missing = samples.missing("jax", "numpy", "not-run", "interrupted", code="interrupted")
    (grid,) = matrices.of_document(
        doc(samples.document(samples.measured("numpy", "numpy", 112.4), missing))
    )
    assert grid.rows == ["numpy"]


def test_wide_letters_do_not_shift_a_command() -> None:
    """A library may have any name; an East Asian letter takes two columns."""
    for name in ("\u914d\u5217", "abcd"):
        finding = findings.Finding("copies", f"{name} -> b: by b", "dlbench show latest")
        (line,) = terminal.finding_lines(finding, 60)
        assert cell_len(line.plain) == 60
    table = doc(samples.document(samples.measured("\u914d\u5217", "b", 90.0)))
    assert all(cell_len(line.plain) <= 60 for line in terminal.render(table, 60))


def test_the_first_matrix_says_how_many_processes_follow() -> None:
    lines = terminal.render_first(doc(samples.matrix()), 80, 3)
    assert lines[0].plain == "first numbers, each from one of 3 processes"
    assert any("from \\ to" in line.plain for line in lines)
    assert max(cell_len(line.plain) for line in lines) <= 80


def test_the_details_say_what_a_warning_means() -> None:
    entry = samples.measured("a", "b", 90.0, warnings=[samples.warned("preempted")])
    (line,) = [line for line in pair.details(entry_of(entry)) if line.startswith("warning")]
    assert line.split(maxsplit=1)[1] == f"preempted: {_core.warnings['preempted']}"


def test_phases_go_below_before_the_interval_is_left_out() -> None:
    made = doc(synthetic.document(("numpy", "torch"), (4096,)))
    row = dict.fromkeys(phases.COLUMNS, "1.23 us")
    parts = {phases.key_of(entry): row for entry in made.exchanges}
    for width in range(80, 160):
        assert "+-" in pair.table(made.exchanges, width, parts)[0].plain.split(), width
