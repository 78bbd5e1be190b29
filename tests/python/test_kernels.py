"""The delay kernels through the vendors' own compilers, where these are installed."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from pathlib import Path

import pytest

KERNELS = Path(__file__).parents[2] / "harness/device/kernels"
NAME = b"dlbench_delay"


@pytest.mark.skipif(shutil.which("ptxas") is None, reason="no ptxas here (CUDA toolkit)")
@pytest.mark.parametrize("number", [75, 80, 86, 89, 90, 100, 103, 120, 121])
def test_the_ptx_assembles(number: int, tmp_path: Path) -> None:
    known = subprocess.run(["ptxas", "--help"], capture_output=True, text=True, check=True).stdout
    if f"'sm_{number}'" not in known:
        pytest.skip(f"this ptxas knows no sm_{number}")
    made = tmp_path / "delay.cubin"
    words = ["ptxas", "-Werror", f"-arch=sm_{number}", str(KERNELS / "delay.ptx"), "-o", str(made)]
    ended = subprocess.run(words, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert NAME in made.read_bytes()


@pytest.mark.skipif(shutil.which("hipcc") is None, reason="no hipcc here (Debian: hipcc)")
@pytest.mark.parametrize("name", ["gfx90a", "gfx1030"])
def test_the_hip_source_compiles(name: str, tmp_path: Path) -> None:
    made = tmp_path / "delay.co"
    words = ["hipcc", "--genco", f"--offload-arch={name}", "-Wall", "-Werror", "-o", str(made)]
    source = KERNELS / "delay.hip"
    # hipcc takes nvcc where it finds one, unless it is told.
    ended = subprocess.run(
        [*words, "-x", "hip", str(source)],
        capture_output=True,
        text=True,
        env={**os.environ, "HIP_PLATFORM": "amd"},
    )
    assert ended.returncode == 0, ended.stderr
    assert NAME in made.read_bytes()


def hiprtc() -> ctypes.CDLL | None:
    """The compiler that the library would take: of its own, or in a runtime before ROCm 7."""
    for name in ("libhiprtc.so.7", "libhiprtc.so.6", "libhiprtc.so.5", "libamdhip64.so.5"):
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


@pytest.mark.parametrize("name", ["gfx90a", "gfx1030"])
def test_the_hip_source_compiles_at_run_time(name: str) -> None:
    compiler = hiprtc()
    if compiler is None:
        pytest.skip("no hiprtc here (Debian: libamdhip64-5)")
    source = (KERNELS / "delay.hip").read_bytes()
    program = ctypes.c_void_p()
    none = (None, None)
    assert compiler.hiprtcCreateProgram(ctypes.byref(program), source, b"delay.hip", 0, *none) == 0
    options = (ctypes.c_char_p * 1)(f"--offload-arch={name}".encode())
    status = compiler.hiprtcCompileProgram(program, 1, options)
    size = ctypes.c_size_t()
    compiler.hiprtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value + 1)
    compiler.hiprtcGetProgramLog(program, log)
    assert status == 0, log.value.decode()
    assert compiler.hiprtcGetCodeSize(program, ctypes.byref(size)) == 0
    code = ctypes.create_string_buffer(size.value)
    assert compiler.hiprtcGetCode(program, code) == 0
    assert NAME in code.raw
    assert compiler.hiprtcDestroyProgram(ctypes.byref(program)) == 0
