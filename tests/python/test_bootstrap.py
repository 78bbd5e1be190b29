"""`bootstrap` with a planted PATH and planted files of drivers: which extras it installs, what it
says of a GPU. Nothing is installed: the environment's Python writes down its arguments."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

tomllib = pytest.importorskip("tomllib")
ROOT = Path(__file__).resolve().parents[2]
NO_TORCH_FOR_ROCM = (
    "bootstrap: torch for ROCm is not on the package index; docs/how-to/gpu.md says how to add it"
)


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A machine with a compiler, no apt-get, and an environment that is already there."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for tool in ("bash", "dirname", "cat", "env"):
        found = shutil.which(tool)
        assert found
        (tools / tool).symlink_to(found)
    plant(tools / "c++", "exit 0")
    plant(tmp_path / "venv/bin/python", 'echo "$@" >>"$DLBENCH_VENV/asked"; [ "$1" = -m ]')
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
    }
    return subprocess.run(
        [str(ROOT / "bootstrap"), *words],
        capture_output=True,
        text=True,
        env=environment | more,
        check=False,
    )


def installed(machine: Path) -> list[str]:
    asked = (machine / "venv/asked").read_text().splitlines()
    return [line for line in asked if line.startswith("-m pip install -c")]


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
    assert installed(machine) == [f"-m pip install -c {constraints} .[{extras}]"]
    names = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert set(extras.split(",")) <= names["optional-dependencies"].keys()
    assert (ROOT / constraints).exists()


def test_the_systems_packages_alone(machine: Path) -> None:
    done = bootstrap(machine, "--system")
    assert (done.returncode, done.stderr) == (0, "")
    assert not (machine / "venv/asked").exists()


def test_named_extras_are_kept_beside_the_gpus(machine: Path) -> None:
    assert bootstrap(machine, "--cuda", DLBENCH_EXTRAS="test").returncode == 0
    assert installed(machine) == ["-m pip install -c constraints-cuda.txt .[test,cuda]"]


@pytest.mark.parametrize(
    ("there", "text"),
    [
        ("root/proc/driver/nvidia/version", "./bootstrap --cuda adds the GPU libraries"),
        ("root/usr/lib/x86_64-linux-gnu/libcuda.so.1", "./bootstrap --cuda adds"),
        ("root/usr/lib64/libcuda.so.1", "./bootstrap --cuda adds"),
        ("root/usr/lib/wsl/lib/libcuda.so.1", "./bootstrap --cuda adds"),
        ("bin/nvidia-smi", "./bootstrap --cuda adds"),
        ("root/dev/kfd", "./bootstrap --rocm installs its libraries"),
    ],
)
def test_a_machine_with_a_driver_is_told_what_to_add(machine: Path, there: str, text: str) -> None:
    assert bootstrap(machine).stderr == ""
    plant(machine / there)
    done = bootstrap(machine)
    [line] = done.stderr.splitlines()
    assert text in line
    assert done.returncode == 0


def test_what_is_missing_for_a_gpu_is_said(machine: Path) -> None:
    [line] = bootstrap(machine, "--cuda").stderr.splitlines()
    assert line.startswith("bootstrap: no NVIDIA driver found: cells on cuda will be no-device")
    first, second = bootstrap(machine, "--rocm").stderr.splitlines()
    assert first.startswith("bootstrap: no /dev/kfd found: cells on rocm will be no-device")
    assert second == NO_TORCH_FOR_ROCM
    plant(machine / "root/dev/kfd")
    plant(machine / "bin/nvidia-smi")
    assert bootstrap(machine, "--cuda").stderr == ""
    assert bootstrap(machine, "--rocm").stderr == f"{NO_TORCH_FOR_ROCM}\n"
    plant(machine / "venv/bin/python")  # its torch is ROCm's
    assert bootstrap(machine, "--rocm").stderr == ""


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--gpu"], "unknown option '--gpu'; expected --cuda, --rocm, --system or --help"),
        (["cuda"], "unknown option 'cuda'"),
        (["--cuda", "--rocm"], "--cuda and --rocm exclude each other"),
    ],
)
def test_wrong_usage_is_one_line(machine: Path, words: list[str], text: str) -> None:
    done = bootstrap(machine, *words)
    assert (done.returncode, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    assert line.startswith("bootstrap: ")
    assert text in line
    assert not (machine / "venv/asked").exists()


def test_the_help_names_each_option(machine: Path) -> None:
    done = bootstrap(machine, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    for word in ("--cuda", "--rocm", "--help", "DLBENCH_VENV", "DLBENCH_EXTRAS", "PYTHON"):
        assert word in done.stdout
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
