"""Calls of functions with several arrays: the record of the body proves what they got."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

from dlbench import _core
from dlbench.adapter import Call, Unsupported, X, function_of, written_function
from dlbench.libraries import discover
from wire import F32, plant, prepare, send_request

pytestmark = pytest.mark.process

PACKAGE = discover.PACKAGE
MAKE = (PACKAGE / "producers" / "numpy.py").read_text()
#: Functions of three arrays by ctypes, with planted faults.
PLANTED = """
import ctypes
from dlbench.adapter import call_library

DISTRIBUTION = None
FUNCTION = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3)(
    call_library().dlbench_call_function(3))
calls = 0


def address(array):
    return array.ctypes.data


def fault(a, b, c):
    global calls
    calls += 1
    BODY


PROTOCOLS = {"call": lambda arrays: fault}
"""
GOOD = "FUNCTION(address(a), address(b), address(c))"


def judged(
    folder: Path, body: str, *more: dict[str, Any], spelled: str = "", **case: Any
) -> list[dict[str, Any]]:
    """The answers to `prepare` and `more` for a function with this body, and these lines after
    it."""
    loads = [
        plant(folder, "producer", "numpy", MAKE),
        plant(folder, "consumer", "planted", PLANTED.replace("BODY", body) + spelled),
    ]
    request = prepare(1, "numpy", "planted", "call", _core.case(case.get("case", "f32")),
                      case.get("bytes", 1024))  # fmt: skip
    request["exchange"]["arrays"] = 3
    return send_request(folder, *loads, request, *more)[2:]


ROUND = {"do": "round", "id": 1, "clock": "call", "iterations": 50, "prelude": 3}


SPELLED = """
from dlbench import Call, X
from dlbench.adapter import keywords, one_list, scalars

def of_list(arrays):
    fault(*arrays)

def with_scalars(a, b, c, count, scale):
    assert (count, scale) == (3, 0.5)
    fault(a, b, c)

PROTOCOLS = {"call": lambda arrays: SPELLED}
"""


@pytest.mark.parametrize(
    "call",
    [
        "Call(fault, X, c=X, b=X)",
        "Call(fault, b=X, a=X, c=X)",
        "one_list(lambda arrays: fault(*reversed(arrays)), arrays)",
        "scalars(lambda a, b, c, *scalars: fault(a, c, b), arrays)",
    ],
)
def test_a_call_that_passes_arrays_in_another_order_is_wrong(tmp_path: Path, call: str) -> None:
    (prepared,) = judged(tmp_path, GOOD, spelled=SPELLED.replace("SPELLED", call))
    assert prepared["error"]["outcome"] == "wrong"
    assert " is array " in prepared["error"]["reason"]


@pytest.mark.parametrize(
    "call",
    [
        "Call(fault, X, b=X, c=X)",
        "keywords(lambda a0, a1, a2: fault(a0, a1, a2), arrays)",
        "one_list(of_list, arrays)",
        "scalars(with_scalars, arrays)",
    ],
)
def test_each_x_of_a_call_is_the_next_array(tmp_path: Path, call: str) -> None:
    text = SPELLED.replace("SPELLED", call)
    prepared, timed = judged(tmp_path, GOOD, ROUND, spelled=text)
    assert prepared["ok"]["outcome"] == "zero-copy"
    assert timed["ok"]["ns"] > 0


def test_a_call_needs_an_x_for_each_array(tmp_path: Path) -> None:
    text = SPELLED.replace("SPELLED", "Call(fault, X, [X])")
    (prepared,) = judged(tmp_path, GOOD, spelled=text)
    assert prepared["error"]["outcome"] == "import-failed"
    assert "a Call with 2 arguments X for 3 arrays" in prepared["error"]["reason"]


def test_a_call_in_python_passes_the_arrays_in_order() -> None:
    call = Call(lambda *args, **kwargs: (args, kwargs), X, [X, 7], 3, c=X)
    assert call(1, 2, 4) == ((1, [2, 7], 3), {"c": 4})
    for arrays in ((1, 2), (1, 2, 4, 8)):
        with pytest.raises(TypeError, match=f"than the {len(arrays)} arrays"):
            call(*arrays)


def test_a_function_that_gets_all_arrays_is_timed(tmp_path: Path) -> None:
    prepared, timed, again = judged(tmp_path, GOOD, ROUND, {"do": "judge", "id": 1})
    assert prepared["ok"]["outcome"] == again["ok"]["outcome"] == "zero-copy"
    assert prepared["ok"]["observed"]["used"] == "call"
    assert prepared["ok"]["evidence"]["address"] == "yes"
    assert prepared["ok"]["warnings"] == []
    assert timed["ok"]["ns"] > 0


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("FUNCTION(address(b), address(a), address(c))", "call: argument 1 is array 2"),
        ("pass", "call: the body ran 0 times in 1 call"),
        (f"{GOOD}; {GOOD}", "call: the body ran 2 times in 1 call"),
        ("FUNCTION(address(a), None, address(c))", "call: argument 2 is a null pointer"),
        (
            "other = b * 2; FUNCTION(address(a), address(other), address(c))",
            "call: argument 2: element (0,): expected 3, found 6",
        ),
        (
            "kept = globals().setdefault('first', (a, b, c)); FUNCTION(*map(address, kept))",
            "call: argument 1 is array 1 of another call",
        ),
    ],
)
def test_a_fault_is_wrong(tmp_path: Path, body: str, reason: str) -> None:
    (answer,) = judged(tmp_path, body)
    error = answer["error"]
    assert (error["outcome"], error["code"], error["reason"]) == (
        "wrong",
        "wrong-arguments",
        reason,
    )


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (GOOD.replace("(a)", "(b)"), "call: a later call passed other arrays to the body"),
        ("pass", "call: the body ran 49 times in 50 calls"),
    ],
)
def test_a_fault_in_a_round_alone_is_wrong(tmp_path: Path, fault: str, reason: str) -> None:
    # The calls before the rounds that are judged are fewer than 25.
    body = f"if calls % 50 == 25: {fault}\n    else: {GOOD}"
    prepared, timed = judged(tmp_path, body, ROUND)
    assert prepared["ok"]["outcome"] == "zero-copy"
    assert (timed["error"]["outcome"], timed["error"]["reason"]) == ("wrong", reason)


#: Describes the arguments to the record as their arrays are, but for STRIDES of the second.
DESCRIBED = """
from dlbench.call_record import BodyRecord

LIBRARY = call_library()
NUMBERS = ctypes.c_int64 * 2
LIBRARY.dlbench_call_describe.argtypes = [
    ctypes.c_size_t, ctypes.c_int32, NUMBERS, NUMBERS, ctypes.c_int64, ctypes.c_uint8,
    ctypes.c_uint8]


def describe(*arrays, **other):
    for i, array in enumerate(arrays if BodyRecord.of_library().described else ()):
        words = {"shape": array.shape, "strides": array.strides,
                 "dtype": (2 if array.dtype.kind == "f" else 0, 8 * array.itemsize)}
        words |= other if i == 1 else {}
        LIBRARY.dlbench_call_describe(i, array.ndim, NUMBERS(*words["shape"]),
                                      NUMBERS(*words["strides"]), 1, *words["dtype"])
"""


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        ("", ""),
        ("strides=b.strides[::-1]", "strides (4, 256), not (256, 4), in bytes"),
        ("shape=(1, b.size)", "shape (1, 256), not (4, 64)"),
        ("dtype=(0, 32)", "dtype int32, not float32"),
        ("dtype=(0, 0)", ""),
    ],
)
def test_an_argument_with_another_description_is_wrong(
    tmp_path: Path, other: str, reason: str
) -> None:
    body = f"describe(a, b, c, {other}); {GOOD}"
    prepared, *_ = judged(tmp_path, body, ROUND, spelled=DESCRIBED, case="f32-2d")
    if not reason:
        assert prepared["ok"]["outcome"] == "zero-copy"
        return
    error = prepared["error"]
    assert (error["outcome"], error["reason"]) == ("wrong", f"call: argument 2 has {reason}")
    assert error["data"] == {"described": reason}


@pytest.mark.parametrize("more", ["", " + 1"])
def test_a_copy_is_read_as_it_is_described(tmp_path: Path, more: str) -> None:
    body = f"copy = b.astype('i4'){more}; describe(a, copy, c, dtype=(0, 32)); "
    body += "FUNCTION(address(a), address(copy), address(c))"
    (prepared,) = judged(tmp_path, body, spelled=DESCRIBED, case="i64-2d")
    if more:
        assert prepared["error"]["outcome"] == "wrong"
        assert "dtype" not in prepared["error"]["reason"]
    else:
        assert (prepared["ok"]["outcome"], prepared["ok"]["changed"]) == ("copy", ["dtype"])


#: Each export of its arrays is another copy, and it has no `address`.
UNLOCATED = """
DISTRIBUTION = None


class Array:
    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **words):
        return self.array.copy().__dlpack__(**words)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def make(case, device):
    return Array(case.numpy())
"""


def test_arrays_without_a_known_place_are_no_crash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(globals(), "MAKE", UNLOCATED)
    (answer,) = judged(tmp_path, "pass")
    assert answer["error"]["outcome"] == "unsupported"
    assert "each export" in answer["error"]["reason"]


@pytest.mark.parametrize(
    ("body", "copier"),
    [
        ("c = np.from_dlpack(c).copy()", "consumer"),
        ("c = np.from_dlpack(c, copy=True)", "producer"),
        # A function that takes no proxy: NumPy's code reads the array, for whichever side.
        ("c = np.ndarray.copy(c)", ""),
    ],
)
def test_the_copier_of_an_argument_is_named(tmp_path: Path, body: str, copier: str) -> None:
    body = f"import numpy as np; {body}; {GOOD}"
    _, again = judged(tmp_path, body, {"do": "judge", "id": 1})
    assert again["ok"]["outcome"] == "copy"
    assert again["ok"]["copied_by"] == copier
    read_by = " ".join(again["ok"].get("guard", {}).get("by", []))
    assert read_by.startswith("" if copier else "_multiarray_umath")


@pytest.mark.parametrize("is_left", [True, False])
def test_a_state_that_cannot_be_left_is_a_reason(tmp_path: Path, is_left: bool) -> None:
    leave = "    inside.pop()" + ("" if is_left else "\n    raise OSError('kept')")
    spelled = WITHIN.replace("WITHIN", "state").replace("    inside.pop()", leave)
    (answer,) = judged(tmp_path, GOOD, spelled=spelled)
    if is_left:
        assert answer["ok"]["outcome"] == "zero-copy"
    else:
        assert answer["error"]["exception"] == "OSError"
        assert answer["error"]["reason"] == "leaving `within` of the call: kept"


@pytest.mark.parametrize(
    ("case", "changed"),
    [("f32", []), ("f64", ["dtype"]), ("i64", ["dtype"]), ("f64-fortran", ["dtype"])],
)
def test_a_copied_argument_is_named(tmp_path: Path, case: str, changed: list[str]) -> None:
    body = "copy = b.astype('f4'); FUNCTION(address(a), address(copy), address(c))"
    prepared, timed = judged(tmp_path, body, ROUND, case=case)
    assert (prepared["ok"]["outcome"], prepared["ok"]["changed"]) == ("copy", changed)
    (warning,) = prepared["ok"]["warnings"]
    assert (warning["code"], warning["data"]) == ("arguments-copied", {"arguments": "2"})
    assert timed["ok"]["ns"] > 0


@pytest.mark.parametrize(
    ("copied", "positions"), [("ab", "1-2"), ("ac", "1, 3"), ("abc", "1-3"), ("c", "3")]
)
def test_copied_positions_are_folded(tmp_path: Path, copied: str, positions: str) -> None:
    body = "".join(f"{name} = {name}.copy(); " for name in copied) + GOOD
    (prepared,) = judged(tmp_path, body)
    (warning,) = prepared["ok"]["warnings"]
    assert warning["data"] == {"arguments": positions}
    assert warning["text"] == f"call: copied arguments: {positions}"


def test_what_cannot_be_known_of_arguments_is_not_claimed(tmp_path: Path) -> None:
    (answer,) = judged(tmp_path, GOOD, case="f32-empty", bytes=0)
    assert answer["ok"]["outcome"] == "unproven"
    (answer,) = judged(
        tmp_path, "import numpy; c = numpy.zeros(c.size, 'f4'); " + GOOD, case="dt64"
    )
    assert answer["ok"]["outcome"] == "copy"
    assert [each["code"] for each in answer["ok"]["warnings"]] == [
        "values-not-checked",
        "arguments-copied",
    ]


def test_an_array_that_was_not_asked_for_is_not_passed(tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(globals(), "MAKE", MAKE + "\n\ndef make(case, device):\n"
                      "    return case.numpy().astype('f8')\n")  # fmt: skip
        (answer,) = judged(tmp_path, GOOD)
    assert answer["error"]["reason"] == "the producer's array has dtype float64, not float32"


THOROUGH_COUNTS = [pytest.param(count, marks=pytest.mark.thorough) for count in (1, 2)]


@pytest.mark.parametrize("arrays", [0, *THOROUGH_COUNTS, 20])
@pytest.mark.parametrize(
    "consumer",
    ["native", "native:capsule", "nanobind", "nanobind:noconvert", "nanobind:untyped", "pybind11",
     "pybind11:noconvert", "pybind11:array", "pybind11:buffer", "ctypes", "ctypes:ndpointer"],
)  # fmt: skip
def test_the_bindings_pass_each_array(tmp_path: Path, consumer: str, arrays: int) -> None:
    _require_all(tmp_path, "native" if consumer == "native" else "numpy", consumer, arrays)


@pytest.mark.libraries
@pytest.mark.parametrize("arrays", [THOROUGH_COUNTS[0], 8])
@pytest.mark.parametrize(
    ("producer", "consumer"),
    [("torch", "torch:op"), ("torch", "torch:packet"), ("torch", "torch:stable"),
     # It is compiled for a minute.
     pytest.param("torch", "torch:pybind11", marks=pytest.mark.thorough),
     ("torch", "torch"), ("torch", "torch:custom_op"),
     ("numpy", "numpy:gufunc"), ("numpy", "numpy:ufunc"), ("numpy", "tvm_ffi:view"),
     ("numpy", "tvm_ffi:owned"), ("jax", "jax:ffi"), ("numpy", "numba"), ("numpy", "numba:cfunc"),
     ("numpy", "cython"), ("numpy", "cython:const"), ("numpy", "cffi"), ("numpy", "cffi:api")],
)  # fmt: skip
def test_the_bindings_of_libraries_pass_each_array(
    tmp_path: Path, producer: str, consumer: str, arrays: int
) -> None:
    found = discover.catalogue()
    about = discover.library(consumer, found.roles(consumer))
    if not about.installed:
        pytest.skip(about.why_not)
    _require_all(tmp_path, producer, consumer, arrays)


def _loads(producer: str, consumer: str) -> list[dict[str, Any]]:
    found = discover.catalogue()
    paths = {"producer": found.roles(producer)["producer"].path,
             "consumer": found.roles(consumer)["consumer"].path}  # fmt: skip
    names = {"producer": producer, "consumer": consumer}
    return [
        {"do": "load", "role": role, "library": names[role], "path": str(path)}
        for role, path in paths.items()
    ]


def _require_all(tmp_path: Path, producer: str, consumer: str, arrays: int) -> None:
    request = prepare(1, producer, consumer, "call", F32, 1024)
    request["exchange"]["arrays"] = arrays
    *_, prepared, timed = send_request(tmp_path, *_loads(producer, consumer), request, ROUND)
    assert prepared["ok"]["outcome"] == "zero-copy"
    assert timed["ok"]["ns"] > 0


@pytest.mark.libraries
@pytest.mark.parametrize(
    ("consumer", "case", "changed", "copier"),
    [("jax:ffi", "f32-strided", [], "consumer"), ("jax:ffi", "i64", ["dtype"], ""),
     ("nanobind", "f32-strided", [], ""), ("pybind11", "f64", ["dtype"], "consumer")],
)  # fmt: skip
def test_the_bindings_that_copy_an_argument_are_named(
    tmp_path: Path, consumer: str, case: str, changed: list[str], copier: str
) -> None:
    loads = _loads("numpy", consumer)
    request = prepare(1, "numpy", consumer, "call", _core.case(case), 1024)
    request["exchange"]["arrays"] = 2
    *_, judged_again = send_request(tmp_path, *loads, request, {"do": "judge", "id": 1})
    found = judged_again["ok"]
    assert (found["outcome"], found["changed"]) == ("copy", changed)
    assert found["copied_by"] == copier
    # NumPy's code reads an array of NumPy for the consumer and for the producer.
    assert ("multiarray" in str(found.get("guard"))) == (copier == "")


def test_a_module_has_functions_of_some_numbers() -> None:
    class Module:
        call_1, call_14, calls_2 = "one", "fourteen", "other"

    assert function_of(Module(), "call")(14) == function_of(Module, "call")(14) == "fourteen"
    with pytest.raises(Unsupported, match="built for 0, 1, 2, 4, 8, 14, 20 arrays"):
        function_of(Module(), "call")(3)
    with pytest.raises(Unsupported, match="no function of 2 arrays"):
        function_of(Module(), "call")(2)


def test_a_function_is_written_for_a_number_of_arrays() -> None:
    found: list[object] = []
    call = written_function(2, "call(({_.real}, {_}))", call=found.append)
    assert call(1, 2j) is None
    assert found == [(1, 0.0, 1, 2j)]
    # Triton and CuTe DSL read the source; Triton writes the name of the file into a line of PTX.
    assert inspect.getsource(call).splitlines()[1] == "    call((a0.real, a1.real, a0, a1))"
    assert call.__code__.co_filename.isprintable()


SPLIT = {"do": "split", "id": 1}
PHASES = {"do": "phases", "id": 1, "iterations": 200, "prelude": 3, "seed": 1}
WORK = "sum(range(2000))"


@pytest.mark.parametrize(
    ("body", "least"), [(f"{WORK}; {GOOD}", "release"), (f"{GOOD}; {WORK}", "import")]
)
def test_the_phases_of_a_call_meet_at_its_body(tmp_path: Path, body: str, least: str) -> None:
    _, split, timed = judged(tmp_path, body, SPLIT, PHASES)
    assert (split["ok"]["via"], split["ok"]["calls"]) == ("body", [])
    # The arguments and Python's frames take a part of the other side.
    most = "import" if least == "release" else "release"
    assert 0 < timed["ok"][least] < timed["ok"][most] / 2


def test_a_body_on_another_thread_has_no_phases(tmp_path: Path) -> None:
    body = "t = Thread(target=lambda: " + GOOD + "); t.start(); t.join()"
    prepared, split = judged(
        tmp_path, body, SPLIT, spelled="\nfrom threading import Thread\n"
    )  # fmt: skip
    assert prepared["ok"]["outcome"] == "zero-copy"
    assert split["error"]["outcome"] == "no-protocol"
    assert "on the calling thread" in split["error"]["reason"]


WITHIN = """
from contextlib import contextmanager

from dlbench import Call, X

inside, made = [], []


@contextmanager
def state():
    inside.append(1)
    yield
    inside.pop()


def of(cell):
    def function(a, b, c):
        assert len(inside) == (cell == 0), f"{len(inside)} states in cell {cell}"
        fault(a, b, c)

    return function


def with_state(arrays):
    call = Call(of(len(made)), *[X] * arrays)
    call.within = WITHIN
    made.append(call)
    return call


PROTOCOLS = {"call": with_state}
"""


@pytest.mark.parametrize(
    ("within", "fault"),
    [
        ("None if made else state", ""),
        ("state", "1 states in cell 1"),
        ("None", "0 states in cell 0"),
    ],
)
def test_the_state_of_a_call_is_that_of_its_own_requests(
    tmp_path: Path, within: str, fault: str
) -> None:
    second = prepare(2, "numpy", "planted", "call", F32, 1024)
    second["exchange"]["arrays"] = 3
    rounds = [ROUND | {"id": number} for number in (1, 2, 1)]
    more = [second, *rounds, SPLIT, PHASES, {"do": "judge", "id": 1}]
    answers = judged(tmp_path, GOOD, *more, spelled=WITHIN.replace("WITHIN", within))
    reasons = [one["error"]["reason"] for one in answers if "error" in one]
    assert "".join(reasons[:1]) == fault
