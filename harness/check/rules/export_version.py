"""Which struct `__dlpack__` returns for which `max_version`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dlbench import _check
from dlbench.check.reading import NEWEST, name_address, on_error, on_refusal, read
from dlbench.check.rule import METHOD, SPEC, producer_rule
from dlbench.check.situation import (
    ARRAYS,
    COPY,
    EXPORTS,
    HOST,
    NO_COPY,
    OLD,
    STRUCTS,
    Variant,
    combined,
)
from dlbench.check.subject import Subject
from dlbench.check.verdict import Broken, NotApplicable, Unclear, expect

VERSION = f"{METHOD}, max_version"
NAMES = ("dltensor", "dltensor_versioned")


@producer_rule(
    "export.capsule",
    SPEC,
    arrays=ARRAYS,
    variants=(OLD, *EXPORTS[:1], *EXPORTS[2:]),
    refusal="BufferError",
)
def capsule(subject: Subject, word: str, **keywords: Any) -> str:
    """__dlpack__() returns a capsule named dltensor or dltensor_versioned, or raises BufferError

    given = array.__dlpack__({call})
    assert repr(given).split('"')[1] in ('dltensor', 'dltensor_versioned'), given
    """
    array, _ = subject.exporter_of(word, keywords)
    words = f"{word} is refused: "
    # Other errors may be about the layout or the keyword.
    other = NotApplicable if word != "line" or {*keywords} - {"max_version"} else Broken
    with on_error(other, words), on_error(NotApplicable, words, BufferError):
        got = array.__dlpack__(**keywords)
    with on_error(Broken, "", ValueError):
        name = str(_check.read(got)["name"])
    expect(name in NAMES, f"it is {name!r}")
    return name


@producer_rule(
    "export.name-static", f"{SPEC}, Implementation", variants=combined(STRUCTS, {}, COPY)
)
def name_static(subject: Subject, word: str, **keywords: Any) -> str:
    """the name of the capsule is statically allocated: two capsules have the same

    name_of = ctypes.PyDLL(None).PyCapsule_GetName
    name_of.restype, name_of.argtypes = ctypes.c_void_p, (ctypes.py_object,)
    several = [array.__dlpack__({call}) for _ in range(3)]
    assert len({name_of(each) for each in several}) == 1, [hex(name_of(each)) for each in several]
    """
    array, _ = subject.exporter_of(word, keywords)
    capsules = [subject.readable(lambda: array.__dlpack__(**keywords)) for _ in range(3)]
    expect(len(set(map(name_address, capsules))) == 1, "each capsule has a name of its own")
    return "one name"


def require_versions(subject: Subject, word: str, keywords: Mapping[str, Any]) -> Any:
    """An array whose export accepts the keyword.

    The control is any export with the other keywords: where that fails, no version is the cause.
    """
    array, _ = subject.exporter_of(word, ["max_version", *keywords])
    others = {key: value for key, value in keywords.items() if key != "max_version"}
    try:
        read(array.__dlpack__(max_version=NEWEST, **others))
    except (Exception, NotApplicable):
        subject.readable(lambda: read(array.__dlpack__(**others)))
    return array


def answer(array: Any, **keywords: Any) -> tuple[str, Any]:
    """Name and version of the struct."""
    facts = read(array.__dlpack__(**keywords))
    return facts["struct"], facts["version"]


def require_legacy(subject: Subject, word: str, **keywords: Any) -> str:
    """The legacy struct is returned, or BufferError raised."""
    array = require_versions(subject, word, keywords)
    with on_refusal(BufferError, "refused: "):
        struct, version = answer(array, **keywords)
    expect(struct == "legacy", f"a struct of version {version}")
    return struct


def newest(subject: Subject, word: str, **keywords: Any) -> tuple[str, Any]:
    """Name and version of the struct for a version that is not older than the producer's."""
    array = require_versions(subject, word, keywords)
    # With another keyword the error may be about that.
    with on_error(NotApplicable if len(keywords) > 1 else Broken):
        return answer(array, **keywords)


def shown_version(struct: str, version: Any) -> str:
    """ "legacy", or "1.3"."""
    return "legacy" if struct == "legacy" else f"{version[0]}.{version[1]}"


#: Arrays that a version may depend on: of any layout, without elements, and read-only.
VERSIONED = ("line", "grid", "strided", "scalar", "empty", "readonly")


def versions(*versions: Any) -> tuple[Variant, ...]:
    """Each version alone, and beside other keywords."""
    return combined([{"max_version": version} for version in versions], {}, COPY, NO_COPY, HOST)


for name, sentence, asked in (
    (
        "export.version-none",
        "without max_version, and with None, the legacy struct is returned, or BufferError raised",
        (*versions(None), *combined([OLD], {}, COPY, NO_COPY, HOST)),
    ),
    (
        "export.version-older",
        "max_version=(0, 8) returns the legacy struct, or raises BufferError",
        versions((0, 8)),
    ),
):
    producer_rule(
        name,
        VERSION,
        f"{sentence}\n\n"
        "given = array.__dlpack__({call})\nassert 'versioned' not in repr(given), given",
        level="should",
        arrays=VERSIONED,
        variants=asked,
        refusal="BufferError",
    )(require_legacy)


@producer_rule(
    "export.version-current",
    VERSION,
    level="should",
    arrays=VERSIONED,
    variants=versions((1, 0), (1, 3)),
    call="array.__dlpack__({call})",
    given="versioned",
)
def version_current(subject: Subject, word: str, **keywords: Any) -> str:
    """max_version=(1, 0) and (1, 3) return major version 1, or the legacy struct

    major = ctypes.c_uint32.from_address(struct).value
    assert major <= 1, major
    """
    struct, version = newest(subject, word, **keywords)
    expect(struct != "versioned" or version[0] == 1, f"a struct of version {version}")
    return shown_version(struct, version)


@producer_rule(
    "export.version-newer",
    VERSION,
    level="should",
    arrays=VERSIONED,
    variants=({"max_version": (2, 0)},),
    call="array.__dlpack__({call})",
    given="versioned",
)
def version_newer(subject: Subject, word: str, **keywords: Any) -> str:
    """max_version=(2, 0) returns the newest version that the producer has

    major = ctypes.c_uint32.from_address(struct).value
    assert major <= 2, major
    """
    struct, version = newest(subject, word, **keywords)
    expect(struct != "versioned" or version[0] <= 2, f"a struct of version {version}")
    try:
        array, _ = subject.exporter_of(word)
        known_struct, known = answer(array, **{**keywords, "max_version": NEWEST})
    except (Exception, NotApplicable):
        known_struct = "legacy"  # another rule reports that fault
    if known_struct == "versioned" and (struct == "legacy" or version < known):
        raise Unclear(
            f"it returns {shown_version(struct, version)}, though {NEWEST} returns "
            f"{shown_version(known_struct, known)}: the text recommends the newest, and allows "
            "another"
        )
    return shown_version(struct, version)
