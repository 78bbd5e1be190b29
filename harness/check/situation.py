"""The situations in which a rule is tried: which array, and with which keywords."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

from dlbench.case import FOREIGN, Case
from dlbench.check.reading import CODES, CPU, NEWEST, describe_error
from dlbench.check.verdict import (
    Broken,
    Ended,
    Holds,
    NoArray,
    NotApplicable,
    RuleFailed,
    Unclear,
)

if TYPE_CHECKING:
    from dlbench.check.subject import Subject

#: What a keyword of a call, or of the known producer, is in this situation.
Variant = Mapping[str, Any]
#: Words for an array, with what they change in a line of float32.
SOURCES: dict[str, dict[str, Any]] = {
    "line": {},
    "grid": {"dims": "2d"},
    **{word: {"dims": "2d", "layout": word} for word in ("fortran", "broadcast")},
    **{word: {"layout": word} for word in ("strided", "reversed")},
    "ones": {"dims": "ones"},
    "scalar": {"dims": "0d", "bytes": 4},
    **{word: {"dims": word, "bytes": 0} for word in ("empty", "0xn", "nx0", "1x8x0x128")},
    "slice": {"storage": "view"},
    "window": {"dims": "2d", "storage": "view"},
    "slice-strided": {"layout": "strided", "storage": "view"},
    "offset": {"offset": 4},
    "odd": {"offset": 2},
    "readonly": {"readonly": True},
    "swapped": {"special": "swapped"},
    "large": {},
    "unexportable": {"special": "nulls"},
    "grad": {"special": "grad"},
    "conj": {"dtype": "complex64", "special": "conj"},
    "neg": {"special": "neg"},
}
EMPTY = ("empty", "0xn", "nx0", "1x8x0x128")
UNCUT = ("line", "grid", "fortran", "strided", "reversed", "broadcast", "ones", "scalar", "offset")
FILLED = (*UNCUT, "slice", "window", "slice-strided")
#: Every layout of elements.
ARRAYS = (*FILLED, *EMPTY)
#: The layouts of the known producer's arrays.
KNOWN = (*UNCUT, "window")
IMPORTED = (*(word for word in KNOWN if word != "offset"), *EMPTY)
#: Not those that are slices: a library may make a slice writable.
PROTECTED = ("readonly", *(f"readonly-{word}" for word in UNCUT if word != "line"))
LAZY = ("conj", "neg")
DTYPES = tuple(f"dtype-{name}" for name in CODES)
#: All of these: every array that an exporter describes.
EACH = (*ARRAYS, *LAZY, *DTYPES)
#: Those of NumPy's.
NATIVE = tuple(f"dtype-{name}" for name in CODES if name not in FOREIGN)
#: What groups of words are called, the largest first.
NAMES = {
    ARRAYS: "each layout",
    FILLED: "each layout with elements",
    EMPTY: "each empty shape",
    PROTECTED: "each layout with elements but slices, read-only",
    DTYPES: "each dtype",
    NATIVE: "each dtype of NumPy's",
}
PLAIN: tuple[Variant, ...] = ({},)
#: Calls that an observation lists; it counts the others.
MOST_CALLS = 3
#: Keywords of `__dlpack__`: of the legacy and of the newest struct, and with a keyword more each.
OLD: Variant = {}
NEW: Variant = {"max_version": NEWEST}
STRUCTS = (NEW, OLD)


def combined(structs: Sequence[Variant], *more: Variant) -> tuple[Variant, ...]:
    """Each struct with each of the other keywords."""
    return tuple({**struct, **words} for words in more for struct in structs)


HOST: Variant = {"dl_device": CPU}
COPY, NO_COPY, ANY_COPY = ({"copy": value} for value in (True, False, None))
EXPORTS = combined(STRUCTS, {}, COPY, NO_COPY, ANY_COPY, HOST)
#: For libraries that lay arrays out themselves: layout -> the layout that it is made from, how many
#: times larger that is, and the operation.
DERIVED: dict[str, tuple[str, int, str]] = {
    "fortran": ("grid", 1, ".T"),
    "strided": ("line", 2, "[::2]"),
    "reversed": ("line", 1, "[::-1]"),
}


def case_of(word: str, size: int = 256) -> Case:
    """The case of a word; `size` in bytes, where the word does not set it."""
    dtype = word.removeprefix("dtype-")
    if dtype != word:
        return Case("f32", dtype, size // 4 * Case("", dtype, 0).itemsize)
    layout = word.removeprefix("readonly-")
    changes = SOURCES.get(layout, {})
    case = Case(**{"name": "f32", "dtype": "float32", "bytes": size, **changes})
    return replace(case, readonly=True) if layout != word else case


def word_of(case: Case) -> str:
    """The word of a case; empty for a plain line."""
    if case.dtype != "float32" and not case.special:
        return f"dtype-{case.dtype}"
    word = WORDS.get(_layout(case), "").removeprefix("line")
    if not case.readonly:
        return word
    return f"readonly-{word}" if word else "readonly"


def _layout(case: Case) -> tuple[Any, ...]:
    return case.dims, case.layout, case.storage, case.offset, case.special


WORDS = {_layout(case_of(word)): word for word in reversed(SOURCES)}


def described(words: Sequence[str]) -> str:
    """Arrays in a few words."""
    left, found = list(words), []
    for group, name in NAMES.items():
        if set(group) <= set(left):
            left = [word for word in left if word not in group]
            found.append(name)
    return ", ".join([*found, *(word.removeprefix("dtype-") for word in left)])


def spelled(variant: Variant) -> str:
    """ "max_version=(1, 0), copy=True"."""
    return ", ".join(f"{key}={value!r}" for key, value in variant.items())


WORST = (Broken, RuleFailed, Unclear, Holds, NotApplicable, NoArray)


def try_each(
    subject: Subject,
    arrays: Sequence[str],
    variants: Sequence[Variant],
    check: Callable[..., str],
) -> str:
    """Tries a check in each situation. The worst verdict counts; the observation names the
    situations in which it was seen. The script shows the first of them."""
    ends: dict[type[Ended], dict[str, list[tuple[str, str]]]] = {}
    shown: dict[type[Ended], tuple[str, str]] = {}
    for word, variant in product(arrays, variants):
        subject.source = subject.handed = ""
        try:
            end: Ended = Holds(check(subject, word, **variant))
        except Ended as ended:
            end = ended
        except Exception as error:
            end = RuleFailed(f"the rule itself failed: {describe_error(error)}")
        kind, call = type(end), spelled(variant)
        source = subject.source or (word if word != "line" else "")
        shown.setdefault(kind, (where(source, variant, variants), subject.handed))
        ends.setdefault(kind, {}).setdefault(str(end), []).append((word, call))
    worst = next(kind for kind in WORST if kind in ends)
    subject.source, subject.handed = shown[worst]
    if issubclass(worst, NotApplicable):
        raise worst(next(iter(ends[worst])))
    text = "; ".join(f"{text} ({names(seen)})" for text, seen in ends[worst].items())
    if worst is Holds:
        return text
    raise worst(text)


def where(word: str, variant: Variant, variants: Sequence[Variant]) -> str:
    """A situation in a word for `Subject.source`."""
    call = (spelled(variant) or "plain") if len(variants) > 1 else ""
    return f"{word} {call}".strip()


def names(situations: Sequence[tuple[str, str]]) -> str:
    """ "line, grid" or, with keywords, "line, grid: copy=True; copy=False"."""
    situations = [(word.removeprefix("dtype-"), call) for word, call in situations]
    words, calls = ([*dict.fromkeys(part)] for part in zip(*situations, strict=True))
    if len(words) * len(calls) == len(situations):
        listed = "; ".join(call or "plain" for call in calls[:MOST_CALLS])
        more = f" and {len(calls) - MOST_CALLS} more" if len(calls) > MOST_CALLS else ""
        return ", ".join(words) + (f": {listed}{more}" if calls != [""] else "")
    shown = [f"{word}: {call or 'plain'}" for word, call in situations[:MOST_CALLS]]
    rest = len(situations) - len(shown)
    return "; ".join(shown) + (f" and {rest} more" if rest else "")


def sources(arrays: Sequence[str], variants: Sequence[Variant]) -> set[str]:
    """All values that `Subject.source` may have after a rule."""
    words = {"", *SOURCES, *PROTECTED, *arrays, *(f"dtype-{name}" for name in CODES | FOREIGN)}
    words |= {f"own-{prefix}{layout}" for layout in DERIVED for prefix in ("", "readonly-")}
    return {where(word, variant, variants) for word in words for variant in variants} | words
