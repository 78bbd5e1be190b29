"""Exports that are no attribute of an array: EXPORTS of an adapter."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from test_phases import split
from test_worker import F32, SHARE, cross, plant, send_request

import whole
from dlbench.errors import BadInput
from dlbench.libraries import discover

pytestmark = pytest.mark.process

#: Arrays that show nothing, and functions that export them.
MUTE = """
import numpy as np
from dlbench import Unsupported

DISTRIBUTION = None


class Mute:
    def __init__(self, source):
        self.source = source


def make(case, device):
    if case.readonly:
        raise Unsupported("never read-only")
    return Mute(case.numpy())


def legacy(mute):
    return mute.source.__dlpack__()


def versioned(mute):
    return mute.source.__dlpack__(max_version=(1, 0))


def copied(mute):
    return mute.source.copy().__dlpack__()


def failing(mute):
    raise BufferError("not today")


def described(mute):
    return mute.source.__array_interface__


def exported(mute):
    return memoryview(mute.source)


def as_numpy(mute):
    return mute.source


"""
TAKE_CAPSULE = """
import numpy as np
from dlbench import Capsule


class Held:
    def __init__(self, capsule):
        self.capsule = capsule

    def __dlpack__(self, **asked):
        return self.capsule

    def __dlpack_device__(self):
        return (1, 0)


PROTOCOLS = {"dlpack": Capsule(lambda capsule: np.from_dlpack(Held(capsule)))}
"""

TRIES_MORE = """
def take(x):
    try:
        return x.__array__(like=1)
    except TypeError:
        return x.__array__()


PROTOCOLS = {"convert": take}
"""


def exporting(**exports: str) -> str:
    table = ", ".join(f"{protocol!r}: {function}" for protocol, function in exports.items())
    return f"{MUTE}EXPORTS = {{{table}}}\n"


def crossed(folder: Path, protocol: str, take: str = SHARE, **exports: str) -> dict[str, Any]:
    return cross(folder, exporting(**exports), take, protocol)


@pytest.mark.parametrize(
    ("protocol", "exports", "used", "struct"),
    [
        ("dlpack", {"dlpack_legacy": "legacy"}, "dlpack", "legacy"),
        ("dlpack", {"dlpack_legacy": "legacy", "dlpack_versioned": "versioned"}, "dlpack",
         "versioned"),
        ("dlpack_legacy", {"dlpack_legacy": "legacy"}, "dlpack", "legacy"),
        ("dlpack_versioned", {"dlpack_versioned": "versioned"}, "dlpack", "versioned"),
        ("array_interface", {"array_interface": "described"}, "array_interface", ""),
        ("buffer", {"buffer": "exported"}, "buffer", ""),
        ("array", {"array": "as_numpy"}, "array", ""),
    ],
)  # fmt: skip
def test_a_call_of_the_librarys_own_crosses(
    tmp_path: Path, protocol: str, exports: dict[str, str], used: str, struct: str
) -> None:
    ok = crossed(tmp_path, protocol, **exports)["ok"]
    assert (ok["observed"]["used"], ok["observed"]["struct"]) == (used, struct)
    assert ok["observed"]["via"] == "exports"
    assert ok["floor"] == "proxy"
    assert ok["first_ns"]["call"] > 0


def test_where_it_lies_is_reported_by_the_export(tmp_path: Path) -> None:
    ok = crossed(tmp_path, "dlpack", dlpack_legacy="legacy")["ok"]
    assert (ok["outcome"], ok["evidence"]["address"], ok["evidence"]["write"]) == (
        "zero-copy", "yes", "yes",
    )  # fmt: skip
    assert ok["warnings"] == []


def test_a_capsule_is_taken_from_it(tmp_path: Path) -> None:
    ok = crossed(tmp_path, "dlpack", TAKE_CAPSULE, dlpack_legacy="legacy")["ok"]
    assert (ok["observed"]["via"], ok["observed"]["calls"]) == ("exports", ["__dlpack__()"])


def test_what_requests_an_old_struct_for_a_version_is_refused_and_asks_again(
    tmp_path: Path,
) -> None:
    calls = crossed(tmp_path, "dlpack", dlpack_legacy="legacy")["ok"]["observed"]["calls"]
    assert calls[0].endswith(" -> TypeError")
    assert calls[-1].startswith("__dlpack__(")


def test_a_library_that_does_not_ask_again_is_refused_by_no_library(tmp_path: Path) -> None:
    take = "def f(x): return x.__dlpack__(max_version=(1, 0))\nPROTOCOLS = {'dlpack': f}\n"
    error = crossed(tmp_path, "dlpack", take, dlpack_legacy="legacy")["error"]
    assert (error["outcome"], error["exception"]) == ("no-protocol", "")
    assert "passes an argument that the producer's method rejects" in error["reason"]


@pytest.mark.parametrize(
    ("protocol", "take", "exports"),
    [
        ("dlpack", SHARE, {"dlpack_legacy": "legacy"}),
        ("array", TRIES_MORE, {"array": "as_numpy"}),
    ],
)
def test_what_no_library_was_requested_is_no_failure_of_one_and_is_replayed(
    tmp_path: Path, protocol: str, take: str, exports: dict[str, str]
) -> None:
    answers = split(tmp_path, exporting(**exports), take, rounds=3, protocol=protocol)
    assert all("ok" in answer for answer in answers), answers
    calls = [(call["raised"], call["ours"]) for call in answers[0]["ok"]["calls"]]
    assert calls == [(True, True), (False, False)]


def test_a_struct_that_it_does_not_export_is_not_offered(tmp_path: Path) -> None:
    error = crossed(tmp_path, "dlpack_versioned", dlpack_legacy="legacy")["error"]
    assert (error["outcome"], error["code"], error["reason"]) == (
        "no-protocol", "not-exported", "a Mute offers no dlpack_versioned",
    )  # fmt: skip


def test_what_the_call_raises_is_the_reason(tmp_path: Path) -> None:
    error = crossed(tmp_path, "dlpack", dlpack_legacy="failing")["error"]
    assert (error["outcome"], error["exception"]) == ("refused", "BufferError")
    assert error["reason"] == "not today"


def test_an_attribute_goes_before(tmp_path: Path) -> None:
    make = (
        "import numpy as np\ndef make(case, device): return case.numpy()\n"
        "def other(x): raise RuntimeError('not asked')\n"
        "EXPORTS = {'dlpack_legacy': other}\n"
    )
    assert cross(tmp_path, make, SHARE, "buffer")["ok"]["observed"]["via"] != "exports"


def test_offers_name_them(tmp_path: Path) -> None:
    source = exporting(buffer="exported", dlpack_legacy="legacy")
    requested = {"do": "offers", "library": "giver", "device": "cpu", "case": F32}
    ok = send_request(tmp_path, plant(tmp_path, "producer", "giver", source), requested)[-1]["ok"]
    assert ok["exports"] == ["dlpack_legacy", "buffer"]
    assert "buffer" not in ok["protocols"]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("{'dlpack': f}", "EXPORTS cannot name 'dlpack'; allowed: array, "),
        ("{'convert': f}", "EXPORTS cannot name 'convert'"),
        ("dict(buffer=f)", "EXPORTS must be written as a dict"),
        ("{name: f}", "the keys of EXPORTS must be literal strings"),
    ],
)
def test_an_unfit_table_is_reported_at_once(tmp_path: Path, table: str, message: str) -> None:
    whole.plant(tmp_path, "odd", make=f"{whole.GOOD_MAKE}EXPORTS = {table}\n")
    with pytest.raises(BadInput, match=message):
        discover.catalogue(tmp_path)


def test_a_third_partys_adapter_in_a_run_with_phases_and_its_script(tmp_path: Path) -> None:
    whole.plant(tmp_path / "more", "mute", make=exporting(dlpack_legacy="legacy"))
    words = ("--adapters", "more", "--producers", "mute", "--consumers", "numpy,native")
    status, _, err = whole.run(
        tmp_path, "--matrix", *words, "--protocols", "dlpack,dlpack_versioned", "--sizes", "64KiB",
        "--phases", "all", "--precision", "99%", *whole.QUICK, "--out", "run",
    )  # fmt: skip
    assert (status, err) == (0, "")
    found = whole.entries(whole.document(tmp_path)).values()
    crossed = [e for e in found if e["phase"] == "exchange" and e["protocol"] == "dlpack"]
    assert {e["outcome"] for e in crossed} == {"zero-copy"}
    assert {e["observed"]["via"] for e in crossed} == {"exports"}
    assert {e["evidence"]["guard"] for e in crossed} == {"yes"}
    exports = [e for e in found if e["phase"] == "export" and e["protocol"] == "dlpack"]
    assert all(e["real_time"] > 0 for e in exports)
    assert len(exports) == 2
    parts = [part["what"] for e in crossed for part in e["phases"]["parts"]]
    assert any(what.endswith(" refused by the proxy") for what in parts)
    assert not any(what.endswith(" fails") for what in parts)
    others = [e for e in found if e["protocol"] == "dlpack_versioned"]
    assert {e["outcome"] for e in others} == {"no-protocol"}
    script = whole.run(tmp_path, "repro", "run", "mute", "numpy", "dlpack", "--adapters", "more")[1]
    assert str(tmp_path / "more/producers/mute.py") in script  # it has no lines for a script
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.endswith("expected: zero-copy\nactual: zero-copy\n")
    listed = whole.run(tmp_path, "list", "mute", "--adapters", "more")[1]
    assert "exports  own call: dlpack_legacy" in listed
