"""The made-up documents of these tests are like documents of dlbench."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import samples
from dlbench import _core

pytestmark = pytest.mark.process

SCHEMA = Path(__file__).parents[3] / "results/schema.json"


@pytest.mark.parametrize("sample", [samples.pair(), samples.matrix()])
def test_a_sample_is_a_results_document(sample: dict[str, Any], tmp_path: Path) -> None:
    jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text())).validate(sample)
    path = tmp_path / "results.json"
    path.write_text(json.dumps(sample))
    _core.validate_document(str(path))
