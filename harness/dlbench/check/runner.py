"""Rules in processes of their own: a crash, a hang or a bad end is the result of its rule alone.

Rules that cannot crash go first. A process in which a rule crashed is replaced by another, which
takes the rest: a rule that crashes costs one start.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dlbench.check import running
from dlbench.check.process import Ran, run, telling_line
from dlbench.check.rule import BROKEN, HOLDS, NOT_APPLICABLE, ROLES, UNCLEAR, Rule
from dlbench.check.rules import RULES
from dlbench.errors import BadInput


@dataclass(frozen=True)
class Result:
    """What became of a rule."""

    rule: str
    outcome: str
    seen: str
    struct: str = ""
    source: str = ""
    signal: str = ""
    stderr_tail: str = ""


@dataclass(frozen=True)
class Library:
    """What is checked: a name and its adapter's files."""

    name: str
    producer: Path | None
    consumer: Path | None
    device: str = "cpu"
    python: str = sys.executable

    def request(self, rules: Sequence[str], ends: bool) -> dict[str, Any]:
        """For a child."""
        paths = {role: getattr(self, role) for role in ROLES}
        return {
            "name": self.name,
            "device": self.device,
            **{role: str(path) if path else None for role, path in paths.items()},
            "rules": list(rules),
            "ends": ends,
        }


@dataclass
class Report:
    """A library's version, its results in the order of the rules, and the processes it took."""

    library: str
    version: str = ""
    results: dict[str, Result] = field(default_factory=dict)
    starts: int = 0


def ordered(rules: Sequence[Rule]) -> list[Rule]:
    """Those that cannot crash first, those that show at the end last."""
    return sorted(rules, key=lambda rule: (rule.at_exit, rule.risky))


def check(
    library: Library,
    rules: Sequence[Rule],
    timeout_s: float = 60.0,
    on_result: Callable[[Result], None] = lambda result: None,
) -> Report:
    """All rules on one library; both roles at the same time. Raises BadInput where it cannot be
    imported."""
    report = Report(library.name)
    sides = {}
    for role in ROLES:
        mine = [rule for rule in rules if rule.role == role]
        if getattr(library, role) is not None:
            sides[role] = mine
            continue
        for rule in mine:
            report.results[rule.name] = Result(rule.name, NOT_APPLICABLE, str(running.absent(rule)))
    with ThreadPoolExecutor(len(ROLES)) as pool:
        chains = [
            pool.submit(_chain, library, ordered(mine), timeout_s, report, on_result)
            for mine in sides.values()
            if mine
        ]
        for chain in chains:
            chain.result()
    kept = {rule.name: report.results[rule.name] for rule in rules if rule.name in report.results}
    report.results = kept
    return report


def _chain(
    library: Library,
    rules: list[Rule],
    timeout_s: float,
    report: Report,
    on_result: Callable[[Result], None],
) -> None:
    def settle(result: Result) -> None:
        report.results[result.rule] = result
        on_result(result)

    left = [rule.name for rule in rules]
    retried = ""
    has_loaded = False
    while left:
        ends = RULES.by_name[left[-1]].at_exit
        ran = run(library.python, library.request(left, ends), timeout_s)
        report.starts += 1
        if ran.wire.version is None:
            why = ran.wire.failed or f"{ran.how}{telling_line(ran.tail)}"
            if not has_loaded:
                raise BadInput(f"{library.name} cannot be imported: {why}")
            for name in left:
                settle(Result(name, UNCLEAR, f"it could not be imported a second time: {why}"))
            return
        has_loaded = True
        report.version = report.version or ran.wire.version
        answers = ran.wire.results
        for line in answers:
            last = line is answers[-1] and line["rule"] == left[-1]
            if line["outcome"] == HOLDS and last and ends and ran.is_bad_end:
                settle(_bad_end(library, line["rule"], ran, timeout_s, report))
            else:
                settle(Result(**line))
        left = left[len(answers) :]
        if not left:
            return
        name = left[0]
        # A rule that should not be able to crash is heard alone before it is blamed.
        if not RULES.by_name[name].risky and answers and name != retried:
            retried = name
            continue
        settle(_died(name, ran, timeout_s))
        left = left[1:]


def _died(name: str, ran: Ran, timeout_s: float) -> Result:
    if ran.garbage:
        return Result(name, UNCLEAR, f"its process was ended: {ran.garbage}", stderr_tail=ran.tail)
    seen = f"no answer in {timeout_s:g} s" if ran.hung else f"the process was {ran.how}"
    if not ran.hung and not ran.signal:
        seen = f"the process ended with {ran.how}"
    return Result(
        name, BROKEN, f"{seen}{telling_line(ran.tail)}", signal=ran.signal, stderr_tail=ran.tail
    )


def _bad_end(library: Library, name: str, ran: Ran, timeout_s: float, report: Report) -> Result:
    """The end is blamed on the exchange only where without one the library ends well."""
    if ran.garbage:
        return _died(name, ran, timeout_s)
    alone = run(library.python, library.request([], True), timeout_s)
    report.starts += 1
    how = f"no end in {timeout_s:g} s" if ran.hung else f"at its end the process: {ran.how}"
    if alone.is_bad_end:
        return Result(name, UNCLEAR, f"{how}; without an exchange as well: {alone.how}")
    return Result(
        name, BROKEN, how + telling_line(ran.tail), signal=ran.signal, stderr_tail=ran.tail
    )
