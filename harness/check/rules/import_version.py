"""Which structs a consumer accepts, which it requests, and how it rejects others."""

from __future__ import annotations

from dlbench.check.imports import brought, require_import, require_versioned_request, same, spelled
from dlbench.check.known_producer import Array, KnownProducer, sized
from dlbench.check.reading import describe_error, on_error
from dlbench.check.rule import HEADER, METHOD, SPEC, consumer_rule
from dlbench.check.subject import Subject
from dlbench.check.verdict import Broken, Holds, NotApplicable, assume

STABLE = f"{HEADER}, DLManagedTensorVersioned.version"
MAJOR = "ctypes.c_uint32.from_address(struct).value = 2"


@consumer_rule(
    "import.legacy", f"{METHOD}, the consumer's logic; {SPEC}", level="should", struct="legacy"
)
def legacy(subject: Subject) -> str:
    """the legacy struct is imported from a producer that has no other

    {same}
    """
    require_import(subject)
    array = sized("import.legacy")
    producer = KnownProducer(subject, array, legacy=True)
    try:
        result = subject.import_(producer)
    except Exception as error:
        raise Broken(f"{_refused_from(subject, array)}: {describe_error(error)}") from None
    return same(subject, producer, result)


def _refused_from(subject: Subject, array: Array) -> str:
    """Which producers of the legacy struct it refuses."""
    try:
        subject.import_(KnownProducer(subject, array, legacy=True, knows=("stream",)))
    except Exception:
        return "refused"
    return (
        "imported from a producer without max_version, refused from one that accepts max_version "
        "and returns the legacy struct"
    )


@consumer_rule("import.versioned", f"{METHOD}, the consumer's logic")
def versioned(subject: Subject) -> str:
    """a consumer that requests the versioned struct imports it

    {same}
    """
    require_import(subject)
    producer = KnownProducer(subject, sized("import.versioned"))
    try:
        result = subject.import_(producer)
    except Exception as error:
        if subject.handed != "versioned":
            raise NotApplicable("it does not request it") from None
        raise Broken(f"refused: {describe_error(error)}") from None
    assume(subject.handed == "versioned", "it does not request it")
    return same(subject, producer, result)


@consumer_rule(
    "import.requests-version",
    f"{METHOD}, the consumer's logic; {SPEC}",
    level="should",
    struct="asks",
    records=True,
)
def requests_version(subject: Subject) -> str:
    """a consumer passes max_version

    assert any(call.get('max_version') for call in calls), calls
    """
    assume(not subject.imports_capsules, "it imports a capsule, and makes no request")
    producer = KnownProducer(subject)
    brought(subject, producer)
    if not any(call.get("max_version") for call in producer.calls):
        raise Broken(f"it called {spelled(producer)}")
    return spelled(producer)


@consumer_rule("import.retries", f"{METHOD}, the consumer's logic", level="should", struct="bare")
def retries(subject: Subject) -> str:
    """a producer without max_version, dl_device and copy is called again without them

    {same}
    """
    assume(not subject.imports_capsules, "it imports a capsule, and makes no request")
    require_import(subject)
    producer = KnownProducer(subject, knows=("stream",))
    try:
        result = subject.import_(producer)
    except Exception as error:
        raise Broken(f"after {spelled(producer)}: {describe_error(error)}") from None
    assume(len(producer.calls) != 1, f"it passes none of them: {spelled(producer)}")
    same(subject, producer, result)
    return spelled(producer)


@consumer_rule(
    "import.minor-version",
    STABLE,
    patch="ctypes.c_uint32.from_address(struct + 4).value = 99",
    struct="versioned",
)
def minor_version(subject: Subject) -> str:
    """a minor version that is newer than the consumer's is imported

    {same}
    """
    require_versioned_request(subject)
    producer = KnownProducer(subject, version=(1, 99))
    result = brought(subject, producer, Broken, "1.99 is refused")
    return same(subject, producer, result)


@consumer_rule(
    "import.major-version", STABLE, risky=True, patch=MAJOR, struct="versioned", raises="Exception"
)
def major_version(subject: Subject) -> str:
    """another major version is refused, and no field after its flags is read

    print('2.0 is imported:', type(result))
    """
    require_versioned_request(subject)
    producer = KnownProducer(subject, version=(2, 0), trapped=True)
    with on_error(Holds, "refused: "):
        result = subject.import_(producer)
    subject.kept.append(result)
    raise Broken("a tensor of version 2.0 is imported")


@consumer_rule(
    "import.major-version-deleted",
    STABLE,
    patch=MAJOR,
    struct="versioned",
    imports=False,
    counts=True,
)
def major_version_deleted(subject: Subject) -> str:
    """a tensor of another major version is deleted once

    with contextlib.suppress(Exception):
        result = {call}
    gc.collect()
    assert len(deleted) == 1, deleted
    """
    require_versioned_request(subject)
    producer = KnownProducer(subject, version=(2, 0))
    try:
        subject.kept.append(subject.import_(producer))
    except Exception as error:
        why = describe_error(error)
    else:
        raise NotApplicable("it is imported")
    return producer.require_deleted(f" after {why}")
