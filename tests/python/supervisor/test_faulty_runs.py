"""A measuring run reports each planted fault that it can detect, and none of honest libraries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import whole
from dlbench.libraries import discover
from samples import warning_texts

pytestmark = pytest.mark.process

SHARED, COPIED, WRONG = "zero-copy", "copy", "wrong"
#: Of what is planted in one side, between it and the honest native half: the outcome, and what its
#: reason, its warnings or the end of its stderr must say.
PRODUCER = {
    "honest": (SHARED, ""),
    "slow-query=20us": (SHARED, ""),
    "slow-export=20us": (SHARED, ""),
    "host-wait=20us": (SHARED, ""),
    "slow-release=20us": (SHARED, ""),
    "silent-copy": (COPIED, ""),
    "hiding-is-copied": (COPIED, ""),
    "copy-back": (COPIED, ""),
    "values-changed": (WRONG, "element (0,): expected 3, found 0"),
    "wrong-byte-offset": (WRONG, "element (0,): expected 3, found 10"),
    "wrong-strides": (WRONG, "element (1,): expected 10, found 17"),
    "wrong-shape": (WRONG, "shape (1023,), not (1024,)"),
    "wrong-dtype": (WRONG, "element (0,): expected 3, found 1077936128"),
    "wrong-device": ("refused", "device (2, 0)"),
    "wrong-name": ("refused", "not a DLPack capsule"),
    "stale-version=2.0": ("refused", "DLPack 2.0"),
    "early-free": (WRONG, "element (0,): expected 3, found -1.99"),
    "double-free": ("crashed", "its deleter was called twice"),
    "null-deleter": (SHARED, "deleter: null"),
    "never-free": (SHARED, "bytes allocated"),
}
CONSUMER = {
    "honest": (SHARED, ""),
    "slow-import=20us": (SHARED, ""),
    "silent-copy": (COPIED, ""),
    "late-read=20us": (COPIED, ""),
    "lazy-copy": (COPIED, ""),
    "copy-back": (COPIED, ""),
    "values-changed": (WRONG, "element (0,): expected 3, found 0"),
    "keeps-capsule-name": (WRONG, "deleter: called twice"),
    "early-free": (SHARED, "deleter: called while the result was alive"),
    "double-free": (WRONG, "deleter: called twice"),
    "never-free": (SHARED, "deleter: never called"),
}
#: What another instrument than a run's verdict has to find, or what needs another case.
ELSEWHERE = {
    "producer": {"lying-is-copied", "lazy-copy", "double-map", "read-only-missing"}
    # What only a device can show: test_devices_cuda.py and the trials of streams.
    | {"no-wait", "wrong-stream", "host-sync", "wrong-copy"},
    "consumer": {"read-only-ignored", "work"}
    | {"copies-argument", "swaps-arguments", "skips-body"},  # dlbench selftest calls
}
#: With a case that is read-only.
READ_ONLY = {
    "faulty:read-only-missing": (SHARED, "read-only: the export lacks the read-only flag"),
    "faulty:honest": (SHARED, ""),
}


def crossed(folder: Path, *words: str) -> dict[str, Any]:
    """The entries of a short run by producer, consumer and clock."""
    limits = ("--sizes", "4KiB", "--precision", "99%", *whole.QUICK, "--out", "run")
    status, _, err = whole.run(folder, "--matrix", *words, "--protocols", "dlpack", *limits)
    assert status == 0, err
    assert whole.left_alive(folder) == []
    entries = whole.entries(whole.document(folder)).values()
    return {f"{e['producer']} -> {e['consumer']} {e['clock']}": e for e in entries}


#: True of an honest exchange that a faulty library disturbed, and not its own fault.
BESIDE = (
    "failed in a worker with other libraries",
    "each pair of native was measured in its own worker",
)


def message(entry: dict[str, Any]) -> str:
    own = [text for text in warning_texts(entry) if not text.startswith(BESIDE)]
    words = [entry.get("reason", ""), entry.get("stderr_tail", ""), *own]
    return "\n".join(word for word in words if word != "few rounds" and "floor" not in word)


def check(entry: dict[str, Any], outcome: str, words: str) -> None:
    name = entry["name"]
    assert entry["outcome"] == outcome, name
    if words:
        assert words in message(entry), name
    else:
        assert "deleter" not in message(entry), name
        assert "read-only" not in message(entry), name
        assert "memory:" not in message(entry), name


def named(planted: dict[str, Any]) -> str:
    return ",".join(f"faulty:{fault}" for fault in planted)


def test_the_tables_hold_every_fault() -> None:
    files = discover.catalogue().files["faulty"]
    for role, table in (("producer", PRODUCER), ("consumer", CONSUMER)):
        known = {fault.partition("=")[0] for fault in table}
        assert known | ELSEWHERE[role] == set(files[role].arguments)
        assert not known & ELSEWHERE[role]


def test_faults_of_a_producer(tmp_path: Path) -> None:
    found = crossed(tmp_path, "--producers", f"native,{named(PRODUCER)}", "--consumers", "native")
    check(found["native -> native call"], SHARED, "")
    for fault, (outcome, words) in PRODUCER.items():
        check(found[f"faulty:{fault} -> native call"], outcome, words)


def test_faults_of_a_consumer(tmp_path: Path) -> None:
    found = crossed(tmp_path, "--producers", "native", "--consumers", f"native,{named(CONSUMER)}")
    check(found["native -> native call"], SHARED, "")
    # Whether the freed memory was taken again in time is chance: then its values tell.
    freed = found["native -> faulty:early-free call"]
    if freed["outcome"] == WRONG:
        check(freed, WRONG, "the values changed after the producer's array was dropped")
    for fault, (outcome, words) in CONSUMER.items():
        if fault == "early-free" and freed["outcome"] == WRONG:
            continue
        check(found[f"native -> faulty:{fault} call"], outcome, words)
    # Only a late read has a `ready` of its own.
    assert [name for name in found if name.endswith("ready")] == [
        "native -> faulty:late-read=20us ready"
    ]


def test_what_only_a_read_only_array_shows(tmp_path: Path) -> None:
    producers = f"native,{','.join(READ_ONLY)}"
    words = ("--producers", producers, "--consumers", "native,faulty:read-only-ignored")
    found = crossed(tmp_path, *words, "--cases", "f32-readonly")
    check(found["native -> native call"], SHARED, "")
    for producer, (outcome, wanted) in READ_ONLY.items():
        check(found[f"{producer} -> native call"], outcome, wanted)
    ignored = found["native -> faulty:read-only-ignored call"]
    check(ignored, WRONG, "element (0,): expected 3, found 0")


def test_a_delay_is_in_the_number(tmp_path: Path) -> None:
    """At least what was asked for: a spin never ends early."""
    words = ("--producers", "faulty:slow-export=50us,faulty:slow-release=50us,faulty:honest")
    found = crossed(tmp_path, *words, "--consumers", "native")
    for fault in ("slow-export", "slow-release"):
        assert found[f"faulty:{fault}=50us -> native call"]["real_time"] >= 50_000


@pytest.mark.libraries
def test_honest_libraries_raise_no_alarm(tmp_path: Path) -> None:
    words = ("--producers", "native,numpy,torch", "--consumers", "native,numpy,torch")
    found = crossed(tmp_path, *words)
    assert len(found) == 9
    for entry in found.values():
        check(entry, SHARED, "")
