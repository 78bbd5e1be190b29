"""Rules on the real native producer and consumer, in separate processes."""

from __future__ import annotations

import json
import signal
import threading
import time
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import other_pythons
import planted
from dlbench import _core
from dlbench.check import known, runner, section
from dlbench.check.rules import RULES
from dlbench.cli import main
from dlbench.errors import BadInput
from dlbench.libraries import discover
from rulebreaker.library import planted as rulebreaker

pytestmark = pytest.mark.process

SCHEMA = Path(__file__).parents[3] / "results" / "schema.json"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def results(library: runner.Library, *names: str) -> dict[str, runner.Result]:
    return runner.check(library, [RULES.by_name[name] for name in names], 20).results


def numpy() -> runner.Library:
    roles = discover.catalogue().roles("numpy")
    return runner.Library("numpy", roles["producer"].path, roles["consumer"].path)


def test_numpy_keeps_all_rules_but_two() -> None:
    found = runner.check(numpy(), list(RULES.by_name.values()))
    broken = {name for name, result in found.results.items() if result.outcome == "broken"}
    # It refuses with ValueError what the buffer protocol refuses with BufferError.
    assert broken == {"buffer.read-only", "buffer.contiguous"}
    assert found.starts == 2
    assert list(found.results) == list(RULES.by_name)


CRASHES = ("export.deleter-without-gil", "import.reversed", "import.major-version")


@pytest.mark.parametrize("name", CRASHES)
def test_a_rule_that_crashes_costs_one_start_and_no_other_rule(name: str) -> None:
    role = RULES.by_name[name].role
    mine = [rule for rule in RULES.by_name.values() if rule.role == role and rule.risky]
    found = runner.check(rulebreaker(f"breaks={name}"), mine)
    assert found.results[name].outcome == "broken"
    assert "SIG" in found.results[name].observed
    assert found.results[name].signal
    assert found.starts == 2
    others = [result for result in found.results.values() if result.rule != name]
    assert {result.outcome for result in others} <= {"holds", "not-applicable"}


@pytest.mark.parametrize(
    ("name", "outcome"), [("export.deleter-at-exit", "unclear"), ("import.alive-at-exit", "broken")]
)
def test_an_abort_at_exit_is_its_rules_result(name: str, outcome: str) -> None:
    (result,) = results(rulebreaker(f"breaks={name}"), name).values()
    assert (result.outcome, result.signal) == (outcome, "SIGABRT")
    (result,) = results(rulebreaker("honest"), name).values()
    assert result.outcome == "holds"


#: As a C library registers a function that fails at exit.
ABORT_AT_EXIT = "import ctypes; libc = ctypes.CDLL(None); libc['__cxa_atexit'](libc.abort, 0, 0)"


def own(folder: Path, consumer: str) -> runner.Library:
    planted.plant(folder)
    path = folder / "consumers" / "mine.py"
    path.write_text(consumer)
    return runner.Library("mine", None, path)


def test_a_library_that_dies_at_exit_anyway_is_not_blamed_for_the_exchange(folder: Path) -> None:
    library = own(
        folder,
        f"import numpy as np\n{ABORT_AT_EXIT}\nPROTOCOLS = {{'dlpack': np.from_dlpack}}\n",
    )
    (result,) = results(library, "import.alive-at-exit").values()
    assert result.outcome == "unclear"
    assert "without an exchange as well" in result.observed


BAD_END = f"""\
class Array:
    @property
    def __dlpack__(self):
        {ABORT_AT_EXIT}
        raise AttributeError("none")


def make(case, device):
    return Array()
"""


def test_a_bad_end_is_not_that_of_a_rule_that_did_not_apply(folder: Path) -> None:
    planted.plant(folder)
    path = folder / "producers" / "mine.py"
    path.write_text(BAD_END)
    library = runner.Library("mine", path, None)
    (result,) = results(library, "export.deleter-at-exit").values()
    assert (result.outcome, result.observed) == ("not-applicable", "its arrays have no __dlpack__")


def test_a_hang_is_its_rules_result(folder: Path) -> None:
    library = own(
        folder,
        "import time\nPROTOCOLS = {'dlpack': lambda x: time.sleep(60)}\n",
    )
    rules = [RULES.by_name["import.legacy"], RULES.by_name["import-buffer.values"]]
    found = runner.check(library, rules, 1.0)
    assert found.results["import.legacy"].outcome == "broken"
    assert "no answer in 1 s" in found.results["import.legacy"].observed
    assert found.results["import-buffer.values"].outcome == "not-applicable"


@pytest.mark.parametrize(
    ("making_s", "exporting_s", "outcome"), [(0.6, 0, "unclear"), (0, 60, "broken")]
)
def test_the_time_to_make_arrays_is_no_fault_of_a_rule(
    folder: Path, making_s: float, exporting_s: float, outcome: str
) -> None:
    planted.plant(folder)
    path = folder / "producers" / "mine.py"
    path.write_text(
        "import time\nclass Array:\n    def __dlpack__(self, **words):\n"
        f"        time.sleep({exporting_s})\n        raise BufferError('not today')\n"
        f"def make(case, device):\n    time.sleep({making_s})\n    return Array()\n"
    )
    rules = [RULES.by_name["export.refusal-type"], RULES.by_name["export.capsule"]]
    found = runner.check(runner.Library("mine", path, None), rules, 1.0)
    result = found.results["export.capsule"]
    assert (result.outcome, result.observed[:16]) == (outcome, "no answer in 1 s")


def test_a_rule_that_makes_many_slow_arrays_is_unclear(folder: Path) -> None:
    planted.plant(folder)
    path = folder / "producers" / "mine.py"
    path.write_text(
        "import time\ndef make(case, device):\n"
        "    time.sleep(0.2)\n    return memoryview(case.numpy())\n"
    )
    rules = [RULES.by_name["buffer.values"]]
    found = runner.check(runner.Library("mine", path, None), rules, 1.0)
    assert found.results["buffer.values"].outcome == "unclear"
    found = runner.check(runner.Library("mine", path, None), rules, 60.0)
    assert found.results["buffer.values"].outcome == "holds"


# Writes to all that could be a wire, prints a flood, and raises what no file can hold.
HOSTILE = """\
import os, stat
VERSION = "1 \\ud83d"
DISTRIBUTION = None

def make(case, device):
    for fd in range(3, 1024):
        try:
            mode = os.fstat(fd).st_mode
            if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
                os.write(fd, b"garbage\\n")
        except OSError:
            pass
    return case.numpy()
"""
SURROGATE = """\
import os
VERSION = "1 \\ud83d"
DISTRIBUTION = None

def make(case, device):
    os.write(1, b"y" * (1 << 20))
    raise ValueError("x \\ud83d y")
"""
# Sends a result of its own, with a long text.
LONG = """\
import json, os, stat
DISTRIBUTION = None

def make(case, device):
    result = {"rule": "buffer.length", "outcome": "broken", "observed": "x" * 3000}
    for fd in range(3, 1024):
        try:
            if stat.S_ISSOCK(os.fstat(fd).st_mode):
                os.write(fd, (json.dumps({"ok": result}) + "\\n").encode())
        except OSError:
            pass
    return case.numpy()
"""
UNFIT = "DISTRIBUTION = None\nraise ImportError('x \\ud83d')\ndef make(case, device): ...\n"


@pytest.mark.parametrize(
    ("end", "why"),
    [
        ("...", "its adapter's `make` returned None"),
        ("raise KeyError('x')", "no such array can be"),
    ],
)
def test_an_adapter_that_makes_no_array_is_no_library_without_faults(
    folder: Path, capsys: pytest.CaptureFixture[str], end: str, why: str
) -> None:
    (folder / "producers").mkdir()
    text = f"DISTRIBUTION = None\ndef make(case, device):\n    {end}\n"
    (folder / "producers" / "mine.py").write_text(text)
    assert run("mine", "--adapters", ".", "--only", "export.version-none", "--out", "out") == 2
    assert f"no rule about the producer could be judged: {why}" in capsys.readouterr().err


def test_a_library_that_makes_no_read_only_array_can_be_judged(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("ctypes", "--only", "buffer.values,import", "--out", "out") == 0
    assert "could be judged" not in capsys.readouterr().err


def test_a_hostile_library_spoils_its_own_rules_alone(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "producers").mkdir()
    for name, source in (("hostile", HOSTILE), ("surrogate", SURROGATE), ("unfit", UNFIT)):
        (folder / "producers" / f"{name}.py").write_text(source)
    names = ("hostile", "surrogate", "unfit", "bytearray")
    words = ("--adapters", ".", "--only", "buffer.length,export.copy-true", "--out", "out")
    assert run(*names, *words) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "hostile: no rule about the producer could be judged: its process was ended" in line
    assert "surrogate: no rule about the producer could be judged: no such array can be" in line
    assert "unfit cannot be imported" in line
    text = (folder / "out" / "results.json").read_text()
    _core.validate_document(str(folder / "out" / "results.json"))
    outcomes: dict[str, set[str]] = {}
    for entry in json.loads(text)["checks"]:
        outcomes.setdefault(entry["library"], set()).add(entry["outcome"])
    assert outcomes == {
        "hostile": {"unclear"},
        "surrogate": {"not-applicable"},
        "bytearray": {"holds", "not-applicable"},
    }


@pytest.mark.parametrize(
    ("source", "outcome"),
    [(HOSTILE, "unclear"), (LONG, "unclear"), (SURROGATE, "not-applicable")],
)
def test_what_could_not_be_judged_does_not_pass(
    folder: Path, capsys: pytest.CaptureFixture[str], source: str, outcome: str
) -> None:
    (folder / "producers").mkdir()
    (folder / "producers" / "mine.py").write_text(source)
    assert run("mine", "--adapters", ".", "--only", "buffer.length", "--out", "out") == 2
    (entry,) = json.loads((folder / "out" / "results.json").read_text())["checks"]
    assert entry["outcome"] == outcome
    assert len(entry["observed"]) < 2000
    assert len(capsys.readouterr().out) < 10_000


def test_a_repeated_library_is_checked_once(folder: Path) -> None:
    assert run("numpy", "bytearray", "numpy", "--only", "buffer.length", "--out", "out") == 0
    checks = json.loads((folder / "out" / "results.json").read_text())["checks"]
    assert [entry["library"] for entry in checks] == ["numpy", "bytearray"]


def test_a_rule_that_fails_itself_blames_nothing(folder: Path) -> None:
    library = own(
        folder,
        "class Odd:\n    shape = property(lambda self: 1 / 0)\n"
        "    __array__ = lambda self, *_, **__: 1 / 0\n"
        "PROTOCOLS = {'dlpack': lambda x: Odd()}\n",
    )
    (result,) = results(library, "import.legacy").values()
    assert result.outcome in ("not-applicable", "unclear")


def run(*words: str) -> int:
    return main(["check", *words])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "missing library"),
        (("nunpy",), "did you mean 'numpy'"),
        (("faulty",), "faulty"),
        (("numpy", "--only", "export.copy-tru"), "did you mean 'export.copy-true'"),
        (("--explain", "exprt.copy-true"), "did you mean 'export.copy-true'"),
        (("numpy", "--known", "nothing.txt"), "nothing.txt: No such file"),
        (("numpy", "--timeout", "soon"), "soon"),
        (("numpy", "--adapters", "nowhere"), "nowhere"),
        (("numpy", "--markdown", "nowhere/table.md"), "no such folder:"),
        (("--rules", "numpy"), "--rules does not read the argument"),
        (("--rules", "--timeout", "9" * 20), "--rules does not read --timeout"),
        (("numpy", "--explain", "export.copy-true", "--out", "x"), "does not read --out"),
        (("numpy", "jax", "--explain", "export.copy-true"), "--explain needs one library"),
        (("numpy", "jax", "--issue", "export.copy-true"), "--issue needs one library"),
        (("numpy", "--issue", "export.copy-true", "--out", "x"), "does not read --out"),
        (("numpy", "--issue", "export.copy-false"), "export.copy-false: holds: the same memory"),
    ],
)
def test_bad_use_is_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], message: str
) -> None:
    assert run(*words) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert message in lines[0]
    assert not (folder / "dlbench-results").exists()


def test_a_broken_rule_as_a_bug_report(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("faulty:hiding-is-copied", "--issue", "export.copy-false") == 0
    report = capsys.readouterr().out
    sentence = "copy=False exports the array's own memory, or raises BufferError"
    assert report.startswith(f"# faulty:hiding-is-copied breaks a rule: {sentence}\n")
    assert "- Rule: export.copy-false, written in array API" in report
    assert report.count("\nactual: the rule is broken: AssertionError([<capsule object") == 1
    assert not (folder / "dlbench-results").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("numpy buffer.read-onl https://x.org/1", "did you mean 'buffer.read-only'"),
        ("numpy buffer.read-only", "LIBRARY RULE LINK"),
        ("numpy buffer.read-only not-a-link", "LIBRARY RULE LINK"),
    ],
)
def test_a_known_file_with_an_unfit_line_is_reported(folder: Path, text: str, message: str) -> None:
    file = folder / "known.txt"
    file.write_text(f"# accepted\n{text}\n")
    with pytest.raises(BadInput, match="line 2") as raised:
        known.read(file)
    assert message in str(raised.value)


def test_a_known_file_with_an_unknown_library_is_reported(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "known.txt").write_text("nunpy buffer.read-only https://x.org/1\n")
    assert run("numpy", "--known", "known.txt") == 2
    assert "did you mean 'numpy'" in capsys.readouterr().err
    assert not (folder / "dlbench-results").exists()


CUDA_ONLY = (
    "def from_dlpack(x, /, **words):\n"
    "    raise TypeError('arrays of the CPU are not taken')\n"
    "PROTOCOLS = {'dlpack': from_dlpack}\n"
)


def test_a_library_that_takes_nothing_of_the_cpu_is_not_blamed_for_it(folder: Path) -> None:
    mine = [name for name, rule in RULES.by_name.items() if rule.group == "import"]
    found = results(own(folder, CUDA_ONLY), *mine)
    broken = {name for name, result in found.items() if result.outcome in ("broken", "unclear")}
    # An object that is no array is another matter.
    assert broken == {"import.missing-method"}


NARROW = (
    "import numpy as np\n"
    "def from_dlpack(x, /):\n"
    "    array = np.from_dlpack(x)\n"
    "    return array.astype(np.int32) if array.dtype == np.int64 else array\n"
    "PROTOCOLS = {'dlpack': from_dlpack}\n"
)


def test_a_narrower_dtype_is_shown_by_what_it_loses(folder: Path) -> None:
    (result,) = results(own(folder, NARROW), "import.dtypes").values()
    assert result.outcome == "broken"
    assert result.observed == "int64 arrives as int32, and 1099511627777 as 1"


LEAKY = (
    "import numpy as np\n"
    "KEPT = []\n"
    "def make(case, device):\n"
    "    KEPT.append(bytearray(64))\n"
    "    return case.numpy()\n"
    "def from_dlpack(x, /):\n"
    "    KEPT.append(bytearray(64))\n"
    "    return np.from_dlpack(x)\n"
    "PROTOCOLS = {'dlpack': from_dlpack}\n"
)


FREES_LATER = """
import threading
import time

import numpy as np

KEPT = []


def free():
    while True:
        time.sleep(0.05)
        KEPT.clear()


def from_dlpack(x, /):
    if not KEPT and threading.active_count() == 1:
        threading.Thread(target=free, daemon=True).start()
    KEPT.append(bytearray(64))
    return np.from_dlpack(x)


PROTOCOLS = {"dlpack": from_dlpack}
"""


def test_what_a_thread_of_the_library_frees_is_no_leak(folder: Path) -> None:
    (result,) = results(own(folder, FREES_LATER), "import.leak").values()
    assert result.outcome == "holds"


def test_what_is_left_by_any_array_is_not_the_imports_leak(folder: Path) -> None:
    library = own(folder, LEAKY)
    (result,) = results(library, "import.leak").values()
    assert result.outcome == "broken"
    assert library.consumer is not None
    both = runner.Library("mine", library.consumer, library.consumer)
    (result,) = results(both, "import.leak").values()
    assert result.outcome == "unclear"
    assert "array that it makes" in result.observed


def test_an_adapter_without_make_is_reported(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    planted.plant(folder)
    (folder / "producers" / "mine.py").write_text("made = 1\n")
    assert run("mine", "--adapters", str(folder)) == 2
    assert "make" in capsys.readouterr().err


def checked(folder: Path, *words: str) -> tuple[int, dict[str, Any]]:
    out = folder / "out"
    status = run("numpy", "--only", "buffer", "--out", str(out), *words)
    document: dict[str, Any] = json.loads((out / "results.json").read_text())
    return status, document


def test_what_is_broken_exits_with_1_and_lies_in_the_document(folder: Path) -> None:
    status, document = checked(folder)
    assert status == 1
    jsonschema.validate(document, json.loads(SCHEMA.read_text()))
    (entry,) = [one for one in document["checks"] if one["rule"] == "buffer.contiguous"]
    assert (entry["outcome"], entry["accepted"], entry["library"]) == ("broken", False, "numpy")
    assert (folder / "out" / "numpy-buffer.contiguous.py").read_text() == entry["reproducer"]


def test_a_library_of_another_environment_is_checked(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    python = other_pythons.make_apart(folder / "apart")
    table = folder / "table.md"
    status, document = checked(folder, "--env", f"old={python}", "--markdown", str(table))
    assert (status, list(document["context"]["dlbench"]["environments"])) == (1, ["old"])
    assert {entry["rule"] for entry in document["checks"]} >= {"buffer.contiguous"}
    assert "numpy" in table.read_text()
    # A worker needs NumPy there, and each rule its library.
    capsys.readouterr()
    assert run("torch", "--env", f"old={python}") == 2
    assert f"torch is not installed: {python} -m pip install torch" in capsys.readouterr().err
    without = other_pythons.answering(folder / "python")
    assert run("numpy", "--env", f"old={without}") == 2
    assert f"no _check{other_pythons.FACTS['suffixes'][0]} for Python" in capsys.readouterr().err
    assert run("numpy", "--env", "old") == 2
    assert "is not NAME=PYTHON" in capsys.readouterr().err


def test_what_is_known_does_not_and_what_is_stale_is_reported(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = folder / "known.txt"
    names = ("buffer.read-only", "buffer.contiguous", "buffer.values")
    file.write_text("".join(f"numpy {name} https://example.org/{name}  # so\n" for name in names))
    status, document = checked(folder, "--known", str(file))
    assert status == 0
    reported = capsys.readouterr()
    assert "numpy buffer.values is not broken any more" in reported.err
    assert "https://example.org/buffer.contiguous" in reported.out
    assert [one["accepted"] for one in document["checks"] if "accepted" in one] == [True, True]


def test_show_prints_an_earlier_check(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    checked(folder)
    capsys.readouterr()
    assert main(["show", str(folder / "out")]) == 0
    assert "buffer.contiguous" in capsys.readouterr().out


@pytest.mark.parametrize(
    "change",
    [
        {"outcome": "maybe"},
        {"observed": 3},
        {"outcome": "broken"},
        {"accepted": "yes"},
    ],
)
def test_a_document_with_an_unfit_check_is_refused(folder: Path, change: dict[str, Any]) -> None:
    _, document = checked(folder)
    document["checks"][0] |= change
    path = folder / "changed.json"
    path.write_text(json.dumps(document))
    with pytest.raises(_core.UsageError, match="/checks/0"):
        _core.validate_document(str(path))


def test_entries_name_what_is_discussed() -> None:
    library = numpy()
    report = runner.Report("numpy", "1")
    name = "export.alignment"
    report.results[name] = runner.Result(name, "unclear", "so")
    (entry,) = section.entries(library, report, {})
    assert entry["issue"].startswith("https://")


def test_what_a_dying_library_prints_on_standard_output_is_shown(folder: Path) -> None:
    library = own(
        folder,
        "import os\n\n\ndef take(x):\n    os.write(1, b'  what():  boom\\n')\n    os.abort()\n\n\n"
        "PROTOCOLS = {'dlpack': take}\n",
    )
    (result,) = results(library, "import.legacy").values()
    assert result.observed.endswith(": what():  boom")
    assert "boom" in result.stderr_tail


def test_a_signal_does_not_wait_for_a_rule(folder: Path) -> None:
    called = folder / "called"
    library = own(
        folder,
        "import pathlib, time\n\n\ndef take(x):\n"
        f"    pathlib.Path({str(called)!r}).touch()\n    time.sleep(600)\n\n\n"
        "PROTOCOLS = {'dlpack': take}\n",
    )
    kept: list[runner.Result] = []
    main = threading.get_ident()
    # A shell starts what runs in the background with SIGINT ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    def interrupt() -> None:
        while not called.exists():
            time.sleep(0.02)
        signal.pthread_kill(main, signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    began = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            runner.check(library, [RULES.by_name["import.legacy"]], 300.0, kept.append)
    finally:
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - began < 200
    assert kept == []  # least of all one that calls it broken


def test_a_broken_rule_without_a_script_keeps_its_result(folder: Path) -> None:
    """A call whose arguments the adapter's file unpacks can be made, but not cut out of it."""
    (folder / "consumers").mkdir()
    (folder / "consumers/mine.py").write_text(
        "import numpy as np\nfrom dlbench import Call, X\nDISTRIBUTION = None\n"
        "parts = (lambda x: np.from_dlpack(x)[::-1], X)\nPROTOCOLS = {'dlpack': Call(*parts)}\n"
    )
    status = run("mine", "--adapters", ".", "--only", "import", "--out", "out")
    made = json.loads((folder / "out/results.json").read_text())
    broken = [entry for entry in made["checks"] if entry["outcome"] == "broken"]
    assert (status, {entry["reproducer"] for entry in broken}) == (1, {""})
    assert all("(no script: " in entry["observed"] for entry in broken)
    assert list((folder / "out").iterdir()) == [folder / "out/results.json"]
