"""`tests/gpu/run` itself, on the simulated driver: that its lines say what happened."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

import fakes

HERE = Path(__file__).resolve().parents[1] / "gpu"


@pytest.fixture
def lines() -> ModuleType:
    spec = importlib.util.spec_from_file_location("gpu_lines", HERE / "lines.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["gpu_lines"] = module
    spec.loader.exec_module(module)
    return module


def run(out: Path, lines: ModuleType, monkeypatch: pytest.MonkeyPatch, **more: str) -> list[str]:
    for key, value in fakes.environment(DLBENCH_GPU_BUDGET="15s", **more).items():
        monkeypatch.setenv(key, value)
    monkeypatch.setattr(lines, "LIBRARIES", ("native",))
    monkeypatch.setattr(lines, "SIZES", "4KiB,1MiB")
    # The driver of this very process was chosen when it started.
    monkeypatch.setattr(lines, "STEPS", [step for step in lines.STEPS if step != lines.driver])
    out.mkdir()
    status = lines.main(out)
    told = (out / "lines.txt").read_text().splitlines()
    assert status == (1 if any(line.startswith("fail") for line in told) else 0)
    return told


@fakes.needs_fakes
def test_every_line_passes_on_a_device_that_works(
    tmp_path: Path, lines: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = run(tmp_path / "out", lines, monkeypatch)
    assert not [line for line in told if line.startswith("fail")], told
    assert told[-1] == "all good"
    for wanted in ("native dlpack:", "native cuda:0+cpu:", "f32-pinned:", "f32-managed:"):
        assert [line for line in told if line.startswith(f"pass  {wanted}")], (wanted, told)
    document = json.loads((tmp_path / "out/results.json").read_text())
    assert {e["device"] for e in document["benchmarks"]} >= {"cuda:0", "cuda:0+cpu", "cpu+cuda:0"}


@fakes.needs_fakes
def test_a_device_that_fails_is_lines_that_fail(
    tmp_path: Path, lines: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = run(tmp_path / "out", lines, monkeypatch, DLBENCH_FAKE_FAIL="cuMemAlloc=2")
    failed = [line for line in told if line.startswith("fail")]
    assert any("native dlpack" in line for line in failed), told
    assert told[-1] == f"{len(failed)} failed"
