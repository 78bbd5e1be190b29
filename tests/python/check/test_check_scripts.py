"""The scripts of broken rules: they run without dlbench, and show the subject of the rule."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

import planted
from dlbench.check import running
from dlbench.check import script as reproducer
from dlbench.check.rule import Rule
from dlbench.check.rules import RULES
from dlbench.check.verdict import NO_ANSWER
from dlbench.libraries import discover

pytestmark = pytest.mark.process


def scripted(rule: Rule, paths: Mapping[str, Path], library: str, **words: str) -> str:
    other = paths["producer" if rule.role == "consumer" else "consumer"]
    return reproducer.script(rule, "x", paths[rule.role], library, "", other=other, **words)


def scripts(names: Sequence[str]) -> list[tuple[str, str, str]]:
    paths = {}
    for library in ("numpy", "torch"):
        roles = discover.catalogue().roles(library)
        paths[library] = {role: roles[role].path for role in ("producer", "consumer")}
    return [
        (name, struct, scripted(rule, paths[library], library, struct=struct))
        for name in names
        for library in ["torch" if name == "export.lazy" else "numpy"]  # as NumPy has no such array
        for rule in [RULES.by_name[name]]
        if rule.lines
        for struct in (("legacy", "versioned", "") if rule.role == "consumer" else ("",))
    ]


def test_each_rule_has_a_script_that_parses_and_needs_no_dlbench() -> None:
    for name, _, text in scripts(list(RULES.by_name)):
        compile(text, name, "exec")
        assert "dlbench" not in text.replace("dltensor_of_dlbench", ""), name
        assert len(text.splitlines()) < 60, name


#: Keeps what it refuses, and has it deleted when the interpreter is gone.
KEEPING = """\
import ctypes

get = ctypes.pythonapi.PyCapsule_GetPointer
get.restype, get.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)


def take(array):
    capsule = array.__dlpack__()
    deleter = ctypes.c_void_p.from_address(get(capsule, b"dltensor") + 56)
    ctypes.pythonapi.Py_AtExit(deleter)
    raise BufferError("not today")


PROTOCOLS = {"dlpack": take}
"""


def test_a_refusal_does_not_wait_for_a_deleter_that_is_called_late(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(KEEPING)
    rule = RULES.by_name["import.empty-deleted"]
    text = reproducer.script(rule, "x", path, "mine", "")
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1].startswith("actual: refused, which is allowed: BufferError")


DANGLING = """\
import ctypes

import numpy as np

point = ctypes.PyDLL(None).PyCapsule_GetPointer
point.restype, point.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)


class Array:
    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **words):
        capsule = np.zeros(self.array.shape, "f4").__dlpack__(max_version=(1, 0))
        struct = point(capsule, b"dltensor_versioned")
        ctypes.c_void_p.from_address(struct + 32).value = self.array.ctypes.data
        return capsule


def make(case, device):
    return Array(np.array(case.numpy()))
"""
CRASHING = """\
import ctypes


class Array:
    def __dlpack__(self, **words):
        ctypes.string_at(8)


def make(case, device):
    return Array()
"""


REFUSING = """\
class Array:
    def __dlpack__(self, **words):
        raise BufferError("not today")


def make(case, device):
    return Array()
"""


@pytest.mark.parametrize(
    ("source", "rule", "signal", "status", "actual"),
    [
        # A refusal is the fault of one rule, and allowed by the other.
        (REFUSING, "export.device-host", "", 1, "actual: the rule is broken: BufferError"),
        (REFUSING, "export.alignment", "", 0, "actual: refused, which is allowed: BufferError"),
        # The freed memory is unmapped, or is written again.
        (DANGLING, "export.keeps-memory", "", 1, "actual: (killed|the rule is broken: .*its)"),
        (DANGLING, "export.twice", "", 1, "actual: (killed|the rule is broken: .*its)"),
        (DANGLING, "export.capsule", "", 0, "actual: the rule holds"),
        (CRASHING, "export.capsule", "SIGSEGV", 1, "actual: killed by SIGSEGV"),
        (CRASHING, "export.device-method", "", 1, "actual: the rule is broken: "),
    ],
)
def test_a_script_prints_what_happens_once_it_is_known(
    tmp_path: Path, source: str, rule: str, signal: str, status: int, actual: str
) -> None:
    path = planted.plant(tmp_path) / "producers" / "mine.py"
    path.write_text(source)
    text = reproducer.script(RULES.by_name[rule], "", path, "mine", "", signal=signal)
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stderr
    versions, expected, *rest = (done.stdout + done.stderr).splitlines()
    assert versions.startswith("versions: {'numpy'")
    assert expected == f"expected: {RULES.by_name[rule].sentence}"
    assert len(rest) == 1
    assert re.match(actual, rest[0]), rest


#: abort() runs when the process ends, after Python's own end.
DYING = """\
import ctypes

LIBC = ctypes.CDLL(None)


class Array:
    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **words):
        LIBC["__cxa_atexit"](LIBC.abort, 0, 0)
        return self.array.__dlpack__(**words)


def make(case, device):
    return Array(case.numpy())
"""


OPAQUE = """\
import numpy as np


class Opaque:
    def __init__(self, array):
        self.array = array


def values(result):
    return memoryview(result.array)


def take(x):
    return Opaque(np.from_dlpack(x).copy()[::{step}])


PROTOCOLS = {{"dlpack": take}}
"""


@pytest.mark.parametrize("step", [1, -1])
def test_a_script_reads_a_result_by_the_adapters_function(tmp_path: Path, step: int) -> None:
    path = planted.plant(tmp_path) / "consumers" / "mine.py"
    path.write_text(OPAQUE.format(step=step))
    text = reproducer.script(RULES.by_name["import.versioned"], "", path, "mine", "", "versioned")
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    actual = (
        "actual: the rule holds" if step == 1 else "actual: the rule is broken: AssertionError("
    )
    assert (done.returncode == 0) == (step == 1)
    assert f"\n{actual}" in f"{done.stdout}\n{done.stderr}"


@pytest.mark.parametrize(
    ("end", "signal", "rule", "observed"),
    [
        ("os.abort()", "SIGABRT", "import.consumed-twice", ""),
        ("threading.Event().wait()", "SIGALRM", "import.consumed-twice", ""),
        ("threading.Event().wait()", "SIGALRM", "import.legacy", f"{NO_ANSWER} 60 s"),
    ],
)
def test_an_end_that_the_rule_may_cause_is_printed(
    tmp_path: Path, end: str, signal: str, rule: str, observed: str
) -> None:
    path = planted.plant(tmp_path) / "consumers" / "mine.py"
    path.parent.mkdir(exist_ok=True)
    path.write_text(
        "import os, threading\n"
        "class Owner:\n    def __init__(self, array):\n        array.__dlpack__()\n"
        f"    def __del__(self):\n        {end}\nPROTOCOLS = {{'dlpack': Owner}}\n"
    )
    text = reproducer.script(RULES.by_name[rule], observed, path, "mine", "", struct="versioned")
    text = text.replace("alarm(60)", "alarm(3)")
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stdout.splitlines()[2:] == [f"actual: killed by {signal}"]


@pytest.mark.parametrize(
    ("rule", "is_subject"),
    [
        ("export.deleter-at-exit", True),  # the process's end is what it judges
        ("export.keeps-memory", False),  # a process of its own, because a read may end it
        ("export.capsule", False),
    ],
)
@pytest.mark.parametrize("dies", [True, False])
def test_a_verdict_does_not_contradict_the_exit_status(
    tmp_path: Path, rule: str, is_subject: bool, dies: bool
) -> None:
    path = planted.plant(tmp_path) / "producers" / "mine.py"
    path.write_text(DYING if dies else DYING.replace("LIBC[", "# LIBC["))
    text = reproducer.script(RULES.by_name[rule], "", path, "mine", "")
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    is_fault = dies and is_subject
    how = "killed by SIGABRT" if is_fault else "the rule holds"
    assert (done.returncode, done.stdout.splitlines()[2:]) == (is_fault, [f"actual: {how}"])


@pytest.mark.parametrize("dies", [True, False])
def test_the_end_of_the_process_is_printed_after_it(tmp_path: Path, dies: bool) -> None:
    path = planted.plant(tmp_path) / "producers" / "mine.py"
    end = "import atexit, os\natexit.register(os.abort)\n" if dies else ""
    path.write_text(f"{end}def make(case, device):\n    return case.numpy()\n")
    rule = RULES.by_name["export.deleter-at-exit"]
    text = reproducer.script(rule, "", path, "mine", "")
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    how = "killed by SIGABRT" if dies else "the rule holds"
    assert done.stdout.splitlines()[1:] == [f"expected: {rule.sentence}", f"actual: {how}"]
    assert done.returncode == dies


#: Run in one interpreter: those that cannot end it, and do not measure it.
HARMLESS = [
    name
    for name, rule in RULES.by_name.items()
    if not rule.risky and "leak" not in name and rule.group not in ("c-api", "cuda")
]
#: Exports and imports, but not as they should.
FAULTY = """\
import numpy as np


class Array:
    def __init__(self, array):
        self.array = array
        self.shape = array.shape

    def __dlpack__(self, stream=None, max_version=None, dl_device=None, copy=None):
        return self.array.__dlpack__(max_version=(1, 0))

    def __dlpack_device__(self):
        return [1, 0]

    @property
    def __array_interface__(self):
        found = dict(self.array.__array_interface__)
        return {**found, "strides": None, "version": 2, "data": (found["data"][0], False)}


def make(case, device):
    return Array(case.numpy())


def from_dlpack(x, /):
    try:
        return np.from_dlpack(x).astype(np.float32)[::-1]
    except Exception as error:
        raise RuntimeError(str(error)) from None


PROTOCOLS = {"dlpack": from_dlpack, "array_interface": np.array}
"""
RUN = """\
import json, os, sys
kept, ended = [], []
for text in json.load(sys.stdin):
    kept.append({"__name__": "__main__"})
    try:
        exec(compile(text, "script", "exec"), kept[-1])
        ended.append(0)
    except SystemExit as end:
        print(end.code)
        ended.append(0 if end.code in (None, 0) else 1)
    except Exception as error:
        ended.append(f"{type(error).__name__}: {error}")
print("\\n" + json.dumps(ended), flush=True)
os._exit(0)
"""


def concluded(library: str, paths: Mapping[str, Path]) -> list[tuple[str, str, str]]:
    """The rules that hold or are broken, of those that cannot crash; and their scripts."""
    requested = {role: str(path) for role, path in paths.items()}
    subject, _ = running.load({"name": library, "device": "cpu", "timeout_s": 60.0, **requested})
    found = []
    for name in HARMLESS:
        rule = RULES.by_name[name]
        message = running.run(subject, name)
        if message["outcome"] not in ("broken", "holds"):
            continue
        struct, source = message.get("struct", ""), message.get("source", "")
        text = scripted(rule, paths, library, struct=struct, source=source)
        found.append((name, message["outcome"], text.replace("os._exit(0)", "raise SystemExit")))
    return found


def test_a_script_ends_with_1_where_its_rule_is_broken_and_with_0_where_it_holds(
    tmp_path: Path,
) -> None:
    planted.plant(tmp_path)
    for role in ("producer", "consumer"):
        (tmp_path / f"{role}s" / "mine.py").write_text(FAULTY)
    mine = {role: tmp_path / f"{role}s" / "mine.py" for role in ("producer", "consumer")}
    roles = discover.catalogue().roles("numpy")
    numpy = {role: roles[role].path for role in ("producer", "consumer")}
    reported = [*concluded("numpy", numpy), *concluded("mine", mine)]
    done = subprocess.run(
        [sys.executable, "-c", RUN],
        input=json.dumps([text for _, _, text in reported]),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    ended = json.loads(done.stdout.splitlines()[-1])
    wrong = [
        (name, outcome, end, text)
        for (name, outcome, text), end in zip(reported, ended, strict=True)
        if (end != 0) != (outcome == "broken")
    ]
    assert not wrong, "\n\n".join(f"{one[:3]}\n{one[3]}" for one in wrong)
    # A script that does not run at all would end with 1 as well.
    assert not [end for end in ended if str(end).startswith(("NameError", "SyntaxError"))]
    assert "NameError" not in done.stdout
    assert len({name for name, outcome, _ in reported if outcome == "broken"}) > 20


#: As JAX, which copies what is not aligned as it needs it.
ALIGNED = """\
import numpy as np

DISTRIBUTION = None


def make(case, device):
    return case.numpy()


def from_dlpack(x, /, copy=None):
    result = np.from_dlpack(x, copy={})
    return result.copy() if result.ctypes.data % 4096 else result


PROTOCOLS = {{"dlpack": from_dlpack}}
"""


@pytest.mark.parametrize(
    ("copy", "outcome", "status"), [("False", "broken", 1), ("copy", "holds", 0)]
)
def test_a_script_places_its_array_where_the_rule_did(
    copy: str, outcome: str, status: int, tmp_path: Path
) -> None:
    planted.plant(tmp_path)
    paths = {role: tmp_path / f"{role}s" / "mine.py" for role in ("producer", "consumer")}
    for path in paths.values():
        path.write_text(ALIGNED.format(copy))
    requested = {role: str(path) for role, path in paths.items()}
    subject, _ = running.load({"name": "mine", "device": "cpu", "timeout_s": 60.0, **requested})
    message = running.run(subject, "import.copy-true")
    assert message["outcome"] == outcome
    words = {word: message.get(word, "") for word in ("struct", "source")}
    text = scripted(RULES.by_name["import.copy-true"], paths, "mine", **words)
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
    assert done.returncode == status, done.stdout + done.stderr
    assert ("it is not a copy" in done.stdout + done.stderr) == bool(status)


def test_a_script_of_a_leak_keeps_nothing_itself() -> None:
    for name, _, text in scripts(["import.leak", "export.leak-unconsumed", "export.leak-consumed"]):
        assert ".append(" not in text, name


WANTS_GIL = """\
from dlbench import _check


class Array:
    def __init__(self, source):
        self.memory = _check.Memory(source)

    def __dlpack__(self, **words):
        return _check.BorrowedTensor(self.memory, (8,), (1,), deleter="wants-gil").capsule()


def make(case, device):
    return Array(case.numpy())
"""


@pytest.mark.parametrize(
    ("name", "message"),
    [("export.deleter-thread", ""), ("export.deleter-without-gil", "needs the GIL")],
)
def test_a_deleter_is_called_in_a_thread_with_the_gil_or_without_it(
    tmp_path: Path, name: str, message: str
) -> None:
    path = planted.plant(tmp_path) / "producers" / "mine.py"
    path.write_text(WANTS_GIL)
    text = reproducer.script(RULES.by_name[name], "", path, "mine", "")
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert (done.returncode == 0) == (not message), done.stderr
    assert message in done.stdout + done.stderr
