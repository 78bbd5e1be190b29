"""Adapter files are foreign: their content costs neither time nor memory, and no traceback."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import pytest

from dlbench.case import Case
from dlbench.check import known
from dlbench.errors import BadInput
from dlbench.libraries import discover, facts
from dlbench.running.request import journal_context
from dlbench.scripts.side import Side, script

MAKE = "def make(case, device):\n    {}\n    return case.numpy()\n"


def made(folder: Path, text: str) -> str:
    """What `repro` takes from a producer's file."""
    path = folder / "mine.py"
    path.write_text(text)
    side = Side([facts.read_adapter("producer", "mine", path)], "mine")
    lines = side.make(Case("f32", "float32", 4096), "cpu")
    return script(["mine"], [*side.lines, *lines])


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("array = source", ""),
        ("array = '{number:9000000000}'", ""),
        ("yield 1", "'yield' outside function"),
        ("with x:", "expected an indented block"),
        ("array = source\n# coding: utf-7", ""),
    ],
)
def test_lines_that_are_no_script_are_refused(text: str, fault: str, tmp_path: Path) -> None:
    adapter = MAKE.format("pass") + f"SCRIPT = {{'make': {text!r}}}\n"
    with pytest.raises(BadInput, match=fault) if fault else contextlib.nullcontext():
        assert text in made(tmp_path, adapter)


@pytest.mark.parametrize(
    "text",
    [
        "if case.bytes: pass\n" + "    elif case.bytes: pass\n" * 5000,
        "x = " + "+".join(["x"] * 9000),
        "x = " + "(" * 300 + ")" * 300,
        "x = " + "-" * 99_999 + "1",
        "x = x" + ".x" * 5000,
        "x = " + "#" * (1 << 19),
        f"x = 0x{'f' * 9000}",
    ],
)
def test_what_is_too_large_or_deep_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput):
        made(tmp_path, MAKE.format(text))


def test_what_is_just_not_too_deep_goes_through(tmp_path: Path) -> None:
    """Each kind of nesting at the depth that is allowed."""
    for head, tail in (("-", ""), ("x.", ""), ("f(", ")"), ("(", ",)"), ("1 if y else ", "")):
        depths = range(facts.DEEPEST - 10, facts.DEEPEST + 5)
        texts = [MAKE.format(f"x = {head * n}x{tail * n}") for n in depths]
        refused = 0
        for text in texts:
            try:
                made(tmp_path, text)
            except BadInput:
                refused += 1
        assert 0 < refused < len(texts), head


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ("[" * facts.DEEPEST + "]" * facts.DEEPEST, "levels"),
        ("[" * (facts.DEEPEST // 2) + "]" * (facts.DEEPEST // 2), "must be a dict"),
        (f"0x{'f' * 9000}", "bits in line"),
        (f"0x{'f' * 1000}", "must be a dict"),
    ],
)
def test_a_literal_that_is_too_large_or_deep_is_refused(
    value: str, fault: str, tmp_path: Path
) -> None:
    with pytest.raises(BadInput, match=fault):
        made(tmp_path, MAKE.format("pass") + f"ARGUMENTS = {value}\n")


@pytest.mark.parametrize("name", ["DISTRIBUTION", "DEVICES", "EXPORTS", "ARGUMENTS", "SCRIPT"])
def test_a_text_that_is_no_unicode_is_refused(name: str, tmp_path: Path) -> None:
    value = r"'\ud800'" if name[0] == "D" else r"{'\ud800': ''}"
    with pytest.raises(BadInput, match=name):
        made(tmp_path, MAKE.format("pass") + f"{name} = {value}\n")


def test_a_fifo_is_not_opened(tmp_path: Path) -> None:
    (tmp_path / "producers").mkdir()
    for path in (tmp_path / "producers/mine.py", tmp_path / "journal.jsonl", tmp_path / "known"):
        os.mkfifo(path)
    for read in (
        lambda: discover.catalogue(tmp_path),
        lambda: journal_context(tmp_path, {}),
        lambda: known.read(tmp_path / "known"),
    ):
        with pytest.raises(BadInput, match="is not a file"):
            read()


def test_the_texts_of_several_calls_are_as_many_as_the_calls(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    text = "f = print\nPROTOCOLS = {'call': f}\nCALLS = {'a': f, 'b': f}\n"
    for choice, is_refused in (("[[x|y]]", False), ("[[x|y|z]]", True)):
        path.write_text(text + f"SCRIPT = {{'call a|b': '{choice}(array)'}}\n")
        side = Side([facts.read_adapter("consumer", "mine", path)], "mine:a")
        with pytest.raises(BadInput) if is_refused else contextlib.nullcontext():
            assert side._lines_of_call() == "x(array)"
