"""The scripts of broken rules: they run without dlbench, and show what the rule speaks of."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import planted
from dlbench import discover
from dlbench.check import reproducer
from dlbench.check.rules import RULES


def scripts(names: Sequence[str]) -> list[tuple[str, str, str]]:
    roles = discover.catalogue().roles("numpy")
    return [
        (name, struct, reproducer.script(rule, "x", roles[rule.role].path, "numpy", "", struct))
        for name in names
        for rule in [RULES.by_name[name]]
        for struct in (("legacy", "versioned", "") if rule.role == "consumer" else ("",))
    ]


def test_each_rule_has_a_script_that_parses_and_needs_no_dlbench() -> None:
    for name, _, text in scripts(list(RULES.by_name)):
        compile(text, name, "exec")
        assert "dlbench" not in text.replace("dltensor_of_dlbench", ""), name
        assert len(text.splitlines()) < 45, name


#: What a script of a kept rule ends with, where that is no refusal: run in one interpreter a group.
HARMLESS = [
    name
    for name, rule in RULES.by_name.items()
    if not rule.risky and "leak" not in name and rule.group in ("export", "import", "buffer")
]


def test_scripts_run(tmp_path: Path) -> None:
    """Those of rules that NumPy keeps end well, or with the refusal that the rule wants."""
    code = [
        "import os, sys",
        "kept = []",
        "for name, text in __import__('json').load(open(sys.argv[1])):",
        "    try:",
        "        kept.append({})",
        "        exec(compile(text, name, 'exec'), kept[-1])",
        "    except Exception as error:",
        "        print('REFUSED', name, repr(error))",
        "sys.stdout.flush(); os._exit(0)",
    ]
    leave = reproducer.LEAVE
    texts = [(name, text.replace(leave, "")) for name, _, text in scripts(HARMLESS)]
    (tmp_path / "texts.json").write_text(json.dumps(texts))
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(code), str(tmp_path / "texts.json")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "NameError" not in done.stdout
    assert "unexpected keyword" not in done.stdout
    assert "PyCapsule_GetPointer" not in done.stdout


def test_a_script_of_a_leak_keeps_nothing_itself() -> None:
    for name, _, text in scripts(["import.leak", "export.leak-unconsumed", "export.leak-consumed"]):
        assert ".append(" not in text, name


WANTS_GIL = """\
from dlbench import _check


class Array:
    def __init__(self, source):
        self.memory = _check.Memory(source)

    def __dlpack__(self, **words):
        return _check.Loan(self.memory, (8,), (1,), deleter="wants-gil").capsule()


def make(case, device):
    return Array(case.numpy())
"""


@pytest.mark.parametrize(
    ("name", "said"),
    [("export.deleter-thread", ""), ("export.deleter-without-gil", "wants the GIL")],
)
def test_a_deleter_is_called_in_a_thread_with_the_gil_or_without_it(
    tmp_path: Path, name: str, said: str
) -> None:
    path = planted.plant(tmp_path) / "producers" / "mine.py"
    path.write_text(WANTS_GIL)
    text = reproducer.script(RULES.by_name[name], "", path, "mine", "")
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert (done.returncode == 0) == (not said), done.stderr
    assert said in done.stderr
