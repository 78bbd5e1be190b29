"""The scripts of `packaging`, on wheels that are made here."""

from __future__ import annotations

import importlib.metadata
import json
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "packaging"))
import add_address  # noqa: E402
import check_wheels  # noqa: E402
import share_workers  # noqa: E402

tomllib = pytest.importorskip("tomllib")
PLATFORM = "manylinux_2_28_x86_64"
SBOM = '{"components": [{"name": "pybind11"}]}'
Make = Callable[..., Path]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Writes a wheel of all that it must have, but for `without` and with `more`."""

    def make(
        python: str,
        version: str = "1.0",
        platform: str = PLATFORM,
        without: str = "",
        more: str = "",
    ) -> Path:
        abi = f"cp{python}"
        path = tmp_path / f"dlbench-{version}-cp{python.rstrip('t')}-{abi}-{platform}.whl"
        with zipfile.ZipFile(path, "w") as archive:
            for name in check_wheels.FILES:
                archive.writestr(name, name)
            for name in check_wheels.MODULES:
                if name != without:
                    file = f"dlbench/{name}.cpython-{python}-x86_64-linux-gnu.so"
                    archive.writestr(file, f"{name} of {python}")
            info = f"dlbench-{version}.dist-info"
            archive.writestr(f"{info}/sboms/dlbench.cdx.json", SBOM)
            if without != "license":
                archive.writestr(f"{info}/licenses/pybind11.txt", "text")
            if more:
                archive.writestr(more, "")
            archive.writestr(f"{info}/RECORD", "")
        return path

    return make


def run(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(ROOT / "packaging" / script), str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )


def test_each_wheel_gets_the_worker_modules_of_all(make: Make, tmp_path: Path) -> None:
    paths = [make("311"), make("312"), make("314t")]
    assert run("share_workers.py", tmp_path).returncode == 0
    done = run("check_wheels.py", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    for path in paths:
        with zipfile.ZipFile(path) as archive:
            assert archive.testzip() is None
            names = archive.namelist()
            for python in ("311", "312", "314t"):
                file = f"dlbench/_worker.cpython-{python}-x86_64-linux-gnu.so"
                assert archive.read(file).decode() == f"_worker of {python}"
            for module in ("_core", "_check", "_pybind11_producer"):
                assert len([name for name in names if f"/{module}." in name]) == 1
            assert len(names) == len(set(names))


def test_two_machines_do_not_mix(make: Make, tmp_path: Path) -> None:
    make("311")
    arm = make("311", platform=PLATFORM.replace("x86_64", "aarch64"), more="dlbench/arm")
    assert run("share_workers.py", tmp_path).returncode == 0
    with zipfile.ZipFile(arm) as archive:
        assert "dlbench/arm" in archive.namelist()
    with zipfile.ZipFile(make("312")) as archive:
        assert "dlbench/arm" not in archive.namelist()


def test_what_does_not_belong_together_is_refused(make: Make, tmp_path: Path) -> None:
    assert "no wheel in" in run("share_workers.py", tmp_path).stderr
    make("311")
    other = make("312", version="2.0")
    assert "several versions: dlbench-1.0, dlbench-2.0" in run("share_workers.py", tmp_path).stderr
    other.unlink()
    bad = make("312")
    with zipfile.ZipFile(bad, "w") as archive:
        archive.writestr("dlbench-1.0.dist-info/RECORD", "")
    assert "has no worker module for its own Python" in run("share_workers.py", tmp_path).stderr


@pytest.mark.parametrize(
    ("faulty", "text"),
    [
        ({"without": "_core"}, "lacks the module _core for Python 311"),
        ({"without": "license"}, "lacks the license of pybind11"),
        ({"without": "_device"}, "lacks the module _device for Python 311"),
        ({"more": "dlbench.libs/libbenchmark.so.1"}, "bundles dlbench.libs/libbenchmark.so.1"),
        ({"more": "include/benchmark/benchmark.h"}, "holds include/benchmark/benchmark.h"),
        ({"platform": "linux_x86_64"}, "auditwheel did not repair it"),
    ],
)
def test_a_faulty_wheel_is_found(
    make: Make, tmp_path: Path, faulty: dict[str, str], text: str
) -> None:
    make("311", **faulty)
    assert run("share_workers.py", tmp_path).returncode == 0
    done = run("check_wheels.py", tmp_path)
    assert done.returncode == 1
    assert text in done.stderr


def test_a_module_of_another_python_must_be_there(make: Make, tmp_path: Path) -> None:
    make("311")
    assert run("share_workers.py", tmp_path).returncode == 0
    make("312")
    done = run("check_wheels.py", tmp_path)
    assert done.returncode == 1
    assert "lacks the module _worker for Python 312" in done.stderr


def test_a_changed_file_is_found(make: Make, tmp_path: Path) -> None:
    path = make("311")
    assert run("share_workers.py", tmp_path).returncode == 0
    wheel = share_workers.Wheel(path)
    wheel.files["dlbench/cli.py"] = (b"other", 0o644)
    assert list(check_wheels.wrong_records(wheel)) == ["dlbench/cli.py differs from RECORD"]


def test_the_sbom_names_what_is_bundled(tmp_path: Path) -> None:
    header = tmp_path / "some.h"
    header.write_text("/* You may copy it. */\n#define SECRET\n")
    words = [f"some=1.2=MIT={header}", "other=3=MIT="]
    files = []
    for name in ("a", "b"):
        subprocess.run(
            [
                sys.executable,
                str(ROOT / "cmake/write_sbom.py"),
                str(tmp_path / name),
                "9.9",
                *words,
            ],
            check=True,
        )
        files.append((tmp_path / name / "sboms/dlbench.cdx.json").read_bytes())
    assert files[0] == files[1]
    written = json.loads(files[0])
    assert (written["bomFormat"], written["metadata"]["component"]["version"]) == (
        "CycloneDX",
        "9.9",
    )
    components = {one["name"]: one["version"] for one in written["components"]}
    assert components["some"] == "1.2"
    assert components["pybind11"] == importlib.metadata.version("pybind11")
    assert (tmp_path / "a/licenses/some.txt").read_text().strip() == "You may copy it."
    assert "Redistribution" in (tmp_path / "a/licenses/pybind11.txt").read_text()
    assert not (tmp_path / "a/licenses/other.txt").exists()


def test_the_index_gets_absolute_links_and_addresses(tmp_path: Path) -> None:
    for name in ("README.md", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    add_address.main("https://host.test/own/dlbench", "abc", tmp_path)
    text = (tmp_path / "README.md").read_text()
    targets = re.findall(r"\]\(([^)]+)\)", text)
    blob = "https://host.test/own/dlbench/blob/abc/"
    assert len(targets) > 20
    for target in targets[1:]:
        file = target.removeprefix(blob)
        assert file != target
        assert (ROOT / file).exists(), target
    picture = "https://host.test/own/dlbench/raw/abc/docs/assets/matrix-light.svg?sanitize=true"
    assert (targets[0], "<picture>" in text) == (picture, False)
    project = tomllib.loads((tmp_path / "pyproject.toml").read_text())["project"]
    assert project["urls"]["Source"] == "https://host.test/own/dlbench"


def test_a_source_distribution_is_complete_and_the_same_each_time(tmp_path: Path) -> None:
    """Nothing is compiled for it. It has what is in git, and what tells bootstrap what it is."""
    build = "import sys, scikit_build_core.build as b; b.build_sdist(sys.argv[1])"
    made = []
    for name in ("a", "b"):
        words = [sys.executable, "-c", build, str(tmp_path / name)]
        subprocess.run(words, cwd=ROOT, capture_output=True, check=True)
        (path,) = (tmp_path / name).iterdir()
        made.append(path)
    assert made[0].read_bytes() == made[1].read_bytes()
    with tarfile.open(made[0]) as archive:
        files = {name.partition("/")[2] for name in archive.getnames()}
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode != 0:
        pytest.skip("this is no checkout")
    assert {"PKG-INFO", "bootstrap", "results/schema.json"} <= files
    assert {name for name in listed.stdout.splitlines() if (ROOT / name).exists()} <= files
    assert not [name for name in files if name.endswith((".so", ".pyc", ".o", ".whl"))]
