"""The C exchange API: the table that a type publishes, and its functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dlbench import _check
from dlbench.check import leaks
from dlbench.check.known_producer import content
from dlbench.check.reading import address, on_error
from dlbench.check.rule import (
    EXCHANGE_API,
    Broken,
    Check,
    NotApplicable,
    assume,
    expect,
    producer_rule,
)
from dlbench.check.rules.export_layout import agree
from dlbench.check.showing import LEFT
from dlbench.check.subject import Subject, collect

EXPORT = (
    "export = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_void_p)(function(24))\n"
    "struct = ctypes.c_void_p()\n"
    "assert export(array, ctypes.byref(struct)) == 0\n"
    "tensor = struct.value + 32\n"
    "at = ctypes.c_void_p.from_address(tensor).value\n"
    "at += ctypes.c_uint64.from_address(tensor + 40).value\n"
)
ALLOCATE = (
    "from struct import pack\n"
    "complaints = []\n"
    "shape = (ctypes.c_int64 * 2)(3, 5)\n"
    "prototype = pack('=QiiiBBHQQQ', 0, 1, 0, 2, CODE, 32, 1, ctypes.addressof(shape), 0, 0)\n"
    "SetError = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)\n"
    "complain = SetError(lambda context, kind, message: complaints.append((kind, message)))\n"
    "allocate = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p, "
    "ctypes.c_void_p, SetError)(function(16))\n"
    "out = ctypes.c_void_p()\n"
    "try:\n"
    "    status = allocate(prototype, ctypes.byref(out), None, complain)\n"
    "except Exception as error:\n"
    "    print('an exception is set:', repr(error))\n"
    "    status = -1\n"
)
GIVE_BACK = (
    "deleter = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)\n"
    "def exchange():\n"
    "    struct = ctypes.c_void_p()\n"
    "    export(array, ctypes.byref(struct))\n"
    "    deleter(ctypes.c_void_p.from_address(struct.value + 16).value)(struct)\n"
)
#: The lines of each rule, by the end of its name; `function(at)` is what stands there in the table.
LINES = {
    "capsule": "published = getattr(type(array), '__dlpack_c_exchange_api__', None)\n"
    "assert 'dlpack_exchange_api' in repr(published), published",
    "export": f"{EXPORT}"
    "kind = [ctypes.c_uint8.from_address(tensor + 20 + i).value for i in range(2)]\n"
    "assert kind == [2, 32], kind\n"
    "assert ctypes.string_at(at, source.nbytes) == source.tobytes()",
    "agrees": f"{EXPORT}"
    "try:\n"
    "    capsule = array.__dlpack__(max_version=(1, 0))\n"
    "except TypeError:\n"
    "    capsule = array.__dlpack__()\n"
    "assert address(capsule) == at, (hex(address(capsule)), hex(at))",
    "leak": f"{EXPORT}{GIVE_BACK}{LEFT.format('exchange()')}",
    "import": f"{EXPORT}"
    "to_object = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(function(32))\n"
    "made = ctypes.py_object()\n"
    "assert to_object(struct, ctypes.byref(made)) == 0\n"
    "assert type(made.value) is type(array), type(made.value)",
    "borrow": "borrow = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_void_p)("
    "function(40))\n"
    "tensor = (ctypes.c_uint64 * 6)()\n"
    "assert borrow(array, tensor) == 0\n"
    "at = ctypes.addressof(tensor)\n"
    "kind = [ctypes.c_uint8.from_address(at + 20 + i).value for i in range(2)]\n"
    "assert kind == [2, 32], kind\n"
    "assert ctypes.string_at(tensor[0] + tensor[5], source.nbytes) == source.tobytes()",
    "allocate": ALLOCATE.replace("CODE", "2") + "assert status == 0 and out.value, complaints",
    "allocate-error": ALLOCATE.replace("CODE", "200")
    + "assert status != 0 and not out.value and len(complaints) == 1, (status, complaints)",
    "stream": "stream = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int, "
    "ctypes.c_void_p)(function(48))\n"
    "out = ctypes.c_void_p(1)\n"
    "assert stream(1, 0, ctypes.byref(out)) == 0 and not out.value, out.value",
    "functions": "assert all(function(at) for at in (16, 24, 32, 48))",
    "version": "majors = []\n"
    "while table:\n"
    "    majors.append(ctypes.c_uint32.from_address(table).value)\n"
    "    table = ctypes.c_void_p.from_address(table + 8).value\n"
    "assert 1 in majors, majors",
}


def rule(name: str, sentence: str, part: str = "", **words: Any) -> Callable[[Check], Check]:
    """A rule about `part` of the table."""
    lines = LINES[name.removeprefix("c-api.")]
    return producer_rule(name, sentence, f"{EXCHANGE_API}{part}", lines=lines, **words)


@rule("c-api.capsule", "the type publishes a capsule named dlpack_exchange_api")
def capsule(subject: Subject) -> str:
    _, published = subject.publishes_api()
    try:
        expect(not isinstance(published, int), "it is an int, as before DLPack 1.3")
        _check.Api(published)
    except (TypeError, ValueError, AttributeError):
        raise Broken(f"it is {published!r}") from None
    return "dlpack_exchange_api"


@rule("c-api.version", "the table, or one that it links to, is of major version 1", "Header")
def version(subject: Subject) -> str:
    _, published = subject.publishes_api()
    with on_error(NotApplicable, "", (TypeError, ValueError, AttributeError)):
        versions = _check.Api(published).versions
    expect(any(major == 1 for major, _ in versions), f"versions {versions}")
    return ", ".join(f"{major}.{minor}" for major, minor in versions)


MAY_BE_NULL = "dltensor_from_py_object_no_sync"


@rule("c-api.functions", "all functions but dltensor_from_py_object_no_sync are there")
def functions(subject: Subject) -> str:
    _, api = subject.api()
    missing = [name for name, there in api.functions.items() if not there and name != MAY_BE_NULL]
    expect(not missing, f"NULL: {', '.join(missing)}")
    return f"{sum(api.functions.values())} of {len(api.functions)}"


@rule(
    "c-api.export",
    "managed_tensor_from_py_object_no_sync describes the array as it lies",
    ".managed_tensor_from_py_object_no_sync",
)
def export(subject: Subject) -> str:
    array, api = subject.api("managed_tensor_from_py_object_no_sync")
    with on_error(Broken):
        taken = api.from_object(array)
    facts = taken.facts
    expect(facts["version"][0] == 1, f"a struct of version {facts['version']}")
    seen = agree(facts, subject.case())
    taken.release()
    return seen


@rule("c-api.agrees", "the table and __dlpack__ export the same memory on the same device")
def agrees(subject: Subject) -> str:
    array, api = subject.api("managed_tensor_from_py_object_no_sync")
    assume(hasattr(array, "__dlpack__"), "there is no __dlpack__")
    kept = subject.take(array)
    with on_error(NotApplicable):
        taken = api.from_object(array)
    one, other = kept.facts, taken.facts
    if one["device"] != other["device"]:
        raise Broken(f"__dlpack__ reports {one['device']}, the table {other['device']}")
    expect(address(one) == address(other), "they export other memory")
    return "the same memory"


@rule(
    "c-api.borrow",
    "dltensor_from_py_object_no_sync describes the array, and keeps nothing",
    ".dltensor_from_py_object_no_sync",
)
def borrow(subject: Subject) -> str:
    array, api = subject.api(MAY_BE_NULL)
    with on_error(Broken):
        facts = api.borrow(array)
    agree(facts, subject.case())
    return leaks.require_none(lambda: api.borrow(array), array)


@rule(
    "c-api.import",
    "managed_tensor_to_py_object_no_sync makes an array of the type, and owns the tensor",
    ".managed_tensor_to_py_object_no_sync",
)
def import_(subject: Subject) -> str:
    array, api = subject.api("managed_tensor_to_py_object_no_sync")
    given = content()
    borrowed = _check.BorrowedTensor(_check.Memory(given), given.shape, (1,))
    with on_error(Broken):
        made = api.to_object(borrowed)
    if type(made) is not type(array):
        raise Broken(f"it made a {type(made).__name__}, not a {type(array).__name__}")
    seen = subject.look(made)
    if seen["values"] != given.tobytes() or tuple(seen["shape"]) != given.shape:
        raise Broken("its values are not what was given")
    early = borrowed.deletions
    if early and seen["address"] == borrowed.address:
        raise Broken("the deleter was called while the array was there")
    del made
    collect()
    expect(borrowed.deletions == 1, f"the deleter was called {borrowed.deletions} times")
    return "its deleter was called once"


@rule("c-api.leak", "an exchange by the table leaves nothing behind")
def leak(subject: Subject) -> str:
    array, api = subject.api("managed_tensor_from_py_object_no_sync")
    with on_error(NotApplicable):
        api.from_object(array).release()
    return leaks.require_none(lambda: api.from_object(array).release(), array)


@rule(
    "c-api.allocate",
    "managed_tensor_allocator allocates memory as the prototype describes",
    ".managed_tensor_allocator",
)
def allocate(subject: Subject) -> str:
    _, api = subject.api("managed_tensor_allocator")
    answer = api.allocate((2, 32, 1), (3, 5))
    if answer["status"] != 0 or answer["made"] is None:
        raise Broken(f"it returned {answer['status']}: {answer['kind']} {answer['message']}")
    facts = answer["made"].facts
    expected = {"dtype": (2, 32, 1), "shape": (3, 5), "device": (1, 0)}
    wrong = [f"{key} is {facts[key]}" for key, value in expected.items() if facts[key] != value]
    expect(not (wrong or not facts["data"]), ", ".join(wrong) or "data is NULL")
    return f"shape {facts['shape']}, strides {facts['strides']}"


@rule(
    "c-api.allocate-error",
    "an allocation that fails returns -1 and calls SetError with the reason, once",
    ".managed_tensor_allocator",
    risky=True,
)
def allocate_error(subject: Subject) -> str:
    _, api = subject.api("managed_tensor_allocator")
    answer = api.allocate((200, 32, 1), (3, 5))
    if answer["made"] is not None:
        raise Broken("type code 200 was allocated")
    expect(answer["status"] != 0, "it returned 0, and no tensor")
    expect(answer["complaints"] == 1, f"SetError was called {answer['complaints']} times")
    first = (answer["message"].splitlines() or [""])[0]
    return f"{answer['kind']}: {first[:100]}"


@rule(
    "c-api.stream", "current_work_stream of the CPU is NULL", ".current_work_stream", level="should"
)
def stream(subject: Subject) -> str:
    _, api = subject.api("current_work_stream")
    with on_error(Broken):
        answer: Any = api.stream(1, 0)
    expect(answer is not NotImplemented, "it wrote nothing")
    expect(answer == 0, f"it is {answer:#x}")
    return "NULL"
