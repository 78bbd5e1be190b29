"""What makes numbers wander: disturbed rounds, and a machine that is not quiet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dlbench import _core, values
from dlbench.escaping import dlbench_command
from dlbench.findings.finding import Finding, pair_of, pairs_text
from dlbench.layout import count
from dlbench.values import Entry

#: Warnings of a cell's rounds: what they mean for its number, and the options to measure the pair
#: with again. Without options, or where the run had them, `doctor` looks at the machine.
DISTURBED = {
    "few rounds": ("fewer than six rounds: the interval is only their range", "--budget 120s"),
    "bimodal": ("the rounds fall into two groups: the median is one of them", ""),
    "drift": ("the rounds rise or fall while they run", "--replicas 6"),
    "migrated core": ("a third of the rounds changed their core", ""),
    "preempted": ("a third of the rounds lost their core to others", ""),
    "slow CPU": ("a third of the rounds ran on a slowed core", ""),
    "host behind": ("in a third of the rounds the device waited for the host", ""),
}


def disturbed(entries: list[Entry], asked: Mapping[str, Any]) -> Iterator[Finding]:
    """`asked`: what was asked of the run."""
    for warning, (meaning, options) in DISTURBED.items():
        told = [entry for entry in entries if warning in entry.get("warnings", [])]
        if told:
            pairs = pairs_text(pair_of(entry) for entry in told)
            words = options.split()
            again = words and not _was_done(words, asked)
            command = dlbench_command(*([*pair_of(told[0]), *words] if again else ["doctor"]))
            yield Finding(warning, f"{count(len(told), 'cell')}: {meaning}: {pairs}", command)


def _was_done(options: Sequence[str], asked: Mapping[str, Any]) -> bool:
    """Did the run have as much of what the options ask for?"""
    if "--replicas" in options:
        replicas = asked.get("replicas", 1)
        wanted = int(options[options.index("--replicas") + 1])
        return isinstance(replicas, int) and replicas >= wanted
    if "--budget" in options and asked.get("budget"):
        try:
            given = _core.parse_seconds(str(asked["budget"]))
        except _core.UsageError:
            return False
        return given >= _core.parse_seconds(options[options.index("--budget") + 1])
    return False


def noise(about: dict[str, Any]) -> Iterator[Finding]:
    machine = about.get("machine", {})
    facts = []
    if machine.get("virtual"):
        facts.append("virtual machine")
    if machine.get("turbo") == "on":
        facts.append("turbo on")
    if machine.get("governor", "unknown") not in ("unknown", "performance"):
        facts.append(f"governor {machine['governor']}")
    anchors = [
        environment["anchor"]
        for environment in about.get("environments", {}).values()
        if environment.get("anchor", {}).get("half_width")
    ]
    if anchors:
        widest = max(anchors, key=lambda anchor: anchor["half_width"])
        share, time = values.percent(widest["half_width"]), values.duration(widest["median_ns"])
        facts.append(f"+-{share} between processes at {time}")
    if facts:
        yield Finding("noise", ", ".join(facts), "dlbench doctor")
