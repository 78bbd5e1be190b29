"""How `from_dlpack` is called, what it asks of a producer, and which errors it passes on."""

from __future__ import annotations

from functools import partial

from dlbench.check.lender import Lender
from dlbench.check.reading import describe_error
from dlbench.check.rule import FROM_DLPACK, METHOD, RULES, SPEC, Broken, NotApplicable, Shown
from dlbench.check.showing import refused
from dlbench.check.subject import Subject, collect
from dlbench.check.taking import (
    asks_itself,
    brought,
    require_from_dlpack,
    require_import,
    same,
    spelled,
)

rule = partial(RULES.add, role="consumer")


@rule(
    "import.keywords",
    "from_dlpack accepts device=None and copy=None",
    f"{FROM_DLPACK} (since 2023.12)",
    shown=Shown(call="{function}({array}, device=None, copy=None)"),
)
def keywords(subject: Subject) -> str:
    require_from_dlpack(subject)
    require_import(subject)
    missing = []
    for word in ("device", "copy"):
        try:
            subject.import_(Lender(subject), **{word: None})
        except TypeError as error:
            missing.append(f"{word} ({describe_error(error)})")
        except Exception as error:
            raise NotApplicable(f"{word}=None: {describe_error(error)}") from None
    if missing:
        raise Broken(f"no keyword {', '.join(missing)}")
    return "both"


@rule(
    "import.stream-host",
    "a producer on the CPU is passed no stream but None",
    f"{METHOD}, stream",
    shown=Shown(
        struct="asks",
        lines="assert all(call.get('stream') is None for call in calls), calls",
    ),
)
def stream_host(subject: Subject) -> str:
    asks_itself(subject)
    lender = Lender(subject)
    brought(subject, lender)
    passed = [call["stream"] for call in lender.calls if call.get("stream") is not None]
    if passed:
        raise Broken(f"it called {spelled(lender)}")
    return spelled(lender)


@rule(
    "import.missing-method",
    "an object without __dlpack__ is an AttributeError",
    f"{FROM_DLPACK}, Raises",
    shown=Shown(struct="none", lines=refused("{call}", "AttributeError", "result")),
)
def missing_method(subject: Subject) -> str:
    require_from_dlpack(subject)

    class Nothing:
        pass

    try:
        subject.import_(Nothing())
    except AttributeError as error:
        return describe_error(error)
    except Exception as error:
        raise Broken(describe_error(error)) from None
    raise Broken("it is taken")


@rule(
    "import.passes-error",
    "what the producer's __dlpack__ raises is passed on",
    f"{FROM_DLPACK}, Raises",
    shown=Shown(struct="raises", lines=refused("{call}", "BufferError", "result")),
)
def passes_error(subject: Subject) -> str:
    require_from_dlpack(subject)
    lender = Lender(subject, raises=BufferError("dlbench's own refusal"))
    try:
        subject.import_(lender)
    except BufferError as error:
        return describe_error(error)
    except Exception as error:
        if not lender.calls:
            raise NotApplicable(f"the producer was not asked: {describe_error(error)}") from None
        raise Broken(f"BufferError became {describe_error(error)}") from None
    raise Broken("BufferError was swallowed")


@rule(
    "import.capsule-renamed",
    "the capsule is renamed when it is taken",
    SPEC,
    shown=Shown(
        lines="assert repr(capsules[-1]).split('\"')[1].startswith('used_dltensor'), capsules[-1]"
    ),
)
def capsule_renamed(subject: Subject) -> str:
    lender = Lender(subject)
    result = brought(subject, lender)
    name = repr(lender.capsules[-1]).split('"')[1]
    if name.startswith("used_dltensor"):
        return name
    same(subject, lender, result)
    if lender.borrowed_tensors[-1].deletions == 0:
        # Then the capsule's end gives it back. The result is another memory, or it will dangle.
        address = subject.look(result)["address"]
        if address is not None and address != lender.borrowed_tensors[-1].address:
            return f"{name}: it was read, and left to whoever has the capsule"
    raise Broken(f"it is still {name}")


@rule(
    "import.capsule-name",
    "a capsule of another name is refused",
    SPEC,
    shown=Shown(struct="name", lines=refused("{call}", given="result")),
)
def capsule_name(subject: Subject) -> str:
    lender = Lender(subject, name="dltensor_of_dlbench")
    try:
        result = subject.import_(lender)
    except Exception as error:
        return f"refused: {describe_error(error)}"
    subject.kept.append(result)
    raise Broken("it is taken")


@rule(
    "import.consumed-twice",
    "a capsule that was taken already is refused",
    SPEC,
    risky=True,
    shown=Shown(struct="twice", lines=refused("{call}", given="again")),
)
def consumed_twice(subject: Subject) -> str:
    lender = Lender(subject, once=True)
    first = brought(subject, lender)
    renamed = repr(lender.capsules[0]).split('"')[1].startswith("used_")
    if not renamed and lender.borrowed.deletions == 0:
        raise NotApplicable("the first time only read what is in the capsule")
    try:
        second = subject.import_(lender)
    except Exception as error:
        why = describe_error(error)
    else:
        subject.kept += [first, second]
        often = lender.borrowed.deletions
        after = f", and its deleter was called {often} times" if often > 1 else ""
        raise Broken(f"it is taken again{after}")
    del first
    lender.capsules.clear()
    collect()
    return f"refused: {why}"
