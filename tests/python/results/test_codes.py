"""Codes of reasons and warnings: one list for C++ and the schemas."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dlbench import _core
from dlbench.document import codes

ROOT = Path(__file__).parents[3]
MEASURED = {"zero-copy", "copy", "device-copy", "unproven"}
#: The warnings of cells and of comparisons, each with its schema.
WARNINGS = [
    (_core.warnings, "results/schema.json"),
    (_core.comparison_warnings, "results/compare.schema.json"),
]


def definitions(path: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((ROOT / path).read_text())["$defs"]
    return found


def test_no_code_has_the_name_of_an_outcome() -> None:
    assert not set(_core.codes) & set(_core.outcomes)


def test_the_schema_names_every_code() -> None:
    cell = definitions("results/schema.json")["not_measured"]
    outcomes = set(_core.outcomes) - MEASURED
    assert set(cell["properties"]["outcome"]["enum"]) == outcomes
    assert set(cell["properties"]["code"]["enum"]) == outcomes | set(_core.codes)
    assert "code" in cell["required"]


@pytest.mark.parametrize(("meanings", "schema"), WARNINGS)
def test_the_schema_names_every_warning(meanings: dict[str, str], schema: str) -> None:
    warning = definitions(schema)["warning"]
    assert warning["properties"]["code"]["enum"] == list(meanings)
    assert warning["required"] == ["code", "text"]


def test_the_schema_names_every_reason_of_synchronization() -> None:
    ordering = definitions("results/schema.json")["ordering"]
    assert ordering["properties"]["code"]["enum"] == list(_core.sync_codes)


def test_python_decides_by_known_codes_only() -> None:
    named = {code for name, code in vars(codes).items() if name.isupper()}
    assert named <= {*_core.codes, *_core.warnings, *_core.sync_codes}


def test_a_code_belongs_to_an_outcome_without_a_number() -> None:
    for code, (outcome, _) in _core.codes.items():
        assert outcome in set(_core.outcomes) - MEASURED, code
    assert not set(_core.warnings) & set(_core.codes)
