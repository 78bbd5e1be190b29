"""Every rule is proved both ways: an honest half keeps it, the saboteur that breaks it is found."""

from __future__ import annotations

import pytest

from dlbench.check import prove
from dlbench.check.rules import RULES


@pytest.mark.timeout(900)
def test_every_rule_is_kept_by_an_honest_half_and_broken_by_its_saboteur_alone() -> None:
    proofs = list(prove.conduct(list(RULES.by_name.values())))
    assert len(proofs) == len(RULES.by_name)
    assert [(proof.rule, proof.blamed) for proof in proofs if not proof.is_honest] == []
    missed = [(proof.rule, proof.found, proof.others) for proof in proofs if not proof.is_found]
    assert missed == []
