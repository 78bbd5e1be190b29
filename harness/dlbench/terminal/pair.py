"""All numbers of a few cells, as `dlbench A B` and `dlbench show RUN A B` print them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.cells import cell_len
from rich.text import Text

from dlbench import values
from dlbench.analysis import phases
from dlbench.analysis.calls import CALL
from dlbench.document import (
    AXES,
    Axis,
    Entry,
    EnvironmentFacts,
    Measured,
    NotMeasured,
    environment_rank,
)
from dlbench.document.document import NOWHERE
from dlbench.document.entry import ApiCalls
from dlbench.document.facts import COPIED, FIRST_PROTOCOLS, is_below
from dlbench.document.keys import Guard, MeasuredWorker
from dlbench.environments.environment import DEFAULT
from dlbench.sync import captures
from dlbench.sync import table as waiting
from dlbench.text.layout import columns, count, fitting, fold, shorten, wrap

HEAD = (
    *("from -> to", "protocol", "size", "clock", "median", "+-", "instructions"),
    *(*phases.COLUMNS, "outcome", "used", "first", "GB/s"),
)
#: Columns that are added where the cells differ in them.
AXES_HEAD = ("arrays", "device", "case", "environment", "machine")
RIGHT = {"arrays", "size", "median", "times", "+-", "instructions", "first", "GB/s"}
RIGHT |= {*phases.COLUMNS}
#: Columns that are left out, in this order, until the table fits; the last one after the phases,
#: which then are a block below.
SPARE = ("first", "used", "GB/s", "unexplained", "+-")


def table(
    entries: Sequence[Entry],
    width: int,
    parts: Mapping[phases.Key, phases.Columns] = {},
    relative_to: str = "",
) -> list[Text]:
    """One line for each cell. A reason follows its outcome and is cut at the width. `parts` are
    further columns; where these do not fit, they are a block of their own below. Times are relative
    to the machine `relative_to`, by default the first."""
    ordered = sorted(entries, key=_order)
    rows = [_row(entry) | _parts(entry, parts) for entry in ordered]
    heads = list(HEAD)
    for axis in AXES_HEAD:
        found = {entry.axis(axis) for entry in entries}
        # If all rows are of another environment than the default, its name is shown too.
        if len(found) > 1 or (axis == "environment" and found != {DEFAULT}):
            heads.insert(2, axis)
            for row, entry in zip(rows, ordered, strict=True):
                row[axis] = str(entry.axis(axis))
    base = relative_to or min((entry.machine for entry in entries), default="")
    if "machine" in heads:
        heads.insert(heads.index("median") + 1, "times")
        for row, entry in zip(rows, ordered, strict=True):
            row["times"] = _times(entry, ordered, base)
    *spare, _ = SPARE
    shown, lines = fitting(heads, rows, width, RIGHT, spare)
    below: list[Text] = []
    if max(map(cell_len, lines)) > width:
        if not set(shown).isdisjoint(phases.COLUMNS):
            below = _phases(heads[: heads.index("clock")], rows, width)
            heads = [head for head in heads if head not in phases.COLUMNS]
        shown, lines = fitting(heads, rows, width, RIGHT, SPARE)
    made = [Text(shorten(lines[0], width), style="bold")]
    for entry, line in zip(ordered, lines[1:], strict=True):
        if isinstance(entry, NotMeasured):
            line = f"{line}  {values.reason(entry)}"
        made.append(Text(shorten(line, width), style=_style(entry)))
    measured = [entry for entry in ordered if isinstance(entry, Measured)]
    return made + _dim(_legend(measured, shown, base), width) + below


def _parts(entry: Entry, parts: Mapping[phases.Key, phases.Columns]) -> phases.Columns:
    is_whole = entry.is_exchange and entry.clock == "call"
    return parts.get(phases.key_of(entry), {}) if is_whole else {}


def _phases(names: Sequence[str], rows: Sequence[Mapping[str, str]], width: int) -> list[Text]:
    """One line for each exchange with its phases. It is named as in the table above, without the
    axes on which all agree."""
    rows = [row for row in rows if any(row[head] for head in phases.COLUMNS)]
    alike = {head for head in names if len({row[head] for row in rows}) == 1}
    named = [head for head in names if head not in alike - {names[0]}]
    left_out, *more = phases.SPARE
    spare = [left_out, *alike.intersection(names[:1]), *more]
    heads, lines = fitting([*named, *phases.COLUMNS], rows, width, RIGHT, spare)
    made = [Text(shorten(line, width), style="" if i else "bold") for i, line in enumerate(lines)]
    return [Text(), *made, *_dim(phases.legend(heads), width)]


def _dim(parts: Sequence[str], width: int) -> list[Text]:
    return [Text(line, style="dim") for line in fold(parts, width, gap="   ")]


def _legend(measured: Sequence[Measured], heads: Sequence[str], base: str) -> list[str]:
    """The meaning of the marks and the shortened columns that are shown. `base`: the machine that
    times are relative to."""
    parts = [f"+-: {values.interval(measured)}"] if "+-" in heads and measured else []
    if any(values.marks(entry)[0] for entry in measured):
        parts.append(f"~ {values.NEAR_FLOOR_TEXT}")
    parts += [f"times: relative to {base}"] if "times" in heads else []
    parts += ["used: the protocol observed"] if "used" in heads else []
    parts += (
        ["first: first call of the cell in a worker that other cells may have warmed"]
        if "first" in heads
        else []
    )
    return parts + phases.legend(heads)


def _times(entry: Entry, entries: Sequence[Entry], machine: str) -> str:
    """The cell's time over that of the same cell on this machine; empty without such a time."""
    axes = (*AXES, "bytes")
    of_machine = (one for one in entries if one.machine == machine)
    base = next((one for one in of_machine if one.axes(axes) == entry.axes(axes)), None)
    # A phase less the overhead floor may be below 0.
    if isinstance(entry, Measured) and isinstance(base, Measured) and base.median_ns > 0:
        return values.number(entry.median_ns / base.median_ns)
    return ""


def _order(entry: Entry) -> tuple[Axis | tuple[bool, str], ...]:
    first = FIRST_PROTOCOLS
    rank = first.index(entry.protocol) if entry.protocol in first else len(first)
    kind = (rank, entry.protocol, entry.device, entry.case, entry.bytes, entry.arrays, entry.clock)
    return (*entry.pair, *kind, environment_rank(entry.environment), entry.machine)


def _style(entry: Entry) -> str:
    if is_below(entry):
        return ""
    if not isinstance(entry, Measured):
        return "red" if entry.outcome not in ("no-protocol", "not-installed") else "dim"
    return "yellow" if entry.outcome in COPIED else ""


def _row(entry: Entry) -> dict[str, str]:
    row = dict.fromkeys(HEAD, "")
    row["from -> to"] = f"{entry.producer} -> {entry.consumer}"
    row["protocol"] = entry.protocol
    row["size"] = values.size(entry.bytes)
    row["clock"] = entry.clock
    row["outcome"] = entry.outcome
    if is_below(entry):
        row["median"], row["outcome"] = values.below(entry), entry.observed_outcome
        row["used"] = used(entry)
    if not isinstance(entry, Measured):
        return row
    before, _ = values.marks(entry)
    row["median"] = before + values.time(entry)
    row["+-"] = values.percent(entry.half_width / entry.median_ns)
    row["instructions"] = values.instructions(entry)
    row["used"] = used(entry)
    first = [worker.first_ns for worker in entry.workers if worker.first_ns]
    row["first"] = values.duration(max(first)) if first else ""
    row["GB/s"] = values.rate(entry.gb_per_s) if entry.gb_per_s else ""
    return row


def used(entry: Entry) -> str:
    """The protocol that was used, with its struct and how it was offered."""
    observed = entry.observed
    words = [observed.used, observed.struct]
    words += [f"via {observed.via}"] if observed.via != "direct" else []
    return " ".join(word for word in words if word)


def details(entry: Entry, environment: EnvironmentFacts = NOWHERE) -> list[str]:
    """All facts about one cell, one in each line. `environment`: where it was measured."""
    facts: list[tuple[str, str]] = [("cell", entry.name)]
    facts.append(("outcome", _outcome(entry)))
    if isinstance(entry, Measured):
        facts += _numbers(entry, environment)
    elif isinstance(entry, NotMeasured):
        facts.append(("reason", values.reason(entry)))
    facts += _timer(entry)
    if entry.imports:
        facts.append(("imported", ", then ".join(entry.imports)))
    if isinstance(entry, Measured):
        facts += map(_worker, entry.workers)
        facts += phases.lines(entry)
    facts += waiting.facts(entry)
    facts += captures.facts(entry)
    if entry.evidence:
        parts = "  ".join(f"{name}: {word}" for name, word in entry.evidence.items())
        facts.append(("evidence", parts))
    facts += _copier(entry)
    observed = entry.observed
    if observed.guard:
        facts.append(("guard", _guard(observed.guard)))
    if observed.used:
        flags = "".join(f", {flag}" for flag in observed.flags)
        version = ".".join(map(str, observed.version))
        facts.append(("used", f"{used(entry)}{' ' + version if version else ''}{flags}"))
    facts += [("request", call) for call in observed.calls]
    facts += [("warning", values.warning_text(warning)) for warning in entry.warnings]
    if isinstance(entry, NotMeasured):
        facts += [("stderr", line) for line in entry.stderr_tail.splitlines()[-20:]]
    return columns(facts)


EVIDENCE = "yes: shared memory   no: a copy   skipped: not tested"


def shared_facts(entries: Sequence[Entry], width: int) -> list[Text]:
    """The evidence and warnings of several cells, each once with its cells, then their meaning."""
    facts: dict[tuple[str, str], list[Entry]] = {}
    for entry in sorted(entries, key=_order):
        words = [f"{name}: {word}" for name, word in entry.evidence.items()]
        parts = [("evidence", "  ".join(words))] if words else []
        for fact in dict.fromkeys([*parts, *(("warning", each.text) for each in entry.warnings)]):
            facts.setdefault(fact, []).append(entry)
    rows = [(*fact, _cells_text(of, len(entries))) for fact, of in facts.items()]
    legend = [EVIDENCE] if any(entry.evidence for entry in entries) else []
    texts = {each.text: values.warning_text(each) for one in entries for each in one.warnings}
    for bare, text in texts.items():
        legend += wrap(text, width) if text != bare else []
    lines = [Text(line) for line in columns(rows)]
    return lines + [Text(line, style="dim") for line in legend]


def _cells_text(of: Sequence[Entry], total: int) -> str:
    """ "dlpack 4 KiB, 1 MiB; convert 4 KiB"; "all cells"."""
    if len(of) == total:
        return "all cells"
    sizes: dict[str, dict[str, None]] = {}
    for entry in of:
        case = f" {entry.case}" if entry.case != "f32" else ""
        clock = f" {entry.clock}" if entry.clock != "call" else ""
        clock += f" arrays:{entry.arrays}" if entry.protocol == CALL else ""
        sizes.setdefault(entry.protocol + case + clock, {})[values.size(entry.bytes)] = None
    return "; ".join(f"{name} {', '.join(found)}" for name, found in sizes.items())


def _worker(worker: MeasuredWorker) -> tuple[str, str]:
    rounds = count(len(worker.samples_ns), "round")
    text = f"median {values.duration(worker.median_ns)} of {rounds}"
    first = f", first call {values.duration(worker.first_ns)}" if worker.first_ns else ""
    return "worker", text + first


def _guard(guard: Guard) -> str:
    counts = [count(guard.pages, "page"), f"{guard.read} read"]
    counts += [f"{guard.late} of them after the call"] if guard.late else []
    counts += [f"{guard.written} written"] if guard.written else []
    by = f", by {', '.join(guard.by)}" if guard.by else ""
    return ", ".join(counts) + by


def _outcome(entry: Entry) -> str:
    words = [entry.outcome]
    words += [entry.observed_outcome] if is_below(entry) else []
    words += [f"by the {entry.copied_by}"] if entry.copied_by else []
    words += ["still reading the source after it returned"] if entry.late_read else []
    words += [f"changed: {', '.join(entry.changed)}"] if entry.changed else []
    return ", ".join(words)


#: A smaller array may cover no whole page.
TWO_PAGES = 8192


def _copier(entry: Entry) -> list[tuple[str, str]]:
    """Why it is not known which library copied."""
    if entry.observed_outcome != "copy" or entry.copied_by or entry.observed.used != "own":
        return []
    text = "not known: the consumer makes no request, or treats a proxy in another way"
    if entry.evidence.get("guard") == "skipped" and entry.bytes < TWO_PAGES:
        text += ", and the page guard needs a whole page: --sizes 256KiB"
    return [("copier", text)]


def _timer(entry: Entry) -> list[tuple[str, str]]:
    """The timer of the clock `device`."""
    timer = entry.device_timer
    if not timer:
        return []
    step, empty = values.duration(timer.step_ns), values.duration(timer.empty_ns)
    return [("device timer", f"steps of {step}; the time of an empty row, {empty}, is subtracted")]


def _numbers(entry: Measured, environment: EnvironmentFacts) -> list[tuple[str, str]]:
    interval = f"{values.interval_ends(entry)}: {values.interval([entry])}"
    facts = [("median", f"{values.time(entry)}  ({interval})")]
    if entry.interval == "within":
        known = entry.between_half_width
        of_this_length = "not known for exchanges of this length"
        if known is not None:
            of_this_length = f"{values.spread(known)} for exchanges of this length"
        facts.append(("other processes", f"not measured; {of_this_length}"))
    if entry.floor_ratio:
        facts.append(("floor", f"{values.number(entry.floor_ratio)} times the overhead floor"))
    if entry.gb_per_s:
        beside = values.floors(environment.copy_floors_gb_per_s, entry.device, entry.bytes)
        facts.append(("rate", f"{values.rate(entry.gb_per_s)} GB/s{beside}"))
    if counted := values.instructions(entry):
        facts.append(("instructions", f"{counted} an exchange"))
    if entry.api_calls:
        facts.append(("CUDA calls", _api_calls(entry.api_calls)))
    return facts


def _api_calls(calls: ApiCalls) -> str:
    """ "1 sync, 2 event (export: 1 sync)"; "none"."""
    phases = [(phase, _listed(counts)) for phase, counts in calls.phases.items()]
    parts = "; ".join(f"{phase}: {listed}" for phase, listed in phases if listed)
    return (_listed(calls.by_kind) or "none") + (f" ({parts})" if parts else "")


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{number} {kind}" for kind, number in counts.items() if number)
