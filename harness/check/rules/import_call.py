"""How `from_dlpack` is called, its requests to a producer, and which errors it passes on."""

from __future__ import annotations

from contextlib import suppress

from dlbench.check.imports import (
    brought,
    requests_itself,
    require_from_dlpack,
    require_import,
    same,
    spelled,
)
from dlbench.check.known_producer import KnownProducer
from dlbench.check.reading import describe_error, on_error, on_refusal
from dlbench.check.rule import FROM_DLPACK, METHOD, SPEC, consumer_rule
from dlbench.check.subject import Subject
from dlbench.check.verdict import Broken, Holds, NotApplicable, Unclear, assume, expect
from dlbench.device import DLPACK_TYPES, Device


@consumer_rule(
    "import.keywords",
    f"{FROM_DLPACK} (since 2023.12)",
    call="{function}({array}, device=None, copy=None)",
)
def keywords(subject: Subject) -> str:
    """from_dlpack accepts device=None and copy=None

    print('imported:', type(result))
    """
    require_from_dlpack(subject)
    require_import(subject)
    missing = []
    for word in ("device", "copy"):
        try:
            subject.import_(KnownProducer(subject), **{word: None})
        except TypeError as error:
            missing.append(f"{word} ({describe_error(error)})")
        except Exception as error:
            raise NotApplicable(f"{word}=None: {describe_error(error)}") from None
    expect(not missing, f"no keyword {', '.join(missing)}")
    return "both"


@consumer_rule("import.stream-host", f"{METHOD}, stream", struct="asks", records=True)
def stream_host(subject: Subject) -> str:
    """a producer on the CPU gets the stream None, or no stream argument

    assert all(call.get('stream') is None for call in calls), calls
    """
    requests_itself(subject)
    producer = KnownProducer(subject)
    brought(subject, producer)
    passed = [call["stream"] for call in producer.calls if call.get("stream") is not None]
    expect(not passed, f"it called {spelled(producer)}")
    return spelled(producer)


def _add_stream(kind: str, number: int, sentence: str) -> None:
    lines = STREAM_LINES.format(device=(DLPACK_TYPES[kind], 0), refused=REFUSED_STREAMS[kind])

    @consumer_rule(
        f"import.stream-{kind}",
        f"{METHOD}, stream",
        f"{sentence}\n\n{lines}",
        on_device=True,
        imports=False,
    )
    def stream(subject: Subject) -> str:
        place = Device.parse(subject.device)
        assume(place.kind == kind, f"the array is on {subject.device}")
        own = subject.function("stream")
        kinds = subject.function("DEVICES") or ()
        assume(own is not None or kind in kinds, f"its adapter has no arrays on {kind}")
        requests_itself(subject)
        producer = KnownProducer(subject, raises=BufferError("not today"), device=place.in_dlpack())
        with suppress(Exception):
            subject.import_(producer)
        assume(producer.calls, "it did not call __dlpack__")
        passed = [call.get("stream") for call in producer.calls]
        wrong = [one for one in passed if one is not None and one in REFUSED_STREAMS[kind]]
        expect(not wrong, f"it called {spelled(producer)}")
        current = own(subject.device) if own is not None else None
        if isinstance(current, int):
            # None means the default stream, and -1 requests no order.
            allowed = [current or number, -1, *([] if current else [None])]
            expect(
                all(one in allowed for one in passed),
                f"its current stream is {current or number}, and it called {spelled(producer)}",
            )
        return spelled(producer)


#: The numbers that no stream has.
REFUSED_STREAMS = {"cuda": (0,), "rocm": (1, 2)}
STREAM_LINES = """\
class Producer:
    __dlpack_device__ = lambda self: {device}
    def __dlpack__(self, **keywords):
        passed.append(keywords.get('stream'))
        raise BufferError('not today')
passed, array = [], Producer()
with contextlib.suppress(Exception):
    {{call}}
assert not [stream for stream in passed if stream in {refused}], passed"""
_add_stream(
    "cuda", 1, "on CUDA, the consumer passes its current stream: 1 for the default, never 0"
)
_add_stream("rocm", 0, "on ROCm, the consumer passes its current stream: 0 for the default")


@consumer_rule(
    "import.missing-method",
    f"{FROM_DLPACK}, Raises",
    struct="none",
    imports=False,
    raises="AttributeError",
)
def missing_method(subject: Subject) -> str:
    """an object without __dlpack__ raises AttributeError

    {call}
    """
    require_from_dlpack(subject)

    class Nothing:
        pass

    with on_refusal(AttributeError):
        subject.import_(Nothing())
    raise Broken("it is imported")


#: A TypeError may be about a keyword, so that the consumer calls again.
ERRORS = {error.__name__: error for error in (BufferError, RuntimeError, MemoryError)}


@consumer_rule(
    "import.passes-error",
    f"{FROM_DLPACK}, Raises",
    struct="raises",
    variants=tuple(
        {"method": method, "error": error}
        for method in ("__dlpack__", "__dlpack_device__")
        for error in ERRORS
    ),
    imports=False,
    raises="{error}",
)
def passes_error(subject: Subject, word: str, method: str, error: str) -> str:
    """an exception of the producer's __dlpack__ or __dlpack_device__ is passed on

    {call}
    """
    require_from_dlpack(subject)
    raises = ERRORS[error]("dlbench's own refusal")
    producer = KnownProducer(subject, raises=raises, raising=method)
    try:
        subject.import_(producer)
    except ERRORS[error] as passed:
        return describe_error(passed)
    except Exception as other:
        if not producer.raised:
            raise NotApplicable(f"the producer was not called: {describe_error(other)}") from None
        raise Broken(f"{error} became {describe_error(other)}") from None
    assume(producer.raised, f"it does not call {method}")
    raise Broken(f"{error} was swallowed")


@consumer_rule(
    "import.missing-one-method",
    f"{FROM_DLPACK}, Raises (where both methods are absent)",
    verdict="unclear",
    variants=({"has": "__dlpack_device__"}, {"has": "__dlpack__"}),
)
def missing_one_method(subject: Subject, word: str, has: str) -> str:
    """an object with one of the two methods alone raises AttributeError, or is imported

    print('this is unclear')
    """
    require_from_dlpack(subject)
    require_import(subject)
    producer = KnownProducer(subject)

    class Half:
        pass

    setattr(Half, has, lambda self, **keywords: getattr(producer, has)(**keywords))
    with on_error(Unclear), on_error(Holds, "", AttributeError):
        subject.import_(Half())
    return "imported"


@consumer_rule("import.capsule-renamed", SPEC, records=True)
def capsule_renamed(subject: Subject) -> str:
    """the capsule is renamed when it is consumed

    assert repr(capsules[-1]).split('"')[1].startswith('used_dltensor'), capsules[-1]
    """
    producer = KnownProducer(subject)
    result = brought(subject, producer)
    name = repr(producer.capsules[-1]).split('"')[1]
    if name.startswith("used_dltensor"):
        return name
    same(subject, producer, result)
    if producer.borrowed_tensors[-1].deletions == 0:
        # Then the capsule's destructor deletes it. The result is other memory, or it will dangle.
        address = subject.read_facts(result)["address"]
        if address is not None and address != producer.borrowed_tensors[-1].address:
            return f"{name}: it was read, and left to the capsule's owner"
    raise Broken(f"it is still {name}")


@consumer_rule("import.capsule-name", SPEC, struct="name", imports=False, raises="Exception")
def capsule_name(subject: Subject) -> str:
    """a capsule of another name is refused

    {call}
    """
    producer = KnownProducer(subject, name="dltensor_of_dlbench")
    with on_error(Holds, "refused: "):
        result = subject.import_(producer)
    subject.kept.append(result)
    raise Broken("it is imported")


@consumer_rule(
    "import.consumed-twice",
    SPEC,
    risky=True,
    struct="twice",
    records=True,
    raises="Exception",
)
def consumed_twice(subject: Subject) -> str:
    """a capsule that was consumed already is rejected

    {call}
    """
    producer = KnownProducer(subject, once=True)
    first = brought(subject, producer)
    renamed = repr(producer.capsules[0]).split('"')[1].startswith("used_")
    try:
        second = subject.import_(producer)
    except Exception as error:
        why = describe_error(error)
    else:
        del first, second
        producer.release_kept()
        often = producer.borrowed.deletions
        if not renamed and often <= 1:
            raise NotApplicable("it reads the capsule, and leaves the tensor to the capsule")
        after = f", and its deleter is called {often} times" if often > 1 else ""
        raise Broken(f"it is consumed again{after}")
    del first
    producer.release_kept()
    return f"refused: {why}"
