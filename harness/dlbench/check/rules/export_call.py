"""How `__dlpack__` and `__dlpack_device__` are called, and what they raise."""

from __future__ import annotations

from typing import Any

from dlbench.check.reading import describe_error, on_error, read, values, values_of
from dlbench.check.rule import DEVICE, METHOD, SPEC, producer_rule
from dlbench.check.subject import Subject, in_thread
from dlbench.check.verdict import Broken, Holds, NotApplicable, Unclear, assume, expect


@producer_rule("export.device-method", DEVICE)
def device_method(subject: Subject) -> str:
    """an array with __dlpack__ has __dlpack_device__ too

    array.__dlpack_device__
    """
    expect(hasattr(subject.exporter(), "__dlpack_device__"), "there is no __dlpack_device__")
    return "both exist"


def device_of(array: Any) -> Any:
    """The array's device. Raises NotApplicable if another rule covers the error."""
    with on_error(NotApplicable, "__dlpack_device__: "):
        return array.__dlpack_device__()


@producer_rule("export.device-pair", DEVICE)
def device_pair(subject: Subject) -> str:
    """__dlpack_device__() returns a tuple of two ints (an IntEnum is one)

    device = array.__dlpack_device__()
    assert isinstance(device, tuple) and len(device) == 2, device
    assert all(isinstance(each, int) for each in device), device
    """
    device = device_of(subject.exporter())
    pair = isinstance(device, tuple) and len(device) == 2
    expect(pair and all(isinstance(each, int) for each in device), f"it is {device!r}")
    return f"({int(device[0])}, {int(device[1])})"


@producer_rule("export.device-agrees", DEVICE)
def device_agrees(subject: Subject) -> str:
    """__dlpack_device__() is the device that the capsule's tensor names

    named = [ctypes.c_int32.from_address(tensor + at).value for at in (8, 12)]
    device = array.__dlpack_device__()
    assert list(device) == named, (device, named)
    """
    array = subject.exporter()
    device = device_of(array)
    named = subject.export(array)["device"]
    try:
        reported = tuple(None if each is None else int(each) for each in device)
    except (TypeError, ValueError):
        raise NotApplicable(f"__dlpack_device__() is {device!r}") from None
    if None in reported:
        # What a missing number means is the other rule's matter.
        reported = tuple(
            there if one is None else one for one, there in zip(reported, named, strict=True)
        )
    expect(reported == named, f"it reports {reported}, the capsule has {named}")
    return f"both are {named}"


KEYWORDS = ("stream", "max_version", "dl_device", "copy")


@producer_rule("export.keywords", f"{METHOD} (since 2023.12)")
def keywords(subject: Subject) -> str:
    """__dlpack__ accepts stream, max_version, dl_device and copy, each None

    for word in ('stream', 'max_version', 'dl_device', 'copy'):
        try:
            array.__dlpack__(**{word: None})
        except TypeError:
            raise
        except Exception as error:
            print(word, 'is a keyword:', repr(error))
    """
    array = subject.exporter()
    refused = []
    for word in KEYWORDS:
        try:
            array.__dlpack__(**{word: None})
        except TypeError as error:
            refused.append(f"{word}: {describe_error(error)}")
        except Exception:
            continue  # of another kind than a missing keyword
    if refused:
        words = ", ".join(text.partition(":")[0] for text in refused)
        raise Broken(f"no keyword {words} ({refused[0].partition(': ')[2]})")
    return "all four"


@producer_rule("export.positional", METHOD, verdict="unclear")
def positional(subject: Subject) -> str:
    """__dlpack__ accepts keyword arguments only

    given = refused(lambda: array.__dlpack__(None), TypeError)
    """
    array = subject.exporter()
    try:
        array.__dlpack__(None)
    except TypeError:
        return "a positional argument is a TypeError"
    except Exception as error:
        raise NotApplicable(f"the call failed otherwise: {describe_error(error)}") from None
    raise Unclear(
        "a positional argument is accepted; the signature has keywords only, "
        "but the text does not forbid more"
    )


@producer_rule(
    "export.byte-order",
    f"{METHOD}, Raises; dlpack.h, DLDataType: native endianness",
    source="swapped",
)
def byte_order(subject: Subject) -> str:
    """numbers in the other byte order are not exported as native ones

    given = allowed(lambda: np.from_dlpack(array))
    assert np.array_equal(given, source), given
    """
    case = subject.case(special="swapped")
    array = subject.exporter(case)
    with on_error(Holds, "refused: "):
        capsule = subject.request_export(array)
        facts = read(capsule)
    if values(facts) == case.expected().tobytes():
        return "converted"
    raise Broken("exported, though no field marks the bytes as swapped")


#: Properties that a library may have and DLPack cannot express.
SPECIALS = ("swapped", "nulls", "grad")


@producer_rule("export.refusal-type", f"{METHOD}, Raises", level="should", source="unexportable")
def refusal_type(subject: Subject) -> str:
    """an array that cannot be exported raises BufferError

    given = allowed(lambda: array.__dlpack__(), BufferError)
    print('exported:', given)
    """
    subject.exporter()
    observed, other = [], []
    for special in SPECIALS:
        try:
            dtype = "float32"
            array = subject.make(subject.case(special=special, dtype=dtype))
        except NotApplicable:
            continue
        try:
            subject.request_export(array)
        except BufferError:
            observed.append(special)
        except Exception as error:
            other.append(f"{special}: {describe_error(error)}")
    expect(not other, "; ".join(other))
    assume(observed, "nothing that it makes was refused")
    return f"BufferError for {', '.join(observed)}"


@producer_rule("export.other-thread", SPEC)
def other_thread(subject: Subject) -> str:
    """an array can be exported in a thread that did not create it

    from concurrent.futures import ThreadPoolExecutor
    there = ThreadPoolExecutor().submit(np.from_dlpack, array).result()
    assert np.array_equal(there, np.from_dlpack(array)), there
    """
    array = subject.exporter()
    here = values_of(subject.readable(lambda: subject.request_export(array)))
    with on_error(Broken, "in a thread: "):
        there = in_thread(lambda: values_of(subject.request_export(array)))
    expect(here == there, "other values are exported in a thread")
    return "the same values"
