"""`dlbench list` imports a library once for each of its versions."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

import planted
from dlbench.command import listing
from dlbench.environments.environment import here
from dlbench.libraries import cache as libraries_cache
from dlbench.libraries import discover
from dlbench.supervisor import RequestFailed

pytestmark = pytest.mark.process


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "dlbench"


def listed(*names: str, width: int = 200, retry: bool = False) -> tuple[list[str], list[str]]:
    """The table's lines, and the libraries that were imported."""
    imported: list[str] = []
    libraries = discover.libraries(discover.catalogue(None), names)
    chosen = [one for one in libraries if one.name in names]
    lines = listing.table(
        chosen,
        here(),
        width,
        lambda requested: imported.extend(one.name for one in requested),
        retry=retry,
    )
    return [line.plain for line in lines], imported


def test_the_second_call_imports_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    first, imported = listed("numpy", "bytearray")
    assert imported == ["bytearray", "numpy"]
    monkeypatch.setattr(listing, "Worker", None)
    assert listed("numpy", "bytearray") == (first, [])


def test_another_version_is_imported_again(monkeypatch: pytest.MonkeyPatch) -> None:
    listed("numpy")
    monkeypatch.setattr(libraries_cache._core, "build_id", "another")
    assert listed("numpy")[1] == ["numpy"]


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"protocols": 1}', "\x00"])
def test_a_broken_cache_is_none(text: str, cache: Path) -> None:
    first, _ = listed("numpy")
    (kept,) = cache.iterdir()
    kept.write_text(text)
    assert listed("numpy") == (first, ["numpy"])


def test_a_cache_that_cannot_be_written_costs_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert any("exports  dlpack" in line for line in listed("numpy")[0])


def test_an_adapter_whose_version_nothing_tells_is_requested_each_time(tmp_path: Path) -> None:
    planted.plant(tmp_path / "adapters")
    found = discover.catalogue(tmp_path / "adapters", package=tmp_path)
    (mine,) = (one for one in discover.libraries(found) if one.name == "mine")
    assert libraries_cache.identity(mine, here()) is None


def test_lines_come_as_soon_as_they_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """The heading does not wait for any import."""
    monkeypatch.setattr(listing, "offers", None)
    libraries = discover.libraries(discover.catalogue(None), ["numpy"])
    lines = listing.table([one for one in libraries if one.name == "numpy"], here(), 80)
    assert next(lines).plain.split() == ["library", "version", "devices"]


def test_a_library_under_development_is_imported_each_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (library,) = discover.libraries(discover.catalogue(None), ("numpy",))[:1]
    assert libraries_cache.identity(library, here()) is not None
    library.version = "2.5.0.dev0"
    assert libraries_cache.identity(library, here()) is None


def failing(outcome: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RequestFailed("no such library", outcome)

    monkeypatch.setattr(listing, "Worker", fail)


@pytest.mark.parametrize("outcome", listing.LASTING)
def test_a_failed_import_is_tried_again_by_name_or_after_an_hour(
    outcome: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing(outcome, monkeypatch)
    lines, imported = listed("numpy")
    assert imported == ["numpy"]
    assert f"exports  {outcome}: no such library" in lines[1]
    # Nothing else is known of a library that cannot be imported.
    is_imported = outcome != listing.NOT_IMPORTED
    assert any("imports" in line for line in lines) == is_imported
    assert any("calls" in line for line in lines) == is_imported
    assert (lines[1].split()[2] == "cpu") == is_imported
    again, imported = listed("numpy")
    assert imported == []
    assert again[:-1] == lines
    assert again[-1].endswith("not imported again; to try: dlbench list numpy")
    assert listed("numpy", retry=True)[1] == ["numpy"]
    now = time.time()
    monkeypatch.setattr(listing.time, "time", lambda: now + listing.RETRY_S + 1)
    assert listed("numpy") == (lines, ["numpy"])


def listed_of(folder: Path, producer: str, consumer: str) -> str:
    for role, text in (("producer", producer), ("consumer", consumer)):
        path = folder / f"{role}s" / "mine.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    found = discover.catalogue(folder, package=folder)
    lines = listing.table(discover.libraries(found), here(), 200)
    return "\n".join(line.plain for line in lines)


NUMPYS = """\
import numpy as np
DISTRIBUTION = None
DEVICES = ("cpu", "cuda", "rocm")
def devices():
    return ["cpu"]
def make(case, device):
    return case.numpy()
"""
OLD = "import numpy\nPROTOCOLS = {'dlpack': numpy.no_such_function, 'convert': numpy.asarray}\n"


def test_devices_and_imports_are_those_that_the_library_has(tmp_path: Path) -> None:
    text = listed_of(tmp_path, NUMPYS, OLD)
    words = text.split()
    assert words[words.index("exports") - 1] == "cpu"
    assert "cuda" not in words
    assert words[words.index("imports") + 1] == "convert"


def test_a_version_that_only_the_adapter_reads_is_listed(tmp_path: Path) -> None:
    own = "DISTRIBUTION = None\nVERSION = '.'.join('371')\n"
    text = listed_of(tmp_path, NUMPYS + own, OLD)
    assert "3.7.1" in text.split()


def test_a_missing_module_is_named_with_the_command_that_installs_it(tmp_path: Path) -> None:
    needs = 'import no_such_module\nDISTRIBUTION = ("pytest[extra]", "pytest")\n'
    text = listed_of(tmp_path, needs + NUMPYS.replace("DISTRIBUTION = None\n", ""), OLD)
    assert "No module named 'no_such_module'" in text
    assert 'pip install "pytest[extra]"' in text
    assert "imports" not in text


@pytest.mark.parametrize("outcome", ["timed-out", "crashed", ""])
def test_a_failure_that_may_not_repeat_is_tried_each_time(
    outcome: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing(outcome, monkeypatch)
    assert listed("numpy")[1] == listed("numpy")[1] == ["numpy"]
