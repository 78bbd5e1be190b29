"""Effects of an import on other libraries: planted ones are found, and no others."""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from types import ModuleType

import pytest

import planted
import samples
import whole
from dlbench import _worker, import_effects, loading
from dlbench.findings.import_effects import import_effects as import_effects_of
from typed import doc


def effects_of(code: str) -> dict[str, list[str]]:
    """In a process of its own, with NumPy there before."""
    script = f"""
import json, numpy
from dlbench import _worker, import_effects
before = import_effects.observe(_worker.process_state)
{textwrap.dedent(code)}
after = import_effects.observe(_worker.process_state)
print(json.dumps(import_effects.compare(before, after)))
"""
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    found: dict[str, list[str]] = json.loads(ended.stdout)
    return found


CTYPES = "import ctypes; libc = ctypes.CDLL(None); libm = ctypes.CDLL('libm.so.6')\n"


@pytest.mark.process
def test_what_the_adapter_sets_is_no_effect_of_the_library(tmp_path: Path) -> None:
    (tmp_path / "theirs.py").write_text("import os\nos.environ['THEIRS'] = '1'\n")
    (tmp_path / "mine.py").write_text(
        "import os\nos.environ.setdefault('OURS', '1')\nimport theirs\nPROTOCOLS = {}\n"
    )
    script = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from dlbench import loading\n"
        f"print(loading.load_and_observe('consumer', 'mine', {str(tmp_path / 'mine.py')!r})[1])"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert ended.stdout == "{'environment': ['THEIRS']}\n", ended.stderr


@pytest.mark.process
@pytest.mark.parametrize(
    ("code", "kind", "names"),
    [
        ("import signal; signal.signal(signal.SIGUSR2, lambda *a: None)", "signals", ["SIGUSR2"]),
        ("import os; os.environ['PLANTED'] = '1'", "environment", ["PLANTED"]),
        (CTYPES + "libc.setenv(b'HIDDEN', b'1', 1)", "environment", ["HIDDEN"]),
        (CTYPES + "libm.fesetround(0xC00 if __import__('platform').machine() == 'x86_64'"
         " else 0xC00000)", "arithmetic", ["rounding is towards 0"]),
        ("import gc; gc.set_threshold(5)", "interpreter", ["gc.get_threshold()"]),
        ("import sys; sys.excepthook = lambda *a: None", "interpreter", ["sys.excepthook"]),
        ("numpy.array = lambda *a: None", "functions", ["numpy.array"]),
        ("import builtins; builtins.hex = lambda *a: None", "functions", ["builtins.hex"]),
        ("import os; os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])", "processors",
         ["1"]),
        ("import threading, time; threading.Thread(target=time.sleep, args=(9,), daemon=True)"
         ".start()", "threads", []),
    ],
)  # fmt: skip
def test_a_planted_change_is_found(code: str, kind: str, names: list[str]) -> None:
    if kind == "processors" and len(os.sched_getaffinity(0)) == 1:
        pytest.skip("one processor only")
    found = effects_of(code)
    if kind == "threads":
        assert len(found[kind]) == 1
        assert found[kind][0].startswith("1 ")
    else:
        assert found[kind] == names
    found.pop(kind)
    assert found == {}


@pytest.mark.process
@pytest.mark.parametrize("code", ["", "import decimal", "import xml.dom", "numpy.new = len"])
def test_an_honest_import_changes_nothing(code: str) -> None:
    assert effects_of(code) == {}


@pytest.mark.process
def test_a_worker_imports_without_collections(tmp_path: Path) -> None:
    folder = planted.plant(tmp_path / "adapters")
    adapter = folder / "producers/mine.py"
    state = 'VERSION = f"{gc.get_threshold()[0]} {gc.isenabled()}"\n'
    adapter.write_text(adapter.read_text() + "\nimport gc\n" + state)
    words = ["--matrix", "--adapters", str(folder), "--producers", "mine", "--consumers", "mine"]
    words += ["--replicas", "1", "--sizes", "4KiB", "--no-plots", "--quiet"]
    assert whole.run(tmp_path, *words, "--out", str(tmp_path / "run"))[0] == 0
    found = whole.document(tmp_path)["context"]["dlbench"]["environments"]["default"]
    assert found["libraries"]["mine"] == "0 True"
    assert not found.get("import_effects", {}).get("mine", {}).get("interpreter")


def test_nothing_happens_between_two_observations() -> None:
    before = import_effects.observe(_worker.process_state)
    after = import_effects.observe(_worker.process_state)
    assert import_effects.compare(before, after) == {}


def test_all_signals_are_seen() -> None:
    observed = import_effects.observe(_worker.process_state)["signals"]
    assert {str(int(signal.SIGSEGV)), str(int(signal.SIGINT))} <= observed.keys()


def test_a_variable_that_is_removed_is_found() -> None:
    before: import_effects.State = {"environment": {"A": "1", "B": "2"}}
    after: import_effects.State = {"environment": {"A": "1"}}
    assert import_effects.compare(before, after) == {"environment": ["B"]}


class Lazy:
    """What packages put in the place of a module that is loaded at its first use."""

    @property
    def __class__(self) -> type:
        raise ImportError("loaded by the observation")

    def __call__(self) -> None:
        """So that it counts as a function."""


def test_a_lazy_value_is_not_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("planted_lazily")
    module.value = Lazy()  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "planted_lazily", module)
    observed = import_effects.observe(_worker.process_state)["functions"]
    assert "planted_lazily.value" in observed


def test_a_process_that_cannot_be_observed_costs_the_effects_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(process_state: object) -> import_effects.State:
        raise RuntimeError("of another package")

    monkeypatch.setattr(import_effects, "observe", fail)
    adapter = tmp_path / "mine.py"
    adapter.write_text("FOUND = 1\n")
    module, effects, seconds = loading.load_and_observe("producer", "mine", str(adapter))
    assert (module.FOUND, effects) == (1, {})
    assert seconds > 0


def test_a_setting_that_changes_is_found() -> None:
    kept = gc.get_threshold()
    before = import_effects.observe(_worker.process_state)
    gc.set_threshold(kept[0] + 1, *kept[1:])
    try:
        after = import_effects.observe(_worker.process_state)
    finally:
        gc.set_threshold(*kept)
    assert import_effects.compare(before, after) == {"interpreter": ["gc.get_threshold()"]}


def test_the_finding_names_what_weighs() -> None:
    effects = {
        "quiet": {"threads": ["12 pool"], "thread-pools": ["libgomp.so.1"]},
        "loud": {"signals": ["SIGSEGV"], "environment": ["A", "B", "C", "D"]},
    }
    own = samples.document(samples.measured("numpy", "numpy", 100.0))
    own["context"]["dlbench"]["environments"]["default"]["import_effects"] = effects
    (found,) = import_effects_of(doc(own))
    assert found.label == "imports"
    assert found.text == "loud handles SIGSEGV, sets A, B, C and 1 more"
    assert list(import_effects_of(doc(samples.pair()))) == []
