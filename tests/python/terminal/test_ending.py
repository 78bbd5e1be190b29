"""A run ends with a short answer and the commands to type next."""

from __future__ import annotations

import re

import pytest
from rich.cells import cell_len

import samples
from dlbench import values
from dlbench.exporters import markdown
from dlbench.findings import Finding
from dlbench.findings.summary import serious_findings
from dlbench.terminal import terminal
from dlbench.text import layout
from typed import doc

PAIR_80 = """\
protocol      fastest                  slowest                 x fastest
dlpack        numpy -> numpy 112 ns    torch -> numpy 1.73 us       15.4
convert       numpy -> numpy ~36.0 ns
copies        torch -> numpy: only 256 KiB, by numpy, 2.2 GB/s
fails         refused torch -> torch: BufferError: Can't export tensors that
              require gradient
noise         times are uncertain, worst +-28 %: --replicas 9 narrows them
next          dlbench show latest torch numpy  the slowest pair in detail
              dlbench show latest              all tables, 4 findings

6 measured, 1 refused, 1 no-protocol   38 s   ->  x: report.html
"""


def ending(document: dict[str, object], width: int = 80) -> str:
    """What follows the matrix and its legend."""
    made = doc(document)
    is_pair = made.run.request.is_pair
    lines = terminal.render(
        made, width, "latest", "x", ("report.html",), is_pair=is_pair, is_ending=True
    )
    text = "".join(f"{line.plain}\n" for line in lines)
    return text[text.index("protocol  ") :] if "protocol  " in text else text


def test_an_answer_of_six_lines_and_the_next_commands() -> None:
    assert ending(samples.pair()) == PAIR_80


def test_the_step_summary_has_the_same_answer() -> None:
    shown = [line for line in markdown.export(doc(samples.pair())).splitlines() if line[:2] == "- "]
    assert shown == [
        "- speed: dlpack: fastest numpy -> numpy 112 ns, slowest torch -> numpy 1.73 us (x 15.4)",
        "- speed: convert: fastest numpy -> numpy \\~36.0 ns",
        "- copies: torch -> numpy: only 256 KiB, by numpy, 2.2 GB/s",
        "- fails: refused torch -> torch: BufferError: Can't export tensors that require gradient",
        "- noise: times are uncertain, worst +-28 %: --replicas 9 narrows them",
    ]


def test_findings_stand_apart_from_the_matrix() -> None:
    document = samples.document(samples.measured("numpy", "torch", 100.0))
    document["context"]["dlbench"]["request"]["sync"] = True
    lines = [line.plain for line in terminal.render(doc(document), 80, is_ending=True)]
    place = next(number for number, line in enumerate(lines) if line.startswith("sync "))
    assert (lines[place - 1], lines[place + 1]) == ("", "")


def test_wide_letters_do_not_shift_the_next_commands() -> None:
    """An East Asian letter in a library's name takes two columns."""
    name = "\u914d\u5217\u914d\u5217"
    text = ending(samples.document(samples.missing(name, "torch", "crashed", "died in call")))
    commands = text[text.index("\nnext ") :].splitlines()[1:3]
    starts = {cell_len(re.split("  (?:examine|all tables)", line)[0]) for line in commands}
    assert name in commands[0]
    assert len(starts) == 1


@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_answer_has_at_most_six_lines(width: int) -> None:
    text = ending(samples.matrix(), width)
    answer = text[text.index("\n") : text.index("\nnext ")].splitlines()[1:]
    labels = [line for line in answer if not line.startswith(" ")]
    assert 3 <= len(labels) <= 6
    assert "fails 3 crashed, 3 wrong, 3 timed-out, 6 refused; crashed" in " ".join(text.split())
    assert "next          dlbench debug latest torch warp" in text


def test_failures_are_counted_as_in_the_footer() -> None:
    missing = [
        samples.missing("numpy", consumer, "refused", why, bytes=size)
        for consumer, why in (("torch", "read-only"), ("jax", "no grad"))
        for size in (4096, 65536)
    ]
    text = " ".join(ending(samples.document(*missing), 120).split())
    assert "fails 4 refused; refused numpy -> " in text
    assert "0 measured, 4 refused" in text


def test_failures_of_other_cases_of_a_sweep_are_counted_and_faults_are_named() -> None:
    found = [samples.measured("numpy", "torch", 100.0)]
    found += [
        samples.missing("numpy", "torch", outcome, "x", case=case)
        for outcome, case in (("refused", "f64"), ("refused", "i32"), ("wrong", "bool"))
    ]
    sweep = samples.document(*found)
    sweep["context"]["dlbench"]["request"] = {"cases": ["all"]}
    text = " ".join(ending(sweep, 120).split())
    assert "fails 1 wrong, 2 refused; wrong numpy -> torch" in text
    sweep["not_measured"].pop()
    assert "fails 2 refused" in " ".join(ending(sweep, 120).split())


def test_libraries_are_compared_and_native_is_their_scale() -> None:
    text = ending(
        samples.document(
            samples.measured("native", "native", 50.0),
            samples.measured("numpy", "torch", 200.0),
            samples.measured("torch", "numpy", 2000.0),
        )
    )
    row = next(line for line in text.splitlines() if line.startswith("dlpack "))
    shown = ["dlpack", "numpy -> torch 200 ns", "4.0", "torch -> numpy 2.00 us", "10.0"]
    assert re.split(" {2,}", row) == shown


def test_a_difference_within_noise_is_no_ratio() -> None:
    text = ending(
        samples.document(
            samples.measured("numpy", "torch", 1000.0), samples.measured("torch", "numpy", 1040.0)
        )
    )
    assert "torch -> numpy 1.04 us  within noise" in text


def test_a_summary_without_native_says_so() -> None:
    pairs = [samples.measured("numpy", "torch", 100.0), samples.measured("numpy", "native", 52.0)]
    text = ending(samples.document(*pairs))
    assert "fastest" in text.splitlines()[0]
    assert text.splitlines()[0].endswith("(without native)")
    assert "52" not in text.splitlines()[1]
    assert "without native" not in ending(samples.document(pairs[0]))


def test_a_run_that_copies_nothing_says_so() -> None:
    assert "copies        none of 1 measured pair\n" in ending(
        samples.document(samples.measured("numpy", "torch", 200.0))
    )


def test_what_disturbed_the_run_is_counted() -> None:
    text = ending(
        samples.document(
            samples.measured("numpy", "torch", 200.0, warnings=[samples.warned("preempted")]),
            samples.measured("torch", "numpy", 2000.0),
        )
    )
    noise = "--replicas 9 narrows them; 1 of 2 cells disturbed (most: preempted)"
    assert noise in " ".join(text.split())


def noise(*shares: float | None, replicas: int = 3) -> str:
    """The sentence about cells of 100 ns, 1 us, 10 us, ... with these half-widths: five of each."""
    cells = [
        samples.measured("numpy", f"to{i}", 100.0 * 10**place + i, between_half_width=share,
                         lo_ns=100.0 * 10**place + i, hi_ns=100.0 * 10**place + i)
        for place, share in enumerate(shares) for i in range(5)
    ]  # fmt: skip
    document = samples.document(*cells)
    document["context"]["dlbench"]["request"]["replicas"] = replicas
    text = " ".join(ending(document, 200).split())
    return text[text.rindex("noise ") + 6 : text.index(" next ")]


def test_noise_is_one_sentence_about_what_can_be_trusted() -> None:
    assert noise(0.02) == "times are good to +-2.0 %"
    assert noise(0.02, 0.04) == "9 of 10 times are good to +-4.0 %"
    assert noise(0.02, 0.04, 0.3) == (
        "9 of 10 times below 10 us are good to +-4.0 %; 5 of 15 times are uncertain, worst +-30 %: "
        "--replicas 9 narrows them"
    )
    assert noise(0.3, 0.02) == (
        "5 of 10 times are uncertain, worst +-30 %: --replicas 9 narrows them"
    )
    assert noise(0.3, replicas=9) == ("times are uncertain, worst +-30 %: dlbench doctor says why")
    assert noise(None) == (
        "between processes not measured: each cell ran in one; --replicas 3 measures it"
    )
    assert noise(0.02, None) == "times are good to +-2.0 %; not known of 5 cells"
    assert noise(20.0) == ("times are uncertain, worst over +-1000 %: --replicas 9 narrows them")


def test_the_times_called_uncertain_are_those_marked_in_the_table() -> None:
    """The interval of numpy -> torch lies on one side of the median, and its mean half is good."""
    text = ending(
        samples.document(
            samples.measured("numpy", "torch", 100.0, hi_ns=114.0, interval="processes"),
            samples.measured("torch", "numpy", 300.0, interval="processes"),
        )
    )
    assert "1 of 2 times is uncertain, worst +-14 %: --replicas 9" in text
    made = samples.measured("numpy", "torch", 100.0, hi_ns=114.0, interval="processes")
    assert values.marks(doc(samples.document(made)).measured[0])[1] == "^"


def test_a_loss_without_an_error_is_named_and_examined_first() -> None:
    text = ending(samples.document(samples.measured("numpy", "torch", 200.0, changed=["mask"])))
    assert "drops         the mask: numpy -> torch\n" in text
    assert "next          dlbench show latest numpy torch  examine: drops" in text


def test_a_run_of_nothing_goes_on_from_its_journal() -> None:
    missing = samples.missing("numpy", "torch", "not-run", "the budget was used up")
    assert "next          dlbench --resume latest " in ending(samples.document(missing))


def test_a_long_reason_takes_two_lines_and_is_whole_without_a_terminal() -> None:
    reason = "many words " * 40 + "end"
    document = samples.document(samples.missing("numpy", "torch", "refused", reason))
    text = ending(document)
    at = text.index("fails ")
    assert text[at : text.index("\nnext ")].count("\n") == 1
    assert reason in ending(document, layout.UNCUT)


def test_the_address_of_an_object_is_left_out_of_a_reason() -> None:
    reason = "no dtype for <object object at 0x7f12ab34cd56>, flags 0x01"
    text = ending(samples.document(samples.missing("numpy", "torch", "refused", reason)))
    assert "no dtype for <object object at 0x...>, flags 0x01" in " ".join(text.split())


def test_a_copy_by_nothing_known_is_not_the_consumers() -> None:
    copied = [
        samples.measured("numpy", consumer, 200.0, outcome="copy", copied_by="")
        for consumer in ("jax", "torch")
    ]
    assert "copies        2 of 2 measured pairs, by not known 2" in ending(
        samples.document(*copied)
    )


def test_an_import_order_that_fails_is_shown_beside_a_loss() -> None:
    found = [
        Finding("drops", "the unit: pint -> numpy", "dlbench show"),
        Finding("drops", "the mask: numpy_ma -> numpy", "dlbench show"),
        Finding("import order", "tvm must be imported first", "dlbench repro"),
        Finding("journal", "a line cannot be read", "dlbench --resume"),
        Finding("import order", "numpy, then torch; the other order was not tried"),
    ]
    shown = [(one.label, one.text) for one in serious_findings(found)]
    assert shown == [
        ("drops", "the unit: pint -> numpy; and 1 more"),
        ("import order", "tvm must be imported first; and 1 more"),
    ]
