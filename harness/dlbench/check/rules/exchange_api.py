"""The C exchange API: the table that a type publishes, and its functions."""

from __future__ import annotations

from dlbench import _check
from dlbench.check import leaks
from dlbench.check.known_producer import content
from dlbench.check.reading import address, describe_error
from dlbench.check.rule import EXCHANGE_API, Broken, NotApplicable, producer_rule
from dlbench.check.rules.export_layout import agree
from dlbench.check.showing import LEFT
from dlbench.check.subject import Subject, collect

PUBLISHED = (
    "published = getattr(type(array), '__dlpack_c_exchange_api__', None)\n"
    "assert 'dlpack_exchange_api' in repr(published), published"
)
EXPORT = (
    "export = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_void_p)(function(24))\n"
)
EXPORT = (
    f"{EXPORT}struct = ctypes.c_void_p()\n"
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
#: What each function is called with, `function(at)` being what stands there in the table.
CALLED = {
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
    "to_object": f"{EXPORT}"
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


@producer_rule(
    "c-api.capsule",
    "the type publishes a capsule named dlpack_exchange_api",
    EXCHANGE_API,
    lines=PUBLISHED,
)
def capsule(subject: Subject) -> str:
    _, published = subject.publishes_api()
    try:
        if isinstance(published, int):
            raise Broken("it is an int, as before DLPack 1.3")
        _check.Api(published)
    except (TypeError, ValueError, AttributeError):
        raise Broken(f"it is {published!r}") from None
    return "dlpack_exchange_api"


@producer_rule(
    "c-api.version",
    "the table, or one that it links to, is of major version 1",
    f"{EXCHANGE_API}Header",
    lines=CALLED["version"],
)
def version(subject: Subject) -> str:
    _, published = subject.publishes_api()
    try:
        versions = _check.Api(published).versions
    except (TypeError, ValueError, AttributeError) as error:
        raise NotApplicable(describe_error(error)) from None
    if not any(major == 1 for major, _ in versions):
        raise Broken(f"versions {versions}")
    return ", ".join(f"{major}.{minor}" for major, minor in versions)


MAY_BE_NULL = "dltensor_from_py_object_no_sync"


@producer_rule(
    "c-api.functions",
    "all functions but dltensor_from_py_object_no_sync are there",
    EXCHANGE_API,
    lines=CALLED["functions"],
)
def functions(subject: Subject) -> str:
    _, api = subject.api()
    missing = [name for name, there in api.functions.items() if not there and name != MAY_BE_NULL]
    if missing:
        raise Broken(f"NULL: {', '.join(missing)}")
    return f"{sum(api.functions.values())} of {len(api.functions)}"


def has(api: _check.Api, name: str) -> None:
    if not api.functions[name]:
        raise NotApplicable(f"{name} is NULL")


@producer_rule(
    "c-api.export",
    "managed_tensor_from_py_object_no_sync describes the array as it lies",
    f"{EXCHANGE_API}.managed_tensor_from_py_object_no_sync",
    lines=CALLED["export"],
)
def export(subject: Subject) -> str:
    array, api = subject.api()
    has(api, "managed_tensor_from_py_object_no_sync")
    try:
        taken = api.from_object(array)
    except Exception as error:
        raise Broken(describe_error(error)) from None
    facts = taken.facts
    if facts["version"][0] != 1:
        raise Broken(f"a struct of version {facts['version']}")
    seen = agree(facts, subject.case())
    taken.release()
    return seen


@producer_rule(
    "c-api.agrees",
    "the table and __dlpack__ export the same memory on the same device",
    EXCHANGE_API,
    lines=CALLED["agrees"],
)
def agrees(subject: Subject) -> str:
    array, api = subject.api()
    has(api, "managed_tensor_from_py_object_no_sync")
    if not hasattr(array, "__dlpack__"):
        raise NotApplicable("there is no __dlpack__")
    kept = subject.take(array)
    try:
        taken = api.from_object(array)
    except Exception as error:
        raise NotApplicable(describe_error(error)) from None
    one, other = kept.facts, taken.facts
    if one["device"] != other["device"]:
        raise Broken(f"__dlpack__ reports {one['device']}, the table {other['device']}")
    if address(one) != address(other):
        raise Broken("they export other memory")
    return "the same memory"


@producer_rule(
    "c-api.borrow",
    "dltensor_from_py_object_no_sync describes the array, and keeps nothing",
    f"{EXCHANGE_API}.dltensor_from_py_object_no_sync",
    lines=CALLED["borrow"],
)
def borrow(subject: Subject) -> str:
    array, api = subject.api()
    has(api, MAY_BE_NULL)
    try:
        facts = api.borrow(array)
    except Exception as error:
        raise Broken(describe_error(error)) from None
    agree(facts, subject.case())
    return leaks.require_none(lambda: api.borrow(array), array)


@producer_rule(
    "c-api.import",
    "managed_tensor_to_py_object_no_sync makes an array of the type, and owns the tensor",
    f"{EXCHANGE_API}.managed_tensor_to_py_object_no_sync",
    lines=CALLED["to_object"],
)
def import_(subject: Subject) -> str:
    array, api = subject.api()
    has(api, "managed_tensor_to_py_object_no_sync")
    given = content()
    borrowed = _check.BorrowedTensor(_check.Memory(given), given.shape, (1,))
    try:
        made = api.to_object(borrowed)
    except Exception as error:
        raise Broken(describe_error(error)) from None
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
    if borrowed.deletions != 1:
        raise Broken(f"the deleter was called {borrowed.deletions} times")
    return "its deleter was called once"


@producer_rule(
    "c-api.leak",
    "an exchange by the table leaves nothing behind",
    EXCHANGE_API,
    lines=CALLED["leak"],
)
def leak(subject: Subject) -> str:
    array, api = subject.api()
    has(api, "managed_tensor_from_py_object_no_sync")
    try:
        api.from_object(array).release()
    except Exception as error:
        raise NotApplicable(describe_error(error)) from None
    return leaks.require_none(lambda: api.from_object(array).release(), array)
