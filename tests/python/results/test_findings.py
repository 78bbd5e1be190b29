"""The text of a finding is true for every cell that it names."""

from __future__ import annotations

from typing import Any

import pytest

import samples
from dlbench import findings
from dlbench.findings import writable
from dlbench.findings.failures import failures
from typed import doc


def reported(label: str, *entries: dict[str, Any]) -> list[str]:
    return [
        one.text for one in findings.find(doc(samples.document(*entries))) if one.label == label
    ]


def no_protocol(producer: str, consumer: str, code: str, protocol: str) -> dict[str, Any]:
    """The text says nothing: a finding is made of codes."""
    why = f"text {producer}"
    return samples.missing(producer, consumer, "no-protocol", why, protocol=protocol, code=code)


def test_the_producer_alone_is_named_where_the_consumer_takes_it() -> None:
    """Of a pair each library takes from the other one alone."""
    offers_none = no_protocol("a", "b", "not-exported", "dlpack_c")
    has_no_call = no_protocol("b", "a", "not-imported", "dlpack_c")
    message = reported("no-protocol", offers_none, has_no_call)
    assert message == ["dlpack_c: not imported by a; not offered by a"]


def test_a_protocol_without_other_devices_tells_of_no_library() -> None:
    copied_over = no_protocol("a", "b", "no-device-argument", "dlpack_c")
    copied_over |= {"device": "cuda:0+cpu"}
    copied_over["name"] = copied_over["run_name"] = samples.name(copied_over)
    silent = no_protocol("a", "b", "not-exported", "dlpack_c")
    assert reported("no-protocol", silent, copied_over) == ["dlpack_c: not offered by a"]


def test_where_it_is_neither_one_alone_the_pair_is_named() -> None:
    assert reported("no-protocol", no_protocol("a", "b", "other-protocol", "dlpack_legacy")) == [
        "dlpack_legacy: a -> b"
    ]


def test_an_array_that_numpy_converts_offers_no_dispatch() -> None:
    assert reported("no-protocol", no_protocol("a", "numpy", "converted", "array_ufunc")) == [
        "array_ufunc: not offered by a"
    ]


def copied(producer: str, consumer: str, by: str, **given: Any) -> dict[str, Any]:
    found = {"outcome": "copy", "copied_by": by, "gb_per_s": 2.0}
    return samples.measured(producer, consumer, 9000.0, **found, **given)


def shared(producer: str, consumer: str, writable: str, **given: Any) -> dict[str, Any]:
    return samples.measured(producer, consumer, 9.0, writable=writable, **given)


def test_the_pairs_are_named_of_which_one_array_may_be_written_to() -> None:
    ends = [shared("a", "a", "neither"), shared("b", "b", "both"), shared("b", "c", "both")]
    assert (reported("protection", *ends), writable.rows(doc(samples.document(*ends)))) == ([], [])
    ends += [shared("a", "b", "result"), shared("b", "a", "source")]
    ends += [shared("b", "c", "source", protocol="convert")]
    assert reported("protection", *ends) == [
        "may be written to, only the result: a -> b; only the source: b -> a, c"
    ]
    row = dict.fromkeys(writable.HEAD, "")
    assert writable.rows(doc(samples.document(*ends))) == [
        row | {"from": "a", "only the result": "b", "neither": "a"},
        row | {"from": "b", "only the source": "a, c (convert)", "both": "b, c (dlpack)"},
    ]


def test_each_copy_has_its_own_owner() -> None:
    entries = [copied("a", "b", "consumer"), copied("a", "b", "producer", protocol="convert")]
    assert reported("copies", *entries) == [
        "a -> b: convert, by a, 2 GB/s",
        "a -> b: dlpack, by b, 2 GB/s",
    ]


def test_a_late_read_is_of_the_pair_where_it_was_seen() -> None:
    entries = [copied("a", "jax", "consumer", late_read=True), copied("b", "jax", "consumer")]
    assert reported("copies", *entries) == [
        "b -> jax: by jax, 2 GB/s",
        "a -> jax: by jax, 2 GB/s, still reading the source after it returned",
    ]


def test_what_is_so_of_all_copies_of_a_pair_keeps_its_only() -> None:
    """Zero-copy on the GPU: each line is only of the host."""
    entries = [copied("a", "b", "consumer"), copied("a", "b", "producer", protocol="convert")]
    zero = samples.measured("a", "b", 90.0, device="cuda:0")
    assert reported("copies", *entries, zero) == [
        "a -> b: convert, only cpu, by a, 2 GB/s",
        "a -> b: dlpack, only cpu, by b, 2 GB/s",
    ]


def test_each_device_has_its_own_rate_beside_its_own_memcpy() -> None:
    document = samples.document(
        copied("a", "b", "consumer"),
        copied("a", "b", "consumer", device="cuda:0") | {"gb_per_s": 900.0},
    )
    (environment,) = document["context"]["dlbench"]["environments"].values()
    size = document["benchmarks"][0]["bytes"]
    floors = {f"warm {size}": 16.0, f"cuda:0 {size}": 2000.0, "cuda:0": 1500.0}
    environment["copy_floors_gb_per_s"] = floors
    assert [one.text for one in findings.find(doc(document)) if one.label == "copies"] == [
        "a -> b: cpu, by b, 2 GB/s (memcpy 16)",
        "a -> b: cuda:0, by b, 900 GB/s (memcpy 2000)",
    ]


def test_a_failure_names_device_case_and_size_where_they_are_not_all() -> None:
    tried = [
        samples.measured("a", "b", 90.0, device=device, case=case, bytes=size)
        for device in ("cpu", "cuda:0")
        for case in ("f32", "f64")
        for size in (4096, 65536)
    ]
    why = "too large for this kind of array"
    given = {"protocol": "dlpack", "case": "f64", "bytes": 65536, "device": "cuda:0"}
    refused = samples.missing("a", "b", "refused", why, **given)
    left = [entry for entry in tried if entry["name"] != refused["name"]]
    assert reported("refused", *left, refused) == [f"a -> b (f64, 64 KiB, cuda:0): {why}"]
    everywhere = [samples.missing("a", "b", "refused", why, bytes=size) for size in (4096, 65536)]
    assert reported("refused", *everywhere) == [f"a -> b: {why}"]


def test_what_is_lost_in_silence_is_reported_before_copies() -> None:
    def crossed(producer: str, consumer: str, *changed: str, **given: Any) -> dict[str, Any]:
        return samples.measured(producer, consumer, 90.0, changed=list(changed), **given)

    entries = [
        crossed("pint", "numpy", "unit"),
        crossed("unyt", "numpy", "unit"),
        crossed("masked", "pandas", "dtype", "mask -> NaN"),
        crossed("a", "b", "precision", case="i64"),
        crossed("a", "b", "layout"),
        copied("c", "d", "consumer"),
    ]
    found = [one for one in findings.find(doc(samples.document(*entries))) if one.command]
    assert [(one.label, one.text, one.command.split()[1:]) for one in found[:3]] == [
        ("converts", "the mask to NaN: masked -> pandas", ["show", "latest", "masked", "pandas"]),
        ("drops", "the precision: a -> b (i64)", ["show", "latest", "a", "b"]),
        ("drops", "the unit: pint, unyt -> numpy", ["show", "latest", "pint", "numpy"]),
    ]
    assert found[3].label == "copies"


def test_other_reasons_of_one_cause_are_counted() -> None:
    one, other = (
        samples.missing("numpy", "warp", "refused", why, exception="TypeError", protocol=protocol)
        for why, protocol in (("expected a float", "dlpack"), ("read-only", "buffer"))
    )
    (line,) = (
        found.text
        for found in findings.find(doc(samples.document(one, other)), "RUN", 9)
        if found.label == "refused"
    )
    assert line.endswith("TypeError: expected a float (and 1 other reason)")


def test_other_shapes_of_equal_wrong_results_are_other_reasons() -> None:
    shapes = [
        samples.missing(producer, "polars", "wrong", f"shape {shape}, not (16384,)", bytes=size)
        for producer, shape, size in (
            ("bytearray", "(65536,)", 65536),
            ("xarray", "(16384, 2)", 65536),
            ("bytearray", "(4096,)", 4096),
        )
    ]
    for count, end in ((3, " (and 1 other reason)"), (1, "not (16384,)")):
        found = findings.find(doc(samples.document(*shapes[:count])), "RUN", 9)
        assert next(one.text for one in found if one.label == "wrong").endswith(end)


@pytest.mark.parametrize("sync", [True, False])
def test_a_pair_without_an_answer_is_named_where_synchronization_was_requested(sync: bool) -> None:
    held = {
        "stream": None,
        "requested_by": "consumer",
        "reads_on": "own",
        "expected": "order",
        "waits": "host",
    }
    entries = [
        samples.measured("a", "b", 9.0, sync=[{**held, "export_blocked": 1.0}]),
        samples.measured("b", "a", 9.0),
    ]
    document = samples.document(*entries)
    document["context"]["dlbench"]["request"]["sync"] = sync
    found = [one.text for one in findings.find(doc(document)) if one.label == "sync"]
    rest = ["b -> a: not tested, dlbench cannot keep the producer busy"]
    assert found == ["a: the host is held in export", *rest * sync]


def test_a_case_that_needs_no_time_is_no_failure() -> None:
    given = {"case": "f32-row", "code": "untimed", "found": "zero-copy", "changed": []}
    untimed = samples.missing("numpy", "jax", "not-run", "not timed", **given)
    left = samples.missing("numpy", "torch", "not-run", "the budget was used up")
    document = doc(samples.document(untimed, left))
    entries = document.entries
    cells = {entry.pair: entries for entry in entries}
    (one,) = failures(entries, "not-run", document, "latest", 9, cells)
    assert (one.text.partition(":")[0], one.command) == (
        "numpy -> torch",
        "dlbench --resume latest",
    )


def test_a_copy_of_numpys_memory_names_the_alignment_to_try() -> None:
    def copied(producer: str, consumer: str) -> Any:
        return samples.measured(producer, consumer, 200.0, outcome="copy")

    (text,) = reported("alignment", copied("numpy", "jax"))
    assert text.startswith("f32 lies between multiples of 64 bytes")
    assert text.endswith("(numpy -> jax)")
    aligned = samples.measured("numpy", "jax", 200.0, case="f32-align64")
    assert reported("alignment", copied("numpy", "jax"), aligned) == []
    given = {"case": "f32-align64", "code": "untimed", "found": "zero-copy", "changed": []}
    untimed = samples.missing("numpy", "jax", "not-run", "not timed", **given)
    assert reported("alignment", copied("numpy", "jax"), untimed) == []
    assert reported("alignment", copied("numpy", "numpy")) == []
    assert reported("alignment", copied("torch", "numpy")) == []
    assert reported("alignment", samples.measured("numpy", "jax", 200.0)) == []
