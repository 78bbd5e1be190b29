"""docs/how-to/profile.md: each dlbench command in it runs, without the profiler before it."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

import whole

pytestmark = pytest.mark.process

DOCS = Path(__file__).parents[2] / "docs/how-to/profile.md"


def commands() -> list[str]:
    """Those in code blocks, without the profiler in front of them."""
    blocks = re.findall(r"^```\n(.*?)^```", DOCS.read_text(), re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    found = [re.search(r"(?:^|\s)(dlbench\s.*)$", line) for line in lines]
    return [match[1] for match in found if match]


def test_the_page_has_them_all() -> None:
    text = DOCS.read_text()
    assert len(commands()) == text.count("\ndlbench ") + len(
        re.findall(r"^(?:nsys|rocprofv3) .* dlbench ", text, re.MULTILINE)
    )
    assert len(commands()) >= 6


@pytest.mark.libraries
@pytest.mark.parametrize("command", sorted(set(commands())))
def test_a_command_of_the_page_runs(tmp_path: Path, command: str) -> None:
    words = shlex.split(command)[1:]
    quick = [] if "--profile" in words else ["--no-plots", "--precision", "50%"]
    status, out, err = whole.run(tmp_path, *words, *quick)
    assert status == 0, err
    assert out
    (folder,) = (tmp_path / "dlbench-results").glob("2*")
    made = {path.name for path in folder.iterdir()}
    assert (
        {"trace.json", "profile.json"} <= made if "--profile" in words else "results.json" in made
    )
