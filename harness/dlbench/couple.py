"""Every number of a few cells: what `dlbench A B` and `dlbench show RUN A B` print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.text import Text

from dlbench import document as documents
from dlbench import phases, values
from dlbench.environments.environment import DEFAULT
from dlbench.layout import columns, fitting, shorten
from dlbench.profiling import api
from dlbench.sync import table as waiting
from dlbench.values import Entry

NOTHING: Mapping[str, Any] = {}
HEAD = (
    *("from -> to", "protocol", "size", "clock", "median", "+-", "instructions"),
    *("outcome", "used", "first", "GB/s"),
)
RIGHT = ("size", "median", "+-", "instructions", "first", "GB/s")
#: Columns that go, in this order, where all do not fit.
SPARE = ("first", "used", "GB/s", "+-")


def table(entries: Sequence[Entry], width: int) -> list[Text]:
    """One line a cell. A reason stands behind its outcome and is cut at the width."""
    ordered = sorted(entries, key=_order)
    rows = [_row(entry) for entry in ordered]
    heads = list(HEAD)
    for axis in ("device", "case", "environment", "machine"):
        found = {entry.get(axis) for entry in entries}
        # Rows that all are of another environment than our own must not look like ours.
        if len(found) > 1 or (axis == "environment" and found != {DEFAULT}):
            heads.insert(2, axis)
            for row, entry in zip(rows, ordered, strict=True):
                row[axis] = str(entry.get(axis, ""))
    heads, lines = fitting(heads, rows, width, RIGHT, SPARE)
    shown = [Text(shorten(lines[0], width), style="bold")]
    for entry, line in zip(ordered, lines[1:], strict=True):
        if not values.is_measured(entry):
            line = f"{line}  {values.reason(entry)}"
        shown.append(Text(shorten(line, width), style=_style(entry)))
    if "+-" in heads:
        text = f"+-: {values.interval(filter(values.is_measured, ordered))}"
        shown.append(Text(shorten(text, width), style="dim"))
    return shown


def _order(entry: Entry) -> tuple[Any, ...]:
    protocol = entry["protocol"]
    known = ("dlpack", "dlpack_c", "convert")
    rank = known.index(protocol) if protocol in known else len(known)
    pair = (entry["producer"], entry["consumer"])
    kind = (rank, protocol, entry["device"], entry["case"], entry["bytes"], entry["clock"])
    return (*pair, *kind, documents.environment_rank(entry["environment"]))


def _style(entry: Entry) -> str:
    if values.is_below(entry):
        return ""
    if not values.is_measured(entry):
        return "red" if entry["outcome"] not in ("no-protocol", "not-installed") else "dim"
    return "yellow" if entry["outcome"] in values.COPIED else ""


def _row(entry: Entry) -> dict[str, str]:
    row = dict.fromkeys(HEAD, "")
    row["from -> to"] = f"{entry['producer']} -> {entry['consumer']}"
    row["protocol"] = entry["protocol"]
    row["size"] = values.size(entry["bytes"])
    row["clock"] = entry.get("clock", "call")
    row["outcome"] = entry["outcome"]
    if values.is_below(entry):
        row["median"], row["outcome"] = values.below(entry), entry["found"]
        row["used"] = used(entry)
    if not values.is_measured(entry):
        return row
    median = entry["real_time"]
    before, _ = values.marks(entry)
    row["median"] = before + values.duration(median)
    if "lo_ns" in entry and "hi_ns" in entry:
        wide = max(entry["hi_ns"] - median, median - entry["lo_ns"], 0.0)
        row["+-"] = values.percent(wide / median)
    row["instructions"] = values.instructions(entry)
    row["used"] = used(entry)
    first = [worker["first_ns"] for worker in entry.get("workers", []) if worker.get("first_ns")]
    row["first"] = values.duration(max(first)) if first else ""
    row["GB/s"] = values.rate(entry["gb_per_s"]) if entry.get("gb_per_s") else ""
    return row


def used(entry: Entry) -> str:
    """The protocol that carried the bytes, with its struct and how it was offered."""
    seen = entry.get("seen", {})
    words = [seen.get("used", ""), seen.get("struct", "")]
    words += [f"via {seen['via']}"] if seen.get("via", "direct") != "direct" else []
    return " ".join(word for word in words if word)


def details(entry: Entry, environment: Mapping[str, Any] = NOTHING) -> list[str]:
    """All that is known of one cell, a fact a line. `environment` is what the document says of
    where it was measured."""
    facts: list[tuple[str, str]] = [("cell", documents.cell_name(entry))]
    facts.append(("outcome", _outcome(entry)))
    if values.is_measured(entry):
        facts += _numbers(entry, environment)
    else:
        facts.append(("reason", values.reason(entry)))
    facts += _timer(entry)
    if "imports" in entry:
        facts.append(("imported", ", then ".join(entry["imports"])))
    for worker in entry.get("workers", []):
        rounds = len(worker.get("samples_ns", []))
        first = worker.get("first_ns")
        text = f"median {values.duration(worker['median_ns'])} of {rounds} rounds"
        facts.append(("worker", f"{text}, first call {values.duration(first)}" if first else text))
    facts += phases.lines(entry)
    facts += waiting.facts(entry)
    evidence = entry.get("evidence", {})
    if evidence:
        facts.append(("evidence", "  ".join(f"{name}: {word}" for name, word in evidence.items())))
    seen = entry.get("seen", {})
    if guard := seen.get("guard"):
        facts.append(("guard", _guard(guard)))
    if seen.get("used"):
        flags = "".join(f", {flag}" for flag in seen.get("flags", []))
        version = ".".join(str(part) for part in seen.get("version", []))
        facts.append(("used", f"{used(entry)}{' ' + version if version else ''}{flags}"))
    facts += [("asked", call) for call in seen.get("calls", [])]
    facts += [("warning", warning) for warning in entry.get("warnings", [])]
    facts += [("stderr", line) for line in entry.get("stderr_tail", "").splitlines()[-20:]]
    return columns(facts)


def _guard(guard: Mapping[str, Any]) -> str:
    counts = [f"{guard['pages']} pages", f"{guard['read']} read"]
    counts += [f"{guard['late']} of them after the call"] if guard["late"] else []
    counts += [f"{guard['written']} written"] if guard["written"] else []
    by = f", by {', '.join(guard['by'])}" if guard["by"] else ""
    return ", ".join(counts) + by


def _outcome(entry: Entry) -> str:
    words = [entry["outcome"]]
    words += [entry["found"]] if values.is_below(entry) else []
    words += [f"by the {entry['copied_by']}"] if entry.get("copied_by") else []
    words += ["still reading the source after it returned"] if entry.get("late_read") else []
    changed = entry.get("changed", [])
    words += [f"changed: {', '.join(changed)}"] if changed else []
    return ", ".join(words)


def _timer(entry: Entry) -> list[tuple[str, str]]:
    """What the times of the clock `device` were read from."""
    timer = entry.get("device_timer")
    if timer is None:
        return []
    step, empty = values.duration(timer["step_ns"]), values.duration(timer["empty_ns"])
    return [("device timer", f"steps of {step}; an empty row of {empty} is subtracted")]


def _numbers(entry: Entry, environment: Mapping[str, Any]) -> list[tuple[str, str]]:
    median = entry["real_time"]
    interval = ""
    if "lo_ns" in entry and "hi_ns" in entry:
        low, high = values.duration(entry["lo_ns"]), values.duration(entry["hi_ns"])
        interval = f"  ({low} .. {high}: {values.interval([entry])})"
    facts = [("median", values.duration(median) + interval)]
    if entry.get("interval") == "within":
        known = documents.between_processes(environment)
        facts.append(("other processes", f"not measured; {known}" if known else "not measured"))
    if entry.get("floor_ratio"):
        facts.append(("floor", f"{entry['floor_ratio']:.1f} times the instrument's own time"))
    if entry.get("gb_per_s"):
        beside = values.floors(environment.get("copy_floors_gb_per_s", {}), entry["device"])
        facts.append(("rate", f"{values.rate(entry['gb_per_s'])} GB/s{beside}"))
        blocks = environment.get("copy_floors_bytes", {})
        on = [part for part in entry["device"].split("+") if part in blocks]
        facts += [("memcpy of", f"{values.size(blocks[part])} at a time on {part}") for part in on]
    if counted := values.instructions(entry):
        facts.append(("instructions", f"{counted} an exchange"))
    if calls := api.line(entry):
        facts.append(("CUDA calls", calls))
    return facts
