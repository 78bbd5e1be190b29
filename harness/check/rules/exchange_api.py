"""The C exchange API: the table that a type publishes, and its functions."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from dlbench import _check
from dlbench.check import leaks
from dlbench.check.known_producer import content
from dlbench.check.reading import address, on_error, on_refusal
from dlbench.check.rule import EXCHANGE_API, producer_rule
from dlbench.check.rules.export_layout import agree
from dlbench.check.situation import EACH, case_of
from dlbench.check.subject import Subject, collect
from dlbench.check.verdict import Broken, Holds, NotApplicable, Unclear, assume, expect


@producer_rule("c-api.capsule", EXCHANGE_API)
def capsule(subject: Subject) -> str:
    """the type publishes a capsule named dlpack_exchange_api

    published = getattr(type(array), '__dlpack_c_exchange_api__', None)
    assert 'dlpack_exchange_api' in repr(published), published
    """
    _, published = subject.publishes_api()
    try:
        expect(not isinstance(published, int), "it is an int, as before DLPack 1.3")
        _check.Api(published)
    except (TypeError, ValueError, AttributeError):
        raise Broken(f"it is {published!r}") from None
    return "dlpack_exchange_api"


@producer_rule("c-api.version", f"{EXCHANGE_API}Header", given="table")
def version(subject: Subject) -> str:
    """the table, or one that it links to, is of major version 1

    majors = []
    while table:
        majors.append(ctypes.c_uint32.from_address(table).value)
        table = ctypes.c_void_p.from_address(table + 8).value
    assert 1 in majors, majors
    """
    _, published = subject.publishes_api()
    with on_error(NotApplicable, "", (TypeError, ValueError, AttributeError)):
        api = _check.Api(published)
    with on_error(Broken, "prev_api: ", ValueError):
        versions = api.versions
    expect(any(major == 1 for major, _ in versions), f"versions {versions}")
    return ", ".join(f"{major}.{minor}" for major, minor in versions)


MAY_BE_NULL = "dltensor_from_py_object_no_sync"


@producer_rule("c-api.functions", EXCHANGE_API, given="table")
def functions(subject: Subject) -> str:
    """all functions except dltensor_from_py_object_no_sync are set

    assert all(function(at) for at in (16, 24, 32, 48))
    """
    _, api = subject.api()
    missing = [name for name, there in api.functions.items() if not there and name != MAY_BE_NULL]
    expect(not missing, f"NULL: {', '.join(missing)}")
    return f"{sum(api.functions.values())} of {len(api.functions)}"


def laid(subject: Subject, word: str, function: str) -> tuple[Any, _check.Api, Any]:
    """An array in a situation, the table, which has the function, and the array's content."""
    _, api = subject.api(function)
    array, expected = subject.laid(case_of(word))
    subject.require_shape(array, expected)
    return array, api, expected


def on_refused(word: str) -> AbstractContextManager[None]:
    """Only a plain array must be exported."""
    return on_error(*((Broken,) if word == "line" else (Holds, "refused: ")))


@producer_rule(
    "c-api.export",
    f"{EXCHANGE_API}.managed_tensor_from_py_object_no_sync",
    arrays=EACH,
    given="table",
)
def export(subject: Subject, word: str) -> str:
    """managed_tensor_from_py_object_no_sync exports the array with its shape and strides

    given = given_by(table_export(function, array), b'dltensor_versioned')
    assert given.dtype == source.dtype and np.array_equal(given, source), given
    """
    array, api, expected = laid(subject, word, "managed_tensor_from_py_object_no_sync")
    with on_refused(word):
        imported_tensor = api.from_object(array)
    facts = imported_tensor.facts
    expect(facts["version"][0] == 1, f"a struct of version {facts['version']}")
    agree(facts, case_of(word), expected)
    imported_tensor.release()
    return "its elements"


@producer_rule(
    "c-api.export-error",
    f"{EXCHANGE_API}.managed_tensor_from_py_object_no_sync, return",
    level="should",
    arrays=("swapped", "unexportable", "grad"),
    given="table",
    refusal="BufferError",
)
def export_error(subject: Subject, word: str) -> str:
    """an array that DLPack cannot describe raises BufferError

    print('exported:', table_export(function, array))
    """
    array, _ = subject.laid(case_of(word))
    _, api = subject.api("managed_tensor_from_py_object_no_sync")
    with on_refusal(BufferError):
        api.from_object(array).release()
    raise NotApplicable("it is exported")


@producer_rule("c-api.agrees", EXCHANGE_API, given="table", refusal="BufferError")
def agrees(subject: Subject) -> str:
    """the table and __dlpack__ export the same memory on the same device

    at = first_element(table_export(function, array) + 32)
    assert first_element(tensor_of(array.__dlpack__())) == at, hex(at)
    """
    array, api = subject.api("managed_tensor_from_py_object_no_sync")
    assume(hasattr(array, "__dlpack__"), "there is no __dlpack__")
    kept = subject.import_capsule(array)
    with on_error(NotApplicable):
        imported_tensor = api.from_object(array)
    one, other = kept.facts, imported_tensor.facts
    if one["device"] != other["device"]:
        raise Broken(f"__dlpack__ reports {one['device']}, the table {other['device']}")
    expect(address(one) == address(other), "they export other memory")
    return "the same memory"


@producer_rule(
    "c-api.borrow",
    f"{EXCHANGE_API}.dltensor_from_py_object_no_sync",
    arrays=EACH,
    given="table",
)
def borrow(subject: Subject, word: str) -> str:
    """dltensor_from_py_object_no_sync describes the array, and keeps no reference

    borrow = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_void_p)(function(40))
    tensor = (ctypes.c_uint64 * 8)()  # a struct without a deleter
    assert borrow(array, tensor) == 0
    given = given_by(ctypes.addressof(tensor), b'dltensor')
    assert given.dtype == source.dtype and np.array_equal(given, source), given
    """
    array, api, expected = laid(subject, word, MAY_BE_NULL)
    with on_refused(word):
        facts = api.borrow(array)
    agree(facts, case_of(word), expected)
    if word != "line":
        return "its elements"
    return leaks.require_none(lambda: api.borrow(array), array)


@producer_rule("c-api.import", f"{EXCHANGE_API}.managed_tensor_to_py_object_no_sync", given="table")
def import_(subject: Subject) -> str:
    """managed_tensor_to_py_object_no_sync makes an array of the type, and owns the tensor

    to_object = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(function(32))
    made = ctypes.py_object()
    assert to_object(table_export(function, array), ctypes.byref(made)) == 0
    kinds = type(array), type(made.value)
    assert issubclass(*kinds) or issubclass(*kinds[::-1]), kinds
    """
    array, api = subject.api("managed_tensor_to_py_object_no_sync")
    given = content()
    borrowed = _check.BorrowedTensor(_check.Memory(given), given.shape, (1,))
    with on_error(Broken):
        made = api.to_object(borrowed)
    # A subclass has the table of its base, and a base may make one.
    if not (isinstance(array, type(made)) or isinstance(made, type(array))):
        # A library may have a type for each kind of device.
        if int(array.__dlpack_device__()[0]) != 1:
            raise NotApplicable(
                "the tensor that it is given lies on the CPU, and its array does not"
            )
        raise Broken(f"it made a {type(made).__name__}, not a {type(array).__name__}")
    observed = subject.read_facts(made, given)
    if observed["values"] != given.tobytes() or tuple(observed["shape"]) != given.shape:
        raise Broken("its values differ from the exported ones")
    early = borrowed.deletions
    if early and observed["address"] == borrowed.address:
        raise Broken("the deleter was called while the array was alive")
    del made
    collect()
    expect(borrowed.deletions == 1, f"the deleter was called {borrowed.deletions} times")
    return "its deleter was called once"


@producer_rule("c-api.leak", EXCHANGE_API, given="table")
def leak(subject: Subject) -> str:
    """an exchange through the table leaks nothing

    deleter = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
    def exchange():
        struct = table_export(function, array)
        deleter(ctypes.c_void_p.from_address(struct + 16).value)(struct)
    left(exchange, array)
    """
    array, api = subject.api("managed_tensor_from_py_object_no_sync")
    with on_error(NotApplicable):
        api.from_object(array).release()
    return leaks.require_none(lambda: api.from_object(array).release(), array)


@producer_rule("c-api.allocate", f"{EXCHANGE_API}.managed_tensor_allocator", given="table")
def allocate(subject: Subject) -> str:
    """managed_tensor_allocator allocates memory as the prototype describes

    status, out, complaints = table_allocate(function, 2)
    assert status == 0 and out, complaints
    """
    _, api = subject.api("managed_tensor_allocator")
    answer = api.allocate((2, 32, 1), (3, 5))
    if answer["status"] != 0 or answer["made"] is None:
        raise Broken(f"it returned {answer['status']}: {answer['kind']} {answer['message']}")
    facts = answer["made"].facts
    expected = {"dtype": (2, 32, 1), "shape": (3, 5), "device": (1, 0)}
    wrong = [f"{key} is {facts[key]}" for key, value in expected.items() if facts[key] != value]
    expect(not (wrong or not facts["data"]), ", ".join(wrong) or "data is NULL")
    return f"shape {facts['shape']}, strides {facts['strides']}"


@producer_rule(
    "c-api.allocate-error", f"{EXCHANGE_API}.managed_tensor_allocator", risky=True, given="table"
)
def allocate_error(subject: Subject) -> str:
    """an allocation that fails returns -1 and calls SetError with the reason, once

    status, out, complaints = table_allocate(function, 200)
    assert status != 0 and not out and len(complaints) == 1, (status, complaints)
    """
    _, api = subject.api("managed_tensor_allocator")
    answer = api.allocate((200, 32, 1), (3, 5))
    if answer["made"] is not None:
        raise Broken("type code 200 was allocated")
    expect(answer["status"] != 0, "it returned 0, and no tensor")
    expect(answer["complaints"] == 1, f"SetError was called {answer['complaints']} times")
    first = (answer["message"].splitlines() or [""])[0]
    return f"{answer['kind']}: {first[:100]}"


@producer_rule(
    "c-api.stream",
    f"{EXCHANGE_API}.current_work_stream (the producer can simply return NULL)",
    level="should",
    verdict="unclear",
    given="table",
)
def stream(subject: Subject) -> str:
    """current_work_stream of the CPU is NULL

    stream = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_void_p)
    stream = stream(function(48))
    out = ctypes.c_void_p(1)
    assert stream(1, 0, ctypes.byref(out)) == 0 and not out.value, out.value
    """
    _, api = subject.api("current_work_stream")
    with on_error(Broken):
        answer: Any = api.stream(1, 0)
    if answer == 0:
        return "NULL"
    observed = "it wrote nothing" if answer is NotImplemented else f"it is {answer:#x}"
    raise Unclear(f"{observed}: a consumer need not query it, and NULL is what may be returned")
