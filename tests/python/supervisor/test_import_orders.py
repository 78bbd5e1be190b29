"""The next run uses the orders of imports that failed, for the same versions."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from test_isolation import SEGFAULT

import whole
from dlbench import _core
from dlbench.environments.environment import here
from dlbench.libraries import discover
from dlbench.libraries.import_orders import ImportOrders

ADAPTER = "import {name}_library\nDISTRIBUTION = None\nVERSION = '1.0'\n"
MAKE = "def make(case, device):\n    return case.numpy()\n"
TAKE = 'import numpy as np\nPROTOCOLS = {"dlpack": np.from_dlpack}\n'


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "dlbench"


def orders_of(names: tuple[str, ...] = ("numpy", "bytearray")) -> ImportOrders:
    libraries = discover.libraries(discover.catalogue(None), names)
    axes = _core.Axes(producers=list(names), consumers=list(names))
    return ImportOrders(libraries, _core.make_plan(libraries, axes), [here()])


ORDER = _core.ImportOrder("default", "bytearray", "numpy", "crashed", "SIGSEGV")


def test_an_order_is_kept_with_its_date() -> None:
    assert orders_of().known() == []
    orders_of().keep([ORDER])
    (known,) = orders_of().known()
    assert (known.library, known.before, known.outcome) == ("bytearray", "numpy", "crashed")
    assert known.reason.startswith("SIGSEGV (observed on 20")


def test_another_version_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    orders_of().keep([ORDER])
    from dlbench.libraries import cache as kept

    monkeypatch.setattr(kept._core, "build_id", "another")
    assert orders_of().known() == []


def test_the_reverse_order_is_forgotten() -> None:
    orders_of().keep([ORDER])
    orders_of().keep([_core.ImportOrder("default", "numpy", "bytearray", "crashed", "SIGSEGV")])
    assert [one.library for one in orders_of().known()] == ["numpy"]


def test_a_time_out_may_be_the_machines() -> None:
    orders_of().keep([_core.ImportOrder("default", "numpy", "bytearray", "timed-out", "30 s")])
    assert orders_of().known() == []


BAD_OUTCOME = '{"outcome": "x", "reason": "", "observed": ""}'


@pytest.mark.parametrize("text", ["", "[]", BAD_OUTCOME, '{"outcome": "crashed"}', "\x00"])
def test_a_broken_file_is_none(text: str, cache: Path) -> None:
    orders_of().keep([ORDER])
    (file,) = cache.iterdir()
    file.write_text(text)
    assert orders_of().known() == []


def plant(folder: Path) -> None:
    """Two libraries of which `late` crashes after `early`; their versions are known."""
    modules = folder / "modules"
    modules.mkdir()
    (modules / "early_library.py").write_text("")
    crash = f"import sys\nif 'early_library' in sys.modules:\n    {SEGFAULT}\n"
    (modules / "late_library.py").write_text(crash)
    for name in ("early", "late"):
        text = ADAPTER.format(name=name)
        whole.plant(folder / "adapters", name, text + MAKE, text + TAKE)


@pytest.mark.process
def test_the_script_of_the_finding_fails_as_the_run_saw_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "modules"))
    status, _, err = whole.run(
        tmp_path, "early", "late", "--adapters", "adapters", "--protocols", "dlpack", "--sizes",
        "4KiB", "--out", "run", "--no-plots", "--precision", "50%", "--replicas", "1",
    )  # fmt: skip
    assert status == 0, err
    _, shown, _ = whole.run(tmp_path, "show", "run")
    assert "dlbench repro run early late --imports" in " ".join(shown.split())
    words = ("repro", "run", "early", "late", "--imports", "--adapters", "adapters")
    _, script, err = whole.run(tmp_path, *words)
    assert script.index("import early_library") < script.index("import late_library"), err
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert ended.returncode == 1
    assert "expected: exit status 0\nactual: SIGSEGV" in ended.stdout
    # The honest order, by the same script.
    names = {"early": "late", "late": "early"}
    swapped = re.sub("(early|late)_library", lambda found: names[found[1]] + "_library", script)
    honest = subprocess.run([sys.executable, "-c", swapped], capture_output=True, text=True)
    assert honest.returncode == 0
    assert "imported" in honest.stdout


@pytest.mark.process
def test_a_cell_whose_imports_worked_has_no_such_script(tmp_path: Path) -> None:
    words = ("numpy", "bytearray", "--protocols", "buffer", "--sizes", "4KiB", "--replicas", "1")
    assert whole.run(tmp_path, *words, "--out", "run", "--no-plots")[0] == 0
    status, _, err = whole.run(
        tmp_path, "repro", "run", "numpy", "bytearray", "buffer", "--imports"
    )
    assert status == 2
    assert "leave out --imports" in err
