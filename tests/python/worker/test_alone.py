"""A consumer without a call for one protocol alone receives an object with that protocol alone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from test_worker import MAKE, SHARE, cross

from dlbench import _core
from dlbench.libraries import alone

pytestmark = pytest.mark.process

PROTOCOLS = [*alone.PROPERTIES, *alone.METHODS, "buffer"]


def observed(ok: dict[str, Any]) -> tuple[str, str, str]:
    return ok["observed"]["used"], ok["observed"]["struct"], ok["observed"]["via"]


def test_each_struct_of_dlpack_is_requested(tmp_path: Path) -> None:
    legacy = cross(tmp_path, MAKE, SHARE, "dlpack_legacy")["ok"]
    assert observed(legacy) == ("dlpack", "legacy", "proxy")
    assert legacy["observed"]["calls"][0].endswith(" -> TypeError")
    assert legacy["outcome"] == "zero-copy"
    versioned = cross(tmp_path, MAKE, SHARE, "dlpack_versioned")["ok"]
    assert observed(versioned) == ("dlpack", "versioned", "direct")


OLD = (
    "class Old:\n"
    "    def __init__(self, a): self.a = a\n"
    "    def __dlpack__(self, stream=None): return self.a.__dlpack__(stream=stream)\n"
    "    def __dlpack_device__(self): return self.a.__dlpack_device__()\n"
    "def make(case, device): return Old(case.numpy())\n"
)


def test_a_producer_of_one_struct_has_no_other(tmp_path: Path) -> None:
    assert observed(cross(tmp_path, OLD, SHARE, "dlpack_legacy")["ok"])[1:] == ("legacy", "direct")
    error = cross(tmp_path, OLD, SHARE, "dlpack_versioned")["error"]
    assert error["outcome"] == "no-protocol"
    assert error["reason"] == (
        "the consumer requested a version, and the producer exported a legacy struct"
    )


BARE = """
import numpy as np
class Held:
    def __init__(self, capsule): self.capsule = capsule
    def __dlpack__(self, **asked): return self.capsule
    def __dlpack_device__(self): return (1, 0)
PROTOCOLS = {"dlpack": lambda x: np.from_dlpack(Held(x.__dlpack__(ASKED)))}
"""


@pytest.mark.parametrize(
    ("make", "requested", "protocol", "given"),
    [
        (OLD, "", "dlpack_versioned", "legacy"),
        (MAKE, "", "dlpack_versioned", "legacy"),
        (MAKE, "max_version=None", "dlpack_versioned", "legacy"),
        (
            OLD.replace("(stream=stream)", "(stream=stream, max_version=(1, 0))"),
            "",
            "dlpack_legacy",
            "versioned",
        ),
    ],
    ids=["a-producer-of-old", "a-new-one", "none-is-no-version", "versioned-unasked"],
)
def test_what_requests_for_no_version_is_reported_so(
    tmp_path: Path, make: str, requested: str, protocol: str, given: str
) -> None:
    error = cross(tmp_path, make, BARE.replace("ASKED", requested), protocol)["error"]
    assert (error["outcome"], error["reason"]) == (
        "no-protocol",
        f"the consumer requested no version, and the producer exported a {given} struct",
    )


def test_a_library_that_is_handed_a_capsule_gets_what_is_handed_out_unrequested(
    tmp_path: Path,
) -> None:
    take = (
        "import numpy as np\n"
        "from dlbench import Capsule\n"
        "class Held:\n"
        "    def __init__(self, capsule): self.capsule = capsule\n"
        "    def __dlpack__(self, **k): return self.capsule\n"
        "    def __dlpack_device__(self): return (1, 0)\n"
        "PROTOCOLS = {'dlpack': Capsule(lambda capsule: np.from_dlpack(Held(capsule)))}\n"
    )
    assert cross(tmp_path, MAKE, take, "dlpack_legacy")["ok"]["observed"]["struct"] == "legacy"
    error = cross(tmp_path, MAKE, take, "dlpack_versioned")["error"]
    assert error["outcome"] == "no-protocol"
    assert "which has the legacy struct" in error["reason"]


@pytest.mark.parametrize("protocol", ["array_interface", "array_struct", "buffer", "array"])
def test_a_conversion_is_shown_that_protocol_alone(tmp_path: Path, protocol: str) -> None:
    ok = cross(tmp_path, MAKE, SHARE, protocol)["ok"]
    assert (ok["observed"]["used"], ok["observed"]["via"]) == (protocol, "proxy")
    assert ok["outcome"] == "zero-copy"
    assert ok["floor"] == "proxy"


def test_a_conversion_that_asks_for_nothing_does_not_take_it(tmp_path: Path) -> None:
    take = "import numpy as np\ndef f(x):\n    raise ValueError('what is this?')\n"
    error = cross(tmp_path, MAKE, take + "PROTOCOLS = {'convert': f}\n", "array_interface")["error"]
    assert error["outcome"] == "no-protocol"
    assert (error["code"], error["data"]) == ("other-protocol", {"proxy": "what is this?"})


def test_a_conversion_that_asks_and_then_refuses_is_refused(tmp_path: Path) -> None:
    take = "def f(x):\n    x.__array_interface__\n    raise BufferError('not today')\n"
    error = cross(tmp_path, MAKE, take + "PROTOCOLS = {'convert': f}\n", "array_interface")["error"]
    assert (error["outcome"], error["reason"]) == ("refused", "not today")


def test_a_conversion_is_not_taken_for_dlpack(tmp_path: Path) -> None:
    """A consumer that imports DLPack has a call for it, and a column of it that can be compared."""
    take = "import numpy as np\nPROTOCOLS = {'convert': np.asarray}\n"
    for protocol in ("dlpack", "dlpack_legacy", "dlpack_c"):
        error = cross(tmp_path, MAKE, take, protocol)["error"]
        assert error["reason"] == f"taker has no call for {protocol}"
        assert error["code"] == "not-imported"


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_lines_of_a_reproducer_show_one_protocol(protocol: str) -> None:
    if protocol == "cuda_array_interface":
        take = "class Cuda: __cuda_array_interface__ = {'version': 3}\narray = Cuda()\n"
        check = "assert array.__cuda_array_interface__ == {'version': 3}\n"
    else:
        take = "import numpy as np\nsource = array = np.arange(5)\n"
        function = "np.from_dlpack" if protocol.startswith("dlpack") else "np.asarray"
        check = f"result = {function}(array)\nassert np.shares_memory(result, source)\n"
    check += "assert type(array).__name__ in ('Alone', 'PickleBuffer')\n"
    script = (
        "from pickle import PickleBuffer\n" + take + "\n".join(alone.alone(protocol)) + "\n" + check
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


def test_every_protocol_of_an_import_can_be_shown_alone() -> None:
    others = {"convert", "dlpack_c", "array_ufunc", "array_function", "call"}
    assert {*_core.protocols} - set(PROTOCOLS) == others


def test_what_the_producer_fails_alone_is_reported_as_its_own(tmp_path: Path) -> None:
    """Also after the old method has refused the version."""
    make = MAKE.replace("return case.numpy()", "a = case.numpy(); a.flags.writeable = 0; return a")
    error = cross(tmp_path, make, SHARE, "dlpack_legacy")["error"]
    assert (error["outcome"], error["exception"]) == ("no-protocol", "BufferError")
    assert error["code"] == "proxy-refused"


def test_a_library_that_does_not_try_again_without_a_version_takes_no_legacy(
    tmp_path: Path,
) -> None:
    take = "def f(x): return x.__dlpack__(max_version=(1, 0))\nPROTOCOLS = {'dlpack': f}\n"
    error = cross(tmp_path, MAKE, take, "dlpack_legacy")["error"]
    assert error["outcome"] == "no-protocol"
    assert "unexpected keyword argument 'max_version'" in error["reason"]
