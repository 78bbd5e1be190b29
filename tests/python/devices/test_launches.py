"""Calls that launch a kernel: on the fake CUDA driver, which runs the kernel itself and so proves
what a library passes to it. It is no runtime, which CuPy asks for, and loads no machine code, which
Triton and CuTe DSL make."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fakes
import whole
from dlbench import call_kernel
from dlbench.libraries import discover

pytestmark = pytest.mark.process

#: The outcome of each planted fault, and what its reason or a warning says.
OUTCOMES = {
    "honest": ("zero-copy", ""),
    "copies": ("copy", "call: copied arguments: 2"),
    "swaps": ("wrong", "call: argument 1 is array 2"),
    "skips": ("wrong", "call: the body ran 0 times in 1 call"),
    "twice": ("wrong", "call: the body ran 2 times in 1 call"),
    "keeps": ("wrong", "call: a later call passed other arrays to the body"),
    "kernel-swaps": ("wrong", "call: argument 1 is array 2"),
    "kernel-unknown": ("refused", "CUDA_ERROR_NOT_SUPPORTED"),
}
#: cuda.core's launch with planted faults, and without.
PLANTED = f"""
from dlbench import _native_producer
from dlbench.loading import load_adapter

DISTRIBUTION = "cuda-core"
core = load_adapter("consumer", "cuda_core", {str(discover.PACKAGE / "consumers/cuda_core.py")!r})
plain, given = core.ptx, []
LAUNCHES = {dict.fromkeys(OUTCOMES, "cuda")}

def launch(arrays, text=None):
    core.ptx = lambda arrays: text(plain(arrays)) if text else plain(arrays)
    return core.launching(arrays, "_.__cuda_array_interface__['data'][0]")

def swapped(arrays):
    function = launch(arrays)
    return lambda a, b: function(b, a)

def copied(arrays):
    function, other = launch(arrays), _native_producer.DeviceArray(bytes(1024), "cuda:0")
    return lambda a, b: function(a, other)

def doubled(arrays):
    function = launch(arrays)
    return lambda *all: (function(*all), function(*all))

def kept(arrays):
    function = launch(arrays)
    def call(*all):
        given.append(all)
        function(*(all if len(given) < 9 else given[0]))
    return call

def exchanged(text):
    return text.replace("[a0]", "[x]").replace("[a1]", "[a0]").replace("[x]", "[a1]")

CALLS = {{
    "honest": {{"call": launch}},
    "copies": {{"call": copied}},
    "swaps": {{"call": swapped}},
    "skips": {{"call": lambda arrays: lambda *all: None}},
    "twice": {{"call": doubled}},
    "keeps": {{"call": kept}},
    "kernel-swaps": {{"call": lambda arrays: launch(arrays, exchanged)}},
    "kernel-unknown": {{"call": lambda arrays: launch(arrays, lambda t: t.replace("mad", "sad"))}},
}}
PROTOCOLS = {{}}
"""
#: The fake driver loads no machine code: Numba's kernel stays as it was before ptxas.
NUMBA = """
from cuda.core import ObjectCode
from numba import cuda
from numba.cuda.codegen import CUDACodeLibrary
CUDACodeLibrary.get_cubin = lambda own, cc=None: ObjectCode.from_ptx(own.get_asm_str(cc).encode())
"""


def needs(module: str, package: str) -> None:
    found = importlib.util.find_spec(module)
    if found is None or package not in str(found.origin):
        pytest.skip(f"{package} is not installed, or not in place of {module}")


def needs_compilers() -> None:
    """Numba's: without a toolkit in this environment it makes no kernel."""
    from cuda import pathfinder

    for library in ("nvrtc", "nvvm"):
        try:
            pathfinder.load_nvidia_dynamic_lib(library)
        except pathfinder.DynamicLibNotFoundError as error:
            pytest.skip(str(error))


def entries(folder: Path, *words: str, environment: Any, out: str = "run") -> list[dict[str, Any]]:
    """The cells by the clock `call` of a run of calls."""
    words = ("--calls", *words, "--adapters", str(folder), *whole.QUICK, "--quiet", "--out", out)
    status, _, err = whole.run(folder, *words, environment=environment)
    assert (folder / out / "results.json").exists(), err
    document = whole.document(folder, out)
    assert status == whole.status_of(document), err
    return [cell for cell in whole.entries(document).values() if cell["clock"] == "call"]


def plant(folder: Path, name: str, text: str) -> None:
    (folder / "consumers").mkdir()
    (folder / "consumers" / f"{name}.py").write_text(text)


@fakes.needs_fakes
def test_what_reaches_a_kernel_is_proved(tmp_path: Path) -> None:
    needs("cuda.core", "cuda")
    plant(tmp_path, "planted", PLANTED)
    named = ",".join(f"planted:{fault}" for fault in OUTCOMES)
    words = ("--devices", "cuda:0", "--producers", "native", "--consumers", named)
    found = entries(tmp_path, *words, "--arrays", "2", environment=fakes.environment())
    assert len(found) == len(OUTCOMES)
    for cell in found:
        outcome, reason = OUTCOMES[cell["consumer"].partition(":")[2]]
        text = cell.get("reason", "") + str(cell.get("warnings", ""))
        assert (cell["outcome"], reason in text) == (outcome, True), cell
        assert ("values-not-checked" in text) == (outcome == "copy")


@fakes.needs_fakes
@pytest.mark.parametrize("consumer", ["cuda_core:launch", "numba:cuda.jit"])
def test_a_library_launches_a_kernel_with_each_array(tmp_path: Path, consumer: str) -> None:
    needs("cuda.core", "cuda")
    base = consumer.partition(":")[0]
    if base == "numba":
        needs("numba.cuda", "numba_cuda")
        needs_compilers()
        if not hasattr(np, "row_stack"):
            pytest.skip("numba-cuda 0.30 reads a name that NumPy 2.5 has not")
    text = (discover.PACKAGE / "consumers" / f"{base}.py").read_text()
    plant(tmp_path, base, NUMBA * (base == "numba") + text)
    words = ("--devices", "cuda:0", "--producers", "native", "--consumers", consumer)
    environment = fakes.environment()
    found = entries(tmp_path, *words, "--arrays", "0,1,20", environment=environment)
    assert sorted((cell.get("arrays", 1), cell["outcome"]) for cell in found) == [
        (0, "zero-copy"), (1, "zero-copy"), (20, "zero-copy"),
    ]  # fmt: skip
    status, script, err = whole.run(tmp_path, "repro", "run", "native", consumer, "call",
                                    "arrays:20", "--adapters", str(tmp_path))  # fmt: skip
    assert status == 0, err
    ended = subprocess.run([sys.executable, "-c", script], env=environment,
                           capture_output=True, text=True)  # fmt: skip
    assert "actual: zero-copy" in ended.stdout, ended


def launched(cells: list[dict[str, Any]]) -> list[tuple[str, ...]]:
    found = [cell for cell in cells if cell["consumer"] == "cuda_core:launch"]
    return [tuple(cell.get(key, "") for key in ("device", "outcome", "reason")) for cell in found]


def test_a_kernel_needs_a_device(tmp_path: Path) -> None:
    needs("cuda.core", "cuda")
    (tmp_path / "consumers").mkdir()
    words = ("--producers", "native", "--consumers", "cuda_core:launch,native", "--arrays", "1")
    here = entries(tmp_path, *words, environment={**os.environ, "LD_LIBRARY_PATH": ""})
    ((device, outcome, reason),) = launched(here)
    assert (device, outcome, reason.partition(":")[0]) == ("cpu", "no-device", "cuda")
    if fakes.FOLDER is None:
        return
    usual = entries(tmp_path, *words, environment=fakes.environment(), out="usual")
    assert launched(usual) == [("cuda:0", "zero-copy", "")]
    words += ("--devices", "cpu")
    named = entries(tmp_path, *words, environment=fakes.environment(), out="named")
    reason = "cuda_core:launch launches kernels on cuda: add --devices cuda"
    assert launched(named) == [("cpu", "no-device", reason)]


@pytest.mark.parametrize("arrays", [0, 3])
def test_the_statements_of_a_kernel_record_a_call(arrays: int) -> None:
    places = [16 * (i + 1) for i in range(arrays)]
    r = dict.fromkeys(range(call_kernel.LAST + arrays), 0)
    text = call_kernel.statements(arrays, "_")
    names = {f"a{i}": place for i, place in enumerate(places)}
    for _ in range(2):
        exec(text, names | {"r": r})
    total = 2 * sum(place * (2 * i + 1) for i, place in enumerate(places))
    assert [*r.values()] == [2, total, arrays, *places]
