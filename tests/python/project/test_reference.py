"""The generated parts of the reference agree with the program."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import generate
import jsonschema
import pytest
import views

from dlbench import _core
from dlbench.check.rules import RULES
from dlbench.check.situation import spelled

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("page", generate.pages(), ids=lambda page: page.stem)
def test_a_page_is_what_the_script_makes(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert generate.generated(text) == text, "run: python docs/site/generate.py"


@pytest.mark.parametrize("file", generate.FILES)
def test_a_file_is_what_the_script_makes(file: str) -> None:
    text = (ROOT / file).read_text(encoding="utf-8")
    assert generate.FILES[file]() == text, "run: python docs/site/generate.py"
    if file.endswith(".json"):
        jsonschema.Draft202012Validator.check_schema(json.loads(text))


def test_a_planted_key_is_read_as_an_attribute() -> None:
    schema = json.loads(_core.schema())
    marks = {"type": "array", "items": {"type": "object", "properties": {"at": {"enum": ["x"]}}}}
    planted = {"color": {"enum": ["red"]}, "share": {"type": ["number", "null"]}, "marks": marks}
    schema["$defs"]["measured"]["properties"] |= planted
    made: dict[str, Any] = {}
    exec(views.text(json.dumps(schema)), made)
    json_of_one = {"color": "red", "share": 0.5, "marks": [{"at": "x"}], "real_time": 7.0}
    one, none = made["Measured"](json_of_one), made["Measured"]({})
    assert (one.color, one.share, one.marks[0].at, one.real_time) == ("red", 0.5, "x", 7.0)
    assert (none.color, none.share, none.marks) == ("", None, [])


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
