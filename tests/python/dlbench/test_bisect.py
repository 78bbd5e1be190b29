"""`dlbench bisect` over planted wheels, without a network."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest

import synthetic
import terms
from dlbench import cli
from dlbench.analysis.bisection import Gap
from dlbench.document import Entry
from dlbench.environments import versions
from dlbench.environments.environment import Environment
from dlbench.running.request import Request
from dlbench.track import measuring
from dlbench.track.bisect import Search, confirmation, report
from typed import doc, entry_of
from wheels import BODY, hide, plant

pytestmark = pytest.mark.process
CELL = "exchange/producer:native/consumer:planted/protocol:dlpack/device:cpu/case:f32/bytes:4096"
SHARES, SLOW, COPY = BODY["1.1"], BODY["1.2"], BODY["1.3"]


def bisected(capsys: pytest.CaptureFixture[str], *words: str, status: int = 0) -> list[str]:
    """What it prints."""
    assert cli.main(["bisect", *words, "--adapters", "adapters", "--out", "run"]) == status
    shown = capsys.readouterr()
    return (shown.out if status != 2 else shown.err).splitlines()


def planted(folder: Path, monkeypatch: pytest.MonkeyPatch, *bodies: str) -> None:
    plant(folder, monkeypatch, {f"1.{minor}": body for minor, body in enumerate(bodies)})


@pytest.mark.timeout(240)
def test_a_copy_is_found_and_reproduced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    planted(tmp_path, monkeypatch, *[SHARES] * 5, COPY)
    lines = bisected(capsys, "planted", "1.0", "1.5", "native", "planted")
    assert "first changed version: 1.5, after 1.4" in lines
    assert "second measurement of both: confirmed: outcome: zero-copy -> copy" in lines
    assert "found with 5 measurements" in lines
    commands = [shlex.split(line)[1:] for line in lines if line.startswith("dlbench repro")]
    *runs, issue = commands
    for command, shown in zip(runs, ("zero-copy", "copy"), strict=True):
        assert cli.main([*command, "--adapters", "adapters"]) == 0
        assert f"now       {shown}" in capsys.readouterr().out
    assert cli.main([*issue, "--adapters", "adapters"]) == 0
    assert "- Actual: copy" in capsys.readouterr().out


@pytest.mark.timeout(240)
def test_an_interrupted_search_is_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    planted(tmp_path, monkeypatch, *[SHARES] * 3, COPY)
    words = ("planted", "1.0", "1.3", "native", "planted")
    lines = bisected(capsys, *words)
    journals = sorted((tmp_path / "run").rglob("journal.jsonl"))
    *whole, last = [
        [line for line in path.read_text().splitlines(keepends=True) if '"name":' in line]
        for path in (*journals[1:], journals[0])
    ]
    begun = journals[0].read_text().splitlines(keepends=True)
    journals[0].write_text("".join(begun[: begun.index(last[1])]))  # one of two cells is left
    cli_words = ["bisect", *words, "--adapters", "adapters", "--resume", "run"]
    assert cli.main(cli_words) == 0
    again = capsys.readouterr().out.splitlines()
    assert [line.split(",")[0] for line in again] == [line.split(",")[0] for line in lines]
    for path, cells in zip(journals[1:], whole, strict=True):  # not measured again
        assert [line for line in path.read_text().splitlines(True) if '"name":' in line] == cells
    other = [word.replace("1.0", "1.1") for word in cli_words]
    head = json.loads(begun[0])
    head["context"]["dlbench"]["command"] = ["dlbench", "bisect", *words]
    journals[0].write_text(json.dumps(head) + "\n")
    for command, message in (
        ([*cli_words, "f64"], "cannot resume 'run': it is another search: dlbench"),
        ([*cli_words, "--wheels", "wheels"], "it is another search"),
        (other, "it is another search"),
        ([*cli_words, "--out", "other"], "leave out --out"),
        (["track", "--resume", "run"], "it is a search of bisect; type the command again"),
        (["--resume", "run"], "it is a search of bisect"),
    ):
        assert cli.main(command) == 2
        assert message in capsys.readouterr().err
    (tmp_path / "empty").mkdir()
    assert cli.main([*cli_words[:-1], "empty"]) == 2
    assert "it holds no measurement of bisect" in capsys.readouterr().err


@pytest.mark.thorough
@pytest.mark.timeout(240)
@pytest.mark.skipif(not shutil.which("valgrind"), reason="no valgrind")
def test_more_instructions_are_found_in_a_folder_of_wheels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # The outcome changes, too, so that the kind must be named.
    slow = SLOW + ".copy()"
    planted(tmp_path, monkeypatch, SHARES, SHARES, slow, slow)
    words = ("planted", "1.3", "1.0", "native", "planted", "dlpack", "f64", "8KiB")
    lines = bisected(capsys, *words, "--wheels", "wheels", "--step", "code")
    assert "native -> planted dlpack f64 8 KiB" in lines
    assert "first changed version: 1.2, after 1.1" in lines
    assert any(re.match(r"second .* confirmed: code: .*\+\d+", line) for line in lines), lines
    (again,) = [line for line in lines if line.startswith("dlbench compare")]
    assert again.endswith("--count instructions")


@pytest.mark.thorough
@pytest.mark.timeout(300)
def test_without_counts_the_time_decides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    planted(tmp_path, monkeypatch, SHARES, SHARES, SHARES, SLOW, SLOW)
    hide(monkeypatch, "valgrind")
    lines = bisected(capsys, "planted", "1.0", "1.4", "native", "planted")
    assert "first changed version: 1.3, after 1.2" in lines
    assert any(re.match(r"second .* confirmed: time: \+\d+", line) for line in lines), lines


@pytest.mark.thorough
@pytest.mark.timeout(240)
def test_of_several_steps_the_first_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = "raise RuntimeError('no')"
    planted(tmp_path, monkeypatch, SHARES, BODY["1.4"], broken, BODY["1.5"])
    lines = bisected(capsys, "planted", "1.0", "1.3", "native", "planted")
    assert "first changed version: 1.1, after 1.0" in lines
    assert "there are several steps: this is one of them" in lines
    assert any("confirmed: outcome: zero-copy -> refused" in line for line in lines)


def test_only_a_step_like_the_one_that_was_searched_confirms_it() -> None:
    place = synthetic.axes("native", "planted", "dlpack", "cpu", 4096, "call")

    def entry(ns: float, outcome: str = "copy") -> Entry:
        workers = [{"median_ns": ns + i, "samples_ns": [ns + i]} for i in range(10)]
        return entry_of(synthetic.measured(place) | {"outcome": outcome, "workers": workers})

    fast, slow = entry(100.0), entry(200.0)
    assert confirmation(fast, slow, "time", is_slower=True).startswith("confirmed: time: +")
    assert confirmation(slow, fast, "time", is_slower=False).startswith("confirmed: time: -")
    assert not confirmation(slow, fast, "time", is_slower=True)
    assert not confirmation(fast, entry(100.0, "zero-copy"), "time", is_slower=True)


def test_another_library_that_moves_at_the_gap_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def shown(*numpy: str) -> str:
        items, libraries = [], {}
        place = synthetic.axes("numpy", "torch", "dlpack", "cpu", 4096, "call")
        for name, version, outcome in zip("12", numpy, ("copy", "zero-copy"), strict=True):
            items.append(synthetic.measured(place | {"environment": f"v{name}"}))
            items[-1] |= {"outcome": outcome, "name": f"{place['name']}/environment:v{name}"}
            libraries[f"v{name}"] = {"libraries": {"torch": name, "numpy": version}}
        document = doc({"context": {"dlbench": {"environments": libraries}}, "benchmarks": items})
        monkeypatch.setattr(measuring, "measure", lambda *_, **__: (document, 0))
        recipes = [versions.recipe(tmp_path, name, []) for name in libraries]
        search = Search(Request(), recipes, tmp_path, 1.0, True, "torch")
        search.places = {i: Environment(one.name, "python") for i, one in enumerate(recipes)}
        assert report(search, Gap(0, 1), "outcome") == 0
        out = capsys.readouterr().out
        said = [line for line in out.splitlines() if line[0] != " " and "dlbench" not in line]
        # Without the pair and its cell, and with "found with" for the number of measurements.
        labels = [re.split(r":| \d", line)[0] for line in said[1:]]
        assert terms.unknown(labels) == []
        capsys.readouterr()
        return out

    assert "may be the cause too: numpy 1.26 -> 2.0\n" in shown("1.26", "2.0")
    assert "too: numpy 1 -> 2\n" in shown("1", "2")
    assert "the cause" not in shown("2.0", "2.0")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("1.0", "x", "native", "planted"), "BAD 'x' is not a version"),
        (("1.0", "1.0", "native", "planted"), "GOOD and BAD are one version"),
        (("1.0", "1.1.5", "native", "planted"), "no version 1.1.5"),
        (("1", "1.1.0", CELL, "--step", "outcome"), "do not differ in outcome"),
        (("1.0", "1.1", f"{CELL}/clock:ready"), "bisect measures the phase exchange"),
        (("1.0", "1.1", CELL.replace("exchange", "import", 1)), "by the clock call"),
        (("1.0", "1.1", "native"), "CELL is PRODUCER CONSUMER"),
        (("1.0", "1.1", "native", "nunpy"), "unknown library 'nunpy' (did you mean 'numpy'?)"),
        (("1.0", "1.1", "native", "planted", "dplack"), "case, size or device (did you mean 'dlp"),
        (("1.0", "1.1", "native", "planted", "4KiB", "1MiB"), "CELL has two sizes, 4KiB and 1MiB"),
        (("1.0", "1.1", "native", "planted", "4X"), "4X"),
        (("1.0", "1.6", "native", "planted"), "not installed: Because planted==1.6 requires"),
        pytest.param(
            ("1.0", "1.1", "native", "planted", "--step", "outcome"),
            "do not differ in outcome",
            marks=pytest.mark.thorough,
        ),
        (("1.0", "1.1", "native", "planted", "--wheels", "none"), "no wheel of planted"),
    ],
)
def test_bad_use_is_one_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    message: str,
) -> None:
    planted(tmp_path, monkeypatch, SHARES, SHARES)
    lines = bisected(capsys, "planted", *words, "--quiet", status=2)
    assert len(lines) == 1, lines
    assert message in lines[0]


def test_a_misspelt_library_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    planted(tmp_path, monkeypatch, SHARES, SHARES)
    (line,) = bisected(capsys, "plantet", "1.0", "1.1", "native", "planted", status=2)
    assert "No matching distribution found for plantet (did you mean 'planted'?)" in line
