"""What a call of a compiled function costs by its number of arrays: f(0), and a line from f(1)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from dlbench import _core, values
from dlbench.document import Document, Entry, Measured
from dlbench.text.grouping import grouped

CALL = "call"
NORMAL_95 = 1.96
#: Slopes before and after a bend differ by this share at least.
BENDS = 0.1
#: The fewest numbers of arrays on either side of a bend.
FEWEST = 3


@dataclass(frozen=True)
class Line:
    """time = base + slope * arrays, by weighted least squares; `half_width` is the slope's, at
    95 %."""

    base: float
    slope: float
    half_width: float


def line_through(points: Sequence[tuple[int, float, float]]) -> Line | None:
    """The line through (arrays, time, half-width of the time); None for a single number of
    arrays. The slope's interval is widened if the points scatter by more than their own."""
    if len({x for x, _, _ in points}) < 2:
        return None
    weights = [1 / max(half / NORMAL_95, 1e-4 * abs(y), 1e-9) ** 2 for _, y, half in points]
    total = sum(weights)
    mean_x = sum(w * x for w, (x, _, _) in zip(weights, points, strict=True)) / total
    mean_y = sum(w * y for w, (_, y, _) in zip(weights, points, strict=True)) / total
    pairs = list(zip(weights, points, strict=True))
    square = sum(w * (x - mean_x) ** 2 for w, (x, _, _) in pairs)
    slope = sum(w * (x - mean_x) * (y - mean_y) for w, (x, y, _) in pairs) / square
    base = mean_y - slope * mean_x
    half_width = NORMAL_95
    if degrees := len(points) - 2:
        scatter = sum(w * (y - base - slope * x) ** 2 for w, (x, y, _) in pairs) / degrees
        if scatter > 1:  # estimated from few points
            half_width = _core.student_95(degrees) * math.sqrt(scatter)
    return Line(base, slope, half_width / math.sqrt(square))


@dataclass(frozen=True)
class Calls:
    """The calls of one binding with arrays of one producer, by their number."""

    producer: str
    binding: str
    by_arrays: Mapping[int, Entry]

    @cached_property
    def measured(self) -> dict[int, Measured]:
        found = self.by_arrays.items()
        return {arrays: each for arrays, each in found if isinstance(each, Measured)}

    @property
    def has_numbers(self) -> bool:
        """Was any call measured, other than one without arrays that needs no binding?"""
        return bool(self.measured) and (any(self.measured) or not any(self.by_arrays))

    @cached_property
    def _with_most(self) -> Measured | None:
        """The call with the most arrays."""
        return self.measured.get(max(self.measured, default=0))

    @cached_property
    def _points(self) -> list[tuple[int, float, float]]:
        found = sorted(self.measured.items())
        return [(n, each.median_ns, each.half_width) for n, each in found if n > 0]

    @cached_property
    def line(self) -> Line | None:
        """Without f(0), which takes another path in many bindings."""
        return line_through(self._points)

    @cached_property
    def bend(self) -> int | None:
        """The number of arrays from which one more costs more or less; None for a line."""
        points = self._points
        best: tuple[float, int] | None = None
        for at in range(FEWEST - 1, len(points) - FEWEST + 1):
            before, after = line_through(points[: at + 1]), line_through(points[at:])
            assert before is not None
            assert after is not None
            more = abs(after.slope - before.slope)
            if more <= BENDS * abs(before.slope) or more <= before.half_width + after.half_width:
                continue
            if best is None or more > best[0]:
                best = more, points[at][0]
        return best[1] if best else None

    @property
    def copied(self) -> str:
        """The positions of the copied arguments, with the most arrays, and the library that copied
        them or the code that read them: "1-3, 5 by torch"."""
        most = self._with_most
        if most is None:
            return ""
        found = (each for each in most.warnings if each.code == "arguments-copied")
        positions = next((each.data.get("arguments", "") for each in found), "")
        guard = most.observed.guard if most.observed else None
        by = most.copying_library or ", ".join(guard.by if guard else ())
        return f"{positions} by {by}" if positions and by else positions

    @property
    def mechanism(self) -> str:
        """The function's last request to an array that succeeded; empty if unknown."""
        of = self._with_most
        requests = of.observed.calls if of and of.observed else ()
        done = (each.split("(")[0] for each in reversed(requests) if " -> " not in each)
        last = next(done, "")
        return "the C exchange API" if last.endswith("_from_py_object_no_sync") else last

    @cached_property
    def instructions(self) -> Line | None:
        """The line of the counted instructions, if any were."""
        counted = ((n, each.instructions, 0.0) for n, each in sorted(self.measured.items()) if n)
        return line_through([point for point in counted if point[1]])


#: The numbers of arrays that are columns of a table of bindings, if more were measured.
NUMBERS = (0, 1, 8, 20)
SLOPE, BEND, COPIED, COUNTED = "an array", "bends at", "copies", "instructions"


def rows(found: Sequence[Calls]) -> list[dict[str, str]]:
    """The table of these bindings, by column: those with a number, the lowest cost of an array
    first. Columns without a text are left out."""
    shown = [each for each in found if each.has_numbers]
    shown.sort(key=lambda each: each.line.slope if each.line else math.inf)
    measured = sorted({number for each in shown for number in each.measured})
    numbers = measured if len(measured) <= len(NUMBERS) else NUMBERS
    made = [_row(each, numbers) for each in shown]
    heads = [head for head in (made[0] if made else ()) if any(row[head] for row in made)]
    return [{head: row[head] for head in heads} for row in made]


def _row(each: Calls, numbers: Sequence[int]) -> dict[str, str]:
    line, counted, measured = each.line, each.instructions, each.measured
    times = {f"f({n})": values.time(measured[n]) if n in measured else "" for n in numbers}
    slope = ""
    if line:
        interval = values.number(line.half_width, line.half_width)
        slope = f"{values.number(line.slope, line.half_width)} +-{interval} ns"
    return {
        "binding": each.binding,
        **times,
        SLOPE: slope,
        BEND: f"{each.bend} arrays" if each.bend else "",
        COPIED: f"argument {each.copied}" if each.copied else "",
        COUNTED: f"{counted.base:,.0f} + {counted.slope:,.0f} an array" if counted else "",
    }


def title(key: Sequence[str], separator: str = "   ", before: str = "calls with arrays of ") -> str:
    """The title of a table of of_document(), with what is not usual."""
    producer, *place, size = key
    named = [word for word in place if word not in ("cpu", "f32", "default", "")]
    return separator.join([before + producer, values.size(int(size)), *named])


def of_document(document: Document) -> Iterator[tuple[tuple[str, ...], list[Calls]]]:
    """By producer, device, case, environment and size: the calls of each binding."""
    shown = (
        entry for entry in document.exchanges if entry.protocol == CALL and entry.clock == "call"
    )
    tables = grouped(
        shown, lambda e: (e.producer, e.device, e.case, e.environment, e.machine, e.bytes)
    )
    for key, entries in tables.items():
        rows = grouped(entries, lambda e: e.consumer)
        producer, *rest, size = key
        found = [
            Calls(str(producer), binding, {each.arrays: each for each in of})
            for binding, of in rows.items()
        ]
        yield (str(producer), *map(str, rest), str(size)), found
