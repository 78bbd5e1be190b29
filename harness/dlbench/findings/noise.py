"""What makes numbers wander: disturbed rounds, and a machine that is not quiet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dlbench import _core, values
from dlbench.findings.finding import Finding, pair_of, pairs_text
from dlbench.layout import count
from dlbench.values import Entry

#: Warnings of a cell's rounds: what they mean for its number, and what to do about it.
DISTURBED = {
    "few rounds": ("fewer than six rounds: no interval", "dlbench {pair} --budget 120s"),
    "bimodal": ("the rounds fall into two groups: the median is one of them", "dlbench doctor"),
    "drift": ("the rounds rise or fall while they run", "dlbench {pair} --replicas 6"),
    "migrated core": ("a third of the rounds changed their core", "dlbench doctor"),
    "preempted": ("a third of the rounds lost their core to others", "dlbench doctor"),
    "slow CPU": ("a third of the rounds ran on a slowed core", "dlbench doctor"),
    "host behind": ("in a third of the rounds the device waited for the host", "dlbench doctor"),
}


#: What to do where that was done already.
OTHERWISE = "dlbench doctor"


def disturbed(entries: list[Entry], asked: Mapping[str, Any]) -> Iterator[Finding]:
    """`asked`: what was asked of the run."""
    for warning, (meaning, command) in DISTURBED.items():
        told = [entry for entry in entries if warning in entry.get("warnings", [])]
        if told:
            pairs = pairs_text(pair_of(entry) for entry in told)
            following = command.format(pair=" ".join(pair_of(told[0])))
            if _was_done(command, asked):
                following = OTHERWISE
            yield Finding(warning, f"{count(len(told), 'cell')}: {meaning}: {pairs}", following)


def _was_done(command: str, asked: Mapping[str, Any]) -> bool:
    """Did the run have as much of what the command asks for?"""
    options = command.split()
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
