"""The section `checks` of a results document."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dlbench import _core, writing
from dlbench.check import known
from dlbench.check import script as rule_script
from dlbench.check.rules import RULES
from dlbench.check.runner import Library, Report
from dlbench.check.verdict import BROKEN, UNCLEAR
from dlbench.environments.environment import Environment, here
from dlbench.errors import BadInput
from dlbench.machine import machine

Entry = dict[str, Any]
RESULTS = "results.json"


def entries(library: Library, report: Report, accepted: Mapping[str, str]) -> list[Entry]:
    """One for each rule. `accepted`: rule -> link, of those that are known."""
    found = []
    # A process that died could not report the struct that it got; it is the same each time.
    usual = next((result.struct for result in report.results.values() if result.struct), "")
    for name, result in report.results.items():
        rule = RULES.by_name[name]
        entry: Entry = {
            "library": library.name,
            "version": report.version,
            "rule": name,
            "role": rule.role,
            "device": library.device,
            "level": rule.level,
            "section": rule.section,
            "outcome": result.outcome,
            "observed": result.observed,
        }
        for key in ("struct", "signal", "stderr_tail"):
            if getattr(result, key):
                entry[key] = getattr(result, key)
        if result.outcome in (BROKEN, UNCLEAR):
            link = accepted.get(name) or known.link(library.name, name)
            if link:
                entry["issue"] = link
        if result.outcome == BROKEN:
            entry["accepted"] = name in accepted
            path = getattr(library, rule.role)
            try:
                entry["reproducer"] = rule_script.script(
                    rule,
                    result.observed,
                    path,
                    library.name,
                    report.version,
                    result.struct or usual,
                    library.device,
                    result.source,
                    result.signal,
                    getattr(library, "producer" if rule.role == "consumer" else "consumer"),
                )
            except BadInput as error:  # an adapter may be written in a way that cannot be cut
                entry["reproducer"] = ""
                entry["observed"] += f" (no script: {error})"
        found.append(entry)
    return found


def document(
    checks: Sequence[Entry], command: Sequence[str], wall_s: float, place: Environment | None = None
) -> dict[str, Any]:
    """A results document without a measured cell, of libraries in `place`, or here."""
    place = place or here()
    environment = place.to_json()
    environment["libraries"] |= {entry["library"]: entry["version"] for entry in checks}
    own = {
        "schema": 1,
        "version": _core.version,
        "command": list(command),
        "wall_s": wall_s,
        "machine": machine.describe(),
        "environments": {place.name: environment},
    }
    context = {**machine.benchmark_context(), "dlbench": own}
    return {"context": context, "benchmarks": [], "not_measured": [], "checks": list(checks)}


def write(folder: Path, made: dict[str, Any]) -> list[Path]:
    """results.json, and a script for each broken rule; their paths."""
    path = folder / RESULTS
    writing.write(path, lambda out: out.write((json.dumps(made, indent=1) + "\n").encode()))
    _core.validate_document(str(path))
    written = [path]
    for entry in made["checks"]:
        if entry.get("reproducer"):
            script = folder / script_name(entry)
            text = entry["reproducer"].encode()
            writing.write(script, lambda out, text=text: out.write(text))  # type: ignore[misc]
            written.append(script)
    return written


def script_name(entry: Entry) -> str:
    """ "torch-import.reversed.py"."""
    return f"{entry['library'].replace(':', '-')}-{entry['rule']}.py"
