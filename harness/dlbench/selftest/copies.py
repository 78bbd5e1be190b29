"""Copies of three sizes by each side, early, late and lazy: tests whether the library and the time
of the copy are reported."""

from __future__ import annotations

from collections.abc import Sequence

from dlbench.document import Entry
from dlbench.selftest import runs
from dlbench.selftest.row import Row, Setting

MIB = 1 << 20
#: A size for the slope to start from, then those that the guard must find.
SIZES = ("4KiB", "64KiB", "1MiB", "64MiB")
#: role, argument, is it late, does the time of the exchange include the copy
COPIES = (
    ("producer", "silent-copy", False, True),
    ("consumer", "silent-copy", False, True),
    ("consumer", "late-read=20us", True, True),
    ("consumer", "lazy-copy", True, False),
)


def trial(setting: Setting) -> list[Row]:
    """Two rows: by the guard, and by the slope from 1 MiB on."""
    sizes = SIZES[:-1] if setting.short else SIZES
    guarded, sloped = 0, 0
    missed: list[str] = []
    flat: list[str] = []
    left_open: list[str] = []
    for role, argument, late, timed in COPIES:
        other = "consumer" if role == "producer" else "producer"
        words = [f"--{role}s", f"faulty:{argument}", f"--{other}s", "native"]
        words += ["--protocols", "dlpack", "--sizes", ",".join(sizes)]
        name = f"copies-{role}-{argument.partition('=')[0]}"
        for entry in runs.run(setting.folder, name, words, setting.seed):
            if entry.bytes < 64 << 10:
                continue
            cell_text = f"{role} {argument}, {entry.bytes} bytes, {entry.clock}"
            guarded += 1
            if not _guard_found(entry, role, late):
                missed.append(f"{cell_text}: {entry.outcome} by {entry.copied_by or 'neither'}")
            if entry.bytes >= MIB and timed:
                sloped += 1
                word = entry.evidence.get("slope", "none")
                if word != "no":
                    # On a busy machine the intervals may be too wide to decide; that is not an
                    # error.
                    (left_open if word == "skipped" else flat).append(f"{cell_text}: slope {word}")
    sloping = f"slope: {sloped - len(flat) - len(left_open)} of {sloped}"
    if left_open:
        sloping += f", {len(left_open)} undecided because of noise"
    description = f"copies of {', '.join(sizes[1:])}: which library, and when"
    return [
        Row(
            description,
            f"page guard: {guarded - len(missed)} of {guarded}",
            not missed if guarded else None,
            tuple(missed),
        ),
        Row(
            "the same from 1 MiB on, from times alone",
            sloping,
            _slope_judged(setting, sloped, flat, left_open),
            (*flat, *left_open),
        ),
    ]


def _slope_judged(
    setting: Setting, sloped: int, flat: Sequence[str], left_open: Sequence[str]
) -> bool | None:
    """The short trial has too few rounds to decide on a busy machine."""
    if flat:
        return False
    if not sloped or (setting.short and left_open):
        return None
    return not left_open


def _guard_found(entry: Entry, role: str, late: bool) -> bool:
    return bool(
        entry.outcome == "copy"
        and entry.evidence["guard"] == "no"
        and entry.copied_by == role
        and bool(entry.late_read) == late
    )
