"""The files of a profile: a trace for Perfetto, and a list of its ranges. It has no results
document, because times under a profiler are not valid."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dlbench.document.files import PROFILE
from dlbench.passes.ranges import Profile
from dlbench.writing import write as write_whole

TRACE = "trace.json"
RANGES = PROFILE
NOTE = (
    "dlbench --profile: the exchanges in order. A profiled process is slower, so the durations "
    "here are not measurements."
)


def write(folder: Path, made: Profile, context: dict[str, Any]) -> None:
    """Writes both files, each completely or not at all. Raises OSError."""
    texts = {TRACE: _dumped(trace(made)), RANGES: _to_text(ranges(made, context))}
    for name, text in texts.items():
        write_whole(folder / name, lambda out, text=text: out.write(text.encode()))  # type: ignore[misc]


def trace(made: Profile) -> dict[str, Any]:
    """The profile in Chrome's trace event format."""
    return {
        "traceEvents": list(_once(made.events)),
        "displayTimeUnit": "ns",
        "otherData": {"note": NOTE, "lost": made.lost, **made.listening},
    }


def _once(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    # Each part of a trace names its process and threads.
    named = set()
    kept = []
    for event in events:
        key = (event["name"], event["pid"], event["tid"])
        if event["ph"] == "M" and key in named:
            continue
        named.add(key)
        kept.append(event)
    return kept


def _dumped(made: dict[str, Any]) -> str:
    # An event a line: other tools than browsers read a trace, too.
    head = {key: value for key, value in made.items() if key != "traceEvents"}
    events = ",\n".join(json.dumps(event) for event in made["traceEvents"])
    return json.dumps(head)[:-1] + ', "traceEvents": [\n' + events + "\n]}\n"


def _to_text(content: dict[str, Any]) -> str:
    return json.dumps(content, indent=1) + "\n"


def ranges(made: Profile, context: dict[str, Any]) -> dict[str, Any]:
    """Each exchange with its outcome and ranges, and the profile's context."""
    own = context["dlbench"]
    about = {key: own[key] for key in ("version", "command", "machine", "environments")}
    return {
        "dlbench_profile": 1,
        "note": NOTE,
        "date": context["date"],
        **about,
        "listening": made.listening,
        "cells": [cell.to_json() for cell in made.cells],
    }
