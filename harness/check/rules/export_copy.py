"""`copy`, `dl_device`, and the flag of a copy."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from dlbench.check.reading import CPU, Facts, address, on_error, on_refusal, read, values
from dlbench.check.rule import HEADER, METHOD, SPEC, producer_rule
from dlbench.check.situation import (
    ANY_COPY,
    COPY,
    FILLED,
    HOST,
    NEW,
    NO_COPY,
    OLD,
    STRUCTS,
    combined,
)
from dlbench.check.subject import Subject
from dlbench.check.verdict import Broken, Ended, Holds, NotApplicable, Unclear, assume, expect

COPYING = f"{METHOD}, copy"
IS_COPIED = f"{HEADER}, DLPACK_FLAG_BITMASK_IS_COPIED"
COPIED = 2


def home(subject: Subject, array: Any) -> tuple[Any, int]:
    """A plain export that must be kept, and where its first element lies."""
    capsule = subject.readable(lambda: subject.request_export(array))
    return capsule, address(subject.readable(lambda: read(capsule)))


def several(subject: Subject, array: Any, **keywords: Any) -> tuple[list[Any], list[Facts]]:
    """Two exports, which must be kept, and their facts."""
    return twice(subject, lambda: array.__dlpack__(**keywords))


def twice(subject: Subject, export: Callable[[], Any]) -> tuple[list[Any], list[Facts]]:
    """Two capsules of an export, which must be kept, and their facts."""
    capsules = [subject.readable(export) for _ in range(2)]
    return capsules, [subject.readable(partial(read, each)) for each in capsules]


def shared(facts: list[Facts]) -> int | None:
    """The address that two exports share; None where they differ or are flagged as copies."""
    one, other = facts
    is_copy = COPIED & ((one["flags"] or 0) | (other["flags"] or 0))
    return None if is_copy or address(one) != address(other) else address(one)


def plain_memory(subject: Subject, array: Any) -> int | None:
    """The address that two plain exports share."""
    _kept, facts = twice(subject, lambda: subject.request_export(array))
    return shared(facts)


def named_memory(subject: Subject, array: Any, *exported: int | None) -> int | None:
    """The address by the adapter's `address`, where one of the exports has it, too."""
    named = None
    with suppress(Exception):
        named = subject.function("address")(array)
    return named if named in exported else None


def own_memory(subject: Subject, array: Any) -> int | None:
    """Where the array's own memory lies, as far as exports show it. Raises Unclear where those
    with copy=False and plain ones share no memory, and the adapter does not name its address."""
    try:
        _kept, facts = several(subject, array, **NEW, copy=False)
        never, plain = shared(facts), plain_memory(subject, array)
    except NotApplicable:
        return None
    named = named_memory(subject, array, never, plain)
    if named is not None:
        return named
    if None not in (never, plain) and never != plain:
        raise Unclear(
            "plain exports and those with copy=False share no memory, and none has the flag: "
            "without `address` in the adapter it is unknown which are copies"
        )
    return never


def must_copy(subject: Subject, word: str, end: type[Ended], **keywords: Any) -> str:
    """copy=True returns a copy; `end` where it raises BufferError."""
    array, _ = subject.exporter_of(word, keywords)
    kept, own = home(subject, array)
    with on_error(Broken, "refused: "), on_error(end, "refused: ", BufferError):
        capsule = array.__dlpack__(**keywords)
        facts = read(capsule)
    expect(address(facts) != own, "it is the same memory")
    expect(values(facts) == values(read(kept)), "the copy has other values")
    return "a copy"


MUST_COPY = """
given = array.__dlpack__({call})
assert first_element(tensor_of(given)) != first_element(tensor_of(capsule)), given"""


@producer_rule(
    "export.copy-true",
    f"{COPYING}, and Raises: BufferError where data cannot be exported, so that is unclear",
    f"copy=True exports a copy, not the array's memory\n{MUST_COPY}",
    arrays=FILLED,
    variants=combined([NEW], COPY, {**HOST, **COPY}),
    given="capsule",
)
def copy_true(subject: Subject, word: str, **keywords: Any) -> str:
    return must_copy(subject, word, Unclear, **keywords)


@producer_rule(
    "export.copy-true-unversioned",
    COPYING,
    f"copy=True without max_version also exports a copy\n{MUST_COPY}",
    arrays=FILLED,
    variants=combined([OLD], COPY, {**HOST, **COPY}),
    given="capsule",
)
def copy_true_unversioned(subject: Subject, word: str, **keywords: Any) -> str:
    # The legacy struct has no flag for a copy: to raise is allowed here.
    return must_copy(subject, word, Holds, **keywords)


@producer_rule(
    "export.copy-false",
    COPYING,
    arrays=FILLED,
    variants=combined(STRUCTS, NO_COPY),
    given="capsule",
)
def copy_false(subject: Subject, word: str, **keywords: Any) -> str:
    """copy=False exports the array's own memory, or raises BufferError

    kept = capsule, array.__dlpack__()
    given = [array.__dlpack__({call}) for _ in range(2)]
    own, again, one, other = (first_element(tensor_of(each)) for each in [*kept, *given])
    assert one == other and (own != again or own == one), given
    """
    array, _ = subject.exporter_of(word, keywords)
    # A plain export may be a copy, where copy=False is none.
    plain = plain_memory(subject, array)
    with on_refusal(BufferError, "refused: "):
        capsules = [array.__dlpack__(**keywords) for _ in range(2)]
        one, other = (address(read(each)) for each in capsules)
    expect(one == other, "each export returns other memory")
    named = named_memory(subject, array, plain, one)
    expect(named in (None, one), "it is not the array's memory")
    if named is None and plain not in (None, one):
        raise Broken("it is other memory than plain exports share: one of them is a copy")
    return "the same memory"


@producer_rule("export.copy-none", COPYING, arrays=FILLED, variants=combined(STRUCTS, ANY_COPY, {}))
def copy_none(subject: Subject, word: str, **keywords: Any) -> str:
    """copy=None exports the array's own memory where that is possible

    kept = array.__dlpack__(max_version=(1, 0), copy=False)
    capsule, given = (array.__dlpack__({call}) for _ in range(2))
    assert first_element(tensor_of(given)) == first_element(tensor_of(capsule)), given
    """
    array, _ = subject.exporter_of(word, ["copy", *keywords])
    with on_error(NotApplicable, "it cannot export its own: "):
        subject.request_export(array, copy=False)
    _kept, (one, other) = several(subject, array, **keywords)
    if address(one) != address(other):
        raise Broken("each export returns other memory, though copy=False raises no error")
    return "the same memory"


@producer_rule(
    "export.copied-flag",
    f"{COPYING}; {SPEC}; {IS_COPIED}",
    arrays=FILLED,
    variants=combined([NEW], {}, COPY, ANY_COPY, HOST),
)
def copied_flag(subject: Subject, word: str, **keywords: Any) -> str:
    """a copy has the flag IS_COPIED

    several = [array.__dlpack__({call}) for _ in range(2)]
    tensors = [tensor_of(each) for each in several]
    flags = [ctypes.c_uint64.from_address(tensor - 8).value for tensor in tensors]
    if first_element(tensors[0]) == first_element(tensors[1]):
        several.append(array.__dlpack__(max_version=(1, 0), copy=False))
    copied = len({first_element(tensor_of(each)) for each in several}) > 1
    assert not copied or any(each & 0b10 for each in flags), flags
    """
    array, _ = subject.exporter_of(word, keywords)
    _kept, (one, other) = several(subject, array, **keywords)
    assume(one["struct"] == "versioned", "the legacy struct has no flags")
    is_copy = address(one) != address(other)
    is_copy = is_copy or own_memory(subject, array) not in (None, address(one))
    assume(is_copy, "no copy is made")
    expect(
        (one["flags"] | other["flags"]) & COPIED, f"a copy is made, and flags are {one['flags']:#x}"
    )
    return f"flags are {one['flags']:#x}"


@producer_rule(
    "export.shared-flag",
    IS_COPIED,
    arrays=FILLED,
    variants=combined([NEW], {}, ANY_COPY, NO_COPY, HOST),
)
def shared_flag(subject: Subject, word: str, **keywords: Any) -> str:
    """an export without a copy does not have the flag IS_COPIED

    several = [array.__dlpack__({call}) for _ in range(2)]
    one, other = (tensor_of(each) for each in several)
    flags = ctypes.c_uint64.from_address(one - 8).value
    assert first_element(one) != first_element(other) or not flags & 0b10, hex(flags)
    """
    array, _ = subject.exporter_of(word, keywords)
    _kept, (one, other) = several(subject, array, **keywords)
    assume(one["struct"] == "versioned", "the legacy struct has no flags")
    if address(one) != address(other):
        return "each export is a copy"
    if one["flags"] & COPIED:
        raise Broken(f"two exports share memory, and flags are {one['flags']:#x}")
    return f"flags are {one['flags']:#x}"


#: A device type that no library has: 200 is no DLDeviceType.
NOWHERE = {"dl_device": (200, 0)}
CUDA = {"dl_device": (2, 0)}
LAID = ("line", "strided", "empty", "readonly")


def must_refuse_device(subject: Subject, word: str, **keywords: Any) -> str:
    """A device type that does not exist raises BufferError. The control is the call without it."""
    array, _ = subject.exporter_of(word, keywords)
    others = {key: value for key, value in keywords.items() if key != "dl_device"}
    with on_error(NotApplicable, "on no device: "):
        array.__dlpack__(**others)
    with on_refusal(BufferError):
        facts = read(array.__dlpack__(**keywords))
    raise Broken(f"it gave a tensor on {facts['device']}")


REFUSE_DEVICE = "\narray.__dlpack__({call})"


@producer_rule(
    "export.device-unknown",
    f"{METHOD}, dl_device",
    f"a dl_device that the producer cannot handle raises BufferError\n{REFUSE_DEVICE}",
    arrays=LAID,
    variants=combined([NEW], NOWHERE, {**NOWHERE, **COPY}, {**NOWHERE, **NO_COPY}),
    raises="BufferError",
)
def device_unknown(subject: Subject, word: str, **keywords: Any) -> str:
    return must_refuse_device(subject, word, **keywords)


@producer_rule(
    "export.device-unknown-unversioned",
    f"{METHOD}, dl_device",
    "without max_version, too, a dl_device that the producer cannot handle raises BufferError\n"
    f"{REFUSE_DEVICE}",
    arrays=LAID[:3],
    variants=combined([OLD], NOWHERE, {**NOWHERE, **COPY}, {**NOWHERE, **NO_COPY}),
    raises="BufferError",
)
def device_unknown_unversioned(subject: Subject, word: str, **keywords: Any) -> str:
    return must_refuse_device(subject, word, **keywords)


@producer_rule(
    "export.copy-false-device",
    f"{COPYING}; dl_device",
    arrays=LAID,
    variants=combined(STRUCTS, {**CUDA, **NO_COPY}),
    raises="BufferError",
)
def copy_false_device(subject: Subject, word: str, **keywords: Any) -> str:
    """copy=False raises BufferError where dl_device is another device

    array.__dlpack__({call})
    """
    array, _ = subject.exporter_of(word, keywords)
    home(subject, array)
    # Whether there is such a device or not: no memory of the CPU's is CUDA's without a copy.
    with on_refusal(BufferError):
        facts = read(array.__dlpack__(**keywords))
    if subject.device != "cpu" and facts["device"] == CUDA["dl_device"]:
        raise NotApplicable("its memory may be reached from both devices")
    raise Broken(f"it gave a tensor on {facts['device']}")


@producer_rule(
    "export.device-host",
    f"{METHOD}, dl_device",
    level="should",
    call="array.__dlpack__({call})",
    arrays=FILLED,
    variants=combined(STRUCTS, HOST, {**HOST, **COPY}),
    given="tensor",
)
def device_host(subject: Subject, word: str, **keywords: Any) -> str:
    """dl_device=(1, 0) exports memory of the CPU

    named = [ctypes.c_int32.from_address(tensor + at).value for at in (8, 12)]
    assert named == [1, 0], named
    """
    array, _ = subject.exporter_of(word, keywords)
    others = {key: value for key, value in keywords.items() if key != "dl_device"}
    with on_error(NotApplicable, "on no device: "):
        plain = array.__dlpack__(**others)
    is_on_host = subject.device == "cpu"
    expected = values(read(plain)) if is_on_host else b""
    del plain  # some export once at a time
    with on_error(Broken):
        capsule = array.__dlpack__(**keywords)
        facts = read(capsule)
    expect(facts["device"] == CPU, f"it gave {facts['device']}")
    if is_on_host and values(facts) != expected:
        raise Broken("it gave other values")
    return "memory of the CPU"
