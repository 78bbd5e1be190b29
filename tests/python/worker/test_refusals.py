"""A refusal is attributed to the side that raised it, and a proxy's refusal to neither library."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlbench import _core
from samples import warning_codes
from wire import F32, plant, prepare, send_request

pytestmark = pytest.mark.process

#: Its arrays warn where DLPack is asked for without a version.
GIVER = """
import warnings


class Mine:
    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **keywords):
        if "max_version" not in keywords:
            warnings.warn("ask for a version", DeprecationWarning)
        if keywords.get("max_version") == (0, 1):
            raise BufferError("too old")
        return self.array.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __array__(self, dtype=None, copy=None):
        return self.array


def make(case, device):
    return Mine(case.numpy())


def address(mine):
    return mine.array.ctypes.data


def values(mine):
    return mine.array
"""
#: Takes Mine as it is. Of anything else it asks for a protocol, and raises.
PICKY = """
import numpy as np


def take(x):
    if type(x).__name__ == "Mine":
        return np.from_dlpack(x)
    return np.from_dlpack(x.__dlpack__(max_version=(0, 1)))


def convert(x):
    if type(x).__name__ == "Mine":
        return x.array
    x.__array__()
    raise TypeError("not this")


PROTOCOLS = {"dlpack": take, "convert": convert}
"""
STERN = """
def take(x):
    x.__array__()
    raise ValueError("never a " + type(x).__name__)


PROTOCOLS = {"dlpack": take, "convert": take}
"""
#: Refuses the array itself by its type, and imports what shows the protocol.
OWN = """
import numpy as np
def take(x):
    if type(x).__name__ == "Mine":
        raise ValueError("never a Mine")
    return np.from_dlpack(x)


PROTOCOLS = {"dlpack": take}
"""
GENERAL = OWN.replace("}", ", 'convert': take}")
#: Imports without asking for a version where it is refused.
PLAIN = "import numpy as np\nPROTOCOLS = {'dlpack': np.from_dlpack}\n"


def one(number: int, consumer: str, protocol: str, producer: str = "giver") -> dict[str, Any]:
    return prepare(number, producer, consumer, protocol, F32)


@pytest.fixture(scope="module")
def errors(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What one worker answers, by consumer and protocol."""
    folder = tmp_path_factory.mktemp("adapters")
    cells = [
        *(("picky", protocol) for protocol in ("dlpack", "dlpack_versioned", "array", "convert")),
        *(("stern", protocol) for protocol in ("dlpack", "array")),
        *(("plain", protocol) for protocol in ("dlpack", "dlpack_legacy")),
        *((name, "dlpack") for name in ("own", "general")),
        ("broken", "dlpack"),
        ("absent", "dlpack"),
    ]
    loads = [
        plant(folder, "producer", "giver", GIVER),
        plant(folder, "producer", "broken", "def make(case, device): raise KeyError(case.dtype)"),
        plant(folder, "producer", "absent", "def make(case, device): return None"),
        plant(folder, "consumer", "picky", PICKY),
        plant(folder, "consumer", "stern", STERN),
        plant(folder, "consumer", "plain", PLAIN),
        plant(folder, "consumer", "own", OWN),
        plant(folder, "consumer", "general", GENERAL),
    ]
    requested = [
        one(
            number,
            *(("stern", protocol, name) if name in ("broken", "absent") else (name, protocol)),
        )
        for number, (name, protocol) in enumerate(cells)
    ]
    answers = send_request(folder, *loads, *requested)[len(loads) :]
    return {" ".join(cell): answer for cell, answer in zip(cells, answers, strict=True)}


@pytest.mark.parametrize(
    ("cell", "raised"),
    [
        ("picky dlpack", "giver's export failed and the call raised BufferError: too old"),
        (
            "picky dlpack_versioned",
            "giver's export failed and the call raised BufferError: too old",
        ),
        ("picky array", "picky raised TypeError: not this"),
    ],
)
def test_a_consumer_that_takes_the_array_itself_refuses_nothing(
    errors: dict[str, Any], cell: str, raised: str
) -> None:
    error = errors[cell]["error"]
    assert (error["outcome"], error["code"]) == ("no-protocol", "proxy-refused")
    assert error["reason"].endswith(raised)
    assert errors["picky convert"]["ok"]["outcome"] == "zero-copy"


@pytest.mark.parametrize("cell", ["stern dlpack", "stern array", "own dlpack"])
def test_what_the_array_itself_meets_is_a_refusal(errors: dict[str, Any], cell: str) -> None:
    error = errors[cell]["error"]
    assert (error["outcome"], error["exception"]) == ("refused", "ValueError")
    assert error["reason"] == "never a Mine"
    assert "code" not in error


def test_a_call_of_several_protocols_may_import_a_proxy(errors: dict[str, Any]) -> None:
    assert errors["general dlpack"]["ok"]["observed"]["via"] == "proxy"


@pytest.mark.parametrize("producer", ["broken", "absent"])
def test_a_make_that_fails_is_the_producers(errors: dict[str, Any], producer: str) -> None:
    error = errors[f"{producer} dlpack"]["error"]
    assert (error["outcome"], error["code"]) == ("unsupported", "make-failed")
    assert producer in error["reason"]
    assert "stern" not in error["reason"]


def test_warnings_are_those_of_the_way_that_is_measured(errors: dict[str, Any]) -> None:
    direct, proxied = errors["plain dlpack"]["ok"], errors["plain dlpack_legacy"]["ok"]
    assert direct["observed"]["via"] == "direct"
    assert proxied["observed"]["via"] == "proxy"
    assert "python-warning" not in warning_codes(direct)
    assert warning_codes(proxied).count("python-warning") == 1


def test_plain_bytes_have_no_byte_order(tmp_path: Path) -> None:
    make = "SPECIAL = ('swapped',)\ndef make(case, device): return case.numpy()\n"
    taken = {
        "keeps": "bytearray(x)",
        "turns": "bytearray(x.byteswap())",
        "drops": "bytearray(len(bytearray(x)))",
    }
    loads = [plant(tmp_path, "producer", "giver", make)]
    requested = []
    for name, result in taken.items():
        text = f"def take(x): return {result}\nPROTOCOLS = {{'dlpack': take, 'convert': take}}\n"
        loads.append(plant(tmp_path, "consumer", name, text))
        case = _core.case("f32-swapped")
        requested += [
            prepare(len(requested) + i, "giver", name, protocol, case)
            for i, protocol in enumerate(("convert", "dlpack"))
        ]
    answers = send_request(tmp_path, *loads, *requested)[len(loads) :]
    keeps, keeps_dlpack, *others = answers
    assert keeps["ok"]["outcome"] == "copy"
    assert keeps["ok"]["changed"] == ["dtype"]
    # NumPy exports no swapped array by DLPack: the bytes came by the buffer protocol.
    assert keeps_dlpack["error"]["outcome"] == "no-protocol"
    assert [other["error"]["outcome"] for other in others] == ["wrong"] * 4
