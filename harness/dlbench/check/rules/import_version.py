"""Which structs a consumer takes, what it asks for, and how it refuses."""

from __future__ import annotations

from functools import partial

from dlbench.check.lender import Lender, sized
from dlbench.check.reading import describe_error
from dlbench.check.rule import HEADER, METHOD, RULES, SPEC, Broken, NotApplicable, Shown
from dlbench.check.showing import SAME, TRIED
from dlbench.check.subject import Subject, collect
from dlbench.check.taking import brought, require_import, same, spelled, versioned_asked

rule = partial(RULES.add, role="consumer")
STABLE = f"{HEADER}, DLManagedTensorVersioned.version"
MAJOR = "ctypes.c_uint32.from_address(struct).value = 2"


@rule(
    "import.legacy",
    "the legacy struct is taken from a producer that has no other",
    f"{METHOD}, the consumer's logic; {SPEC}",
    level="should",
    shown=Shown(struct="legacy", lines=SAME),
)
def legacy(subject: Subject) -> str:
    require_import(subject)
    lender = Lender(subject, sized("import.legacy"), legacy=True)
    result = brought(subject, lender, Broken, "refused")
    return same(subject, lender, result)


@rule(
    "import.versioned",
    "whoever asks for the versioned struct takes it",
    f"{METHOD}, the consumer's logic",
    shown=Shown(lines=SAME),
)
def versioned(subject: Subject) -> str:
    require_import(subject)
    lender = Lender(subject, sized("import.versioned"))
    try:
        result = subject.import_(lender)
    except Exception as error:
        if subject.handed != "versioned":
            raise NotApplicable("it does not ask for it") from None
        raise Broken(f"refused: {describe_error(error)}") from None
    if subject.handed != "versioned":
        raise NotApplicable("it does not ask for it")
    return same(subject, lender, result)


@rule(
    "import.asks-version",
    "a consumer says which version it takes",
    f"{METHOD}, the consumer's logic; {SPEC}",
    level="should",
    shown=Shown(
        struct="asks", lines="assert any(call.get('max_version') for call in calls), calls"
    ),
)
def asks_version(subject: Subject) -> str:
    if subject.takes_capsules:
        raise NotApplicable("it takes a capsule, and asks nothing")
    lender = Lender(subject)
    brought(subject, lender)
    if not any(call.get("max_version") for call in lender.calls):
        raise Broken(f"it called {spelled(lender)}")
    return spelled(lender)


@rule(
    "import.retries",
    "a producer without max_version, dl_device and copy is asked again without them",
    f"{METHOD}, the consumer's logic",
    level="should",
    shown=Shown(struct="bare", lines=SAME),
)
def retries(subject: Subject) -> str:
    if subject.takes_capsules:
        raise NotApplicable("it takes a capsule, and asks nothing")
    require_import(subject)
    lender = Lender(subject, knows=("stream",))
    try:
        result = subject.import_(lender)
    except Exception as error:
        raise Broken(f"after {spelled(lender)}: {describe_error(error)}") from None
    if len(lender.calls) == 1:
        raise NotApplicable(f"it passes none of them: {spelled(lender)}")
    same(subject, lender, result)
    return spelled(lender)


@rule(
    "import.minor-version",
    "a minor version that is newer than the consumer is taken",
    STABLE,
    shown=Shown(
        patch="ctypes.c_uint32.from_address(struct + 4).value = 99", struct="versioned", lines=SAME
    ),
)
def minor_version(subject: Subject) -> str:
    versioned_asked(subject)
    lender = Lender(subject, version=(1, 99))
    result = brought(subject, lender, Broken, "1.99 is refused")
    return same(subject, lender, result)


@rule(
    "import.major-version",
    "another major version is refused, and nothing behind its flags is read",
    STABLE,
    risky=True,
    shown=Shown(
        patch=MAJOR,
        struct="versioned",
        refusal="Exception",
        lines="raise SystemExit(f'2.0 is taken: {type(result)}')",
    ),
)
def major_version(subject: Subject) -> str:
    versioned_asked(subject)
    lender = Lender(subject, version=(2, 0), trapped=True)
    try:
        result = subject.import_(lender)
    except Exception as error:
        return f"refused: {describe_error(error)}"
    subject.kept.append(result)
    raise Broken("2.0 is taken")


@rule(
    "import.major-version-deleted",
    "what is of another major version is given back, once",
    STABLE,
    shown=Shown(
        patch=MAJOR + "\n{count}",
        lines=f"{TRIED}assert len(deleted) == 1, deleted",
        struct="versioned",
    ),
)
def major_version_deleted(subject: Subject) -> str:
    versioned_asked(subject)
    lender = Lender(subject, version=(2, 0))
    try:
        subject.kept.append(subject.import_(lender))
    except Exception as error:
        why = describe_error(error)
    else:
        raise NotApplicable("it is taken")
    lender.capsules.clear()
    collect()
    if lender.deletions != 1:
        raise Broken(f"its deleter was called {lender.deletions} times after {why}")
    return "its deleter was called once"
