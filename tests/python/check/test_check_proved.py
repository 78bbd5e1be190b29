"""Proof of each rule: an honest library keeps it, a faulty one that breaks it is found."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import product
from typing import Any

import pytest

from dlbench.check import runner, running
from dlbench.check.rule import ROLES, Rule
from dlbench.check.rules import RULES
from dlbench.check.situation import Variant, spelled, try_each
from dlbench.check.subject import Subject
from dlbench.check.verdict import BROKEN, HOLDS, UNCLEAR, Ended
from dlbench.libraries import discover
from rulebreaker import fault
from rulebreaker.library import device_of, planted

pytestmark = [pytest.mark.process, pytest.mark.timeout(1800)]

ALL = list(RULES.by_name.values())
#: Results of the native library that no text clearly forbids.
NATIVE_UNCLEAR = ("export.empty-data", "export.alignment")
Results = dict[str, runner.Result]
Checked = Future[runner.Report]


def is_leak(rule: Rule) -> bool:
    return "leak" in rule.name


def of_device(device: str) -> list[Rule]:
    return [rule for rule in ALL if device_of(rule.name) == device]


@pytest.fixture(scope="module")
def honest() -> list[Results]:
    """The results of libraries without a fault; the native one's first."""
    files = {role: discover.PACKAGE / f"{role}s" / "native.py" for role in ROLES}
    native = runner.Library("native", files["producer"], files["consumer"])
    found = runner.check(native, [rule for rule in ALL if rule.name not in NATIVE_UNCLEAR])
    devices = ("cpu", "cuda:0", "rocm:0", "sim:0")
    checks = [runner.check(planted("honest", device), of_device(device)) for device in devices]
    return [report.results for report in (found, *checks)]


@pytest.mark.parametrize("rule", ALL, ids=lambda rule: rule.name)
def test_honest_libraries_keep_the_rule(rule: Rule, honest: list[Results]) -> None:
    found = [results[rule.name] for results in honest if rule.name in results]
    assert [result for result in found if result.outcome in (BROKEN, UNCLEAR)] == []
    assert any(result.outcome == HOLDS for result in found)


def beside(rule: Rule, which: str) -> list[Rule]:
    """The rules that are checked with the fault of this one. The other role's file has no such
    fault to plant. To count what is left takes longer than all other rules: that is done beside
    the faults of the same family."""
    return [
        other
        for other in of_device(device_of(rule.name))
        if other.role == rule.role
        and (
            other.check.__module__ == rule.check.__module__
            or (which == "all" and not is_leak(other))
        )
    ]


@pytest.fixture(scope="module")
def faulty(request: pytest.FixtureRequest) -> Iterator[dict[tuple[str, str], Checked]]:
    """The checks of the rule breaker with the fault of each rule that is tested, two at a time."""
    name = test_a_fault_breaks_its_rule_alone.__name__
    items = [item for item in request.session.items if getattr(item, "originalname", "") == name]
    with ThreadPoolExecutor(2) as pool:
        checks = {}
        for rule, which in ((item.callspec.params[x] for x in ("rule", "which")) for item in items):
            library = planted(f"breaks={rule.name}", device_of(rule.name))
            checks[rule.name, which] = pool.submit(runner.check, library, beside(rule, which))
        yield checks


#: Rules that are tried in several situations; not those that end the process or measure it.
TRIED = [rule for rule in ALL if rule.arrays and not rule.risky and not is_leak(rule)]


def with_others() -> Iterator[Any]:
    """Each rule with its family and with all, in a process. That those of TRIED are found is shown
    below, too, in this process."""
    for which, rule in product(("family", "all"), ALL):
        is_more = which == "all" or rule in TRIED
        marks = [pytest.mark.thorough] if is_more else []
        yield pytest.param(rule, which, id=f"{rule.name}-{which}", marks=marks)


@pytest.mark.parametrize(("rule", "which"), list(with_others()))
def test_a_fault_breaks_its_rule_alone(
    rule: Rule, which: str, faulty: dict[tuple[str, str], Checked]
) -> None:
    """Beside the rules of its family, or all."""
    found = dict(faulty[rule.name, which].result().results)
    assert found.pop(rule.name).outcome == rule.verdict
    assert [result for result in found.values() if result.outcome in (BROKEN, UNCLEAR)] == []


@pytest.fixture(scope="module")
def subject() -> Iterator[Subject]:
    loaded = running.load(planted("honest").request())[0]
    # Rules collect garbage often: objects of the imports are not scanned each time.
    gc.freeze()
    yield loaded
    gc.unfreeze()


@pytest.mark.parametrize("rule", TRIED, ids=lambda rule: rule.name)
def test_a_fault_is_found_in_each_situation_and_an_honest_twin_is_not_blamed(
    rule: Rule, subject: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    def outcome(word: str, variant: Variant) -> str:
        try:
            try_each(subject, (word,), (variant,), rule.check)
        except Ended as end:
            return end.outcome
        return "holds"

    missed, found = [], 0
    for word, variant in product(rule.arrays, rule.variants):
        monkeypatch.setattr(fault, "_chosen", "")
        honest = outcome(word, variant)
        if honest == "not-applicable":
            continue
        where = f"{word.replace('dtype-float32', 'line')} {spelled(variant)}".strip()
        monkeypatch.setattr(fault, "_chosen", rule.name)
        monkeypatch.setattr(fault, "_where", where)
        found += 1
        if (honest, outcome(word, variant)) != ("holds", rule.verdict):
            missed.append(where)
    assert not missed
    assert found or "cuda" in rule.name or "rocm" in rule.name
