"""Proof of each rule: an honest library keeps it, a faulty one that breaks it is found."""

from __future__ import annotations

from itertools import product

import pytest

from dlbench.check import prove, running
from dlbench.check.planted import fault
from dlbench.check.rule import Rule
from dlbench.check.rules import RULES
from dlbench.check.situation import Variant, spelled, try_each
from dlbench.check.subject import Subject
from dlbench.check.verdict import Ended
from dlbench.cli import main

pytestmark = pytest.mark.process


@pytest.mark.timeout(1800)
def test_every_rule_is_kept_by_an_honest_half_and_broken_by_its_faulty_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    # The table is for readers of a CI log.
    with capsys.disabled():
        assert main(["check", "--prove"]) == 0


#: Rules that are tried in several situations; not those that end the process or measure it.
TRIED = [
    rule
    for rule in RULES.by_name.values()
    if rule.arrays and not rule.risky and "leak" not in rule.name
]


@pytest.fixture(scope="module")
def planted() -> Subject:
    library = prove.planted("honest")
    return running.load(library.request())[0]


@pytest.mark.parametrize("rule", TRIED, ids=lambda rule: rule.name)
def test_a_fault_is_found_in_each_situation_and_an_honest_twin_is_not_blamed(
    rule: Rule, planted: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    def outcome(word: str, variant: Variant) -> str:
        try:
            try_each(planted, (word,), (variant,), rule.check)
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


def proof(**changes: object) -> prove.Proof:
    usual = {"rule": "a.b", "honest": ("native",), "blamed": (), "found": "broken", "others": ()}
    return prove.Proof(**{**usual, "wanted": "broken", **changes})  # type: ignore[arg-type]


def test_a_proof_needs_all_of_it() -> None:
    assert proof().is_honest
    assert proof().is_found
    assert not proof(honest=()).is_honest
    assert not proof(blamed=("native: so",)).is_honest
    assert not proof(found="holds").is_found
    assert not proof(others=("a.c: so",)).is_found


def test_every_rule_has_its_faulty_adapter() -> None:
    text = "".join(path.read_text() for path in prove.PLANTED.rglob("*.py"))
    layouts = ("grid", "fortran", "strided", "reversed", "broadcast", "ones", "scalar", "empty")
    named = {f"export.{layout}" for layout in layouts}
    orders = ("omitted", "none", "legacy", "per-thread", "handle")
    named |= {prove.ORDER_RULES + order for order in orders}
    named |= {"import.stream-cuda", "import.stream-rocm"}
    assert [name for name in RULES.by_name if f'"{name}"' not in text and name not in named] == []
