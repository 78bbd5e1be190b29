"""Descriptions that no memory can have: a rule finds them, and the judge survives."""

from __future__ import annotations

import ctypes
import resource
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from test_native_foreign import delete, described

from dlbench import _check
from dlbench.check import running
from dlbench.check.reading import gathered, values
from dlbench.check.rules import RULES
from dlbench.check.subject import Subject
from dlbench.check.verdict import Broken
from dlpack_structs import ExchangeApi, Versioned, borrowed_capsule
from forged_buffer import Buffer, buffer_type
from wire import F32, plant, prepare, send_request

pytestmark = pytest.mark.process

FALSE = [
    {"shape": [2**62 + 1, 1]},
    {"shape": [2**62, 2**62]},
    {"shape": [-1, 4]},
    {"shape": [2**31, 2**30]},
    {"shape": [2**33, 1]},
    {"strides": [2**62, 1]},
    {"strides": [-(2**63), 1]},
    {"strides": [2**60, 2**60]},
    {"ndim": -1},
    {"ndim": 2**31 - 1},
    {"shape": None},
]


@pytest.mark.parametrize("lie", FALSE, ids=str)
def test_a_false_capsule_is_broken_and_not_read(lie: dict[str, Any]) -> None:
    tensor, _kept = described(lie)
    managed = Versioned(1, 3, None, delete, 0, tensor)
    facts = _check.read(borrowed_capsule(managed))
    with pytest.raises(Broken):
        values(facts)


@pytest.mark.parametrize(
    ("field", "value"), [("bits", 0), ("lanes", 0), ("data", None), ("byte_offset", 2**64 - 1)]
)
def test_so_is_one_without_elements_or_address(field: str, value: int | None) -> None:
    tensor, _kept = described({})
    setattr(tensor, field, value)
    managed = Versioned(1, 3, None, delete, 0, tensor)
    facts = _check.read(borrowed_capsule(managed))
    with pytest.raises(Broken):
        values(facts)


def test_what_is_gathered_is_checked_first() -> None:
    data = np.arange(6, dtype="f4").reshape(2, 3)
    place = data.ctypes.data
    assert gathered(place, (3, 2), (4, 12), 4) == data.T.tobytes()
    assert gathered(place, (), (), 4) == data[:1, :1].tobytes()
    assert gathered(0, (0, 2**62), None, 4) == b""
    for shape, strides, item in [
        ((6,), (4, 4), 4),
        ((2**61,), (0,), 4),
        ((2**30,), (0,), 4),
        ((6,), None, 0),
        ((6,), None, -4),
        ((2**63,), None, 4),
        ((1,) * 65, None, 4),
        (("six",), None, 4),
        (6, None, 4),
    ]:
        with pytest.raises(Broken):
            gathered(place, shape, strides, item)


def judged(make: Any, *names: str) -> list[str]:
    """The outcomes of rules on a producer of what `make` returns."""
    module = ModuleType("forged")
    module.make = lambda case, device: make(case)  # type: ignore[attr-defined]
    subject = Subject("forged", module, None)
    return [running.run(subject, name)["outcome"] for name in names]


@pytest.mark.parametrize("ndim", [-1, 65, 2**31 - 1, -(2**31)])
def test_a_buffer_of_absurd_dimensions_is_broken(ndim: int) -> None:
    memory = np.arange(1024, dtype="f4")
    sizes = (ctypes.c_int64 * 64)(*[1] * 64)

    def fill(view: Buffer, _: int) -> int:
        view.buf, view.len, view.itemsize = memory.ctypes.data, memory.nbytes, 4
        view.format, view.ndim = b"f", ndim
        view.shape = view.strides = ctypes.addressof(sizes)
        return 0

    assert judged(lambda case: buffer_type(fill)(), "buffer.values") == ["broken"]


def test_a_buffer_that_fails_without_an_exception_is_broken() -> None:
    outcomes = judged(lambda case: buffer_type(lambda view, x: -1)(), "buffer.values")
    assert outcomes == ["broken"]


@pytest.mark.parametrize("shape", [[2**62 + 1], [2**31, 2**31, 2**31], [-1]], ids=str)
def test_a_false_struct_is_broken(shape: list[int]) -> None:
    memory = np.arange(1024, dtype="f4")
    capsule = _check.make_struct(
        2, "f", 4, 0x700, shape, [4] * len(shape), memory.ctypes.data, memory
    )
    kind = type("Forged", (), {"__array_struct__": capsule})
    assert judged(lambda case: kind(), "struct.values") == ["broken"]


def test_a_pointer_to_no_table_is_refused() -> None:
    for address in (8, 2**47, 2**63 - 8, 2**64 - 8, id(object) + 1):
        with pytest.raises(ValueError, match="misaligned or not readable"):
            _check.Api(address)
    table = ExchangeApi(major=2, minor=0, prev_api=8)
    with pytest.raises(ValueError, match="links to no table"):
        _ = _check.Api(ctypes.addressof(table)).versions
    table.prev_api = ctypes.addressof(table)
    assert set(_check.Api(ctypes.addressof(table)).versions) == {(2, 0)}
    with pytest.raises(ValueError, match="NULL"):
        _check.Api(ctypes.addressof(table)).from_object(3)


def test_a_link_to_no_table_is_the_tables_fault() -> None:
    table = ExchangeApi(major=1, minor=0, prev_api=8)
    address = ctypes.addressof(table)
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = (
        ctypes.py_object,
        (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p),
    )
    published = new(address, b"dlpack_exchange_api", None)
    kind = type("Forged", (np.ndarray,), {"__dlpack_c_exchange_api__": published})
    names = [name for name, rule in RULES.by_name.items() if rule.group == "c-api"]
    outcomes = dict(zip(names, judged(lambda case: case.numpy().view(kind), *names), strict=True))
    assert outcomes.pop("c-api.capsule") == "holds"
    assert outcomes.pop("c-api.version") == "broken"
    assert set(outcomes.values()) == {"not-applicable"}


def test_a_complaint_that_is_no_utf8_is_spelled_out() -> None:
    complain = ctypes.PYFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)

    def allocate(prototype: Any, out: Any, context: int, set_error: int) -> int:
        complain(set_error)(context, b"Buf\xff", b"no \xfe")
        return -1

    table = ExchangeApi(major=1, minor=3)
    table.allocate = type(table.allocate)(allocate)
    answer = _check.Api(ctypes.addressof(table)).allocate((200, 32, 1), (3, 5))
    assert (answer["kind"], answer["message"]) == ("Buf\\xff", "no \\xfe")


# Arrays of NumPy's whose type publishes a table that NAME says.
TABLES = """\
import ctypes
import resource
import numpy as np

FUNCTION = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(ctypes.c_void_p))
nothing = FUNCTION(lambda x, out: 0)


class Table(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("prev", ctypes.c_void_p),
                ("functions", ctypes.c_void_p * 5)]


def table(major, prev=0, functions=()):
    made = Table(major, 0, prev, (ctypes.c_void_p * 5)(*functions))
    KEPT.append(made)
    return made


KEPT = []
pointer = ctypes.cast(nothing, ctypes.c_void_p).value
circle = table(2)
circle.prev = ctypes.addressof(circle)
ADDRESSES = {
    "garbage": 8,
    "odd": ctypes.addressof(circle) + 1,
    "circle": ctypes.addressof(circle),
    "broken-link": ctypes.addressof(table(2, 8)),
    "null": ctypes.addressof(table(1)),
    "no-tensor": ctypes.addressof(table(1, 0, [0, pointer, 0, 0, 0])),
}


class Array(np.ndarray):
    __c_dlpack_exchange_api__ = ADDRESSES[NAME]


def make(case, device):
    return case.numpy().view(Array)
"""
NATIVE = """\
import numpy as np
from dlbench import _native_consumer

PROTOCOLS = {"dlpack": _native_consumer.from_dlpack, "dlpack_c": _native_consumer.from_dlpack_c,
             "convert": np.asarray}
"""


def test_a_table_that_is_none_costs_the_cells_of_its_protocol(tmp_path: Path) -> None:
    names = ["garbage", "odd", "circle", "broken-link", "null", "no-tensor"]
    requests = [plant(tmp_path, "consumer", "taker", NATIVE)]
    requests += [plant(tmp_path, "producer", name, f"NAME = {name!r}\n{TABLES}") for name in names]
    first = len(requests)
    for number, name in enumerate(names):
        for at, protocol in enumerate(("dlpack", "dlpack_c", "convert")):
            requests.append(prepare(3 * number + at, name, "taker", protocol, F32))
    answers = send_request(tmp_path, *requests)[first:]
    assert len(answers) == 3 * len(names)
    for number, name in enumerate(names):
        plain, by_table, converted = answers[3 * number : 3 * number + 3]
        assert plain["ok"]["outcome"] == "zero-copy", name
        assert converted["ok"]["outcome"] == "zero-copy", name
        assert by_table["error"]["outcome"] == "refused", (name, by_table)


def test_a_result_that_repeats_one_element_without_end_is_not_gathered() -> None:
    """Each way of reading has a limit: the elements are 4 GiB."""
    endless = np.lib.stride_tricks.as_strided(np.zeros(1, "f4"), (2**30,), (0,))
    consumer = ModuleType("forged")
    consumer.PROTOCOLS = {"dlpack": lambda x: x.__dlpack__(max_version=(1, 0)) and endless}  # type: ignore[attr-defined]
    subject = Subject("forged", None, consumer)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert running.run(subject, "import.versioned")["outcome"] == "unclear"
    assert judged(lambda case: endless, "buffer.keeps-memory") == ["broken"]
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2**20  # KiB
