"""The fields of an export other than the layout of its elements."""

from __future__ import annotations

from typing import Any

from dlbench.check.reading import Facts, address, on_error, read
from dlbench.check.rule import HEADER, SPEC, producer_rule
from dlbench.check.situation import ARRAYS, COPY, EMPTY, HOST, NEW, NO_COPY, PROTECTED, combined
from dlbench.check.subject import Subject
from dlbench.check.verdict import Broken, Holds, NotApplicable, Unclear, assume, expect

VERSIONED = combined([NEW], {}, COPY, NO_COPY)
CALL = "array.__dlpack__({call})"
KNOWN_FLAGS = 0b111
READ_ONLY, COPIED = 1, 2
STRIDES_SINCE = (1, 2)
#: Enough exports that not all of them are aligned by chance.
SEVERAL = 32


def exported(subject: Subject, word: str, **keywords: Any) -> Facts:
    """The facts of an export, which is dropped."""
    array, _ = subject.exporter_of(word, keywords)
    facts: Facts = subject.readable(lambda: read(array.__dlpack__(**keywords)))
    return facts


@producer_rule(
    "export.flags-defined",
    f"{HEADER}, DLManagedTensorVersioned.flags",
    arrays=(*ARRAYS, "readonly"),
    variants=VERSIONED,
    call=CALL,
    refusal="Exception",
    given="versioned",
)
def flags_defined(subject: Subject, word: str, **keywords: Any) -> str:
    """only flags that the specification defines are set

    flags = ctypes.c_uint64.from_address(struct + 24).value
    assert flags & ~0b111 == 0, hex(flags)
    """
    facts = exported(subject, word, **keywords)
    assume(facts["struct"] == "versioned", "the legacy struct has no flags")
    expect(not (facts["flags"] & ~KNOWN_FLAGS), f"flags are {facts['flags']:#x}")
    return f"flags are {facts['flags']:#x}"


@producer_rule(
    "export.strides-there",
    f"{HEADER}, DLTensor.strides",
    arrays=tuple(word for word in ARRAYS if word != "scalar"),
    variants=VERSIONED,
    call=CALL,
    refusal="Exception",
    given="tensor",
)
def has_strides(subject: Subject, word: str, **keywords: Any) -> str:
    """since DLPack 1.2, strides are not NULL if the tensor has dimensions

    strides = ctypes.c_void_p.from_address(tensor + 32).value
    is_old = 'versioned' not in repr(capsule)  # the minor version is the second number
    assert strides or is_old or ctypes.c_uint32.from_address(tensor - 28).value < 2, 'it is NULL'
    """
    facts = exported(subject, word, **keywords)
    declared_version = facts["version"]
    if declared_version is None or declared_version < STRIDES_SINCE:
        which = "legacy" if declared_version is None else ".".join(map(str, declared_version))
        raise NotApplicable(f"the struct is {which}: NULL means row-major")
    if facts["strides"] is None:
        raise Broken(f"they are NULL in a struct of version {declared_version}")
    return "they are there"


@producer_rule(
    "export.empty-data",
    f"{HEADER}, DLTensor.data; {SPEC}",
    level="should",
    verdict="unclear",
    arrays=EMPTY,
    given="tensor",
)
def empty_data(subject: Subject, word: str) -> str:
    """an array without elements has a NULL data pointer

    data = ctypes.c_void_p.from_address(tensor).value
    assert data is None, hex(data)
    """
    facts = exported(subject, word)
    if facts["data"] != 0:
        raise Unclear(
            "data is an address; it should be NULL, the reason is not given, and most producers "
            "leave the address"
        )
    return "data is NULL"


@producer_rule(
    "export.alignment",
    f"{HEADER}, DLTensor.data",
    verdict="unclear",
    source="offset",
    given="tensor",
)
def alignment(subject: Subject) -> str:
    """data is aligned to 256 bytes, and byte_offset carries the rest

    data = ctypes.c_void_p.from_address(tensor).value
    assert data % 256 == 0, f'{data % 256} bytes off'
    """
    # A pointer that happens to be aligned shows nothing: so 4 bytes off.
    try:
        arrays = [subject.exporter(subject.case(offset=4))]
    except NotApplicable:
        arrays = [subject.exporter(subject.case(bytes=64)) for _ in range(SEVERAL)]
    off = max(subject.export(array)["data"] % 256 for array in arrays)
    if off:
        raise Unclear(
            f"data is {off} bytes off; the header requires it, and also that consumers "
            "must not rely on it"
        )
    return "aligned"


@producer_rule(
    "export.read-only-flag",
    f"{HEADER}, DLPACK_FLAG_BITMASK_READ_ONLY",
    arrays=PROTECTED,
    variants=combined([NEW], {}, NO_COPY, HOST),
    call=CALL,
    refusal="Exception",
    given="versioned",
)
def read_only_flag(subject: Subject, word: str, **keywords: Any) -> str:
    """a read-only array has the flag READ_ONLY, is copied, or is not exported

    flags = ctypes.c_uint64.from_address(struct + 24).value
    assert flags & 0b11, hex(flags)
    """
    array, _ = subject.exporter_of(word, keywords)
    with on_error(Holds, "refused: "):
        capsules = [array.__dlpack__(**keywords) for _ in range(2)]
        facts, other = map(read, capsules)
    assume(facts["struct"] == "versioned", "the legacy struct has no flags")
    # A copy is the consumer's own: nothing that is read-only was exported.
    is_copy = facts["flags"] & COPIED or address(facts) != address(other)
    expect(facts["flags"] & READ_ONLY or is_copy, f"flags are {facts['flags']:#x}")
    return f"flags are {facts['flags']:#x}"


@producer_rule(
    "export.read-only-legacy",
    f"{HEADER}, DLPACK_FLAG_BITMASK_READ_ONLY",
    verdict="unclear",
    source="readonly",
    refusal="Exception",
)
def read_only_legacy(subject: Subject) -> str:
    """a read-only array is not exported by the struct without that flag

    given = array.__dlpack__()
    assert 'versioned' in repr(given), given
    """
    array = subject.exporter(subject.case(readonly=True))
    with on_error(Holds, "refused: "):
        facts = read(array.__dlpack__())
    assume(facts["struct"] != "versioned", "the legacy struct is not offered")
    raise Unclear("it is, and a consumer may write to it; the specification does not forbid that")
