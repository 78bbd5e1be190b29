"""Codes of reasons and warnings: one list for C++, the schemas and the reference."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from dlbench import _core
from dlbench.document import codes

ROOT = Path(__file__).parents[2]
MEASURED = {"zero-copy", "copy", "device-copy", "unproven"}
#: The warnings of cells and of comparisons, each with its schema and its page of the reference.
WARNINGS = [
    (_core.warnings, "results/schema.json", "docs/outcomes.md"),
    (_core.comparison_warnings, "results/compare.schema.json", "docs/comparing.md"),
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


def test_the_reference_explains_every_code() -> None:
    text = (ROOT / "docs/outcomes.md").read_text()
    rows = re.findall(r"^\| `([a-z-]+)` \| `([a-z-]+)` \| (.+) \|$", text, re.MULTILINE)
    assert {code: (outcome, meaning) for code, outcome, meaning in rows} == _core.codes


@pytest.mark.parametrize(("meanings", "schema", "page"), WARNINGS)
def test_the_schema_names_every_warning(meanings: dict[str, str], schema: str, page: str) -> None:
    warning = definitions(schema)["warning"]
    assert warning["properties"]["code"]["enum"] == list(meanings)
    assert warning["required"] == ["code", "text"]


@pytest.mark.parametrize(("meanings", "schema", "page"), WARNINGS)
def test_the_reference_explains_every_warning(
    meanings: dict[str, str], schema: str, page: str
) -> None:
    text = (ROOT / page).read_text()
    table = text.split("| code | meaning |\n|---|---|\n")[1].split("\n\n")[0]
    assert dict(re.findall(r"^\| `([a-z-]+)` \| (.+) \|$", table, re.MULTILINE)) == meanings


def test_python_decides_by_known_codes_only() -> None:
    named = {code for name, code in vars(codes).items() if name.isupper()}
    assert named <= {*_core.codes, *_core.warnings}


def test_a_code_belongs_to_an_outcome_without_a_number() -> None:
    for code, (outcome, _) in _core.codes.items():
        assert outcome in set(_core.outcomes) - MEASURED, code
    assert not set(_core.warnings) & set(_core.codes)
