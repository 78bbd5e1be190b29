"""How `__dlpack__` and `__dlpack_device__` are called, and what they raise."""

from __future__ import annotations

from typing import Any

from dlbench.check.reading import describe_error, on_error, on_refusal, read, values, values_of
from dlbench.check.rule import DEVICE, HEADER, METHOD, SPEC, producer_rule
from dlbench.check.situation import ARRAYS, COPY, EXPORTS, HOST, STRUCTS, combined
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


@producer_rule("export.device-pair", DEVICE, arrays=ARRAYS)
def device_pair(subject: Subject, word: str) -> str:
    """__dlpack_device__() returns a tuple of two ints (an IntEnum is one)

    device = array.__dlpack_device__()
    assert isinstance(device, tuple) and len(device) == 2, device
    assert all(isinstance(each, int) for each in device), device
    """
    device = device_of(subject.exporter_of(word)[0])
    pair = isinstance(device, tuple) and len(device) == 2
    expect(pair and all(isinstance(each, int) for each in device), f"it is {device!r}")
    return f"({int(device[0])}, {int(device[1])})"


@producer_rule("export.device-agrees", DEVICE, arrays=ARRAYS, variants=STRUCTS)
def device_agrees(subject: Subject, word: str, **keywords: Any) -> str:
    """__dlpack_device__() is the device that the capsule's tensor names

    tensor = tensor_of(capsule := array.__dlpack__({call}))
    named = [ctypes.c_int32.from_address(tensor + at).value for at in (8, 12)]
    device = array.__dlpack_device__()
    assert list(device) == named, (device, named)
    """
    array, _ = subject.exporter_of(word, keywords)
    device = device_of(array)
    named = subject.readable(lambda: read(array.__dlpack__(**keywords)))["device"]
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


@producer_rule(
    "export.device-id",
    f"{HEADER}, DLDevice.device_id",
    arrays=("line", "strided", "empty"),
    variants=combined(STRUCTS, {}, COPY, HOST),
    call="array.__dlpack__({call})",
    given="tensor",
    refusal="Exception",
)
def device_id(subject: Subject, word: str, **keywords: Any) -> str:
    """memory of the CPU, pinned memory and managed memory have the device_id 0

    named = [ctypes.c_int32.from_address(tensor + at).value for at in (8, 12)]
    assert named[0] not in (1, 3, 11, 13) or named[1] == 0, named
    """
    array, _ = subject.exporter_of(word, keywords)
    kind, number = subject.readable(lambda: read(array.__dlpack__(**keywords)))["device"]
    assume(kind in WITHOUT_ID, f"the memory is of device type {kind}")
    expect(number == 0, f"the device is {(kind, number)}")
    return f"{(kind, number)}"


KEYWORDS = ("stream", "max_version", "dl_device", "copy")
#: Device types whose device_id is 0.
WITHOUT_ID = (1, 3, 11, 13)


@producer_rule("export.keywords", f"{METHOD} (since 2023.12)")
def keywords(subject: Subject) -> str:
    """__dlpack__ accepts stream, max_version, dl_device and copy, each None, and all together

    words = ('stream', 'max_version', 'dl_device', 'copy')
    for word in (*[(word,) for word in words], words):
        try:
            array.__dlpack__(**dict.fromkeys(word))
        except TypeError:
            raise
        except Exception as error:
            print(word, 'is a keyword:', repr(error))
    """
    array = subject.exporter()
    refused: list[str] = []
    for words in (*[(word,) for word in KEYWORDS], KEYWORDS):
        if refused and len(words) > 1:
            continue
        try:
            array.__dlpack__(**dict.fromkeys(words))
        except TypeError as error:
            refused.append(f"{' with '.join(words)}: {describe_error(error)}")
        except Exception:
            continue  # of another kind than a missing keyword
    if refused:
        missing = ", ".join(text.partition(":")[0] for text in refused)
        raise Broken(f"no keyword {missing} ({refused[0].partition(': ')[2]})")
    return "all four, alone and together"


@producer_rule("export.positional", METHOD, verdict="unclear", raises="TypeError")
def positional(subject: Subject) -> str:
    """__dlpack__ accepts keyword arguments only

    array.__dlpack__(None)
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
    arrays=("swapped",),
    variants=EXPORTS,
    refusal="Exception",
)
def byte_order(subject: Subject, word: str, **keywords: Any) -> str:
    """numbers in the other byte order are not exported as native ones

    capsule = array.__dlpack__({call})
    given = ctypes.string_at(first_element(tensor_of(capsule)), source.nbytes)
    assert given == source.astype(np.float32).tobytes(), given
    """
    array, expected = subject.exporter_of(word, keywords)
    with on_error(Holds, "refused: "):
        capsule = array.__dlpack__(**keywords)
        facts = read(capsule)
    if values(facts) == expected.tobytes():
        return "converted"
    raise Broken("exported, though no field marks the bytes as swapped")


@producer_rule(
    "export.refusal-type",
    f"{METHOD}, Raises",
    level="should",
    arrays=("swapped", "unexportable", "grad"),
    variants=STRUCTS,
    refusal="BufferError",
)
def refusal_type(subject: Subject, word: str, **keywords: Any) -> str:
    """an array that cannot be exported raises BufferError

    print('exported:', array.__dlpack__({call}))
    """
    array, _ = subject.exporter_of(word, keywords)
    with on_refusal(BufferError):
        array.__dlpack__(**keywords)
    raise NotApplicable("it is exported")


@producer_rule("export.other-thread", SPEC, arrays=ARRAYS, variants=combined(STRUCTS, {}, COPY))
def other_thread(subject: Subject, word: str, **keywords: Any) -> str:
    """an array can be exported in a thread that did not create it

    from concurrent.futures import ThreadPoolExecutor
    pool = ThreadPoolExecutor()
    capsule = pool.submit(lambda: array.__dlpack__({call})).result()
    there = pool.submit(np.from_dlpack, array).result()
    assert np.array_equal(there, source), there
    """
    array, _ = subject.exporter_of(word, keywords)
    here = values_of(subject.readable(lambda: array.__dlpack__(**keywords)))
    with on_error(Broken, "in a thread: "):
        there = in_thread(lambda: values_of(array.__dlpack__(**keywords)))
    expect(here == there, "other values are exported in a thread")
    return "the same values"
