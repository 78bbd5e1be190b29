"""Synchronization on a simulated device: exchanges with a known result, with busy threads."""

from __future__ import annotations

from collections import Counter

from dlbench import _core
from dlbench.selftest.row import Row, Setting

MOST_INCONCLUSIVE = 0.01
WITHIN = 0.05
JOBS = 8
SHOWN = 10  #: misses named one by one


def trial(setting: Setting) -> list[Row]:
    """Two rows: the classification, and the share of the delay for which the host was held."""
    count = 96 if setting.short else 2000
    tried = _core.try_planted_waits(count, setting.seed, JOBS)
    return [_words(tried), _shares(tried)]


def _words(tried: list[_core.PlantedWait]) -> Row:
    unsure = [one for one in tried if one["found"] == "inconclusive"]
    missed = [one for one in tried if one["found"] not in (one["truth"], "inconclusive")]
    kinds = len(Counter(one["kind"] for one in tried))
    description = (
        f"{len(tried)} exchanges of {kinds} kinds, 5 to 20 ms, with one and two busy threads"
    )
    good = not missed and len(unsure) <= MOST_INCONCLUSIVE * len(tried)
    found = f"{len(missed)} wrong, {len(unsure)} inconclusive"
    return Row(
        description,
        found,
        good if tried else None,
        tuple(map(_describe, [*missed, *unsure][:SHOWN])),
    )


def _describe(one: _core.PlantedWait) -> str:
    beside = f"{one['delay_ns'] / 1e6:.1f} ms beside {one['neighbors']}"
    return f"{one['kind']}, {beside}: {one['found']}, not {one['truth']}"


def _shares(tried: list[_core.PlantedWait]) -> Row:
    description = "the share of a delay for which the host is held"
    errors = sorted(one["share_error"] for one in tried if one["share_error"] is not None)
    if not errors:
        return Row(description, "no exchange had a share", None)
    off = [error for error in errors if error > WITHIN]
    middle, worst = errors[len(errors) // 2], errors[-1]
    found = f"off by {middle:.3f} in the median, {worst:.3f} at most; {len(off)} beyond {WITHIN}"
    return Row(f"{description}, {len(errors)} times", found, not off)
