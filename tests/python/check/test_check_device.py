"""Arrays on a device: no rule reads their memory, and the results name the device."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import fakes
import planted
import whole
from dlbench.check import conformance, runner, section
from dlbench.check import script as reproducer
from dlbench.check.rules import RULES
from dlbench.cli import main
from dlbench.libraries import discover
from typed import doc

pytestmark = pytest.mark.process


def results(library: runner.Library, *names: str) -> dict[str, runner.Result]:
    return runner.check(library, [RULES.by_name[name] for name in names], 20).results


def mine(folder: Path, role: str, text: str) -> Path:
    """An adapter of that role."""
    path = planted.plant(folder) / f"{role}s" / "mine.py"
    path.write_text(text)
    return path


ON_A_DEVICE = """\
from types import SimpleNamespace

from dlbench import _check
from dlbench.check.known_producer import KnownProducer


class Array(KnownProducer):
    pass


def export(array):
    return array._export({"max_version": (1, 3)})


def make(case, device):
    # Nothing is mapped there: so it is with memory of a device.
    return Array(SimpleNamespace(), case.numpy(), device=(2, 0), data=4096)


Array.__dlpack_c_exchange_api__ = _check.make_api({"export": export, "borrow": export})
"""


def test_memory_of_a_device_is_not_read(tmp_path: Path) -> None:
    path = mine(tmp_path, "producer", ON_A_DEVICE)
    library = runner.Library("mine", path, None, device="cuda:0")
    names = [name for name, rule in RULES.by_name.items() if rule.role == "producer"]
    found = results(library, *(name for name in names if "leak" not in name))
    assert [result for result in found.values() if result.signal or "SIG" in result.observed] == []
    for name in ("export.grid", "export.dtypes", "export.other-thread", "c-api.export"):
        assert (found[name].outcome, found[name].observed) == (
            "not-applicable", "its memory is on (2, 0)",
        ), name  # fmt: skip
    # What the tensor says of itself is seen all the same.
    assert found["export.device-agrees"].outcome == "holds"


def test_a_consumers_array_on_a_device_is_not_read(tmp_path: Path) -> None:
    path = mine(
        tmp_path,
        "consumer",
        ON_A_DEVICE.replace("def make(case, device)", "def from_dlpack(x)")
        .replace("case.numpy()", "x.array")
        .replace("return Array", "x.__dlpack__()\n    return Array")
        + "PROTOCOLS = {'dlpack': from_dlpack}\n",
    )
    library = runner.Library("mine", None, path)
    found = results(library, "import.legacy", "import.reversed", "import.unknown-device")
    assert not any(result.signal for result in found.values())


@pytest.mark.parametrize("library", ["native", "numpy"])
def test_without_the_device_nothing_is_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], library: str
) -> None:
    out = tmp_path / "out"
    assert main(["check", library, "--device", "cuda:99", "--out", str(out)]) == 2
    [line] = capsys.readouterr().err.splitlines()[-1:]
    assert "nothing to check: no-device: " in line
    assert not out.exists()


@fakes.needs_fakes
def test_no_verdict_on_a_device_is_about_arrays_of_the_cpu(tmp_path: Path) -> None:
    """The consumer gets arrays of the CPU, and NumPy's adapter makes no others."""
    out = tmp_path / "out"
    words = ("check", "numpy", "--device", "cuda:0", "--out", str(out))
    status, _, err = whole.run(tmp_path, *words, environment=fakes.environment())
    assert status == 0
    assert "numpy does not list cuda:0" in err
    checks = json.loads((out / "results.json").read_text())["checks"]
    assert {entry["outcome"] for entry in checks} == {"not-applicable"}


KEEPS_DEVICE = (
    "class Kept:\n"
    "    def __init__(self, x):\n"
    "        self.x = x\n"
    "    def __dlpack__(self, **words):\n"
    "        return self.x.__dlpack__(**words)\n"
    "PROTOCOLS = {'dlpack': lambda x: Kept(x)}\n"
)


def test_a_library_that_hands_on_an_unknown_device_takes_it_as_what_it_is(tmp_path: Path) -> None:
    library = runner.Library("mine", None, mine(tmp_path, "consumer", KEEPS_DEVICE))
    (result,) = results(library, "import.unknown-device").values()
    assert (result.outcome, result.observed) == ("holds", "taken as what it is")


def test_the_table_names_the_device_and_the_command_that_was_given() -> None:
    numpy = discover.catalogue().roles("numpy")["producer"].path
    library = runner.Library("numpy", numpy, None, device="cuda:0")
    report = runner.Report("numpy", "1")
    report.results["cuda.keys"] = runner.Result("cuda.keys", "broken", "so")
    checks = section.entries(library, report, {})
    command = ["/opt/bin/dlbench", "check", "numpy", "--adapters", "/home/me/own", "--out=/tmp/a b"]
    head = conformance.text(doc(section.document(checks, command, 0.0))).splitlines()[2]
    assert "on cuda:0." in head
    assert "on the CPU" not in head
    assert "`dlbench check numpy --adapters own '--out=a b'`" in head
    report.results["export.device-method"] = runner.Result("export.device-method", "holds", "so")
    host = section.entries(runner.Library("numpy", numpy, None), report, {})
    page = conformance.text(doc(section.document(host, command, 0.0)))
    assert "on the CPU." in page
    # Two underscores are bold text in Markdown.
    assert "| `device-method` an array with `__dlpack__` has `__dlpack_device__` too |" in page


MAKES = """\
import mylib


def make(case, device):
    return mylib.array(case.numpy(), device=device)
"""


def test_a_script_makes_its_array_where_the_checked_one_lay(tmp_path: Path) -> None:
    library = runner.Library("mine", mine(tmp_path, "producer", MAKES), None, device="cuda:0")
    report = runner.Report("mine", "1")
    report.results["cuda.keys"] = runner.Result("cuda.keys", "broken", "so")
    (entry,) = section.entries(library, report, {})
    assert ".make(case, 'cuda:0')" in entry["reproducer"]
    assert library.producer is not None
    text = reproducer.script(RULES.by_name["cuda.keys"], "", library.producer, "mine", "")
    assert ".make(case, 'cpu')" in text
