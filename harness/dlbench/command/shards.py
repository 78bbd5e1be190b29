"""The document of a whole run from the documents of its shards."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dlbench import _core
from dlbench.document import Document, Entry, Run, parse_document
from dlbench.errors import BadInput
from dlbench.text.layout import count, listing

#: Options that may differ between shards of one run, because they do not change the plan.
MAY_DIFFER = {"shard", "jobs", "adapters", "env"}
#: Facts of the machine that must be equal for times to belong to one run.
HARDWARE = ("cpu", "cores", "architecture")


def join(machine: str, parts: Sequence[tuple[str, Document]]) -> tuple[Document, list[str]]:
    """One document of all parts, and warnings about it, a line each.

    `parts`: each part's name on the command line, with its document. Raises BadInput if the parts
    are of different runs, or two hold the same shard.
    """
    first_word, first = parts[0]
    held: dict[int, str] = {}
    for word, document in parts:
        _require_same_run(first_word, first.run, word, document.run)
        for number in document.run.shard.numbers:
            if number in held:
                raise BadInput(
                    f"{held[number]} and {word} both hold shard {number}/{first.run.shard.of}: "
                    "name the machines, as NAME=RUN"
                )
            held[number] = word
    documents = [document for _, document in parts]
    joined = parse_document(
        {
            "context": _context(documents),
            "benchmarks": _sorted(entry for each in documents for entry in each.measured),
            "not_measured": _sorted(entry for each in documents for entry in each.not_measured),
        }
    )
    return joined, list(_remarks(machine, parts, joined))


def largest_run(
    parts: Sequence[tuple[str, Document]],
) -> tuple[list[tuple[str, Document]], list[str]]:
    """The largest set of parts of one run, and for each other part a line with the difference."""
    runs: list[list[tuple[str, Document]]] = []
    for word, document in parts:
        fitting = (of for of in runs if not _difference(of[0][1].run, document.run))
        found = next(fitting, None)
        if found is None:
            runs.append([(word, document)])
        else:
            found.append((word, document))
    largest = max(runs, key=len)
    first_word, first = largest[0]
    faults = [
        f"{word}: {_apart(first_word, word, _difference(first.run, document.run))}"
        for of in runs
        if of is not largest
        for word, document in of
    ]
    return largest, faults


def _require_same_run(first_word: str, first: Run, word: str, other: Run) -> None:
    if found := _difference(first, other):
        raise BadInput(
            f"{_apart(first_word, word, found)}; merge shards of one run, or name the machines, "
            "as NAME=RUN"
        )


def _apart(first_word: str, word: str, difference: str) -> str:
    return f"{first_word} and {word} are shards of different runs: {difference}"


def _difference(first: Run, other: Run) -> str:
    """The first fact that shows that two shards are of different runs; empty if there is none."""
    for what, before, now in _facts(first, other):
        if before != now:
            return f"{what} is {before or 'unset'} in the first and {now or 'unset'} in the second"
    return ""


def _facts(first: Run, other: Run) -> Iterable[tuple[str, object, object]]:
    yield "the version of dlbench", first.version, other.version
    yield "the number of shards", first.shard.of, other.shard.of
    one, two = first.request.to_json(MAY_DIFFER), other.request.to_json(MAY_DIFFER)
    for option in sorted({*one, *two}):
        yield f"--{option.replace('_', '-')}", _shown(one.get(option)), _shown(two.get(option))
    for name, environment in first.environments.items():
        found = other.environments.get(name)
        yield f"Python in {name}", environment.python, found.python if found else ""
    yield "the plan (libraries, versions, devices)", first.shard.plan, other.shard.plan


def _shown(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value or "")


def _remarks(
    machine: str, parts: Sequence[tuple[str, Document]], joined: Document
) -> Iterable[str]:
    for word, document in parts:
        if not document.run.did_end:
            yield (
                f"{machine}: {word} did not end: {count(len(document.entries), 'cell')} recorded"
            )
    shard = joined.run.shard
    if shard.missing:
        numbers = listing((f"{number}/{shard.of}" for number in shard.missing), 12)
        are_missing = "shard {} is missing" if len(shard.missing) == 1 else "shards {} are missing"
        yield f"{machine}: {are_missing.format(numbers)}"
    facts = {
        word: tuple(document.run.machine.to_json().get(key) for key in HARDWARE)
        for word, document in parts
    }
    (first_word, first), *others = facts.items()
    for word, found in others:
        if found != first:
            yield (
                f"{machine}: {word} was measured on other hardware ({_hardware(found)}) than "
                f"{first_word} ({_hardware(first)}): do not compare their times"
            )


def _hardware(facts: Sequence[object]) -> str:
    return ", ".join(str(fact) for fact in facts if fact is not None) or "unknown"


def _context(documents: Sequence[Document]) -> dict[str, object]:
    """The context of the first shard, with sums and medians over all shards."""
    contexts = [document.context for document in documents]
    runs = [document.run for document in documents]
    hosts = {
        str(number): context.run.shard.hosts.get(str(number), context.host_name)
        for context in contexts
        for number in context.run.shard.numbers
    }
    shard = runs[0].shard
    own = {
        **runs[0].to_json(without=("command",)),
        "request": {**runs[0].request.to_json(), "shard": ""},
        "wall_s": sum(run.wall_s for run in runs),
        "round_s": sum(run.round_s for run in runs),
        "signal": max(run.signal for run in runs),
        "fingerprint": shard.plan,
        "shard": {
            "of": shard.of,
            "numbers": sorted(map(int, hosts)),
            "plan": shard.plan,
            "hosts": dict(sorted(hosts.items(), key=lambda item: int(item[0]))),
        },
        "environments": {
            name: _environment([run.environments[name].to_json() for run in runs])
            for name in runs[0].environments
        },
    }
    # The noise of the merged run is that of its noisiest machine.
    noisiest = max(runs, key=lambda run: (run.noise.too_busy, run.noise.other_processes or 0.0))
    if noisiest.noise:
        own["noise"] = noisiest.noise.to_json()
    dropped = [run.dropped for run in runs if run.dropped]
    if dropped:
        lines = sum(each.lines for each in dropped)
        own["dropped"] = {"lines": lines, "first": dropped[0].first}
    names = ", ".join(dict.fromkeys(hosts.values()))
    return {**contexts[0].to_json(), "host_name": names, "dlbench": own}


def _environment(found: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """An environment's facts: medians over the shards, and the largest spread."""
    made = dict(found[0])
    for key in ("libraries", "import_seconds", "import_effects"):
        if united := {k: v for each in found for k, v in each.get(key, {}).items()}:
            made[key] = united
    for key in ("floors_ns", "copy_floors_gb_per_s"):
        names = dict.fromkeys(name for each in found for name in each.get(key, {}))
        if names:
            made[key] = {
                name: statistics.median(e[key][name] for e in found if name in e.get(key, {}))
                for name in names
            }
    references = [each["reference_exchange"] for each in found if "reference_exchange" in each]
    if references:
        reference = {
            "median_ns": statistics.median(each["median_ns"] for each in references),
            "workers": sum(each["workers"] for each in references),
        }
        spreads = [each["spread"] for each in references if "spread" in each]
        made["reference_exchange"] = reference | ({"spread": max(spreads)} if spreads else {})
    rows: dict[float, dict[str, Any]] = {}
    for row in (row for each in found for row in each.get("between_processes", ())):
        kept = rows.setdefault(row["length_ns"], row | {"series": 0})
        widest = max(kept["half_width"], row["half_width"])
        rows[row["length_ns"]] = kept | {
            "half_width": widest,
            "series": kept["series"] + row["series"],
        }
    if rows:
        many = {n: row for n, row in rows.items() if row["series"] >= _core.fewest_similar}
        made["between_processes"] = [row for _, row in sorted((many or rows).items())]
    return made


def _sorted(entries: Iterable[Entry]) -> list[dict[str, object]]:
    return sorted((entry.to_json() for entry in entries), key=lambda entry: str(entry["name"]))
