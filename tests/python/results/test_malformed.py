"""False descriptions by libraries: the worker reads them, answers and survives."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import forged_buffer
from samples import warning_texts
from wire import F32, plant, prepare, send_request

pytestmark = pytest.mark.process

#: The module that makes types with forged buffers, for adapters.
FORGED = Path(forged_buffer.__file__).read_text().replace("from __future__ import annotations", "")
MAKE = "def make(case, device):\n    return case.numpy()\n"

# A consumer that returns a liar, made by the recipe that stands before it. Addresses are 0 or true
# ones and extents never exceed what is there: a lie about those is a crash no reader can prevent.
LIARS = """\
import ctypes

KEPT = []


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int), ("device", ctypes.c_int),
                ("ndim", ctypes.c_int), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.c_void_p),
                ("strides", ctypes.c_void_p), ("byte_offset", ctypes.c_uint64),
                ("manager", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class Struct(ctypes.Structure):
    _fields_ = [("two", ctypes.c_int), ("nd", ctypes.c_int), ("kind", ctypes.c_char),
                ("itemsize", ctypes.c_int), ("flags", ctypes.c_int), ("shape", ctypes.c_void_p),
                ("strides", ctypes.c_void_p), ("data", ctypes.c_void_p), ("descr", ctypes.c_void_p)]


def buffered(x, fields):
    told = {"buf": x.ctypes.data, "len": x.nbytes, "itemsize": 4, "format": "f", "ndim": 1,
            "shape": [x.size], "strides": [4]} | fields

    def fill(view, _):
        for key, value in told.items():
            if key != "status":
                value = numbers(value) if isinstance(value, list) else value
                setattr(view, key, value.encode() if isinstance(value, str) else value)
        return told.get("status", 0)

    kind = buffer_type(fill)
    kind.source = x
    return kind()


new = ctypes.pythonapi.PyCapsule_New
new.restype = ctypes.py_object
new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


def capsule(content, name):
    name = name.encode() if name is not None else None
    KEPT.append((content, name))
    return new(ctypes.addressof(content), name, None)


def numbers(values):
    array = (ctypes.c_int64 * 70)(*[v for v in values])
    KEPT.append(array)
    return ctypes.addressof(array)


def filled(kind, x, fields):
    told = {"data": x.ctypes.data, "shape": numbers([x.size]), "strides": None}
    if kind is Tensor:
        told |= {"device_type": 1, "ndim": 1, "code": 2, "bits": 32, "lanes": 1}
    else:
        told |= {"two": 2, "nd": 1, "kind": b"f", "itemsize": 4, "flags": 0x600}
    for key, value in fields.items():
        listed = isinstance(value, list)
        told[key] = numbers(value) if listed else value.encode() if key == "kind" else value
    return kind(**told)


def value_of(kind, x, recipe):
    if "junk" in recipe:
        if recipe["junk"] == "raise":
            raise RuntimeError("no")
        return recipe["junk"]
    if kind == "__array_interface__":
        dict_of = {"data": (x.ctypes.data, False), "shape": (x.size,), "typestr": "<f4",
                   "version": 3}
        for key, value in recipe["fields"].items():
            dict_of[key] = tuple(value) if isinstance(value, list) else value
        if recipe.get("without"):
            dict_of.pop(recipe["without"], None)
        return dict_of
    structure = Struct if kind == "__array_struct__" else Tensor
    return capsule(filled(structure, x, recipe["fields"]), recipe["name"])


def take(x):
    kind = RECIPE["kind"]
    if kind == "buffer":
        return buffered(x, RECIPE["fields"])
    if kind == "__dlpack__":
        method = lambda self, **kwargs: value_of(kind, x, RECIPE)
        return type("Liar", (), {kind: method})()
    return type("Liar", (), {kind: property(lambda self: value_of(kind, x, RECIPE))})()


PROTOCOLS = {"convert": take}
"""

JUNK = st.sampled_from([None, 0, -1, "text", "", [], [1], {}, 1.5, True, "raise"])
EXTENTS = st.sampled_from(
    [None, "ab", 7, [], [-1], [0], [1], [1024], [1.5], [None], ["a"], [2**62, 4], [2**63], [1] * 70]
)


def fields(**choices: list[Any]) -> st.SearchStrategy[dict[str, Any]]:
    optional = {key: st.sampled_from(values) for key, values in choices.items()}
    return st.fixed_dictionaries({}, optional=optional)


INTERFACE = st.fixed_dictionaries(
    {
        "kind": st.just("__array_interface__"),
        "fields": st.fixed_dictionaries(
            {},
            optional={
                "data": st.sampled_from(
                    [None, 0, "x", [], [0, False], [0], [None, True], [-1, False], [2**70, False]]
                ),
                "typestr": st.sampled_from([None, 4, "", "<f", ">f4", "|V4", "<f99", "\u00e9", []]),
                "shape": EXTENTS,
                "strides": st.sampled_from([None, "x", 4, [4], [4, 4], [None], [2**63], []]),
                "version": JUNK,
            },
        ),
        "without": st.sampled_from(["", "data", "shape", "typestr"]),
    }
)
TENSOR = st.fixed_dictionaries(
    {
        "kind": st.just("__dlpack__"),
        "name": st.sampled_from(["dltensor", "dltensor", "used_dltensor", "x", "", None]),
        "fields": fields(
            data=[0],
            ndim=[-1, 0, 65, 2**31 - 1, -(2**31)],
            shape=[0, [-1], [0], [1], [2**62], [2**63 - 1]],
            strides=[[1], [0]],
            code=[0, 1, 3, 4, 5, 17, 200],
            bits=[0, 1, 4, 6, 8, 16],
            lanes=[0, 3],
            device_type=[0, 2, 99, -1],
            byte_offset=[2**64 - 1],
        ).filter(lambda reported: not ("byte_offset" in reported and "data" not in reported)),
    }
)
STRUCT = st.fixed_dictionaries(
    {
        "kind": st.just("__array_struct__"),
        "name": st.sampled_from([None, "x"]),
        "fields": fields(
            two=[0, 3, -1],
            nd=[-1, 0, 65, 2**31 - 1],
            kind=["V", "O", "?", "i", "u"],
            itemsize=[0, -4, 1, 2, 3],
            flags=[0, 0x200],
            shape=[0, [-1], [0], [1], [2**62]],
            strides=[[4], [0]],
            data=[0],
        ),
    }
)
BUFFER = st.fixed_dictionaries(
    {
        "kind": st.just("buffer"),
        "fields": fields(
            buf=[0],
            len=[-1, 0, 4, 2**62, 2**63 - 1],
            itemsize=[-4, 0, 1, 2, 2**62],
            format=["", "g", "T{f:a:}", ">f", "\u00e9", None],
            ndim=[-1, 0, 2, 65, 2**31 - 1, -(2**31)],
            shape=[0, [-1], [0], [1], [2**62], [2**63 - 1]],
            strides=[0, [0], [1]],
            suboffsets=[[0], [-1]],
            readonly=[0, 1, -1],
            status=[-1],
        ),
    }
)
KINDS = st.sampled_from(["__array_interface__", "__array_struct__", "__dlpack__"])
PLAIN = st.fixed_dictionaries({"kind": KINDS, "junk": JUNK})
HONEST = [
    {"kind": "__array_interface__", "fields": {}},
    {"kind": "__array_struct__", "fields": {}, "name": None},
    {"kind": "__dlpack__", "fields": {}, "name": "dltensor"},
    {"kind": "buffer", "fields": {}},
]
RECIPES = st.lists(st.one_of(INTERFACE, TENSOR, STRUCT, BUFFER, PLAIN), min_size=20, max_size=40)


@settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(recipes=RECIPES)
def test_every_lie_has_an_answer(recipes: list[dict[str, Any]]) -> None:
    every = [*recipes, *HONEST]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        requests = [plant(folder, "producer", "giver", MAKE)]
        for number, recipe in enumerate(every):
            source = f"RECIPE = {recipe!r}\n{FORGED}\n{LIARS}"
            requests.append(plant(folder, "consumer", f"taker{number}", source))
        first = len(requests)
        for number in range(len(every)):
            requests.append(prepare(number, "giver", f"taker{number}", "convert", F32))
        answers = send_request(folder, *requests)[first:]
    # Else the others would be errors for another reason.
    for _ in HONEST:
        assert answers.pop()["ok"]["outcome"] == "zero-copy", "an honest description is read"
    assert len(answers) == len(recipes)
    for answer, recipe in zip(answers, recipes, strict=True):
        message = answer["error"]["reason"] if "error" in answer else answer["ok"]["outcome"]
        assert message, recipe
        assert "\n" not in message, recipe


# The pointer of a capsule with another name belongs to other code; here it points to nothing.
UNKNOWN = """\
import ctypes
import sys

import numpy as np

new = ctypes.pythonapi.PyCapsule_New
new.restype = ctypes.py_object
new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
KEPT = sys.__dict__.setdefault("planted", [])


class Box:
    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **kwargs):
        return new(64, NAME, None)

    @property
    def __array_struct__(self):
        return new(64, b"theirs", None)


class Structured:
    __array_struct__ = Box.__array_struct__


def make(case, device):
    KEPT.append(case.numpy())
    return Box()


def memory(array):
    return KEPT[0] if isinstance(array, Box) else array


def take(x):
    getattr(x, "__array_struct__", None)
    x.__dlpack__()
    return KEPT[0]


PROTOCOLS = {"dlpack": take, "convert": lambda x: Structured()}
"""


@pytest.mark.parametrize("name", [None, b"theirs", b"used_dltensor"])
def test_a_capsule_of_an_unknown_name_is_not_looked_into(
    tmp_path: Path, name: bytes | None
) -> None:
    source = UNKNOWN.replace("NAME", repr(name))
    *_, named, returned = send_request(
        tmp_path,
        plant(tmp_path, "producer", "giver", source),
        plant(tmp_path, "consumer", "taker", source),
        prepare(1, "giver", "taker", "dlpack", F32),
        prepare(2, "giver", "taker", "convert", F32),
    )
    assert named["ok"]["outcome"] == "zero-copy", named
    assert returned["error"]["outcome"] == "wrong", returned


PIL_STYLE = """\
import _testbuffer
import numpy as np


def rows(x):
    values = np.from_dlpack(x).tolist()
    return _testbuffer.ndarray(values, shape=[len(values)], format="f", flags=_testbuffer.ND_PIL)


PROTOCOLS = {"dlpack": rows}
"""


def test_a_buffer_of_pointers_is_not_read_as_values(tmp_path: Path) -> None:
    pytest.importorskip("_testbuffer")
    *_, answer = send_request(
        tmp_path,
        plant(tmp_path, "producer", "giver", MAKE),
        plant(tmp_path, "consumer", "taker", PIL_STYLE),
        prepare(1, "giver", "taker", "dlpack", F32),
    )
    assert answer["ok"]["outcome"] == "unproven", answer
    message = "the buffer of a ndarray has suboffsets, which dlbench does not read"
    assert f"values not checked: {message}" in warning_texts(answer["ok"])


ENDLESS = """\
import os

import numpy as np


class Endless(np.ndarray):
    def tolist(self):
        os._exit(3)


PROTOCOLS = {"convert": lambda x: np.broadcast_to(x[:1], (1 << 30,)).view(Endless)}
"""


def test_a_result_that_is_too_long_is_not_listed(tmp_path: Path) -> None:
    *_, answer = send_request(
        tmp_path,
        plant(tmp_path, "producer", "giver", MAKE),
        plant(tmp_path, "consumer", "taker", ENDLESS),
        prepare(1, "giver", "taker", "convert", F32),
    )
    assert answer["error"]["outcome"] == "wrong", answer
