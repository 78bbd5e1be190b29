"""The commands of the tutorial and of how-to pages print what the pages show."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from dlbench.findings import DISTURBED

pytestmark = [pytest.mark.process, pytest.mark.libraries, pytest.mark.timing]

ROOT = Path(__file__).parents[2]
SPEC = importlib.util.spec_from_file_location("record", ROOT / "docs/site/record.py")
assert SPEC is not None
assert SPEC.loader is not None
record = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(record)


def status(output: str) -> list[str]:
    return re.findall(r"^\(exit status (\d+)\)$", output, re.MULTILINE)


@pytest.mark.parametrize("page", record.pages(), ids=lambda page: page.stem)
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


def test_a_finding_about_noise_is_no_part_of_a_shape() -> None:
    assert not [text for text, _ in DISTURBED.values() if record.FACT.search(text)]


def test_no_page_names_the_machine_that_recorded_it() -> None:
    for page in record.pages():
        text = page.read_text(encoding="utf-8")
        assert not re.search(r"(?<![\w.~-])/(home|root|tmp|work|usr/lib)\b", text), page
