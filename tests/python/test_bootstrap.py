"""`bootstrap` with a planted PATH and planted files of drivers: which extras it installs, what it
says of a GPU. Nothing is installed: the environment's Python writes down its arguments. One test
runs pip itself."""

from __future__ import annotations

import http.server
import os
import platform
import re
import shutil
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

tomllib = pytest.importorskip("tomllib")
ROOT = Path(__file__).resolve().parents[2]
NO_TORCH_FOR_ROCM = (
    "bootstrap: torch for ROCm is not on the package index; to add it, see docs/how-to/gpu.md"
)


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


def test_the_systems_packages_alone(machine: Path) -> None:
    done = bootstrap(machine, "--system")
    assert (done.returncode, done.stderr) == (0, "")
    assert not (machine / "venv/asked").exists()


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


def test_a_wheel_that_is_older_than_the_sources_is_not_used(machine: Path) -> None:
    wheel = plant_wheel(machine)
    os.utime(wheel, (1e9, 1e9))
    done = bootstrap(machine)
    assert done.returncode == 0
    assert done.stderr == (
        f"bootstrap: {wheel} is older than the sources; building dlbench instead\n"
    )
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


def test_without_a_published_wheel_a_release_is_built(machine: Path) -> None:
    release(machine)
    plant(machine / "venv/bin/python", PYTHON)
    done = bootstrap(machine)
    assert (done.returncode, done.stderr) == (0, "")
    requested = (machine / "venv/asked").read_text()
    assert requested.index("pip download") < requested.index("pip wheel")


@pytest.fixture
def index(tmp_path: Path) -> Path:
    """A folder with a wheel of this version, `planted`."""
    folder = tmp_path / "simple/dlbench"
    folder.mkdir(parents=True)
    tag = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    path = folder / f"dlbench-{VERSION}-{tag}-{tag}-linux_{platform.machine()}.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("dlbench/__init__.py", "planted = True\n")
        info = f"dlbench-{VERSION}.dist-info"
        metadata = f"Metadata-Version: 2.1\nName: dlbench\nVersion: {VERSION}\nProvides-Extra: x\n"
        archive.writestr(f"{info}/METADATA", metadata)
        tags = f"Tag: {tag}-{tag}-linux_{platform.machine()}\n"
        archive.writestr(f"{info}/WHEEL", f"Wheel-Version: 1.0\nRoot-Is-Purelib: false\n{tags}")
        archive.writestr(f"{info}/RECORD", "")
    return folder


@pytest.fixture
def server(index: Path) -> Iterator[str]:
    """The address of a package index, on this machine."""

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *words: object) -> None:
            pass

    root = index.parents[1]
    with http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), lambda *words: Handler(*words, directory=str(root))
    ) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/simple"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("kind", ["folder", "server"])
def test_the_published_wheel_is_found(machine: Path, index: Path, server: str, kind: str) -> None:
    """By the real pip, of a folder and of an index that is served."""
    release(machine)
    (machine / "venv/bin/python").unlink()
    (machine / "bin/c++").unlink()
    more = {"PYTHON": sys.executable, "DLBENCH_EXTRAS": "x", "PIP_CONFIG_FILE": os.devnull}
    more |= {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "HOME": str(machine), "no_proxy": "*"}
    if kind == "folder":
        more |= {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(index)}
    else:
        more |= {"PIP_INDEX_URL": server, "PIP_FIND_LINKS": "", "PIP_EXTRA_INDEX_URL": ""}
    done = bootstrap(machine, **more)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"dlbench from the published dlbench-{VERSION}-cp" in done.stdout
    python = machine / "venv/bin/python"
    code = "import dlbench; print(dlbench.planted)"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"
    # Of another version there is nothing: it would be built, which wants a compiler.
    next(index.iterdir()).unlink()
    done = bootstrap(machine, **more)
    assert done.returncode == 2
    assert "no C++ compiler found" in done.stderr


def test_headers_that_are_missing_are_named_with_their_packages(machine: Path) -> None:
    answer = "*Python.h*) echo 3.12 /no/Python.h; exit ;; *platform.machine*"
    plant(machine / "venv/bin/python", PYTHON.replace("*platform.machine*", answer))
    done = bootstrap(machine)
    assert done.returncode == 2
    assert done.stderr == (
        "bootstrap: /no/Python.h is missing; install it: apt-get install python3.12-dev, dnf"
        " install python3.12-devel, conda install python, or brew install python\n"
    )
    assert installed(machine) == []


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


def test_without_root_it_goes_on_with_what_is_there(machine: Path) -> None:
    plant_debian(machine)
    plant(machine / "bin/c++")  # has all headers, from wherever
    plant(machine / "Python.h")
    done = bootstrap(machine)
    assert (done.returncode, done.stderr) == (
        0,
        "bootstrap: packages are missing; run as root: apt-get install valgrind\n",
    )
    plant(machine / "bin/valgrind")
    done = bootstrap(machine)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(installed(machine)) == 2
    assert not (machine / "apt").exists()


def test_root_installs_what_is_missing(machine: Path) -> None:
    plant_debian(machine, user=0)
    plant(machine / "Python.h")
    assert bootstrap(machine).returncode == 0
    update, install = (machine / "apt").read_text().splitlines()
    assert update == "update"
    assert install == "install -y --no-install-recommends valgrind libbenchmark-dev"


def test_a_long_command_says_how_far_it_is(machine: Path) -> None:
    slow = "wheel) echo '  [1/9] Building x'; echo '  [3/9] Building y'; sleep 0.5; "
    slow = PYTHON.replace("wheel) ", slow).replace(";; esac", ";; install) sleep 0.5 ;; esac")
    plant(machine / "venv/bin/python", slow)
    done = bootstrap(machine, DLBENCH_PROGRESS="0.1")
    assert done.returncode == 0
    assert re.search(r"^bootstrap: building dlbench: step 3/9, \d+ s so far$", done.stdout, re.M)
    assert re.search(r"^bootstrap: installing: \d+ s so far$", done.stdout, re.M)
    assert "Building x" not in done.stdout


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
    ("extras", "size"), [("libraries,report", "2.1 GB to download"), ("report", "200 MB")]
)
def test_the_size_is_reported_before_the_installation(
    machine: Path, extras: str, size: str
) -> None:
    plant(machine / "venv/bin/python", f"echo installs\n{PYTHON}")
    lines = bootstrap(machine, DLBENCH_EXTRAS=extras).stdout.splitlines()
    message = next(line for line in lines if size in line)
    assert lines.index(message) < lines.index("installs")


def test_named_extras_are_kept_beside_the_gpus(machine: Path) -> None:
    assert bootstrap(machine, "--cuda", DLBENCH_EXTRAS="test").returncode == 0
    assert installed(machine) == ["-m pip install -c constraints-cuda.txt MADE[test,cuda]"]


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
def test_a_machine_with_a_driver_is_reported_what_to_add(
    machine: Path, there: str, text: str
) -> None:
    assert bootstrap(machine).stderr == ""
    plant(machine / there)
    done = bootstrap(machine)
    [line] = done.stderr.splitlines()
    assert text in line
    assert done.returncode == 0


def test_what_is_missing_for_a_gpu_is_reported(machine: Path) -> None:
    [line] = bootstrap(machine, "--cuda").stderr.splitlines()
    assert line.startswith("bootstrap: no NVIDIA driver found, so cells on cuda will be no-device")
    first, second = bootstrap(machine, "--rocm").stderr.splitlines()
    assert first.startswith("bootstrap: no /dev/kfd found, so cells on rocm will be no-device")
    assert second == NO_TORCH_FOR_ROCM
    plant(machine / "root/dev/kfd")
    plant(machine / "bin/nvidia-smi")
    assert bootstrap(machine, "--cuda").stderr == ""
    assert bootstrap(machine, "--rocm").stderr == f"{NO_TORCH_FOR_ROCM}\n"
    plant(machine / "venv/bin/python", PYTHON.replace("|| exit 1", "|| exit 0"))  # of ROCm's torch
    assert bootstrap(machine, "--rocm").stderr == ""


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
