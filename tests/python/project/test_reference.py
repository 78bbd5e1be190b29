"""The generated parts of the reference agree with the program."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import jsonschema
import pytest

from dlbench import _core
from dlbench.check.rules import RULES
from dlbench.check.situation import spelled

ROOT = Path(__file__).parents[3]
SPEC = importlib.util.spec_from_file_location("generate", ROOT / "docs/site/generate.py")
assert SPEC is not None
assert SPEC.loader is not None
generate = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(generate)


@pytest.mark.parametrize("page", generate.pages(), ids=lambda page: page.stem)
def test_a_page_is_what_the_script_makes(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert generate.generated(text) == text, "run: python docs/site/generate.py"


@pytest.mark.parametrize("file", generate.SCHEMAS)
def test_a_schema_is_what_the_script_makes(file: str) -> None:
    text = (ROOT / file).read_text(encoding="utf-8")
    assert generate.SCHEMAS[file]() + "\n" == text, "run: python docs/site/generate.py"
    jsonschema.Draft202012Validator.check_schema(json.loads(text))


def test_each_rule_has_a_row_with_the_situations_that_it_is_tried_in() -> None:
    rows = [line.split(" | ") for line in generate.rules().splitlines()]
    found = {row[0].removeprefix("| ").strip("`"): row for row in rows}
    assert found.keys() >= RULES.by_name.keys()
    for name, rule in RULES.by_name.items():
        assert found[name][4], name
        calls = [spelled(variant) for variant in rule.variants]
        assert all(call in found[name][5] for call in calls), name


def test_a_page_that_is_out_of_date_is_found() -> None:
    text = (ROOT / "docs/reference/outcomes.md").read_text(encoding="utf-8")
    code = next(iter(_core.codes))
    assert generate.generated(text.replace(code, "other")) == text


@pytest.mark.parametrize("part", ["keys-of-a-run", "keys-of-a-cell"])
def test_each_key_has_a_meaning(part: str) -> None:
    rows = [line for line in generate.PARTS[part]().splitlines() if line.startswith("| `")]
    assert len(rows) > 50
    assert [row for row in rows if row.endswith("|  |")] == []
