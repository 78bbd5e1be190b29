"""Every option and argument of every verb, by click's own list of them: a value that cannot be is
one line and exit status 2."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

import samples
from dlbench import _core, cli

pytestmark = pytest.mark.process

#: Makes the values of these be looked at, too.
REQUESTED = {"": ["--matrix"], "compare": ["--matrix", "--aa"]}


def commands() -> dict[str, click.Command]:
    return {"": cli.dlbench, **cli.verbs()}


def parameters() -> Iterator[tuple[str, click.Parameter]]:
    """Those that take a value."""
    for verb, command in commands().items():
        for parameter in command.params:
            if not getattr(parameter, "is_flag", False) and not getattr(parameter, "count", False):
                yield verb, parameter


def line(verb: str, parameter: click.Parameter, value: str) -> list[str]:
    """A command line of what is needed, but for this one good: RUN is a run, CELL one of its."""
    words = [verb] if verb else []
    for each in commands()[verb].params:
        bad = each is parameter
        if isinstance(each, click.Option):
            if bad or each.required:
                words += [each.opts[0], value if bad else "markdown"]
        elif bad or each.required:
            words.append(value if bad else "run" if each.name in ("run_", "runs") else "numpy")
    typed = isinstance(parameter, click.Option) and parameter.name not in ("resume", "profile")
    return words + (REQUESTED.get(verb, []) if typed else [])


def bad_values(parameter: click.Parameter) -> list[str]:
    found = ["", "\udcff"]
    if isinstance(parameter.type, click.IntRange):
        # None of them is counted with.
        return [*found, "9" * 20, "-1", "1.5", "x"]
    return [*found, "run/results.json/\x1b[8m("]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    def never(*_: Any) -> None:
        raise AssertionError("was run")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(_core, "run", never)
    monkeypatch.setenv("PIP_NO_INDEX", "1")  # `track` lists releases
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "results.json").write_text(json.dumps(samples.pair()))
    return tmp_path


@pytest.mark.parametrize("verb", commands())
def test_a_value_that_cannot_be_is_one_line(
    verb: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for of, parameter in parameters():
        if of != verb:
            continue
        for value in bad_values(parameter):
            words = line(verb, parameter, value)
            status = cli.main(words)
            reported = capsys.readouterr()
            assert (status, reported.out, reported.err.count("\n")) == (2, "", 1), (words, reported)
            assert reported.err[:-1].isprintable(), words
    assert [path.name for path in here.iterdir()] == ["run"]
    assert [path.name for path in (here / "run").iterdir()] == ["results.json"]
