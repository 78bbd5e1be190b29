"""Rules in processes of their own: a crash or a hang is the result of its rule alone.

Rules that cannot crash go first. A process in which a rule crashed is replaced by another for the
remaining rules: a rule that crashes costs one start.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dlbench import _core
from dlbench.check import running
from dlbench.check.child import LONGEST_TEXT
from dlbench.check.rule import ROLES, Rule
from dlbench.check.rules import RULES
from dlbench.check.verdict import BROKEN, HOLDS, NO_ANSWER, NOT_APPLICABLE, OUTCOMES, UNCLEAR
from dlbench.errors import BadInput
from dlbench.supervisor import RequestFailed, Steps, Worker, send_all
from dlbench.text.escaping import shortened

CHILD = Path(__file__).with_name("child.py")
#: Seconds that an import may take on a busy machine.
START_S = 120.0
#: Tells the child to shut its interpreter down, as at a program's normal end.
END_AS_PROGRAM = {"do": "end", "as_program": True}
#: Optional parts of a rule's answer besides `source`: the struct that a consumer got, and whether
#: the rule could be judged.
PARTS = {"struct": ("legacy", "versioned"), "judged": ("no",)}


@dataclass(frozen=True)
class Result:
    """The result of a rule."""

    rule: str
    outcome: str
    observed: str
    struct: str = ""
    source: str = ""
    judged: str = ""  #: "no": dlbench failed, or got no valid answer
    signal: str = ""
    stderr_tail: str = ""


@dataclass(frozen=True)
class Library:
    """The library under check: its name and its adapter's files."""

    name: str
    producer: Path | None
    consumer: Path | None
    device: str = "cpu"
    python: str = sys.executable
    is_device_requested: bool = False  #: only results about arrays on it are of interest

    def untested(self, rule: Rule) -> str:
        """Why no rule of that role is tested; empty if they are."""
        if getattr(self, rule.role) is None:
            return str(running.absent(rule))
        on_cpu = rule.role == "consumer" and not rule.on_device
        if on_cpu and self.is_device_requested and self.device != "cpu":
            return f"the arrays that it is given lie on the CPU, not on {self.device}"
        return ""

    def request(self, timeout_s: float = 60.0) -> dict[str, Any]:
        """Loads the library in a child. Each of its rules has this deadline."""
        paths = {role: getattr(self, role) for role in ROLES}
        return {
            "do": "load",
            "name": self.name,
            "device": self.device,
            "timeout_s": timeout_s,
            **{role: str(path) if path else None for role, path in paths.items()},
        }


@dataclass
class Report:
    """A library's version, its results in the order of the rules, and the number of processes."""

    library: str
    version: str = ""
    results: dict[str, Result] = field(default_factory=dict)
    starts: int = 0


def ordered(rules: Sequence[Rule]) -> list[Rule]:
    """Rules that cannot crash first, rules about the end of the process last."""
    return sorted(rules, key=lambda rule: (rule.at_exit, rule.risky))


def check(
    library: Library,
    rules: Sequence[Rule],
    timeout_s: float = 60.0,
    on_result: Callable[[Result], None] = lambda result: None,
) -> Report:
    """Tests all rules on one library, both roles at once. Raises BadInput if the library cannot be
    imported."""
    report = Report(library.name)

    def keep(name: str, result: Result) -> None:
        report.results[name] = result
        on_result(result)

    sides: dict[str, list[Rule]] = {}
    for rule in rules:
        why = library.untested(rule)
        if why:
            report.results[rule.name] = Result(rule.name, NOT_APPLICABLE, why)
        else:
            sides.setdefault(rule.role, []).append(rule)
    chains = [_Chain(library, ordered(mine), timeout_s, report) for mine in sides.values()]
    send_all([(chain, chain.names) for chain in chains], keep, len(ROLES))
    kept = {rule.name: report.results[rule.name] for rule in rules if rule.name in report.results}
    report.results = kept
    return report


def read_result(name: str, answer: dict[str, Any]) -> Result | None:
    """The result in an answer; None if the answer is not a result of this rule."""
    match answer:
        case {"rule": str(rule), "outcome": str(outcome), "observed": str(observed), **rest} if (
            rule == name
            and outcome in OUTCOMES
            and len(observed) <= LONGEST_TEXT
            and not rest.keys() - PARTS.keys() - {"source"}
            and all(rest.get(key, words[0]) in words for key, words in PARTS.items())
            and rest.get("source", "") in list(RULES.by_name[name].sources)  # it may be any JSON
        ):
            return Result(name, outcome, observed, **rest)
    return None


def telling_line(tail: str) -> str:
    """The most informative line of a dying process's output."""
    lines = [line.strip() for line in tail.splitlines() if line.strip()]
    for word in ("what():", "Fatal Python error", "Error", "abort", "planted"):
        for line in lines:
            if word in line:
                return f": {line[:160]}"
    return ""


class _Chain(Steps[str, Result]):
    """The rules of one role, by name, in as many processes as needed."""

    name = "check"

    def __init__(
        self, library: Library, rules: Sequence[Rule], timeout_s: float, report: Report
    ) -> None:
        super().__init__()
        self._library, self._rules = library, {rule.name: rule for rule in rules}
        self.names = list(self._rules)
        self._last = self.names[-1]
        self._timeout_s, self._report = timeout_s, report
        self._has_loaded = self._is_loaded = False

    def start(self, item: str, folder: Path) -> Worker:
        self._is_loaded = False
        self._report.starts += 1
        return Worker([self._library.python, str(CHILD)], max(self._timeout_s, START_S))

    def load(self, worker: Worker, item: str) -> None:
        request = self._library.request(self._timeout_s)
        version = worker.send_request(request).get("version", "")
        self._has_loaded = self._is_loaded = True
        self._report.version = self._report.version or shortened(str(version))

    def send_request(self, worker: Worker, item: str) -> Result:
        deadline_s = self._timeout_s * (1 + self._rules[item].workers)
        answer = worker.send_request({"do": "rule", "rule": item}, deadline_s)
        result = read_result(item, answer)
        if result is None:
            raise worker.reject(f"no result of a rule: {str(answer)[:60]!r}")
        shows_at_end = item == self._last and self._rules[item].at_exit
        return self._at_end(worker, result) if shows_at_end and result.outcome == HOLDS else result

    def is_tried_alone(self, item: str) -> bool:
        return not self._rules[item].risky

    def fail(self, item: str, failure: RequestFailed) -> Result:
        """Raises BadInput where the library cannot be imported."""
        if self._is_loaded:
            death = failure.death
            return _ended(item, str(failure)) if death is None else self._died(item, death)
        why = _why(failure)
        if not self._has_loaded:
            raise BadInput(f"{self._library.name} cannot be imported: {why}")
        return Result(item, UNCLEAR, f"it could not be imported a second time: {why}", judged="no")

    def _at_end(self, child: Worker, result: Result) -> Result:
        """The rule is broken only if the process ends normally without the exchange."""
        death = child.end(END_AS_PROGRAM)
        if not _is_bad(death):
            return result
        if death.garbled:
            return self._died(result.rule, death)
        late = death.outcome == "timed-out"
        how = (
            f"no end in {self._timeout_s:g} s" if late else f"at its end the process: {_how(death)}"
        )
        alone = self._end_without_exchange()
        if alone:
            return Result(result.rule, UNCLEAR, f"{how}; without an exchange as well: {alone}")
        outcome = self._rules[result.rule].verdict
        return replace(_broken(result.rule, how, death), outcome=outcome)

    def _end_without_exchange(self) -> str:
        """The end of the process in words; empty if it ended normally."""
        try:
            with self.started(self._last, Path()) as child:
                self.load(child, self._last)
                child.send_request({"do": "warm"}, self._timeout_s)
                death = child.end(END_AS_PROGRAM)
        except RequestFailed as failure:
            return _why(failure)
        return _how(death) if _is_bad(death) else ""

    def _slow_without_exchange(self) -> str:
        """What takes much of a deadline without an exchange, or fails; empty otherwise. A rule may
        make ten arrays of different dtypes."""
        try:
            with self.started(self._last, Path()) as child:
                self.load(child, self._last)
                begin = time.monotonic()
                child.send_request({"do": "warm"}, self._timeout_s)
                took_s = time.monotonic() - begin
        except RequestFailed as failure:
            return _why(failure)
        return f"to make one array takes {took_s:.1f} s" if took_s > self._timeout_s / 10 else ""

    def _died(self, name: str, death: _core.Death) -> Result:
        if death.garbled:
            return _ended(name, death.how, _tail(death))
        if death.outcome == "timed-out":
            how = f"{NO_ANSWER} {self._timeout_s:g} s"
            slow = self._slow_without_exchange()
            if slow:
                return Result(name, UNCLEAR, f"{how}; alone: {slow}")
            return _broken(name, how, death)
        verb = "was" if death.signal else "ended with"
        return _broken(name, f"the process {verb} {_how(death)}", death)


def _why(failure: RequestFailed) -> str:
    death = failure.death
    why = str(failure) if death is None else f"{_how(death)}{telling_line(_tail(death))}"
    return shortened(why)


def _tail(death: _core.Death) -> str:
    """The end of the process's output; some libraries print their reason on standard output."""
    return death.stderr_tail if death.stderr_tail.strip() else death.stdout_tail


def _is_bad(death: _core.Death) -> bool:
    """Did the process end unlike an interpreter at its normal end?"""
    return death.exit_status != 0


def _how(death: _core.Death) -> str:
    """How the process ended, in words."""
    if death.garbled:
        return death.how
    if death.outcome == "timed-out":
        return "no answer"
    return f"killed by {death.signal}" if death.signal else f"exit status {death.exit_status}"


def unjudged(results: Iterable[Result], role: str) -> str:
    """Why no rule of that role could be judged; empty if one was, or if none applies."""
    mine = [result for result in results if RULES.by_name[result.rule].role == role]
    if any(result.outcome in (HOLDS, BROKEN) for result in mine):
        return ""
    return next((result.observed for result in mine if result.judged == "no"), "")


def _ended(name: str, why: str, tail: str = "") -> Result:
    """The result after an invalid message ended the process. The library is not at fault: it may
    write into any file."""
    return Result(
        name, UNCLEAR, f"its process was ended: {shortened(why)}", judged="no", stderr_tail=tail
    )


def _broken(name: str, observed: str, death: _core.Death) -> Result:
    tail = _tail(death)
    return Result(
        name, BROKEN, f"{observed}{telling_line(tail)}", signal=death.signal, stderr_tail=tail
    )
