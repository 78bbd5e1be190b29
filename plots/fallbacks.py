"""Fallbacks: the array kinds for which a pair copies, one panel for each consumer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from dlbench import values
from dlbench.analysis import case_sweep
from dlbench.analysis.case_sweep import BASELINE, CaseSweep
from dlbench.document import Document
from dlbench.document.facts import COPIED, native_first

from . import choosing
from .drawing import GREY, MARGIN, PALE, SMALL, fitting, page, shortened, text_width
from .ink import INK, PAPER

HEADING = 0.86  # inches, as all measures here
WIDE, HIGH, GAP, TITLE = 0.36, 0.22, 0.16, 0.24
LABEL = 8.0  # points
LONGEST_LABEL = 1.6
TILT = 60  # degrees, of the cases' names
MOST_ROWS = 400

#: Okabe and Ito's colors; each kind also has a mark, for color-blind readers.
KINDS = {
    "zero-copy": (PAPER, ""),
    "copy by the consumer": ("#e69f00", "c"),
    "copy by the producer": ("#56b4e9", "p"),
    "copy by an unknown side": ("#f0e442", "c?"),
    "changed": ("#cc79a7", "~"),
    "not proven": (PAPER, "?"),
    "refused": (PALE, "x"),
    "broken": ("#d55e00", "!"),
    "not tried": (PAPER, "-"),
    "not made": (PAPER, ""),
}
BROKEN = ("wrong", "crashed", "timed-out", "out-of-memory", "race")


@dataclass(frozen=True)
class Panel:
    """All case sweeps to one consumer, by producer."""

    consumer: str
    case_sweeps: Mapping[str, CaseSweep]

    def height(self) -> float:
        return TITLE + HIGH * len(self.case_sweeps)


def figure(document: Document) -> Figure:
    """The figure: one protocol, device and environment; each case at its measured size."""
    every, cases, subtitle = _panels(document)
    panels, left_out = choosing.first_panels(every, lambda panel: len(panel.case_sweeps), MOST_ROWS)
    names = [name for panel in panels for name in (*panel.case_sweeps, f"to {panel.consumer}")]
    room = max([1.0, *(min(text_width(name, LABEL, "bold"), LONGEST_LABEL) for name in names)])
    left = MARGIN + room + 0.12
    head = max((text_width(case, SMALL) for case in cases), default=0.5) * 0.87 + 0.12
    width = max(left + WIDE * len(cases) + 0.5 + MARGIN, 6.5)
    key = 0.24 * len(_key_rows(width))
    body = sum(panel.height() + GAP for panel in panels) or 0.6
    made = page("Array kinds for which a pair copies", subtitle, width,
                (HEADING + head, body, key + 0.16), _notes(document, left_out),
                "" if panels else _nothing(document))  # fmt: skip
    canvas, top = made.canvas, made.top
    for index, case in enumerate(cases):
        canvas.text(left + WIDE * (index + 0.45), top + 0.02, case, fontsize=SMALL, rotation=TILT,
                    rotation_mode="anchor", va="bottom")  # fmt: skip
    for panel in panels:
        _draw_panel(canvas, panel, cases, left, top)
        top -= panel.height() + GAP
    _draw_key(canvas, width, made.bottom - 0.3)
    return made.figure


def _nothing(document: Document) -> str:
    measured = choosing.has_numbers(document)
    return "not all cases were measured: use --cases all" if measured else "nothing was measured"


def _panels(document: Document) -> tuple[list[Panel], list[str], str]:
    """The panels, the cases across, and the common values of all cells."""
    sweeps = case_sweep.case_sweeps(document.exchanges)
    if not sweeps or not case_sweep.has_case_sweep(document):
        return [], [], ""
    environment, device = choosing.places(document.exchanges)[0]
    sweeps = [one for one in sweeps if (one.environment, one.device) == (environment, device)]
    protocols = [one.protocol for one in sweeps]
    protocol = "dlpack" if "dlpack" in protocols or not protocols else protocols[0]
    sweeps = [one for one in sweeps if one.protocol == protocol]
    cases = dict.fromkeys(case for one in sweeps for case in one.sweep_cases if _is_simple(case))
    sizes = {entry.bytes for one in sweeps for entry in one.sweep_cases.values()}
    size = values.size(max(sizes)) if sizes else ""
    panels = []
    for consumer in native_first(one.consumer for one in sweeps):
        those = {one.producer: one for one in sweeps if one.consumer == consumer}
        order = native_first(those)
        panels.append(Panel(consumer, {name: those[name] for name in order}))
    return panels, _in_plan_order(cases), f"{protocol} \u00b7 {device} \u00b7 {size}"


def _is_simple(case: str) -> bool:
    """Does the case differ from the plain array on one axis? Only complex numbers have conjugates,
    so their property has their dtype beside it."""
    dtype, *words = case.split("-")
    return not words or (len(words) == 1 and dtype in (BASELINE, "c64"))


def _in_plan_order(cases: Mapping[str, None]) -> list[str]:
    """The cases in the order of the command line; unknown ones, of another version, at the end."""
    from dlbench import _core

    known = [case for case in _core.case_names() if case in cases]
    return known + sorted(set(cases) - set(known))


def _draw_panel(canvas: Axes, panel: Panel, cases: list[str], left: float, top: float) -> None:
    canvas.text(left - 0.1, top - TITLE / 2, f"to {panel.consumer}", fontsize=LABEL, weight="bold",
                ha="right", va="center")  # fmt: skip
    for row, (producer, one) in enumerate(panel.case_sweeps.items()):
        bottom = top - TITLE - HIGH * (row + 1)
        canvas.text(left - 0.1, bottom + HIGH / 2, shortened(producer, LABEL, LONGEST_LABEL),
                    fontsize=LABEL, ha="right", va="center")  # fmt: skip
        for column, case in enumerate(cases):
            if case in one.sweep_cases:
                _draw_case(canvas, one, case, left + WIDE * column, bottom)


def kind_of(one: CaseSweep, case: str) -> str:
    """The kind of a case: one of KINDS."""
    kind = one.kind(case)
    if kind == case_sweep.CHANGES:
        return "changed"
    if kind == case_sweep.NOT_MADE:
        return kind
    # An untimed case has the outcome of the plain array, which may be a copy.
    entry = one.sweep_cases[case]
    outcome = entry.observed_outcome
    if outcome in COPIED:
        return f"copy by the {entry.copied_by}" if entry.copied_by else "copy by an unknown side"
    kinds = {"zero-copy": outcome, "unproven": "not proven", "not-run": "not tried"}
    return kinds.get(outcome, "broken" if outcome in BROKEN else "refused")


def _draw_case(canvas: Axes, one: CaseSweep, case: str, x: float, y: float) -> None:
    kind = kind_of(one, case)
    if kind == "not made":
        return
    _draw_box(canvas, kind, x, y)
    rate = one.rate(case)
    mark = values.rate(rate) if rate else KINDS[kind][1]
    canvas.text(x + WIDE / 2, y + HIGH / 2, mark, fontsize=fitting(mark, SMALL, WIDE - 0.08),
                color=INK, ha="center", va="center")  # fmt: skip


def _draw_box(canvas: Axes, kind: str, x: float, y: float) -> None:
    canvas.add_patch(Rectangle((x + 0.01, y + 0.01), WIDE - 0.02, HIGH - 0.02, linewidth=0.5,
                               facecolor=KINDS[kind][0], edgecolor=PALE))  # fmt: skip


def _draw_key(canvas: Axes, width: float, top: float) -> None:
    for row, kinds in enumerate(_key_rows(width)):
        _draw_key_row(canvas, kinds, top - 0.24 * row)


def _key_width(kind: str) -> float:
    return WIDE + 0.08 + text_width(kind, SMALL + 1) + 0.22


def _key_rows(width: float) -> list[list[str]]:
    """Draws the key of the kinds, in as few rows as possible."""
    rows: list[list[str]] = [[]]
    for kind in KINDS:
        if MARGIN + sum(map(_key_width, [*rows[-1], kind])) > width - MARGIN:
            rows.append([])
        rows[-1].append(kind)
    return rows


def _draw_key_row(canvas: Axes, kinds: list[str], y: float) -> None:
    x = MARGIN
    for kind in kinds:
        mark = KINDS[kind][1]
        if kind == "not made":
            canvas.text(x, y + HIGH / 2, "no box", fontsize=SMALL, color=GREY, va="center")
        else:
            _draw_box(canvas, kind, x, y)
            canvas.text(x + WIDE / 2, y + HIGH / 2, mark, fontsize=SMALL, ha="center",
                        va="center")  # fmt: skip
        canvas.text(x + WIDE + 0.08, y + HIGH / 2, kind, fontsize=SMALL + 1, va="center")
        x += _key_width(kind)


def _notes(document: Document, left_out: list[str]) -> list[str]:
    notes = ["kinds that differ from f32 in one property; `show` has their combinations"]
    notes += ["number in a box: copy rate in GB/s, measured until `ready`"]
    notes += ["not made: the producer has no such array"]
    return notes + left_out + choosing.provenance(document)
