"""Files that the user names: an existing file is replaced whole, and only files are."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest

import samples
from dlbench import cli, writing
from dlbench.errors import BadInput

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
    with pytest.raises((BadInput, OSError, RuntimeError)):
        writing.write(target, lambda out: out.write(b"mine"))
    assert target.lstat().st_mode == before.st_mode
    assert sorted(path.name for path in tmp_path.iterdir()) == ["results.json", "target"]


def test_a_link_is_followed_and_stays(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    real, link = tmp_path / "elsewhere" / "real", tmp_path / "link"
    link.symlink_to(real)
    for text in (b"one", b"two"):
        writing.write(link, lambda out, text=text: out.write(text))  # type: ignore[misc]
        assert link.is_symlink()
        assert real.read_bytes() == text
        real.chmod(0o640)
    assert real.stat().st_mode & 0o777 == 0o640


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
