"""The commands of the tutorial and of how-to pages print what the pages show."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

pytestmark = [pytest.mark.process, pytest.mark.libraries, pytest.mark.timing]

ROOT = Path(__file__).parents[3]
SPEC = importlib.util.spec_from_file_location("record", ROOT / "docs/site/record.py")
assert SPEC is not None
assert SPEC.loader is not None
record = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(record)
TYPICAL = ("index",)  #: a run, its output and the next commands


def status(output: str) -> list[str]:
    return re.findall(r"^\(exit status (\d+)\)$", output, re.MULTILINE)


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=page.stem, marks=[] if page.stem in TYPICAL else pytest.mark.thorough)
        for page in record.pages()
    ],
)
def test_the_commands_of_a_page_print_what_it_shows(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    blocks = [block for _, block in record.RUN.findall(text)]
    for block, (command, output) in zip(blocks, record.run_page(text), strict=True):
        assert status(block) == status(output), output
        assert record.shape(block) == record.shape(output), command


def test_the_shape_of_an_output_has_no_times_and_no_noise() -> None:
    one = record.block("x", " numpy -> torch  dlpack  1.65 us*\npreempted  1 cell:\n   core\n")
    other = record.block("y", " numpy -> torch  dlpack  41 ns*\ndrift  2 cells\n")
    assert record.shape(one) == record.shape(other.replace(" ns", " us"))
    assert record.shape(one) != record.shape(other.replace("*", ""))
    assert record.shape(one) != record.shape(other.replace("torch", "jax"))
