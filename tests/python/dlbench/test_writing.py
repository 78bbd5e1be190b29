"""Files that the user names: an existing file is replaced whole, and only files are."""

from __future__ import annotations

import errno
import fcntl
import json
import os
from pathlib import Path

import pytest

import samples
from dlbench import cli, writing
from dlbench.errors import BadInput
from typed import merged_of

Captured = pytest.CaptureFixture[str]


def node(path: Path, kind: str) -> None:
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(path)


@pytest.mark.parametrize("kind", ["fifo", "folder", "loop"])
def test_what_is_no_file_is_refused_and_stays(kind: str, tmp_path: Path, capsys: Captured) -> None:
    run, target = tmp_path / "results.json", tmp_path / "target"
    run.write_text(json.dumps(samples.pair()))
    node(target, kind)
    before = target.lstat()
    for line in (
        ["export", str(run), "--format", "csv", "--output"],
        ["report", str(run), "--output"],
        ["check", "bytearray", "--markdown"],
    ):
        assert cli.main([*line, str(target), "--force"]) == 2
        reported = capsys.readouterr()
        assert (reported.out, reported.err.count("\n")) == ("", 1)
        assert ("a link to itself" in reported.err) == (kind == "loop")
    with pytest.raises((BadInput, OSError, RuntimeError)):
        writing.write_requested(target, lambda out: out.write(b"mine"))
    assert target.lstat().st_mode == before.st_mode
    assert sorted(path.name for path in tmp_path.iterdir()) == ["results.json", "target"]


def test_a_link_that_was_named_is_followed_and_stays(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    real, link = tmp_path / "elsewhere" / "real", tmp_path / "link"
    link.symlink_to(real)
    for text in (b"one", b"two"):
        writing.write_requested(link, lambda out, text=text: out.write(text))  # type: ignore[misc]
        assert link.is_symlink()
        assert real.read_bytes() == text
        real.chmod(0o640)
    assert real.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["report", "run"], ["report.html"]),
        (["report", "base", "run"], ["change.html"]),
        (["plot", "run"], ["matrix.png", "matrix.svg"]),
        (["plot", "run", "--base", "base"], ["change.png", "change.svg"]),
    ],
    ids=" ".join,
)
def test_a_link_under_a_default_name_is_replaced(
    words: list[str], names: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for run, ns in (("run", 200.0), ("base", 100.0)):
        Path(run).mkdir()
        made = samples.document(samples.measured("numpy", "numpy", ns))
        Path(run, "results.json").write_text(json.dumps(made))
    Path("victim").write_text("mine")
    for name in names:
        Path("run", name).symlink_to("../victim")
    assert cli.main(words) == 0
    assert Path("victim").read_text() == "mine"
    for name in names:
        assert Path("run", name).stat(follow_symlinks=False).st_size > 1000


def test_a_machine_s_folder_is_no_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(tmp_path)
    made = merged_of([("x", samples.pair()), ("y", samples.pair())])
    Path("run").mkdir()
    Path("mine").mkdir()
    Path("run/results.json").write_text(json.dumps(made.to_json()))
    Path("run/x").symlink_to("../mine")
    assert cli.main(["plot", "run", "--figure", "scaling"]) == 2
    assert "run/x: is a link; allowed: a folder" in capsys.readouterr().err
    assert list(Path("mine").iterdir()) == []


def test_a_name_need_not_be_text(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"\xff")
    folder.mkdir()
    writing.write(folder / "file", lambda out: out.write(b"content"))
    assert [(path.name, path.read_bytes()) for path in folder.iterdir()] == [("file", b"content")]


def test_drafts_of_ended_processes_are_removed(tmp_path: Path) -> None:
    left, held, other = (tmp_path / f".dlbench-{n}" for n in ("0" * 16, "f" * 16, "x" * 16))
    for path in (left, other, tmp_path / "mine"):
        path.write_text("mine")
    (tmp_path / f".dlbench-{'1' * 16}").symlink_to("mine")
    with held.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        writing.write(tmp_path / "made", lambda out: out.write(b"made"))
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {held.name, other.name, f".dlbench-{'1' * 16}", "mine", "made"}
    assert (tmp_path / "mine").read_text() == "mine"


def measure(run: Path) -> None:
    words = ["numpy", "numpy", "--protocols", "buffer", "--replicas", "1", "--no-plots", "--quiet"]
    assert cli.main([*words, "--out", str(run)]) == 0


@pytest.mark.process  # drivers are queried in a process
def test_no_draft_s_name_is_known_before(tmp_path: Path) -> None:
    run = tmp_path / "run"
    measure(run)
    (run / "results.json").unlink()
    (tmp_path / "victim").write_text("mine")
    (run / f"results.json.{os.getpid()}.tmp").symlink_to("../victim")
    assert cli.main(["show", str(run)]) == 0
    assert (tmp_path / "victim").read_text() == "mine"
    assert not (run / "results.json").is_symlink()


@pytest.mark.process  # drivers are queried in a process
def test_a_journal_that_is_a_link_is_not_continued(tmp_path: Path, capsys: Captured) -> None:
    run, mine = tmp_path / "run", tmp_path / "mine"
    measure(run)
    (run / "journal.jsonl").rename(mine)
    (run / "journal.jsonl").symlink_to(mine)
    before = mine.read_bytes()
    assert cli.main(["--resume", str(run)]) == 2
    assert "journal.jsonl: is a link; allowed: a file" in capsys.readouterr().err
    assert mine.read_bytes() == before


def test_a_disk_that_fills_up_costs_nothing_that_was_there(tmp_path: Path) -> None:
    path = tmp_path / "mine"
    path.write_text("mine")

    def full(_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(BadInput, match="No space left on device"):
        writing.write_requested(path, full)
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("mine", "mine")]


def test_the_table_of_check_is_not_overwritten(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "mine.md"
    path.write_text("mine")
    assert cli.main(["check", "bytearray", "--markdown", str(path)]) == 2
    assert "--force replaces it" in capsys.readouterr().err
    assert path.read_text() == "mine"
