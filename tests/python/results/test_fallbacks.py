"""The table of a case sweep: each row has one device, one size and the number of cases tried."""

from __future__ import annotations

from typing import Any

import samples
from dlbench.analysis import case_sweep, cells
from dlbench.exporters import support
from dlbench.terminal import fallbacks, terminal
from typed import doc

Entry = dict[str, Any]
REQUEST = {"cases": ["all"]}


def plain(producer: str, consumer: str, **given: Any) -> Entry:
    return samples.measured(producer, consumer, 90.0, **given)


def untimed(producer: str, consumer: str, case: str, **given: Any) -> Entry:
    found = {"case": case, "code": "untimed", "found": "zero-copy", "changed": []}
    return samples.missing(producer, consumer, "not-run", "not timed", **found, **given)


def not_made(producer: str, consumer: str, case: str, **given: Any) -> Entry:
    return samples.missing(producer, consumer, "unsupported", "no such", case=case, **given)


def refused(producer: str, consumer: str, case: str, **given: Any) -> Entry:
    return samples.missing(producer, consumer, "refused", "no", case=case, **given)


def two_devices() -> Entry:
    """Pinned memory is of the GPU's driver, and a foreign layout of the host's library."""
    gpu = {"device": "cuda:0"}
    return samples.document(
        plain("a", "c"),
        plain("a", "c", **gpu),
        not_made("a", "c", "f32-pinned"),
        untimed("a", "c", "f32-pinned", **gpu),
        untimed("a", "c", "f32-grad"),
        not_made("a", "c", "f32-grad", **gpu),
        refused("a", "c", "f64", **gpu),
        untimed("a", "c", "f64"),
        request=REQUEST,
    )


def rows(document: Entry) -> list[case_sweep.Fallback]:
    return list(case_sweep.fallbacks(case_sweep.case_sweeps(doc(document).entries)))


def lines(document: Entry, width: int = 100) -> list[str]:
    return [line.plain for line in fallbacks.table(doc(document), width, "latest", 8)]


def test_what_one_device_has_not_is_not_reported_of_the_other() -> None:
    found = {(one.becomes, one.device): one.cases for one in rows(two_devices())}
    assert found == {
        ("refused", "cuda:0"): ("f64",),
        ("not made", "cpu"): ("f32-pinned",),
        ("not made", "cuda:0"): ("f32-grad",),
    }


def test_each_line_has_its_device_where_there_are_several() -> None:
    _, *reported, command = lines(two_devices())
    assert [line.split() for line in reported] == [
        ["a", "->", "c", "cuda:0", "dlpack", "refused", "f64"],
        ["a", "cpu", "not", "made", "f32-pinned"],
        ["a", "cuda:0", "not", "made", "f32-grad"],
    ]
    words = command.split()[3:]
    assert command.split()[:3] == ["dlbench", "show", "latest"]
    assert {e.outcome for e in cells.matching(doc(two_devices()), words)} == {"refused"}


def test_of_a_merged_run_the_command_names_the_machine() -> None:
    share = two_devices()
    for entry in [*share["benchmarks"], *share["not_measured"]]:
        entry["machine"] = "box"
    *_, command = lines(share)
    assert command.split()[-1] == "box"


def test_the_support_page_has_the_device_too() -> None:
    _, _, table = support.export(doc(two_devices())).partition("## Kinds of arrays with another")
    devices = [line.split("|")[2].strip() for line in table.splitlines() if "|" in line]
    assert devices == ["device", "---", "cuda:0", "cpu", "cuda:0"]


def test_a_producer_is_named_with_no_protocol_that_it_had_not() -> None:
    ways = [("a", "dlpack"), ("b", "buffer")]
    entries = [
        made(producer, "c", protocol=protocol, **given)
        for producer, protocol in ways
        for made, given in ((plain, {}), (refused, {"case": "f64"}))
    ]
    found = [(one.pairs, one.protocols) for one in rows(doc(samples.document(*entries)))]
    assert found == [((("b", "c"),), ("buffer",)), ((("a", "c"),), ("dlpack",))]


def test_producers_with_the_same_protocols_share_a_row() -> None:
    entries = [
        made(producer, "c", protocol=protocol, **given)
        for producer in ("a", "b")
        for protocol in ("dlpack", "buffer")
        for made, given in ((plain, {}), (refused, {"case": "f64"}))
    ]
    (one,) = rows(doc(samples.document(*entries)))
    assert one.pairs == (("a", "c"), ("b", "c"))
    assert one.protocols == ("buffer", "dlpack")


def test_cases_are_held_against_each_other_at_one_size() -> None:
    """In a document 1048576 stands before 65536, and what was measured before what was not."""
    copied = {"outcome": "copy", "copied_by": "consumer", "gb_per_s": 2.0}
    document = samples.document(
        plain("a", "c", bytes=1 << 20, **copied),
        plain("a", "c", bytes=1 << 16),
        plain("a", "c", bytes=1 << 20, case="f64", **copied),
        untimed("a", "c", "f64", bytes=1 << 16),
        refused("a", "c", "f16", bytes=1 << 20),
        refused("a", "c", "f16", bytes=1 << 16),
        plain("a", "c", bytes=4, case="f32-0d", **copied),
        request=REQUEST,
    )
    found = {one.becomes: one.cases for one in rows(document)}
    assert found == {"copy by c": ("f32-0d",), "refused": ("f16",)}
    assert lines(document)[0].startswith("cases with an outcome other than f32's at 64 KiB: ")


def test_a_library_without_that_role_is_not_reported_to_make_nothing() -> None:
    cases = ("f32", "f64", "f32-grad")
    entries = [
        samples.missing("a", "c", "unsupported", "x", code="no-adapter", case=case)
        for case in cases
    ]
    assert rows(doc(samples.document(*entries))) == []


def test_an_interrupted_run_lists_no_case_that_was_not_run() -> None:
    unrun = samples.missing("a", "c", "not-run", "interrupted", case="f64", code="interrupted")
    document = samples.document(plain("a", "c"), unrun, request=REQUEST)
    assert rows(document) == []
    assert lines(document)[1:] == ["none"]
    (footer,) = terminal.footer(doc(document), 100, "")
    assert footer.startswith("1 measured, 1 not-run")
    plain_unrun = samples.missing("a", "c", "not-run", "interrupted", code="interrupted")
    assert rows(samples.document(plain_unrun, refused("a", "c", "f16"), request=REQUEST)) == []
