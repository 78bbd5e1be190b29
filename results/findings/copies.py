"""Pairs that copy, and libraries that write into an exported array."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from dlbench import _core, values
from dlbench.analysis import case_sweep
from dlbench.analysis.calls import CALL
from dlbench.document import Document, Entry, Measured, Pair, codes
from dlbench.document.facts import COPIED, largest_copy
from dlbench.findings.finding import Finding, by_pair, limits, pairs_text
from dlbench.text.escaping import dlbench_command
from dlbench.text.grouping import grouped
from dlbench.text.layout import count

#: The text of a line where a pair copies in one kind of array only.
WHEN = {
    "f32-align4": "when not aligned",
    "f32-strided": "when strided",
    "f32-readonly": "when read-only",
}


def copies(entries: list[Entry], run: str, document: Document) -> Iterator[Finding]:
    measured = [entry for entry in entries if isinstance(entry, Measured)]
    sweeps = case_sweep.has_case_sweep(document)
    groups: dict[tuple[str, ...], list[tuple[Pair, list[Measured]]]] = defaultdict(list)
    for pair, of_pair in by_pair(measured).items():
        copied = [entry for entry in of_pair if entry.outcome in COPIED]
        every = limits(of_pair, copied)
        # A fact about one cell need not hold for the other cells of the pair.
        for (owner, late, device), alike in grouped(copied, _how).items():
            found = [*map(_limit, limits(of_pair, alike), every)]
            if sweeps:  # its table names the cases
                found = [f"in {len(alike)} of {count(len(of_pair), 'timed cell')}"]
            key = (owner or pair[1], f"by {owner}" if owner else "", late, device, *found)
            groups[key].append((pair, alike))
    for (_, by, late, device, *words), members in sorted(groups.items()):
        copied = [entry for _, alike in members for entry in alike]
        when = [word for word in words if word in WHEN.values()]
        facts = [word for word in (*words, by) if word and word not in when]
        largest = [one for _, alike in members if (one := largest_copy(alike))]
        if largest:
            where = " in cache" if all(e.warns_of(codes.IN_CACHE) for e in copied) else ""
            floors = document.environment(copied[0].environment).copy_floors_gb_per_s
            sizes = {entry.bytes for entry in largest}
            beside = values.floors(floors, device, sizes.pop()) if len(sizes) == 1 else ""
            rates = values.extent([entry.gb_per_s for entry in largest], values.rate)
            facts.append(f"{rates} GB/s{where}{beside}")
        facts += [late] if late else []
        text = " ".join([pairs_text(pair for pair, _ in members), *when])
        producer, consumer = members[0][0]
        command = dlbench_command("show", run, producer, consumer)
        yield Finding("copies", f"{text}: {', '.join(facts)}" if facts else text, command)


def _how(entry: Entry) -> tuple[str, str, str]:
    """The library that copied, if known, and when and where it copied."""
    late = "still reading the source after it returned" if entry.late_read else ""
    return entry.copying_library, late, entry.device


def _limit(limit: str, every: str) -> str:
    """ "only" if the pair's other copies, which another line lists, have that limit too."""
    return WHEN.get(limit, f"only {limit}" if limit and limit == every else limit)


def alignment(entries: list[Entry]) -> Iterator[Finding]:
    """Pairs that copy NumPy's memory, in a run without a case at a larger alignment: a consumer may
    share it there."""
    host = [entry for entry in entries if entry.device == "cpu" and entry.protocol != CALL]
    # A case sweep does not time what is judged as f32 is.
    cases = [_core.case(entry.case) for entry in host if _core.is_case(entry.case)]
    copied = {e.pair for e in host if isinstance(e, Measured) and e.outcome == "copy"}
    copied = {(first, second) for first, second in copied if first == "numpy" != second}
    if not copied or any(case["offset"] for case in cases):
        return
    text = "f32 lies between multiples of 64 bytes, as NumPy's larger arrays; to try a multiple: "
    text += f"--cases f32,f32-align64 ({pairs_text(copied)})"
    command = dlbench_command(*min(copied), "--cases", "f32,f32-align64")
    yield Finding("alignment", text, command)


def writes(entries: list[Entry], run: str) -> Iterator[Finding]:
    """Libraries that write into an exported array."""
    wrote = [entry for entry in entries if entry.observed.guard.written]
    for pair, of_pair in by_pair(wrote).items():
        found = [w for entry in of_pair for w in entry.warnings if w.code == codes.SOURCE_WRITTEN]
        if found:
            command, first = dlbench_command("show", run, *pair), found[0]
            text = f"{pairs_text([pair])}: {first.text}"
            yield Finding("writes", text, command, (*pair, *first.data.values()))
