"""`bootstrap` with a planted PATH and planted files of drivers: which extras it installs, what it
says of a GPU. Nothing is installed: the environment's Python writes down its arguments."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

tomllib = pytest.importorskip("tomllib")
ROOT = Path(__file__).resolve().parents[3]
#: Writes the file of a wheel into the folder that an option names.
MAKE = """make() { # OPTION ARGUMENT...
  local option=$1 before=
  for word; do
    [ "$before" != "$option" ] || echo >"$word/dlbench-made.whl"
    before=$word
  done
}"""
#: Python with a pip that builds a wheel, downloads none, and installs nothing.
PYTHON = f"""{MAKE}
echo "$@" >>"$DLBENCH_VENV/asked"
case "$2 $3" in *platform.machine*) echo 'cp311-cp311-*_x86_64'; exit ;; esac
[ "$1" = -m ] || exit 1
case $3 in wheel) make --wheel-dir "$@" ;; download) exit 1 ;; esac"""


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A machine with a compiler, no apt-get, and an environment that is already there."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for tool in ("bash", "dirname", "cat", "env", "find", "mktemp", "rm", "sleep"):
        found = shutil.which(tool)
        assert found
        (tools / tool).symlink_to(found)
    plant(tools / "c++", "exit 0")
    plant(tmp_path / "venv/bin/python", PYTHON)
    return tmp_path


def plant(path: Path, script: str = "") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/usr/bin/env bash\n{script}\n")
    path.chmod(0o755)


def bootstrap(machine: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("DLBENCH_")}
    environment |= {
        "PATH": str(machine / "bin"),
        "DLBENCH_VENV": str(machine / "venv"),
        "DLBENCH_ROOT": str(machine / "root"),
        "DLBENCH_WHEELS": str(machine / "wheels"),
        "TMPDIR": str(machine),
    }
    return subprocess.run(
        [str(ROOT / "bootstrap"), *words],
        capture_output=True,
        text=True,
        env=environment | more,
        check=False,
    )


def installed(machine: Path) -> list[str]:
    requested = (machine / "venv/asked").read_text().splitlines()
    lines = [line for line in requested if line.startswith("-m pip install -c")]
    # The folder of a wheel that was built or downloaded has a random name.
    return [re.sub(r" \S*/dlbench-made.whl", " MADE", line) for line in lines]


@pytest.mark.parametrize(
    ("words", "extras", "constraints"),
    [
        ([], "libraries,on-top,report", "constraints.txt"),
        (["--cuda"], "libraries,on-top,report,cuda", "constraints-cuda.txt"),
        (["--rocm"], "on-top,report,rocm", "constraints-rocm.txt"),
    ],
)
def test_each_option_has_its_extras(
    machine: Path, words: list[str], extras: str, constraints: str
) -> None:
    assert bootstrap(machine, *words).returncode == 0
    assert installed(machine) == [f"-m pip install -c {constraints} MADE[{extras}]"]
    names = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert set(extras.split(",")) <= names["optional-dependencies"].keys()
    assert (ROOT / constraints).exists()


TAG = "cp311-cp311"
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]


def plant_wheel(machine: Path, tag: str = TAG, version: str | None = None) -> Path:
    """A wheel of this checkout's version for that Python."""
    wheel = machine / f"wheels/dlbench-{version or VERSION}-{tag}-manylinux_2_28_x86_64.whl"
    plant(wheel)
    return wheel


def test_a_wheel_for_this_python_is_used_without_a_compiler(machine: Path) -> None:
    wheel = plant_wheel(machine)
    (machine / "bin/c++").unlink()
    done = bootstrap(machine)
    assert (done.returncode, done.stderr) == (0, "")
    assert installed(machine) == [
        f"-m pip install -c constraints.txt {wheel}[libraries,on-top,report]"
    ]
    assert f"dlbench from {wheel}" in done.stdout


@pytest.mark.parametrize(
    ("tag", "version"), [("cp312-cp312", None), ("cp311-cp311t", None), (TAG, "0.0.1")]
)
def test_a_wheel_of_another_python_or_version_is_not_used(
    machine: Path, tag: str, version: str | None
) -> None:
    plant_wheel(machine, tag, version)
    done = bootstrap(machine)
    assert (done.returncode, done.stderr) == (0, "")
    assert installed(machine) == ["-m pip install -c constraints.txt MADE[libraries,on-top,report]"]


def release(machine: Path, tag: str = f"v{VERSION}", changes: str = "") -> None:
    """The checkout has this tag, and these changes; pip can download a wheel."""
    plant(machine / "bin/git", f"case $1 in describe) echo {tag} ;; *) echo -n '{changes}' ;; esac")
    python = PYTHON.replace("download) exit 1", 'download) make --dest "$@"')
    plant(machine / "venv/bin/python", python)


def test_a_release_uses_the_published_wheel(machine: Path) -> None:
    release(machine)
    (machine / "bin/c++").unlink()
    done = bootstrap(machine)
    assert (done.returncode, done.stderr) == (0, "")
    assert "dlbench from the published dlbench-made.whl" in done.stdout
    assert installed(machine) == ["-m pip install -c constraints.txt MADE[libraries,on-top,report]"]
    requested = (machine / "venv/asked").read_text()
    assert f"--only-binary :all: --dest {machine}" in requested
    assert f" dlbench=={VERSION}\n" in requested
    assert "pip wheel" not in requested


@pytest.mark.parametrize(
    ("words", "more"),
    [
        ({"tag": "v0.0.1"}, {}),
        ({"changes": " M harness/dlbench/cli.py"}, {}),
        ({}, {"DLBENCH_WHEELS": ""}),
    ],
)
def test_other_sources_are_built(
    machine: Path, words: dict[str, str], more: dict[str, str]
) -> None:
    release(machine, **words)
    assert "dlbench, built here" in bootstrap(machine, **more).stdout
    requested = (machine / "venv/asked").read_text()
    assert "pip download" not in requested
    assert "pip wheel" in requested


def plant_debian(machine: Path, user: int = 1000) -> None:
    """Debian with a compiler that finds no header, without sudo; apt-get writes its arguments."""
    plant(machine / "bin/apt-get", f'echo "$@" >>{machine}/apt')
    plant(machine / "bin/dpkg-query")
    plant(machine / "bin/id", f"echo {user}")
    plant(machine / "bin/c++", "exit 1")
    answer = f"*Python.h*) echo 3.12 {machine}/Python.h; exit ;; *platform.machine*"
    plant(machine / "venv/bin/python", PYTHON.replace("*platform.machine*", answer))


def test_without_root_it_names_all_that_is_missing_in_one_line(machine: Path) -> None:
    plant_debian(machine)
    done = bootstrap(machine)
    assert (done.returncode, done.stderr) == (
        2,
        "bootstrap: packages are missing; run as root: apt-get install valgrind libbenchmark-dev"
        " python3-dev\n",
    )
    assert installed(machine) == []
    plant(machine / "bin/sudo", "exit 1")  # it wants a password, and there is no terminal
    assert bootstrap(machine).stderr == done.stderr
    assert not (machine / "apt").exists()
    plant(machine / "bin/sudo", '[ "$1" = -n ] || "$@"')
    assert bootstrap(machine).returncode == 2  # of the header that apt-get did not bring
    assert "valgrind libbenchmark-dev python3-dev" in (machine / "apt").read_text()


def test_root_installs_what_is_missing(machine: Path) -> None:
    plant_debian(machine, user=0)
    plant(machine / "Python.h")
    assert bootstrap(machine).returncode == 0
    update, install = (machine / "apt").read_text().splitlines()
    assert update == "update"
    assert install == "install -y --no-install-recommends valgrind libbenchmark-dev"


def test_a_build_that_fails_is_shown(machine: Path) -> None:
    broken = "wheel) echo 'no such header'; exit 1; "
    plant(machine / "venv/bin/python", PYTHON.replace("wheel) ", broken))
    done = bootstrap(machine)
    assert done.returncode == 1
    assert done.stderr == "no such header\nbootstrap: the build of dlbench failed\n"
    assert installed(machine) == []


def test_uv_installs_where_there_is_one(machine: Path) -> None:
    plant(machine / "bin/uv", f'{MAKE}\necho "$@" >>"$DLBENCH_VENV/uv"\nmake --out-dir "$@"')
    python = machine / "venv/bin/python"
    assert bootstrap(machine).returncode == 0
    build, install = (machine / "venv/uv").read_text().splitlines()
    assert re.fullmatch(rf"build --wheel --python {python} --out-dir \S+ \.", build)
    assert re.fullmatch(
        rf"pip install --python {python} -c constraints.txt --reinstall-package dlbench"
        r" \S+/dlbench-made.whl\[libraries,on-top,report\]",
        install,
    )
    assert bootstrap(machine, DLBENCH_PIP="pip").returncode == 0
    assert installed(machine) == ["-m pip install -c constraints.txt MADE[libraries,on-top,report]"]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--gpu"], "unknown option '--gpu'; allowed: --cuda, --rocm, --system, --help"),
        (["cuda"], "unknown option 'cuda'"),
        (["--cuda", "--rocm"], "--cuda and --rocm need separate environments"),
    ],
)
def test_wrong_usage_is_one_line(machine: Path, words: list[str], text: str) -> None:
    done = bootstrap(machine, *words)
    assert (done.returncode, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    assert line.startswith("bootstrap: ")
    assert text in line
    assert not (machine / "venv/asked").exists()


def test_constraints_agree_where_a_library_pins_another() -> None:
    """PyTorch's wheels pin the CUDA release that their packages come from, NVTX among them."""
    pins = dict(
        line.split(" #")[0].split(";")[0].strip().split("==")
        for name in ("constraints.txt", "constraints-cuda.txt", "constraints-rocm.txt")
        for line in (ROOT / name).read_text().splitlines()
        if "==" in line
    )
    release = pins["cuda-toolkit"].split(".")[:2]
    for package in ("nvidia-nvtx", "nvidia-cuda-nvcc", "nvidia-cuda-crt", "nvidia-nvjitlink"):
        assert pins[package].split(".")[:2] == release, package
    for plugin in ("jax-cuda13-plugin", "jax-cuda13-pjrt", "jax-rocm7-plugin", "jax-rocm7-pjrt"):
        assert pins[plugin] == pins["jax"]
