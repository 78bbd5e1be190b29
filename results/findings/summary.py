"""The summary of a run: the fastest and the slowest exchange of each matrix, copies, failures,
serious findings and noise. The terminal, the report and the step summary show it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dlbench import values
from dlbench.analysis import case_sweep, matrices
from dlbench.analysis.matrices import Grid
from dlbench.analysis.ratio import ratio
from dlbench.document import Document, Measured
from dlbench.document.facts import COPIED, NATIVE, fastest_rate
from dlbench.findings.failures import FAILURES
from dlbench.findings.finding import Finding, by_pair
from dlbench.findings.noise import DISTURBED, trust
from dlbench.text.layout import count

MOST_SERIOUS = 2
#: Findings that must be shown although each cell has a number.
SERIOUS = ("drops", "converts", "writes", "import order", "journal", "environment",
           "not installed")  # fmt: skip


@dataclass(frozen=True)
class Speed:
    """The fastest and the slowest exchange of one matrix, without those of the native library if
    it has others."""

    fastest: Measured
    slowest: Measured
    native: Measured | None  #: the exchange between native and native, if it is not the fastest
    leaves_native_out: bool

    @classmethod
    def of(cls, grid: Grid) -> Speed | None:
        """None where no exchange of the matrix was measured."""
        measured = [entry for entry in grid.entries.values() if isinstance(entry, Measured)]
        measured.sort(key=lambda entry: entry.median_ns)
        compared = [entry for entry in measured if NATIVE not in entry.pair] or measured
        if not compared:
            return None
        native = next((e for e in measured if e.pair == (NATIVE, NATIVE)), None)
        scale = None if native is compared[0] else native
        return cls(compared[0], compared[-1], scale, len(compared) < len(measured))

    @property
    def label(self) -> str:
        """ "dlpack cuda:0 f64 in other": the protocol, and the axes with another value than the
        default."""
        of = self.fastest
        label = [of.protocol]
        label += [of.device] if of.device != "cpu" else []
        label += [of.case] if of.case != "f32" else []
        label += [f"in {of.environment}"] if of.environment != "default" else []
        return " ".join(label)

    @property
    def times_native(self) -> str:
        """The fastest over native; empty without it."""
        return values.ratio(self.fastest, self.native) if self.native else ""

    @property
    def times_fastest(self) -> str:
        """The slowest over the fastest; empty if they are the same."""
        if self.fastest is self.slowest:
            return ""
        found = ratio(self.fastest, self.slowest)
        is_noise = found.honest and not found.differs(1)
        return "within noise" if is_noise else values.ratio(self.slowest, self.fastest)

    def finding(self) -> Finding:
        """Both in one line."""
        parts = [f"fastest {timed(self.fastest)}"]
        if times := self.times_fastest:
            factor = times if times == "within noise" else f"x {times}"
            parts.append(f"slowest {timed(self.slowest)} ({factor})")
        return Finding("speed", f"{self.label}: {', '.join(parts)}")


@dataclass(frozen=True)
class Summary:
    speeds: list[Speed]
    findings: list[Finding]  #: "copies" first

    def lines(self) -> list[Finding]:
        """All of it, a line each."""
        return [*(speed.finding() for speed in self.speeds), *self.findings]


def summarize(document: Document, found: Sequence[Finding]) -> Summary:
    """`found`: all findings of the document."""
    speeds = [speed for grid in matrices.of_document(document) if (speed := Speed.of(grid))]
    return Summary(speeds, [
        *_copies(document, found),
        *(finding for finding in found if finding.label in ("alignment", "protection")),
        *_failures(document, found),
        *serious_findings(found),
        *_noise(document),
    ])  # fmt: skip


def timed(entry: Measured) -> str:
    """The pair and its time, with their marks."""
    before, after = values.marks(entry)
    time = f"{before}{values.time(entry)}{after}"
    return f"{entry.producer} -> {entry.consumer} {time}"


def _copies(document: Document, found: Sequence[Finding]) -> Iterator[Finding]:
    findings = [finding for finding in found if finding.label == "copies"]
    pairs = by_pair(entry for entry in document.measured if entry.is_exchange)
    if not pairs:
        return
    if len(findings) == 1:
        yield Finding("copies", findings[0].text)
        return
    copied = {
        pair: copies
        for pair, of_pair in pairs.items()
        if (copies := [entry for entry in of_pair if entry.outcome in COPIED])
    }
    if not copied:
        unproven = sum(any(e.outcome == "unproven" for e in of) for of in pairs.values())
        text = f"none of {count(len(pairs), 'measured pair')}"
        yield Finding("copies", text + (f"; {unproven} not proven" if unproven else ""))
        return
    owners = Counter(
        next((entry.copying_library for entry in of if entry.copying_library), "not known")
        for of in copied.values()
    )
    by = ", ".join(f"{name} {number}" for name, number in owners.most_common(4))
    by += f" and {len(owners) - 4} more" if len(owners) > 4 else ""
    text = f"{len(copied)} of {count(len(pairs), 'measured pair')}, by {by}"
    if rates := [rate for of in copied.values() if (rate := fastest_rate(of))]:
        text += f"; {values.extent(rates, values.rate)} GB/s"
    yield Finding("copies", text)


def _failures(document: Document, found: Sequence[Finding]) -> Iterator[Finding]:
    """The first failure, and the number of all cells that failed, as in the footer."""
    failed = [finding for finding in found if finding.label in FAILURES]
    cells = Counter(e.observed_outcome for e in document.not_measured if not e.is_untimed)
    counted = ", ".join(f"{cells[label]} {label}" for label in FAILURES if cells[label])
    if not failed:
        # Only other cases of a case sweep failed; the table of the sweep lists them.
        yield from [Finding("fails", counted)] if counted else []
        return
    text = f"{failed[0].label} {failed[0].text}"
    if len(failed) > 1 or case_sweep.has_case_sweep(document):
        text = f"{counted}; {text}"  # a long reason is cut
    yield Finding("fails", text)


def serious_findings(found: Sequence[Finding]) -> Iterator[Finding]:
    # An order of imports without a command is that of a pair, and none failed.
    serious = [finding for finding in found if finding.label in SERIOUS and finding.command]
    labels = list(dict.fromkeys(finding.label for finding in serious))[:MOST_SERIOUS]
    unshown = {finding.label for finding in serious} - {*labels}
    for label in labels:
        first = next(finding for finding in serious if finding.label == label)
        # The last line counts those of the labels that are not shown.
        counted = {label} | (unshown if label == labels[-1] else set())
        others = sum(finding.label in counted for finding in serious) - 1
        yield Finding(label, first.text + (f"; and {others} more" if others else ""))


def _noise(document: Document) -> Iterator[Finding]:
    """Which times can be trusted, and how many cells were disturbed while they were timed."""
    measured = [entry for entry in document.measured if entry.is_exchange]
    if not measured:
        return
    text = trust(measured, document.run.request.replicas)
    causes = Counter(code for code in DISTURBED for e in measured if e.warns_of(code))
    disturbed = sum(any(entry.warns_of(code) for code in DISTURBED) for entry in measured)
    if disturbed:
        why = causes.most_common(1)[0][0]
        text += f"; {disturbed} of {count(len(measured), 'cell')} disturbed (most: {why})"
    yield Finding("noise", text)
