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
from dlbench.scripts import slicing

MAKE = "def make(case, device):\n    {}\n    return case.numpy()\n"
#: Each would hang, or take all memory, where it is evaluated.
DEAR = (
    "if 9**9**9**9 > 1: pass",
    "if 1 << (1 << 40): pass",
    "if 'a' * 9000000000 == 'b': pass",
    'x = "a".ljust(9000000000)',
    'x = "a".replace("a", "' + "b" * 200 + '").replace("b", "' + "c" * 200 + '")',
    'if f"{1:9000000000}": pass',
    "if -True < (1, 'a')[2]: pass",
    "a0 = (1, 2)\n" + "".join(f"    a{i} = (a{i - 1}, a{i - 1})\n" for i in range(1, 60)),
    f"if 0x{'f' * 900}: pass",
)


def making(folder: Path, text: str) -> str:
    """What `repro` takes from a producer's file."""
    path = folder / "mine.py"
    path.write_text(text)
    facts.read_adapter("producer", "mine", path)
    tree = slicing.read(path, "mine")
    body = slicing.making(tree, path, Case("f32", "float32", 4096), "cpu")
    return "\n".join(slicing.text([*slicing.needed(tree, slicing.names_read(body)), *body]))


@pytest.mark.parametrize("text", DEAR)
def test_what_would_be_dear_is_left_as_it_stands(text: str, tmp_path: Path) -> None:
    compile(making(tmp_path, MAKE.format(text)), "script.py", "exec")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("return", ""),
        ("with x: return", ""),
        ("case.dtype = case.layout = 1", ""),
        ("yield 1", "'yield' outside function"),
        ("with x:\n        if case.bytes < 0: y", "expected an indented block"),
    ],
)
def test_what_is_no_script_by_itself_is_refused(text: str, fault: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(MAKE.format(text))
    tree = slicing.read(path, "mine")
    with pytest.raises(BadInput, match=fault) if fault else contextlib.nullcontext():
        nodes, made = slicing.array(tree, path, Case("f32", "float32", 4096), "cpu")
        slicing.script(["mine"], [*slicing.text(nodes), *made])


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
        making(tmp_path, MAKE.format(text))


def test_what_is_just_not_too_deep_goes_through(tmp_path: Path) -> None:
    """Each kind of nesting at the depth that is allowed."""
    for head, tail in (("-", ""), ("x.", ""), ("f(", ")"), ("(", ",)"), ("1 if y else ", "")):
        depths = range(facts.DEEPEST - 10, facts.DEEPEST + 5)
        texts = [MAKE.format(f"x = {head * n}x{tail * n}") for n in depths]
        refused = 0
        for text in texts:
            try:
                making(tmp_path, text)
            except BadInput:
                refused += 1
        assert 0 < refused < len(texts), head


@pytest.mark.parametrize("name", ["DISTRIBUTION", "DEVICES", "EXPORTS", "ARGUMENTS"])
def test_a_text_that_is_no_unicode_is_refused(name: str, tmp_path: Path) -> None:
    value = r"'\ud800'" if name[0] == "D" else r"{'\ud800': ''}"
    with pytest.raises(BadInput, match=name):
        making(tmp_path, MAKE.format("pass") + f"{name} = {value}\n")


def test_a_fifo_is_not_opened(tmp_path: Path) -> None:
    (tmp_path / "producers").mkdir()
    for path in (tmp_path / "producers/mine.py", tmp_path / "journal.jsonl", tmp_path / "known"):
        os.mkfifo(path)
    for read in (
        lambda: discover.catalogue(tmp_path),
        lambda: journal_context(tmp_path),
        lambda: known.read(tmp_path / "known"),
    ):
        with pytest.raises(BadInput, match="is not a file"):
            read()
