"""Imports of dtypes, devices and flags that a consumer may not know."""

from __future__ import annotations

from typing import Any

import numpy as np

from dlbench.check.imports import brought, keeps_device, require_versioned_request
from dlbench.check.known_producer import KnownProducer, content, require_dtypes
from dlbench.check.reading import CODES, Facts, describe_error, on_error
from dlbench.check.rule import HEADER, METHOD, consumer_rule
from dlbench.check.subject import Subject
from dlbench.check.verdict import Broken, Holds, NotApplicable, assume, expect

DTYPE = f"{HEADER}, DLDataType"
#: NumPy's dtypes. Other dtypes would need content that NumPy cannot express.
NUMPY = [name for name in CODES if name not in ("bfloat16", "float8_e4m3fn", "float8_e5m2")]


#: A number that needs more than 32 bits, so that a narrower dtype loses data.
WIDE = 2**40 + 1
WIDE_DTYPES = ("int64", "uint64", "float64", "complex128")


@consumer_rule(
    "import.dtypes",
    f"{DTYPE}; array API 2025.12, from_dlpack: an array containing the data",
    source="wide",
    imports=False,
)
def dtypes(subject: Subject) -> str:
    """each dtype is imported unchanged, or refused

    wide = ('int64', 'uint64', 'float64', 'complex128')
    narrow = ('bool', 'int8', 'int16', 'int32', 'uint8', 'uint16', 'uint32', 'float16', 'float32')
    for dtype in (*wide, *narrow, 'complex64'):
        array = source = np.array([2**40 + 1 if dtype in wide else 1], dtype)
        try:
            result = {call}
        except Exception as error:
            print(dtype, 'is refused, which is allowed:', repr(error))
            continue
        given = {values}
        assert given.dtype == dtype and given[0] == source[0], (source, given)
    """
    require_dtypes(subject)
    observed, wrong = [], []
    for name in NUMPY:
        array = content(name)
        if name in WIDE_DTYPES:
            array[0] = WIDE
        producer = KnownProducer(subject, array)
        try:
            result = subject.import_(producer)
        except Exception:
            continue
        got = subject.read_facts(result, producer.array)
        if got["dtype"] != (*CODES[name], 1):
            wrong.append(f"{name} arrives as {named(got['dtype'])}{lost(got, name)}")
        elif got["values"] != producer.array.tobytes():
            wrong.append(f"{name} arrives with other values")
        else:
            observed.append(name)
    expect(not wrong, "; ".join(wrong))
    assume(observed, "none of them is imported")
    return f"{len(observed)} of {len(NUMPY)} dtypes"


def lost(got: Facts, name: str) -> str:
    """The imported value of a number that needs all bits of its dtype, or an empty text."""
    if name not in WIDE_DTYPES or got["dtype"][0] != CODES[name][0]:
        return ""
    first = np.frombuffer(got["values"], named(got["dtype"]))[0]
    return f", and {WIDE} as {first.real:.0f}"


def named(dtype: tuple[int, int, int]) -> str:
    """ "int32"; numbers where it has no name."""
    found = [name for name, pair in CODES.items() if (*pair, 1) == dtype]
    return found[0] if found else f"(code, bits, lanes) {dtype}"


def refused(subject: Subject, producer: KnownProducer, what: str) -> str:
    """Checks that the import is refused. Raises Broken with the result's dtype and shape if not."""
    with on_error(Holds, "refused: "):
        result = subject.import_(producer)
    if keeps_device(subject, result, producer.describes["device"]):
        return "taken as what it is"
    try:
        got = subject.read_facts(result)
        how = f"as {named(got['dtype'])} of shape {tuple(got['shape'])}"
    except NotApplicable:
        raise NotApplicable(
            f"the import succeeded, but its result cannot be read: is it still {what}?"
        ) from None
    raise Broken(f"{what} arrives {how}")


def described_dtype(result: Any) -> str:
    """The result's dtype in words, or the reason why it cannot be read."""
    try:
        return str(getattr(result, "dtype", ""))
    except Exception as error:
        return f"refused: {describe_error(error)}"


def unknown_kept(
    subject: Subject, producer: KnownProducer, what: str, dtype: tuple[int, int, int]
) -> str:
    """Rejected, or imported with exactly the dtype."""
    require_dtypes(subject)
    with on_error(Holds, "refused: "):
        result = subject.import_(producer)
    own = described_dtype(result)
    if own.startswith("refused") or own == "dlpack({},{},{})".format(*dtype):
        return f"it is {own}"
    try:
        dtypes = [facts["dtype"] for facts in subject.readings(result)]
    except NotApplicable:
        raise NotApplicable(
            f"the import succeeded, but its result cannot be read: is it still {what}?"
        ) from None
    # NumPy may read as plain bytes what the result exports with its dtype.
    if dtype in dtypes:
        return "taken as what it is"
    raise Broken(f"{what} arrives as {named(dtypes[0])}")


@consumer_rule(
    "import.unknown-code",
    DTYPE,
    patch="ctypes.c_uint8.from_address(tensor + 20).value = 200",
    raises="Exception",
)
def unknown_code(subject: Subject) -> str:
    """an unknown type code is refused

    print('it arrives as', getattr(result, 'dtype', type(result)))
    """
    dtype = (200, 32, 1)
    return unknown_kept(subject, KnownProducer(subject, dtype=dtype), "type code 200", dtype)


#: Changes the type code and the bits of the tensor.
AS_DTYPE = """\
code, bits, lanes = {dtype}
ctypes.c_uint8.from_address(tensor + 20).value = code
ctypes.c_uint8.from_address(tensor + 21).value = bits"""
ARRIVES = "print('it arrives as', getattr(result, 'dtype', type(result)))"
Dtype = tuple[int, int, int]


def kept_or_refused(subject: Subject, word: str, dtype: Dtype) -> str:
    """A tensor of that dtype is refused, or arrives with it."""
    producer = KnownProducer(subject, content(count=64), dtype=dtype, shape=(64,), strides=(1,))
    return unknown_kept(subject, producer, f"code {dtype[0]} of {dtype[1]} bits", dtype)


for name, section, sentence, pairs in (
    (
        "import.unknown-bits",
        DTYPE,
        "a type code with bits that it does not have, as a float of 24 bits, is refused",
        ((2, 24), (0, 24), (1, 24), (4, 32), (6, 1), (10, 16), (12, 16)),
    ),
    (
        "import.sub-byte-bits",
        f"{HEADER}, DLDataTypeCode, FP6 and FP4: must stop importing if the value is unexpected",
        "float6 and float4 with other bits than 6 and 4 are refused",
        ((15, 8), (16, 8), (17, 8)),
    ),
    (
        "import.sub-byte",
        f"{DTYPE}: sub-byte types",
        "packed elements of 2, 4 and 6 bits arrive as such, or are refused",
        ((0, 4), (1, 4), (0, 2), (1, 2), (15, 6), (16, 6), (17, 4)),
    ),
):
    consumer_rule(
        name,
        section,
        f"{sentence}\n\n{ARRIVES}",
        patch=AS_DTYPE,
        raises="Exception",
        variants=tuple({"dtype": (*pair, 1)} for pair in pairs),
    )(kept_or_refused)


@consumer_rule(
    "import.lanes",
    f"{DTYPE}.lanes",
    patch="ctypes.c_uint16.from_address(tensor + 22).value = 4  # lanes\n"
    "ctypes.c_int64.from_address("
    "ctypes.c_void_p.from_address(tensor + 24).value).value = 2  # elements",
    refusal="Exception",
)
def lanes(subject: Subject) -> str:
    """elements of four lanes are not imported as elements of one

    assert {values}.tobytes() == source.tobytes()
    """
    require_dtypes(subject)
    producer = KnownProducer(
        subject, content(count=64), dtype=(2, 32, 4), shape=(16,), strides=(1,)
    )
    with on_error(Holds, "refused: "):
        result = subject.import_(producer)
    own = described_dtype(result)
    if own.startswith("refused") or own == "dlpack(2,32,4)":
        return f"it is {own}"
    got = subject.read_facts(result)
    if got["values"] == producer.array.tobytes():
        return f"imported with shape {tuple(got['shape'])}"
    shape = tuple(got["shape"])
    expect(shape != (16, 4), "16 elements of four lanes arrive as shape (16, 4), with other values")
    raise Broken(f"16 elements of four lanes arrive as shape {shape}, {len(got['values'])} bytes")


@consumer_rule(
    "import.unknown-device",
    f"{HEADER}, DLDeviceType; DLPack, Python specification",
    level="should",
    patch="ctypes.c_int32.from_address(tensor + 8).value = 200",
    raises="Exception",
)
def unknown_device(subject: Subject) -> str:
    """an unknown device type is refused

    print('it arrives as', getattr(result, 'dtype', type(result)))
    """
    return refused(subject, KnownProducer(subject, device=(200, 0)), "memory of device type 200")


READ_ONLY = ("readonly", "readonly-grid", "readonly-strided", "readonly-scalar")


def has_read_only(subject: Subject) -> None:
    """NotApplicable unless the library has arrays of both kinds, and its imports show which."""
    for readonly in (True, False):
        own = subject.make(subject.case(readonly=readonly))
        word = "read-only" if readonly else "writable"
        # Another rule is about the export.
        assume(
            subject.read_facts(own)["readonly"] in (None, readonly),
            f"its own {word} arrays do not read as {word}",
        )
    require_versioned_request(subject)


def writable(subject: Subject, word: str) -> bool:
    producer = KnownProducer.of(subject, word)
    result = brought(subject, producer, NotApplicable, "refused")
    readonly = subject.read_facts(result)["readonly"]
    if readonly is None:
        raise NotApplicable("the result has no read-only flag")
    return not readonly


@consumer_rule(
    "import.read-only",
    f"{METHOD}, Notes; {HEADER}, DLPACK_FLAG_BITMASK_READ_ONLY",
    arrays=READ_ONLY,
)
def read_only(subject: Subject, word: str) -> str:
    """a tensor with READ_ONLY becomes a read-only array, if the library has such arrays

    assert not {values}.flags.writeable, 'it may be written to'
    """
    has_read_only(subject)
    expect(not writable(subject, word), "it may be written to")
    return "read-only"


@consumer_rule(
    "import.read-only-accepted",
    f"{METHOD}, Notes",
    level="should",
    arrays=READ_ONLY,
    struct="versioned",
)
def read_only_accepted(subject: Subject, word: str) -> str:
    """a tensor with READ_ONLY is imported: to ignore the flag is preferred over an exception

    print('imported:', type(result))
    """
    assume(
        not subject.has_own_wrapper,
        "its function is a wrapper of dlbench's, which may declare that it writes",
    )
    brought(subject, KnownProducer.of(subject, word, flags=0))
    assume(subject.handed == "versioned", "it does not request the versioned struct")
    brought(subject, KnownProducer.of(subject, word), Broken, "refused")
    return "imported"


@consumer_rule(
    "import.writable",
    f"{HEADER}, DLPACK_FLAG_BITMASK_READ_ONLY",
    level="should",
    arrays=("line", "grid", "strided", "scalar"),
)
def writable_kept(subject: Subject, word: str) -> str:
    """a tensor without READ_ONLY becomes a writable array

    assert {values}.flags.writeable, 'it is read-only'
    """
    has_read_only(subject)
    expect(writable(subject, word), "it is read-only")
    return "it may be written to"


@consumer_rule(
    "import.failure-deleted",
    f"{HEADER}, DLManagedTensorVersioned.deleter",
    patch="ctypes.c_uint8.from_address(tensor + 20).value = 200",
    imports=False,
    counts=True,
)
def failure_deleted(subject: Subject) -> str:
    """a tensor that is rejected during the import is deleted once

    with contextlib.suppress(Exception):
        result = {call}
    gc.collect()
    assert len(deleted) == 1, deleted
    """
    for describes in ({"dtype": (200, 32, 1)}, {"device": (200, 0)}):
        producer = KnownProducer(subject, **describes)
        try:
            subject.kept.append(subject.import_(producer))
        except Exception as error:
            why = describe_error(error)
        else:
            continue
        if producer.borrowed_tensors:
            return producer.require_deleted(f" after {why}")
    raise NotApplicable("nothing was rejected after a capsule was requested")
