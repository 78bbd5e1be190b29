"""`dlbench bundle`: an archive that is installed where there is no network."""

from __future__ import annotations

import base64
import hashlib
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from dlbench import _core, cli
from dlbench.command import bundle

VERSION = f"{sys.version_info[0]}.{sys.version_info[1]}"


def wheel(
    folder: Path,
    name: str,
    version: str,
    needs: str = "",
    script: str = "",
    tag: str = "py3-none-any",
) -> Path:
    """A wheel of one module that holds its version, with a command of its name."""
    about = f"{name}-{version}.dist-info"
    needed = f"Requires-Dist: {needs}\n" if needs else ""
    files = {
        f"{name}.py": f"version = {version!r}\ndef main(): print('runs', version)\n",
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needed}",
        f"{about}/WHEEL": f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n",
        f"{about}/entry_points.txt": f"[console_scripts]\n{name} = {name}:main\n" if script else "",
    }
    rows = [
        f"{path},sha256={_digest(text)},{len(text.encode())}" for path, text in files.items()
    ] + [f"{about}/RECORD,,"]
    files[f"{about}/RECORD"] = "\n".join(rows) + "\n"
    path = folder / f"{name}-{version}-{tag}.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for place, text in files.items():
            archive.writestr(place, text)
    return path


def unpack(archive: str, folder: Path) -> None:
    """As the documentation says."""
    folder.mkdir(exist_ok=True)
    subprocess.run(["tar", "xf", archive, "-C", folder], check=True)


def _digest(text: str) -> str:
    found = hashlib.sha256(text.encode()).digest()
    return base64.urlsafe_b64encode(found).rstrip(b"=").decode()


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with dlbench, what it needs and two versions of a library, and no other index."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    wheel(folder, "dlbench", _core.version, needs="helper", script="dlbench")
    wheel(folder, "helper", "1.0")
    wheel(folder, "arrays", "2.0")
    wheel(folder, "arrays", "3.0")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    return folder


@pytest.mark.process
def test_a_bundle_installs_without_a_network(
    wheels: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["bundle", "node.tar", "arrays==2.0", "--find-links", str(wheels)]
    assert cli.main(words) == 0
    assert capsys.readouterr().out == (
        "node.tar: 3 wheels; on the target: tar xf node.tar && node/install-here\n"
    )
    with tarfile.open("node.tar") as archive:
        names = {name.rpartition("/")[2] for name in archive.getnames()}
        assert "arrays-2.0-py3-none-any.whl" in names
        assert "arrays-3.0-py3-none-any.whl" not in names
    unpack("node.tar", tmp_path / "there")
    shutil.rmtree(wheels)
    alone = ["unshare", "--map-root-user", "--net"]
    if subprocess.run([*alone, "true"], capture_output=True).returncode:
        pytest.skip("no network namespace can be made here")
    script = str(tmp_path / "there/node/install-here")
    done = subprocess.run([*alone, script, sys.executable], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    command = done.stdout.strip()
    assert command == str(tmp_path / "there/node/venv/bin/dlbench")
    ran = subprocess.run([*alone, command], capture_output=True, text=True)
    assert ran.stdout == f"runs {_core.version}\n"
    python = command.replace("bin/dlbench", "bin/python")
    imported = [*alone, python, "-c", "import arrays, helper; print(arrays.version)"]
    assert subprocess.run(imported, capture_output=True, text=True).stdout == "2.0\n"
    # A second time it replaces nothing.
    done = subprocess.run([script, sys.executable], capture_output=True, text=True)
    assert (done.returncode, "exists; name another folder" in done.stderr) == (2, True)


@pytest.mark.process
def test_a_wheel_of_another_version_is_the_one_that_is_installed(
    wheels: Path, tmp_path: Path
) -> None:
    own = tmp_path / "own"
    own.mkdir()
    wheel(own, "dlbench", "99.1", needs="helper", script="dlbench")
    file = str(next(own.iterdir()))
    assert cli.main(["bundle", "b.tar", "--wheel", file, "--find-links", str(wheels)]) == 0
    unpack("b.tar", tmp_path)
    done = subprocess.run(["b/install-here", sys.executable], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    ran = subprocess.run(["b/venv/bin/dlbench"], capture_output=True, text=True)
    assert ran.stdout == "runs 99.1\n"


@pytest.mark.process
def test_a_newer_platform_takes_the_wheels_of_older_ones(wheels: Path) -> None:
    for minor in (17, 28, 34):
        wheel(wheels, "compiled", f"1.{minor}", tag=f"py3-none-manylinux_2_{minor}_x86_64")
    wheel(wheels, "older", "1.0", tag="py3-none-manylinux2010_x86_64")
    wheel(wheels, "newest", "1.0", tag="py3-none-manylinux_2_17_aarch64")
    words = ["--platform", "manylinux_2_28_x86_64", "--find-links", str(wheels)]
    for requirement in ("compiled==1.17", "compiled==1.28", "older"):
        assert cli.main(["bundle", "b.tar", requirement, *words, "--force"]) == 0
    for requirement in ("compiled==1.34", "newest"):
        assert cli.main(["bundle", "c.tar", requirement, *words]) == 2


@pytest.mark.parametrize(
    ("tag", "lower", "missing"),
    [
        ("manylinux_2_28_x86_64", ["_2_28", "_2_17", "2014", "_2_12", "2010", "_2_5", "1"], "_2_4"),
        ("manylinux_2_28_aarch64", ["_2_28", "_2_17", "2014"], "2010"),
        ("manylinux2014_x86_64", ["2014", "_2_17", "2010", "_2_5", "1"], "_2_18"),
        ("manylinux_2_12_x86_64", ["_2_12", "2010", "1"], "2014"),
    ],
)
def test_the_older_tags_of_a_platform(tag: str, lower: list[str], missing: str) -> None:
    architecture = "x86_64" if tag.endswith("x86_64") else "aarch64"
    found = bundle._accepted(tag)
    assert found[0] == tag
    assert {f"manylinux{name}_{architecture}" for name in lower} <= set(found)
    assert f"manylinux{missing}_{architecture}" not in found
    assert len(set(found)) == len(found)


def test_another_platform_is_taken_as_it_is() -> None:
    for tag in ("macosx_11_0_arm64", "musllinux_1_2_x86_64", "linux_x86_64", "any"):
        assert bundle._accepted(tag) == [tag]


@pytest.mark.process
def test_another_python_is_refused_where_it_is_installed(
    wheels: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = "3.10" if VERSION != "3.10" else "3.11"
    assert cli.main(["bundle", "a.tar", "--python", VERSION, "--find-links", str(wheels)]) == 0
    assert capsys.readouterr().err == ""
    assert cli.main(["bundle", "b.tar", "--python", other, "--find-links", str(wheels)]) == 0
    err = capsys.readouterr().err
    assert f"pip evaluates markers such as python_version for Python {VERSION}" in err
    assert err.endswith(f"run dlbench bundle under Python {other}\n")
    assert err.count("\n") == 1
    unpack("b.tar", tmp_path)
    done = subprocess.run(["b/install-here", sys.executable], capture_output=True, text=True)
    assert done.returncode == 2
    assert f"is Python {VERSION}; this bundle is for Python {other}" in done.stderr


@pytest.mark.process
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["b.tar", "nowhere"], "pip cannot download the wheels: Could not find a version"),
        (["b.zip"], "allowed: a name that ends in .tar"),
        (["there.tar"], "exists already; --force replaces it"),
        (["b.tar", "--python", "3"], "--python '3': allowed: a version such as 3.12"),
        (["b.tar", "--python", "3.9"], "dlbench needs Python 3.10 or later"),
        (["b.tar", "--wheel", "none.whl"], "--wheel none.whl: no such file"),
        (["b.tar", "--wheel", "there.tar"], "allowed: a wheel of dlbench, dlbench-VERSION-"),
    ],
)
def test_bad_use_is_one_line(
    words: list[str], message: str, wheels: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("there.tar").write_text("mine")
    assert cli.main(["bundle", *words, "--find-links", str(wheels)]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1
    assert Path("there.tar").read_text() == "mine"
    assert not Path("b.tar").exists()
