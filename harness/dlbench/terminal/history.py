"""The table of `dlbench track`: a line for each group of versions without a step."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from rich.text import Text

from dlbench import values
from dlbench.analysis import steps
from dlbench.analysis.history import Segment
from dlbench.document import Document, Measured
from dlbench.document.entry import Axis
from dlbench.text.layout import columns, count

HEADS = ("", "versions", "outcome", "lowest", "instructions", "step")
COLORS = {"outcome": "yellow", "protocol": "cyan", "code": "yellow"}


def lines(
    cells: Mapping[tuple[Axis, ...], Sequence[Segment]],
    unfit: Mapping[str, str],
    beside: Mapping[str, Mapping[str, str]],
) -> list[Text]:
    """`unfit`: the reasons why versions are missing. `beside`: by version, those of the other
    libraries."""
    rows, kinds = list[Sequence[str]]([HEADS]), [""]
    for cell, segments in cells.items():
        producer, consumer, protocol, device, case, arrays, size, phase, clock = cell
        many = "" if arrays == 1 else f"{arrays} arrays"
        usual = (("cpu", device), ("", many), ("exchange", phase), ("call", clock))
        words = [str(word) for known, word in usual if word != known]
        name = " ".join(
            [f"{producer} -> {consumer}", f"{protocol}", f"{case}", values.size(int(size)), *words]
        )
        for segment in segments:
            rows.append((name, *_facts(segment)))
            kinds.append(segment.kind)
            name = ""
    is_counted = any(row[HEADS.index("instructions")] for row in rows[1:])
    shown = [i for i, head in enumerate(HEADS) if head != "instructions" or is_counted]
    right = [place for place, i in enumerate(shown) if HEADS[i] in ("lowest", "instructions")]
    table = columns([[row[i] for i in shown] for row in rows], right)
    made = [Text(line, style=COLORS.get(kind, "")) for line, kind in zip(table, kinds, strict=True)]
    made += [Text(f"{version}  {reason}") for version, reason in unfit.items()]
    return made + [Text(f"with {line}") for line in _partners(beside)]


def missing(document: Document) -> list[Text]:
    """A line if the run did not measure each exchange in all its workers, and one if it has too few
    of them."""
    replicas = document.run.request.replicas
    found = [entry for entry in document.entries if entry.is_exchange]
    untried = sum(entry.observed_outcome == "not-run" for entry in found)
    few = sum(len(entry.workers) < replicas for entry in found if isinstance(entry, Measured))
    parts = [f"{untried} of {count(len(found), 'exchange')} not measured"] if untried else []
    parts += [f"{few} measured in fewer than {count(replicas, 'worker')}"] if few else []
    made = [f"not whole: {', '.join(parts)}; steps may be missing"] if parts else []
    if len({entry.environment for entry in found}) == 2 and replicas < steps.FEWEST_OF_TWO:
        made.append(f"two versions show a step in time from --replicas {steps.FEWEST_OF_TWO} on")
    return [Text(line) for line in made]


def _partners(beside: Mapping[str, Mapping[str, str]]) -> list[str]:
    """ "numpy 1.26.4 (1.0 .. 1.2), 2.4.6 (1.3)": the ranges only where the version changes."""
    shown = []
    for library in sorted({library for found in beside.values() for library in found}):
        pairs = [(found.get(library, "none"), name) for name, found in beside.items()]
        found = [
            (version, [name for _, name in run])
            for version, run in itertools.groupby(pairs, lambda pair: pair[0])
        ]
        texts = [f"{version} ({_range(names)})" for version, names in found]
        shown.append(f"{library} {found[0][0] if len(found) == 1 else ', '.join(texts)}")
    return shown


def _range(names: Sequence[str]) -> str:
    return " .. ".join(dict.fromkeys([names[0], names[-1]]))


def _facts(segment: Segment) -> tuple[str, ...]:
    # An interrupted run did not try each version.
    tried = [
        entry for entry in segment.entries if entry.observed_outcome != "not-run"
    ] or segment.entries
    first, last = tried[0], tried[-1]
    counted = [entry for entry in segment.entries if isinstance(entry, Measured)]
    instructions = [text for text in map(values.instructions, counted) if text]
    return (
        _range([first.environment, last.environment]),
        ", ".join(dict.fromkeys(entry.observed_outcome for entry in tried)),
        values.duration(segment.ns, segment.ns / 100) if segment.ns else "",
        instructions[0] if instructions else "",
        f"{segment.kind}: {segment.what}" if segment.kind else "",
    )
