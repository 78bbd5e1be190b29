"""Proof of each rule: an honest library keeps it, a faulty one that breaks it is found."""

from __future__ import annotations

import pytest

from dlbench.check import prove
from dlbench.check.rules import RULES
from dlbench.cli import main

pytestmark = pytest.mark.process


@pytest.mark.timeout(1800)
def test_every_rule_is_kept_by_an_honest_half_and_broken_by_its_faulty_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    # The table is for readers of a CI log.
    with capsys.disabled():
        assert main(["check", "--prove"]) == 0


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
    assert [name for name in RULES.by_name if f'"{name}"' not in text and name not in named] == []
