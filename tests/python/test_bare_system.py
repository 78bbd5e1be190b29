"""`packaging/try_wheels`, with the packages of this environment as its wheels: dlbench measures
without a compiler, a header, a network, and a package of the system."""

from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from dlbench import _worker

pytestmark = pytest.mark.process

ROOT = Path(__file__).resolve().parents[2]
NAMESPACES = ["unshare", "--map-root-user", "--net", "--mount", "--pid", "--fork"]


@pytest.fixture(autouse=True)
def namespaces() -> None:
    if not shutil.which("unshare"):
        pytest.skip("there is no unshare")
    script = "mount -t tmpfs none /mnt && mount -t proc proc /proc"
    done = subprocess.run(
        [*NAMESPACES, "sh", "-c", script], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        pytest.skip(f"namespaces are not allowed: {done.stderr.strip()}")


def needed(*wanted: str) -> Iterator[importlib.metadata.Distribution]:
    """The distributions of these requirements, and of theirs."""
    waiting, observed = [Requirement(one) for one in wanted], set()
    while waiting:
        now = waiting.pop()
        distribution = importlib.metadata.distribution(now.name)
        for extra in ("", *now.extras):
            if (now.name, extra) in observed:
                continue
            observed.add((now.name, extra))
            for line in distribution.requires or ():
                one = Requirement(line)
                if one.marker is None or one.marker.evaluate({"extra": extra}):
                    waiting.append(one)
        yield distribution


def write_wheel(distribution: importlib.metadata.Distribution, folder: Path) -> None:
    """A wheel with the files that are installed; pip makes its scripts again."""
    files = distribution.files or ()
    *_, tag = re.findall(r"^Tag: (\S+)$", distribution.read_text("WHEEL") or "", re.M)
    name = re.sub(r"[-_.]+", "_", distribution.name)
    path = folder / f"{name}-{distribution.version}-{tag}.whl"
    if path.exists():
        return
    with zipfile.ZipFile(path, "w") as archive:
        for file in files:
            if ".." not in file.parts and "__pycache__" not in file.parts and file.name != "RECORD":
                archive.write(str(file.locate()), str(file))
        (info,) = {file.parts[0] for file in files if file.parts[0].endswith(".dist-info")}
        archive.writestr(f"{info}/RECORD", "")


def copy_benchmark(folder: Path) -> bool:
    """Copies Google Benchmark's library if dlbench loads that of the system, as no wheel does."""
    module = _worker.__file__
    loaded = subprocess.run(["ldd", module], capture_output=True, text=True, check=True).stdout
    found = re.search(r"=> (\S*/libbenchmark\S*)", loaded)
    if found:
        shutil.copy(found[1], folder)
    return found is not None


def test_first_commands_on_a_bare_system(tmp_path: Path) -> None:
    for distribution in needed("dlbench[report]", "pytest"):
        write_wheel(distribution, tmp_path)
    shared = copy_benchmark(tmp_path)
    words = [ROOT / "packaging/try_wheels", tmp_path, sys._base_executable]
    environment = os.environ | {"LD_LIBRARY_PATH": str(tmp_path)}
    done = subprocess.run(words, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "first_commands: passed" in done.stderr
    if shared:  # what is not in the wheel is not there
        environment = {k: v for k, v in os.environ.items() if k != "LD_LIBRARY_PATH"}
        done = subprocess.run(words, capture_output=True, text=True, env=environment, check=False)
        assert done.returncode != 0
        assert "libbenchmark" in done.stderr


@pytest.mark.parametrize("planted", ["", "c++", "header", "network"])
def test_a_system_that_is_not_bare_is_refused(tmp_path: Path, planted: str) -> None:
    for tool in ("bash", "mktemp", "rm"):
        (tmp_path / tool).symlink_to(str(shutil.which(tool)))
    if planted == "c++":
        (tmp_path / "c++").symlink_to("/bin/true")
    header = "; : >/usr/include/stdio.h" if planted == "header" else ""
    if planted == "network" and len(Path("/proc/net/route").read_text().splitlines()) == 1:
        pytest.skip("there is no network")
    command = [
        *(word for word in NAMESPACES if word != "--net" or planted != "network"),
        "sh", "-c",
        f"mount -t proc proc /proc; mount -t tmpfs none /usr/include{header};"
        f" PATH={tmp_path} DLBENCH_BARE=yes exec bash {ROOT}/packaging/first_commands no-python",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    refused = "first_commands: not a bare system" in done.stderr
    assert refused is bool(planted), done.stderr
    assert ("no-python: command not found" in done.stderr) is not refused
