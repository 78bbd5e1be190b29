"""The delay kernels through the vendors' own compilers, where these are installed."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
from pathlib import Path

import machine_code
import pytest

pytestmark = pytest.mark.process

KERNELS = Path(__file__).parents[3] / "harness/core/device/kernels"
NAME = b"dlbench_delay"

needs_ptxas = pytest.mark.skipif(
    machine_code.ptxas() is None, reason="no ptxas here (CUDA toolkit, or pip's nvidia-cuda-nvcc)"
)
needs_nvdisasm = pytest.mark.skipif(
    machine_code.nvdisasm() is None,
    reason="no nvdisasm here (CUDA toolkit, or pip's nvidia-cuda-nvdisasm)",
)


def assemble(number: int, ptx: str, folder: Path) -> Path:
    ptxas = str(machine_code.ptxas())
    known = subprocess.run([ptxas, "--help"], capture_output=True, text=True, check=True).stdout
    if f"'sm_{number}'" not in known:
        pytest.skip(f"this ptxas knows no sm_{number}")
    source, made = folder / "delay.ptx", folder / "delay.cubin"
    source.write_text(ptx)
    words = [ptxas, "-Werror", f"-arch=sm_{number}", str(source), "-o", str(made)]
    ended = subprocess.run(words, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    return made


def ptx() -> str:
    return (KERNELS / "delay.ptx").read_text()


@needs_ptxas
@pytest.mark.parametrize("number", [75, 80, 86, 89, 90, 100, 103, 120, 121])
def test_the_ptx_assembles(number: int, tmp_path: Path) -> None:
    assert NAME in assemble(number, ptx(), tmp_path).read_bytes()


@needs_ptxas
@needs_nvdisasm
@pytest.mark.parametrize("number", [75, 80, 90, 100, 120])
def test_the_ptx_waits_stores_and_stamps_in_this_order(number: int, tmp_path: Path) -> None:
    assert machine_code.faults(machine_code.read_sass(assemble(number, ptx(), tmp_path))) == []


READ = "  mov.u64 %now, %globaltimer;\n"
STORE = "  st.volatile.u32 [%out], %value;\n  membar.sys;\n"


def replace(text: str, old: str, new: str, times: int = 1) -> str:
    assert old in text
    return text.replace(old, new, times)


#: What is planted in the PTX, and what the machine code is then accused of.
PLANTED_IN_PTX = {
    # ptxas and clang drop a loop whose end is known before it.
    "the clock is read before the wait": (
        lambda text: replace(text, "WAIT:\n" + READ, READ + "WAIT:\n"),
        "0 loops instead of one",
    ),
    "the wait polls memory": (
        lambda text: replace(text, READ, "  ld.volatile.u64 %now, [%stamps];\n"),
        "the wait does not read the clock",
    ),
    "no wait": (
        lambda text: replace(text, "  @%more bra WAIT;\n", ""),
        "0 loops instead of one",
    ),
    "the value is stored last": (
        lambda text: replace(replace(text, STORE, ""), "END:\n", STORE + "END:\n"),
        "the value is stored after a stamp",
    ),
    "the end is read first": (
        lambda text: replace(text, READ + "  st.", "  st.").replace(
            "  setp.eq.u64 %none, %out, 0;\n", READ + "  setp.eq.u64 %none, %out, 0;\n"
        ),
        "the end is read before the value is stored",
    ),
    "the end is read between the stamps": (
        lambda text: replace(text, READ + "  st.", "  st.").replace(
            "  st.volatile.u64 [%stamps+8]", READ + "  st.volatile.u64 [%stamps+8]"
        ),
        "the end is read after a stamp is stored",
    ),
    "no fence": (
        lambda text: replace(text, "  membar.sys;\n", ""),
        "nothing makes the value visible before the end is read",
    ),
}


@needs_ptxas
@needs_nvdisasm
@pytest.mark.parametrize("number", [75, 90, 120])
@pytest.mark.parametrize("name", PLANTED_IN_PTX)
def test_a_fault_in_the_ptx_is_found(number: int, name: str, tmp_path: Path) -> None:
    plant, fault = PLANTED_IN_PTX[name]
    cubin = assemble(number, plant(ptx()), tmp_path)
    assert fault in machine_code.faults(machine_code.read_sass(cubin))


@pytest.mark.skipif(shutil.which("hipcc") is None, reason="no hipcc here (Debian: hipcc)")
@pytest.mark.parametrize("name", ["gfx90a", "gfx1030"])
def test_the_hip_source_compiles(name: str, tmp_path: Path) -> None:
    made = tmp_path / "delay.co"
    words = ["hipcc", "--genco", f"--offload-arch={name}", "-Wall", "-Werror", "-o", str(made)]
    source = KERNELS / "delay.hip"
    # hipcc uses nvcc if it finds one, unless an option prevents that.
    ended = subprocess.run(
        [*words, "-x", "hip", str(source)],
        capture_output=True,
        text=True,
        env={**os.environ, "HIP_PLATFORM": "amd"},
    )
    assert ended.returncode == 0, ended.stderr
    assert NAME in made.read_bytes()


def newest_clang() -> int:
    """The version of a clang with its linker and disassembler that knows gfx942 and gfx1100 and has
    the builtin for their clock; 0: none."""
    tools = ("clang-{}", "ld.lld-{}", "llvm-objdump-{}", "llvm-readelf-{}")
    versions = range(30, 18, -1)
    return next((n for n in versions if all(shutil.which(t.format(n)) for t in tools)), 0)


CLANG = newest_clang()

needs_clang = pytest.mark.skipif(
    CLANG == 0, reason="no clang 19 or newer here (Debian: clang-19 lld-19 llvm-19)"
)

#: What hiprtc includes by itself, as far as the kernel uses it. The clock is what HIP's device
#: library makes of wall_clock64(): the builtin of clang that reads the steady counter.
RUNTIME_HEADER = """
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
static __device__ inline long long wall_clock64() {
  return static_cast<long long>(__builtin_readsteadycounter());
}
static __device__ inline void __threadfence_system() {
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "");
}
"""


def hip_source() -> str:
    return (KERNELS / "delay.hip").read_text()


def compile_hip(arch: str, source: str, folder: Path) -> Path:
    """A code object, without HIP's headers and libraries."""
    (folder / "runtime.h").write_text(RUNTIME_HEADER)
    (folder / "delay.hip").write_text(source)
    made = folder / "delay.co"
    words = [f"clang-{CLANG}", "-x", "hip", "--cuda-device-only", "--no-gpu-bundle-output"]
    words += [f"--offload-arch={arch}", "-nogpuinc", "-nogpulib", "-O3", "-Wall", "-Werror"]
    words += ["-D__HIPCC_RTC__", "-include", str(folder / "runtime.h")]
    words += [str(folder / "delay.hip"), "-o", str(made)]
    ended = subprocess.run(words, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    return made


def metadata(code: Path) -> str:
    words = [f"llvm-readelf-{CLANG}", "--notes", str(code)]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


@needs_clang
@pytest.mark.parametrize("arch", ["gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201"])
def test_the_code_object_is_what_the_launch_passes(arch: str, tmp_path: Path) -> None:
    notes = metadata(compile_hip(arch, hip_source(), tmp_path))
    assert re.findall(r"amdhsa\.target: +(\S+)", notes) == [f"amdgcn-amd-amdhsa--{arch}"]
    assert re.findall(r"\.name: +(\S+)", notes) == [NAME.decode()]
    arguments = re.findall(r"\.offset: +(\d+)\s+\.size: +(\d+)\s+\.value_kind: +(\S+)", notes)
    # ns, stamps, out, value, khz; the kernel has no hidden argument.
    assert [(int(offset), int(size)) for offset, size, _ in arguments] == [
        (0, 8),
        (8, 8),
        (16, 8),
        (24, 4),
        (32, 8),
    ]
    assert not any(kind.startswith("hidden") for *_, kind in arguments)
    assert re.findall(r"\.kernarg_segment_size: +(\d+)", notes) == ["40"]


def hip_faults(arch: str, source: str, folder: Path) -> list[str]:
    code = compile_hip(arch, source, folder)
    return machine_code.faults(machine_code.read_amd(f"llvm-objdump-{CLANG}", code))


@needs_clang
@pytest.mark.parametrize("arch", ["gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201"])
def test_the_hip_code_waits_stores_and_stamps_in_this_order(arch: str, tmp_path: Path) -> None:
    assert hip_faults(arch, hip_source(), tmp_path) == []


WAIT = "  while (ticks() - begin < wanted) {\n  }\n"
HIP_STORE = """  if (out != nullptr) {
    *out = value;
    __threadfence_system();
  }
"""

PLANTED_IN_HIP = {
    "the clock is read before the wait": (
        lambda text: replace(
            text, WAIT, "  const auto now = ticks();\n  while (now - begin < wanted) {\n  }\n"
        ),
        "0 loops instead of one",
    ),
    "the wait polls memory": (
        lambda text: replace(text, WAIT, WAIT.replace("ticks()", "stamps[0]")),
        "the wait does not read the clock",
    ),
    "the value is stored last": (
        lambda text: replace(text, HIP_STORE, "").rstrip().removesuffix("}") + HIP_STORE + "}\n",
        "the value is stored after a stamp",
    ),
    "the end is read first": (
        lambda text: replace(
            replace(text, "    const unsigned long long end = ticks();", "    "),
            HIP_STORE,
            "  const unsigned long long end = ticks();\n" + HIP_STORE,
        ),
        "the end is read before the value is stored",
    ),
    "no fence": (
        lambda text: replace(
            replace(text, "    __threadfence_system();\n", ""),
            "volatile unsigned* out",
            "unsigned* out",
        ),
        "nothing makes the value visible before the end is read",
    ),
    "a division in the wait": (
        lambda text: replace(
            text, WAIT, "  while (in_ns(ticks() - begin, khz) < in_ns(wanted, khz)) {\n  }\n"
        ),
        "the wait is long",
    ),
    "a division before the end is read": (
        lambda text: replace(
            replace(text, "    const unsigned long long end = ticks();", "   "),
            "in_ns(end, khz)",
            "in_ns(ticks(), khz)",
        ),
        "the end is read after a stamp is stored",
    ),
}


@needs_clang
@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("name", PLANTED_IN_HIP)
def test_a_fault_in_the_hip_source_is_found(arch: str, name: str, tmp_path: Path) -> None:
    plant, fault = PLANTED_IN_HIP[name]
    assert any(fault in found for found in hip_faults(arch, plant(hip_source()), tmp_path))


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
