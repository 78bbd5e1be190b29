"""Adapters are found and understood without importing a library."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path

import pytest

from dlbench.errors import BadInput
from dlbench.libraries import discover
from dlbench.libraries.facts import read_adapter

PRODUCER = "def make(case, device):\n    return case.numpy()\n"
CONSUMER = "import nothing_like_it\nPROTOCOLS = {'dlpack': nothing_like_it.f, 'convert': print}\n"


def plant(folder: Path, role: str, name: str, text: str) -> Path:
    path = folder / f"{role}s" / f"{name}.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def library(folder: Path, name: str) -> object:
    found = discover.catalogue(folder, package=folder / "none")
    return discover.library(name, found.files[name])


def test_literals_are_read_without_running_the_file(tmp_path: Path) -> None:
    text = CONSUMER + "DISTRIBUTION = ('no-such-dist', 'numpy')\nDEVICES = ('sycl:0',)\n"
    plant(tmp_path, "consumer", "foo", text + "DEFAULT = False\ndef ready(array): ...\n")
    plant(tmp_path, "producer", "foo", PRODUCER + "IMPORT_FIRST = True\n")
    foo = library(tmp_path, "foo")
    assert foo.installed
    assert foo.version == importlib.metadata.version("numpy")
    assert foo.protocols == ["dlpack", "convert"]
    assert foo.devices == ["sycl:0"]
    assert foo.has_ready
    assert foo.imports_first
    assert not foo.in_default_matrix
    assert Path(foo.producer_path).name == Path(foo.consumer_path).name == "foo.py"


def test_an_absent_distribution_says_how_to_install_it(tmp_path: Path) -> None:
    text = CONSUMER + "DISTRIBUTION = ('no-such-dist[cpu]', 'no-such-other')\n"
    plant(tmp_path, "consumer", "foo", text)
    foo = library(tmp_path, "foo")
    assert not foo.installed
    assert foo.why_not == 'pip install "no-such-dist[cpu]"'
    assert foo.producer_path == ""


@pytest.mark.parametrize("line", ["DISTRIBUTION = None\n", "DISTRIBUTION = ''\n"])
def test_a_library_without_a_package_is_always_there(tmp_path: Path, line: str) -> None:
    plant(tmp_path, "producer", "mine", line + PRODUCER)
    assert library(tmp_path, "mine").installed


def test_without_a_distribution_the_name_is_one(tmp_path: Path) -> None:
    plant(tmp_path, "producer", "no_such_library", PRODUCER)
    assert library(tmp_path, "no_such_library").why_not == "pip install no_such_library"


@pytest.mark.parametrize(
    ("role", "text", "message"),
    [
        ("producer", "def make(:\n", "does not parse"),
        ("producer", "x = 1\n", "defines no make"),
        ("consumer", PRODUCER, "defines no PROTOCOLS"),
        ("consumer", "PROTOCOLS = dict(dlpack=print)\n", "must be written as a dict"),
        ("consumer", "K = 'dlpack'\nPROTOCOLS = {K: print}\n", "literal strings"),
        ("producer", PRODUCER + "DEVICES = probe()\n", "must be a literal"),
        ("producer", PRODUCER + "def devices():\n    return ['cpu']\n", "no literal DEVICES"),
        ("producer", PRODUCER + "DEFAULT = 'no'\n", "True or False"),
        ("producer", PRODUCER + "IMPORT_FIRST = 1\n", "IMPORT_FIRST must be True or False"),
        ("producer", "\0", "does not parse"),
    ],
)
def test_an_unfit_file_is_named(tmp_path: Path, role: str, text: str, message: str) -> None:
    path = plant(tmp_path, role, "foo", text)
    with pytest.raises(BadInput, match=message) as error:
        discover.catalogue(tmp_path, package=tmp_path / "none")
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def test_a_folder_must_be_laid_out_like_ours(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="does not exist"):
        discover.catalogue(tmp_path / "nope")
    with pytest.raises(BadInput, match="neither producers/ nor consumers/"):
        discover.catalogue(tmp_path)


def test_the_given_folder_replaces_a_role_file_of_the_same_name(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    plant(ours, "producer", "foo", PRODUCER)
    kept = plant(ours, "consumer", "foo", CONSUMER)
    new = plant(theirs, "producer", "foo", PRODUCER)
    files = discover.catalogue(theirs, package=ours).files["foo"]
    assert files["producer"].path == new
    assert files["consumer"].path == kept


def test_files_with_a_leading_underscore_are_no_libraries(tmp_path: Path) -> None:
    plant(tmp_path, "producer", "_shared", "x = 1\n")
    assert discover.catalogue(tmp_path, package=tmp_path / "none").files == {}


@pytest.fixture
def entry_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed package with an adapter behind an entry point; the adapter's file."""
    info = tmp_path / "third_party-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: third-party\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[dlbench.producers]\nthird = third_party_adapter\n")
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path / "third_party_adapter.py"


def test_an_entry_point_names_an_adapter_that_is_not_imported(entry_point: Path) -> None:
    entry_point.write_text("raise SystemExit('imported')\n" + PRODUCER)
    found = discover.catalogue()
    assert found.files["third"]["producer"].path == entry_point
    assert found.warnings == []


def test_a_broken_entry_point_is_left_out_with_a_warning(entry_point: Path) -> None:
    found = discover.catalogue()
    assert "third" not in found.files
    assert ["third-party" in warning for warning in found.warnings] == [True]


def test_names_bound_inside_a_try_count_as_defined(tmp_path: Path) -> None:
    text = "try:\n    from somewhere import ready\nexcept ImportError:\n    pass\n"
    path = plant(tmp_path, "producer", "foo", text + PRODUCER)
    assert read_adapter("producer", "foo", path).has_ready


def test_a_library_whose_extension_was_not_built_says_how_to_get_it(tmp_path: Path) -> None:
    text = "DISTRIBUTION = 'numpy'\nEXTENSION = '_no_such_module'\n" + PRODUCER
    plant(tmp_path, "producer", "bound", text)
    bound = library(tmp_path, "bound")
    assert not bound.installed
    assert bound.why_not == "pip install numpy, then build dlbench again"


def test_an_extension_that_was_built_is_all_its_library_needs(tmp_path: Path) -> None:
    text = "DISTRIBUTION = 'no-such-dist'\nEXTENSION = '_native_producer'\n" + PRODUCER
    plant(tmp_path, "producer", "bound", text)
    assert library(tmp_path, "bound").installed


def test_an_extension_is_a_literal_string(tmp_path: Path) -> None:
    plant(tmp_path, "producer", "bound", "EXTENSION = 3\n" + PRODUCER)
    with pytest.raises(BadInput, match="EXTENSION must be a string"):
        discover.catalogue(tmp_path, package=tmp_path / "none")
