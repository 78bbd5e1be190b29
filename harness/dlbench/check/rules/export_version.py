"""Which struct `__dlpack__` returns for which `max_version`."""

from __future__ import annotations

from typing import Any

from dlbench import _check
from dlbench.check.reading import NEWEST, on_error, on_refusal, read
from dlbench.check.rule import METHOD, SPEC, producer_rule
from dlbench.check.subject import Subject
from dlbench.check.verdict import Broken, NotApplicable, Unclear, expect

VERSION = f"{METHOD}, max_version"
NAMES = ("dltensor", "dltensor_versioned")


@producer_rule("export.capsule", SPEC)
def capsule(subject: Subject) -> str:
    """__dlpack__() returns a capsule named dltensor or dltensor_versioned, or raises BufferError

    given = allowed(lambda: array.__dlpack__(), BufferError)
    assert repr(given).split('"')[1] in ('dltensor', 'dltensor_versioned'), given
    """
    array = subject.exporter()
    words = "a line of float32 is refused: "
    with on_error(Broken, words), on_error(NotApplicable, words, BufferError):
        got = subject.request_export(array)
    with on_error(Broken, "", ValueError):
        name = str(_check.read(got)["name"])
    expect(name in NAMES, f"it is {name!r}")
    return name


def require_versions(subject: Subject) -> Any:
    """An array whose export accepts the keyword.

    The control is any plain export: where that fails, no version is the cause.
    """
    array = subject.exporter()
    try:
        subject.export(array)
    except NotApplicable:
        subject.readable(lambda: read(array.__dlpack__()))
    return subject.exporter_with("max_version")


def answer(array: Any, *versions: Any) -> tuple[str, Any]:
    """Name and version of the struct for `max_version`; no argument: without the keyword."""
    keywords = {"max_version": versions[0]} if versions else {}
    facts = read(array.__dlpack__(**keywords))
    return facts["struct"], facts["version"]


def require_legacy(array: Any, how: str, *versions: Any) -> str:
    """The legacy struct is returned, or BufferError raised."""
    with on_refusal(BufferError, how):
        struct, version = answer(array, *versions)
    expect(struct == "legacy", f"{how}a struct of version {version}")
    return struct


def shown_version(struct: str, version: Any) -> str:
    """ "legacy", or "1.3"."""
    return "legacy" if struct == "legacy" else f"{version[0]}.{version[1]}"


@producer_rule("export.version-none", VERSION, level="should")
def version_none(subject: Subject) -> str:
    """without max_version, and with None, the legacy struct is returned, or BufferError raised

    given = allowed(lambda: array.__dlpack__(max_version=None), BufferError)
    assert 'versioned' not in repr(given), given
    given = allowed(lambda: array.__dlpack__(), BufferError)
    assert 'versioned' not in repr(given), given
    """
    array = require_versions(subject)
    require_legacy(array, "no max_version: ")
    return require_legacy(array, "max_version=None: ", None)


@producer_rule("export.version-older", VERSION, level="should")
def version_older(subject: Subject) -> str:
    """max_version=(0, 8) returns the legacy struct, or raises BufferError

    given = allowed(lambda: array.__dlpack__(max_version=(0, 8)), BufferError)
    assert 'versioned' not in repr(given), given
    """
    return require_legacy(require_versions(subject), "", (0, 8))


@producer_rule("export.version-current", VERSION, level="should")
def version_current(subject: Subject) -> str:
    """max_version=(1, 0) and (1, 3) return major version 1, or the legacy struct

    require_major(array.__dlpack__(max_version=(1, 0)), 1)
    require_major(array.__dlpack__(max_version=(1, 3)), 1)
    """
    array = require_versions(subject)
    observed = []
    for max_version in ((1, 0), (1, 3)):
        with on_error(Broken, f"{max_version}: "):
            struct, version = answer(array, max_version)
        if struct == "versioned" and version[0] != 1:
            raise Broken(f"{max_version}: a struct of version {version}")
        observed.append(shown_version(struct, version))
    return " and ".join(dict.fromkeys(observed))


@producer_rule("export.version-newer", VERSION, level="should")
def version_newer(subject: Subject) -> str:
    """max_version=(2, 0) returns the newest version that the producer has

    require_major(array.__dlpack__(max_version=(2, 0)), 2)
    """
    array = require_versions(subject)
    with on_error(Broken):
        struct, version = answer(array, (2, 0))
    expect(struct != "versioned" or version[0] <= 2, f"a struct of version {version}")
    try:
        known_struct, known = answer(array, NEWEST)
    except (Exception, NotApplicable):
        known_struct = "legacy"  # another rule reports that fault
    if known_struct == "versioned" and (struct == "legacy" or version < known):
        raise Unclear(
            f"it returns {shown_version(struct, version)}, though {NEWEST} returns "
            f"{shown_version(known_struct, known)}: the text recommends the newest, and allows "
            "another"
        )
    return shown_version(struct, version)
