"""`copy`, `dl_device`, and the flag of a copy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dlbench.check.reading import CPU, address, describe_error, on_error, on_refusal, read, values
from dlbench.check.rule import HEADER, METHOD, SPEC, producer_rule
from dlbench.check.subject import Subject
from dlbench.check.verdict import Broken, NotApplicable, assume, expect

COPY = f"{METHOD}, copy"
COPIED = 2
NEW, OLD = "max_version=(1, 0), ", ""


def home(subject: Subject, array: Any) -> tuple[Any, int]:
    """A plain export that must be kept, and where its first element lies."""
    capsule = subject.readable(lambda: subject.request_export(array))
    return capsule, address(subject.readable(lambda: read(capsule)))


def bare(array: Any, **keywords: Any) -> Any:
    """The capsule of a call without max_version, as consumers before 2023.12 make it."""
    return array.__dlpack__(**keywords)


def must_copy(
    subject: Subject, request_export: Callable[..., Any], *lawful: type[Exception]
) -> str:
    """copy=True returns a copy, or raises as allowed."""
    array = subject.exporter_with("copy")
    kept, own = home(subject, array)
    with on_refusal(lawful, "refused: "):
        capsule = request_export(array, copy=True)
        facts = read(capsule)
    expect(address(facts) != own, "it is the same memory")
    expect(values(facts) == values(read(kept)), "the copy has other values")
    return "a copy"


@producer_rule("export.copy-true", COPY)
def copy_true(subject: Subject) -> str:
    """copy=True exports a copy, not the array's memory

    given = array.__dlpack__(max_version=(1, 0), copy=True)
    assert not address(given) == address(capsule), given
    """
    return must_copy(subject, subject.request_export)


@producer_rule("export.copy-true-unversioned", COPY)
def copy_true_unversioned(subject: Subject) -> str:
    """copy=True without max_version also exports a copy

    given = allowed(lambda: array.__dlpack__(copy=True), BufferError)
    assert not address(given) == address(capsule), given
    """
    # The legacy struct has no flag for a copy: to raise is allowed here.
    return must_copy(subject, bare, BufferError)


@producer_rule("export.copy-false", COPY)
def copy_false(subject: Subject) -> str:
    """copy=False exports the array's own memory, or raises BufferError

    given = allowed(lambda: array.__dlpack__(max_version=(1, 0), copy=False), BufferError)
    assert address(given) == address(capsule), given
    """
    array = subject.exporter_with("copy")
    kept, own = home(subject, array)
    with on_refusal(BufferError):
        capsule = subject.request_export(array, copy=False)
        facts = read(capsule)
    expect(address(facts) == own, "it is other memory than copy=None exports")
    del kept
    return "the same memory"


@producer_rule("export.copy-none", COPY)
def copy_none(subject: Subject) -> str:
    """copy=None exports the array's own memory where that is possible

    array.__dlpack__(max_version=(1, 0), copy=False)
    capsule, given = (array.__dlpack__(max_version=(1, 0), copy=None) for _ in range(2))
    assert address(given) == address(capsule), given
    """
    array = subject.exporter_with("copy")
    with on_error(NotApplicable, "it cannot export its own: "):
        subject.request_export(array, copy=False)
    first, second = (subject.request_export(array, copy=None) for _ in range(2))
    if address(read(first)) != address(read(second)):
        raise Broken("each export returns other memory, though copy=False raises no error")
    return "the same memory"


@producer_rule(
    "export.copied-flag",
    f"{COPY}; {SPEC}; {HEADER}, DLPACK_FLAG_BITMASK_IS_COPIED",
    call=f"array.__dlpack__({NEW}copy=True)",
)
def copied_flag(subject: Subject) -> str:
    """a copy has the flag IS_COPIED

    flags = ctypes.c_uint64.from_address(struct + 24).value
    assert flags & 0b10, hex(flags)
    """
    array = subject.exporter_with("copy")
    _kept, own = home(subject, array)
    with on_error(NotApplicable, "no copy: "):
        capsule = subject.request_export(array, copy=True)
        facts = read(capsule)
    assume(facts["struct"] == "versioned", "the legacy struct has no flags")
    assume(address(facts) != own, "copy=True made no copy")
    expect(facts["flags"] & COPIED, f"copy=True made a copy, and flags are {facts['flags']:#x}")
    return f"flags are {facts['flags']:#x}"


@producer_rule("export.shared-flag", f"{HEADER}, DLPACK_FLAG_BITMASK_IS_COPIED")
def shared_flag(subject: Subject) -> str:
    """an export without a copy does not have the flag IS_COPIED

    flags = ctypes.c_uint64.from_address(struct + 24).value
    assert not flags & 0b10, hex(flags)
    """
    array = subject.exporter()
    first, second = (subject.readable(lambda: subject.request_export(array)) for _ in range(2))
    facts = subject.readable(lambda: read(first))
    assume(facts["struct"] == "versioned", "the legacy struct has no flags")
    if address(facts) != address(read(second)):
        return "each export is a copy"
    if facts["flags"] & COPIED:
        raise Broken(f"two exports share memory, and flags are {facts['flags']:#x}")
    return f"flags are {facts['flags']:#x}"


#: A device type that no library has: 200 is no DLDeviceType.
NOWHERE = (200, 0)
CUDA = (2, 0)


def must_refuse_device(subject: Subject, request_export: Callable[..., Any]) -> str:
    """A device type that does not exist raises BufferError."""
    array = subject.exporter_with("dl_device")
    home(subject, array)
    with on_refusal(BufferError, f"dl_device={NOWHERE}: "):
        facts = read(request_export(array, dl_device=NOWHERE))
    raise Broken(f"dl_device={NOWHERE} gave a tensor on {facts['device']}")


@producer_rule("export.device-unknown", f"{METHOD}, dl_device")
def device_unknown(subject: Subject) -> str:
    """a dl_device that the producer cannot handle raises BufferError

    given = refused(lambda: array.__dlpack__(max_version=(1, 0), dl_device=(200, 0)), BufferError)
    """
    return must_refuse_device(subject, subject.request_export)


@producer_rule("export.device-unknown-unversioned", f"{METHOD}, dl_device")
def device_unknown_unversioned(subject: Subject) -> str:
    """without max_version, too, a dl_device that the producer cannot handle raises BufferError

    given = refused(lambda: array.__dlpack__(dl_device=(200, 0)), BufferError)
    """
    return must_refuse_device(subject, bare)


@producer_rule("export.copy-false-device", f"{COPY}; dl_device")
def copy_false_device(subject: Subject) -> str:
    """copy=False raises BufferError where dl_device is another device

    words = {'dl_device': (2, 0), 'copy': False}
    refused(lambda: array.__dlpack__(max_version=(1, 0), **words), BufferError)
    refused(lambda: array.__dlpack__(**words), BufferError)
    """
    subject.exporter_with("copy")
    array = subject.exporter_with("dl_device")
    assume(subject.device == "cpu", "its memory may be reached from both devices")
    home(subject, array)
    observed = ""
    # Whether there is such a device or not: no memory of the CPU's is CUDA's without a copy.
    for how, request_export in (("", subject.request_export), (", no max_version", bare)):
        what = f"dl_device={CUDA}, copy=False{how}"
        try:
            facts = read(request_export(array, dl_device=CUDA, copy=False))
        except BufferError as error:
            observed = observed or describe_error(error)
        except Exception as error:
            raise Broken(f"{what}: {describe_error(error)}") from None
        else:
            raise Broken(f"{what} gave a tensor on {facts['device']}")
    return observed


@producer_rule(
    "export.device-host",
    f"{METHOD}, dl_device",
    level="should",
    call=f"array.__dlpack__({NEW}dl_device=(1, 0))",
)
def device_host(subject: Subject) -> str:
    """dl_device=(1, 0) exports memory of the CPU

    named = [ctypes.c_int32.from_address(tensor + at).value for at in (8, 12)]
    assert named == [1, 0], named
    """
    array = subject.exporter_with("dl_device")
    home(subject, array)
    expected = subject.case().expected().tobytes()
    with on_error(Broken, f"dl_device={CPU}: "):
        capsule = subject.request_export(array, dl_device=CPU)
        facts = read(capsule)
    expect(facts["device"] == CPU, f"dl_device={CPU} gave {facts['device']}")
    if subject.device == "cpu" and values(facts) != expected:
        raise Broken(f"dl_device={CPU} gave other values")
    return "memory of the CPU"
