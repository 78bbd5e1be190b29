"""The command line: refused input, started work, output streams and exit statuses."""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import planted
import samples
from dlbench import _core, cli
from dlbench.command import api
from dlbench.counting import valgrind
from dlbench.errors import BadInput
from dlbench.machine import noise

pytestmark = pytest.mark.process

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def dlbench(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    """Runs a command line in an empty folder with the planted library at `adapters`, on a quiet
    machine; standard error without the line about it, which test_noise has."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        noise.NoiseProbe,
        "finish",
        lambda _: noise.Noise(0.6, 2, reference_ns=44.0, reference_spread=0.01),
    )
    monkeypatch.setenv("COLUMNS", "100")
    planted.plant(tmp_path / "adapters")

    def run(*words: str) -> tuple[int, str, str]:
        status = cli.main(list(words))
        reported = capsys.readouterr()
        lines = reported.err.splitlines(keepends=True)
        return status, reported.out, "".join(x for x in lines if not x.startswith("machine: "))

    return run


class Summary:
    wall_s = 1.0
    round_s = 0.5
    last_import_s = 0.1
    recorded = measured = 1
    orders = ()
    signal = 0
    disk_full = ""


class Fleet:
    """Stands in for the core's run: records every cell of the plan without a worker."""

    def __init__(self) -> None:
        self.summary = Summary()
        self.entry: Callable[..., dict[str, Any]] = self.zero_copy
        self.fails: Exception | None = None
        self.calls: list[tuple[Any, Any]] = []

    @staticmethod
    def zero_copy(cell: Any) -> dict[str, Any]:
        axes = ("protocol", "device", "case", "bytes", "clock")
        given = {axis: getattr(cell, axis) for axis in axes}
        return samples.measured(cell.producer, cell.consumer, 100.0, **given)

    @staticmethod
    def refused(cell: Any) -> dict[str, Any]:
        entry = Fleet.zero_copy(cell)
        axes = ("protocol", "device", "case", "bytes", "clock")
        given = {axis: entry[axis] for axis in axes}
        return samples.missing(cell.producer, cell.consumer, "refused", "no", **given)

    def __call__(self, plan: Any, requested: dict[str, Any], observer: Any) -> Summary:
        options = SimpleNamespace(**requested)
        self.calls.append((plan, options))
        if self.fails is not None:
            raise self.fails
        journal = Path(options.out) / "journal.jsonl"
        if not options.resume:
            header = {"dlbench_journal": 1, "fingerprint": plan.fingerprint}
            header["context"] = json.loads(options.context)
            lines = [header, *({"entry": self.entry(cell)} for cell in plan.cells)]
            journal.write_text("".join(json.dumps(line) + "\n" for line in lines))
        observer.on_progress(1, len(plan.cells), "mine mine")
        return self.summary


@pytest.fixture
def fleet(monkeypatch: pytest.MonkeyPatch) -> Fleet:
    planted_fleet = Fleet()
    monkeypatch.setattr(_core, "run", planted_fleet)
    return planted_fleet


MINE = ("mine", "mine", "--adapters", "adapters", "--no-plots")


def test_alone_it_prints_a_short_help(dlbench: Run) -> None:
    status, out, err = dlbench()
    assert (status, err) == (0, "")
    assert "dlbench --matrix" in out
    assert len(out.splitlines()) < 12


def test_help_and_version(dlbench: Run) -> None:
    status, out, _ = dlbench("--help")
    assert status == 0
    for word in ("--matrix", "--resume", "doctor", "repro"):
        assert word in out
    assert dlbench("--version")[:2] == (0, f"dlbench {_core.version}\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["lst"], "did you mean 'list'?"),
        (["native,numpy"], "'native,numpy': separate libraries by spaces, as native numpy"),
        (["numpi", "numpy"], "did you mean 'numpy'?"),
        (["mine", "nothinglikeit", "--adapters", "adapters"], "unknown library 'nothinglikeit'"),
        (["mine", "--adapters", "adapters"], "a pair needs two libraries, not 1"),
        (["matrix"], "did you mean '--matrix'?"),
        (["--dry-run"], "nothing to measure"),
        (["--matrix", "mine", "mine"], "leave out --matrix, or the libraries"),
        (["--frobnicate"], "No such option"),
        (["--matrix", "--phases", "imprt"], "unknown phase 'imprt' (did you mean 'import'?)"),
        (["--matrix", "--producers", "a,,b"], "an empty name"),
        (["--matrix", "--producers", "nompy"], "did you mean 'numpy'?"),
        (["--matrix", "--protocols", "dlpak"], "did you mean 'dlpack'?"),
        (["--matrix", "--cases", "f33"], "did you mean 'f32'?"),
        (["--matrix", "--cases", "float16"], "did you mean 'f16'?"),
        ([*MINE, "--all"], "add --dry-run"),
        (["--matrix", "--sizes", "4 parsecs"], "4 parsecs"),
        (["--matrix", "--sizes", "0"], "size"),
        (["--matrix", "--devices", "gpu"], "gpu"),
        (["--matrix", "--filter", "("], "regular expression"),
        (["--matrix", "--budget", "10"], "10"),
        (["--matrix", "--precision", "2"], "2"),
        (["--matrix", "--timeout", "-3s"], "-3s"),
        (["--matrix", "--replicas", "0"], "--replicas"),
        (["--matrix", "--adapters", "nowhere"], "does not exist"),
        (["--matrix", "--adapters", "."], "neither producers/ nor consumers/"),
        ([*MINE, "--producers", "mine"], "leave out --producers"),
        ([*MINE, "--dry-run", "--wait-idle", "nan"], "nan"),
        ([*MINE, "--filter", "nosuchcell"], "nothing to measure"),
        (["--resume", "nowhere"], "no such folder"),
        (["--resume", "adapters"], "journal.jsonl: No such file"),
        (["--resume", "adapters", "--sizes", "4KiB"], "leave out --sizes"),
        (["--resume", "adapters", "mine", "mine"], "leave out the libraries"),
        (["show", "nowhere"], "no run 'nowhere'"),
        (["show", "latest"], "this folder has no run, or only runs with --out"),
        (["show", "adapters"], "neither results.json nor journal.jsonl"),
        (["show"], "Missing argument 'RUN': dlbench show [OPTIONS] RUN [CELL]...\n"),
        (["repro", "latest"], "Missing argument 'CELL...': dlbench repro [OPTIONS] RUN CELL..."),
        (["list", "--adapters", "nowhere"], "does not exist"),
        (["list", "nunpy"], "did you mean 'numpy'?"),
        (["list", "faulty"], "faulty needs an argument, as faulty:ARGUMENT; allowed: honest, "),
        (["list", "faulty:honets"], "(did you mean 'honest'?); allowed: honest, "),
        (
            ["check", "numpy", "--device", "cuda:99x"],
            "'cuda:99x' is not a device; allowed: cpu, cuda:0",
        ),
        (["check", "numpy", "--device", "gpu"], "allowed: cpu, cuda, rocm"),
        (["check", "numpy", "--only", ","], "an empty name"),
        (["selftest", "--only", ","], "an empty name"),
    ],
)
def test_bad_use_is_one_line_and_status_2(dlbench: Run, words: list[str], message: str) -> None:
    status, out, err = dlbench(*words)
    assert (status, out) == (2, "")
    assert err.startswith("dlbench: ")
    assert err.count("\n") == 1
    assert message in err
    assert not Path("dlbench-results").exists()


def test_a_pair_is_both_directions_and_neither_with_itself(dlbench: Run) -> None:
    planted.plant(Path("adapters"), "other")
    status, out, _ = dlbench("mine", "other", "--adapters", "adapters", "--dry-run", "--all")
    assert status == 0
    pairs = {tuple(line.split("/")[1:3]) for line in out.splitlines() if "/" in line}
    assert pairs == {
        ("producer:mine", "consumer:other"),
        ("producer:other", "consumer:mine"),
    }


def test_more_libraries_are_each_pair_of_them(dlbench: Run, fleet: Fleet) -> None:
    for name in ("other", "third"):
        planted.plant(Path("adapters"), name)
    status, out, _ = dlbench("mine", "other", "third", "--adapters", "adapters", "--no-plots")
    assert status == 0
    ((plan, _),) = fleet.calls
    names = ("mine", "other", "third")
    pairs = {(cell.producer, cell.consumer) for cell in plan.cells}
    assert pairs == {(a, b) for a in names for b in names if a != b}
    assert out.splitlines()[3].startswith("cpu   4 KiB   dl")


PROJECT = """
[tool.dlbench]
adapters = "adapters"
sizes = ["8KiB", "16KiB"]
producers = ["mine"]
no-plots = true
replicas = 5
[tool.dlbench.compare]
fail-on = "none"
"""


def test_options_have_defaults_in_the_project(dlbench: Run, fleet: Fleet) -> None:
    Path(".git").mkdir()
    Path("pyproject.toml").write_text(PROJECT)
    Path("below").mkdir()
    os.chdir("below")
    status, _, err = dlbench("mine", "mine", "--replicas", "2")
    assert (status, err) == (
        0, "defaults of pyproject.toml: sizes, adapters, no-plots\n",
    )  # fmt: skip
    ((plan, options),) = fleet.calls
    assert {cell.bytes for cell in plan.cells} == {8192, 16384}
    assert options.replicas == 2
    assert dlbench("list", "mine")[0] == 0
    Path("../.git").rmdir()
    assert "unknown verb or library 'mine'" in dlbench("mine", "mine")[2]


def test_a_run_is_resumed_without_defaults(dlbench: Run, fleet: Fleet) -> None:
    assert dlbench(*MINE, "--out", "out")[0] == 0
    Path("pyproject.toml").write_text(PROJECT)
    assert "the command must name" in dlbench("--resume", "out")[2]
    assert dlbench("--resume", "out", "--adapters", "adapters")[0] == 0


@pytest.mark.parametrize(
    ("words", "table", "message"),
    [
        ((), "[tool", "Expected ']'"),
        ((), "tool.dlbench = 3", "dlbench: allowed: a table"),
        ((), "[tool.dlbench]\nsizs = 1", "unknown key 'sizs' (did you mean 'sizes'?)"),
        ((), "[tool.dlbench]\nmatrix = true", "unknown key 'matrix'; allowed: "),
        ((), "[tool.dlbench]\nquiet = 1", "quiet: allowed: true or false"),
        ((), "[tool.dlbench]\nsizes = []", "or a list of them"),
        ((), "[tool.dlbench]\nreplicas = [3]", "replicas: allowed: a text or a number"),
        ((), "[tool.dlbench.comprae]", "unknown verb (did you mean 'compare'?)"),
        (MINE, "[tool.dlbench]\nreplicas = 0", ": Invalid value for '--replicas'"),
        (MINE, "[tool.dlbench]\nsizes = '4 ells'", "toml: --sizes: '4 ells' is not a size"),
        (("compare", "a", "b"), "[tool.dlbench.compare]\nfail-on = 'x'", "'x'; allowed: slow"),
    ],
)
def test_a_bad_default_is_one_line_that_names_the_file(
    dlbench: Run, words: tuple[str, ...], table: str, message: str
) -> None:
    Path("pyproject.toml").write_text(table)
    status, out, err = dlbench(*words)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert str(Path("pyproject.toml").absolute()) in err
    assert message in err
    assert dlbench(*words, "--help")[0] == 0


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("", "numpy"),
        ("--matr", "--matrix"),
        ("numpy tor", "torch"),
        ("numpy torch --cases f64,bf", "f64,bf16"),
        ("numpy --adapters adapters mi", "mine"),
        ("export latest --format par", "parquet"),
        ("compare --fail-on slow,ou", "slow,outcome"),
        ("check --explain import.leg", "import.legacy"),
        ("help zero", "zero-copy"),
        ("show la", "latest"),
        ("show latest mi", "mine"),
        ("show latest mine mine con", "convert"),
        ("show nowhere mi", ""),
    ],
)
def test_a_shell_completes_a_word(
    line: str, found: str, dlbench: Run, fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    dlbench(*MINE)
    words = ["dlbench", *line.split(" ")]
    monkeypatch.setenv("_DLBENCH_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", " ".join(words))
    monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
    status, out, err = dlbench()
    assert (status, err) == (0, "")
    assert found in [item.partition(",")[2] for item in out.splitlines()]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_another_shell_completes_too(
    shell: str, dlbench: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMP_WORDS", "dlbench expo")
    monkeypatch.setenv("COMP_CWORD", "expo" if shell == "fish" else "1")
    for step, found in (("source", "COMP_WORDS"), ("complete", "export")):
        monkeypatch.setenv("_DLBENCH_COMPLETE", f"{shell}_{step}")
        status, out, err = dlbench()
        assert (status, err) == (0, "")
        assert found in out


def test_a_run_in_python_is_that_of_the_command_line(dlbench: Run, fleet: Fleet) -> None:
    base = api.run("mine", "mine", adapters="adapters", sizes=["8KiB"], replicas=2)
    fleet.entry = fleet.refused
    head = api.run(producers=["mine"], adapters="adapters", sizes="8KiB", out="head")
    (plan, options), (whole, _) = fleet.calls
    assert {cell.bytes for cell in [*plan.cells, *whole.cells]} == {8192}
    assert options.replicas == 2
    assert base.path.parent == Path("dlbench-results/latest").resolve().relative_to(Path.cwd())
    command = base.document.run.command
    assert command[:3] == ["dlbench", "mine", "mine"]
    assert "sizes=8KiB" in " ".join(command)
    changes = base.compare(head)
    assert {cell.result for cell in changes.cells} == {"worse"}
    assert "mine -> mine" in str(base)
    assert "<pre>" in base._repr_html_()
    assert "worse" in changes._repr_html_()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sizs": "4KiB"}, "No such option '--sizs'"),
        ({"sizes": ["4 ells"]}, "'4 ells' is not a size"),
        ({"replicas": 0}, "--replicas"),
        ({"dry_run": True}, "dry_run: not an option of dlbench.run"),
    ],
)
def test_a_bad_option_in_python_raises_and_leaves_no_folder(
    dlbench: Run, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        api.run("mine", "mine", adapters="adapters", out="new", **options)
    assert not Path("new").exists()


def test_a_filter_narrows_a_pair_further(dlbench: Run) -> None:
    planted.plant(Path("adapters"), "other")
    words = ("mine", "other", "--adapters", "adapters", "--dry-run", "--all")
    _, out, _ = dlbench(*words, "--filter", "protocol:convert|^nothing")
    names = [line for line in out.splitlines() if line.startswith("exchange/")]
    assert names
    assert all("/protocol:convert/" in name for name in names)


def test_the_verbs_are_known_by_name_before_they_are_loaded() -> None:
    assert tuple(cli.verbs()) == cli.VERBS


def test_a_dry_run_counts_and_leaves_no_file(dlbench: Run) -> None:
    status, out, _ = dlbench(*MINE, "--dry-run", "--out", "new")
    assert status == 0
    assert out.splitlines() == [
        "1 pair, 18 cells to measure in 9 processes: about 17 s, more on a slow machine",
        "--all lists them",
    ]
    assert not Path("new").exists()
    # Each pair has processes of its own, and so has each environment.
    python = str(Path(sys.executable).absolute())
    seconds = []
    for more in ((), ("--isolate",), ("--env", f"other={python}")):
        words = ("numpy", "torch", *MINE[2:], *more, "--dry-run")
        found = re.search(r": about (?:(\d+) min )?(\d+) s", dlbench(*words)[1])
        assert found
        seconds.append(60 * int(found[1] or 0) + int(found[2]))
    assert seconds[0] * 1.5 < min(seconds[1:])


@pytest.mark.parametrize(
    ("words", "expected"),
    [((), "about 16 s"), (("--replicas", "30"), "about 155 s"), (("--budget", "1s"), "about 15 s")],
)
def test_a_dry_run_is_judged_by_the_last_run(
    dlbench: Run, fleet: Fleet, words: tuple[str, ...], expected: str
) -> None:
    few = (*MINE, "--replicas", "3")
    dlbench(*few)
    path = Path("dlbench-results/latest/results.json")
    document = json.loads(path.read_text())
    document["context"]["dlbench"]["wall_s"] = 15.7
    path.write_text(json.dumps(document))
    _, out, _ = dlbench(*few, "--dry-run", *words)
    assert f": {expected}, judged by the last run in this folder" in out


def test_a_run_leaves_its_results_and_the_link(dlbench: Run, fleet: Fleet) -> None:
    status, out, err = dlbench(*MINE)
    assert (status, err) == (0, "")
    link = Path("dlbench-results/latest")
    assert link.readlink().parent == Path()
    document = json.loads((link / "results.json").read_text())
    assert document["context"]["dlbench"]["request"]["pair"] == ["mine", "mine"]
    assert isinstance(document["context"]["caches"], list)
    assert "mine -> mine" in out
    assert out.splitlines()[-1].endswith("dlbench-results/latest: results.json")
    first = link.resolve()
    dlbench(*MINE)
    assert link.resolve() != first


def test_a_large_run_has_fewer_replicas_unless_they_are_given(dlbench: Run, fleet: Fleet) -> None:
    """A pair has nine, up to 120 cells twelve."""
    for sizes, more in ((4, ()), (5, ()), (30, ()), (31, ()), (31, ("--replicas", "5"))):
        of_sizes = ",".join(f"{number}KiB" for number in range(1, sizes + 1))
        dlbench(*MINE, "--filter", "dlpack", "--sizes", of_sizes, *more)
    assert [len(plan.cells) for plan, _ in fleet.calls] == [16, 20, 120, 124, 124]
    assert [options.replicas for _, options in fleet.calls] == [9, 12, 12, 3, 5]


def test_options_reach_the_core(dlbench: Run, fleet: Fleet) -> None:
    dlbench(
        *MINE, "--budget", "90s", "--precision", "5%", "--replicas", "3", "--jobs", "2",
        "--timeout", "7s", "--seed", "42", "--sizes", "4KiB,8KiB", "--cases", "f64",
    )  # fmt: skip
    ((plan, options),) = fleet.calls
    assert (options.budget_s, options.precision, options.timeout_s) == (90, 0.05, 7)
    assert (options.replicas, options.jobs, options.seed) == (3, 2, 42)
    assert {(cell.bytes, cell.case) for cell in plan.cells} == {(4096, "f64"), (8192, "f64")}
    assert options.pythons == {"default": sys.executable}
    assert Path(options.worker_main).name == "worker_main.py"


def test_quiet_says_nothing(dlbench: Run, fleet: Fleet) -> None:
    assert dlbench(*MINE, "--quiet") == (0, "", "")


def test_out_is_created_and_never_overwritten(dlbench: Run, fleet: Fleet) -> None:
    assert dlbench(*MINE, "--out", "deep/down")[0] == 0
    before = Path("deep/down/journal.jsonl").read_bytes()
    status, _, err = dlbench(*MINE, "--out", "deep/down")
    assert (status, err) == (2, "dlbench: --out deep/down: holds another run\n")
    assert Path("deep/down/journal.jsonl").read_bytes() == before
    assert not Path("dlbench-results").exists()
    Path("file").touch()
    assert dlbench(*MINE, "--out", "file")[2] == "dlbench: --out file: is a file\n"
    assert dlbench(*MINE, "--out", "adapters")[2] == "dlbench: --out adapters: is not empty\n"
    assert len(fleet.calls) == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_out_that_is_not_writable(dlbench: Run, fleet: Fleet) -> None:
    Path("locked").mkdir(mode=0o500)
    assert dlbench(*MINE, "--out", "locked")[2] == "dlbench: --out locked: is not writable\n"


def test_a_disk_that_is_full_before_the_run(
    dlbench: Run, fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "mkdir", full)
    status, _, err = dlbench(*MINE, "--out", "new")
    assert (status, err) == (2, "dlbench: --out new: No space left on device\n")


def test_a_run_that_cannot_begin_leaves_nothing(dlbench: Run, fleet: Fleet) -> None:
    dlbench(*MINE)
    before = Path("dlbench-results/latest").resolve()
    fleet.fails = _core.UsageError("journal.jsonl: no")
    assert dlbench(*MINE)[0] == 2
    assert Path("dlbench-results/latest").resolve() == before
    assert len(list(Path("dlbench-results").iterdir())) == 2


def test_latest_is_the_last_run_with_a_result(dlbench: Run, fleet: Fleet) -> None:
    dlbench(*MINE)
    link = Path("dlbench-results/latest")
    first = link.readlink()
    # One that ends before anything is recorded; what it prints still goes on with it.
    fleet.summary.recorded, fleet.summary.signal = 0, signal.SIGINT
    _, out, err = dlbench(*MINE)
    assert link.readlink() == first
    (second,) = {path.name for path in link.parent.iterdir()} - {"latest", str(first)}
    assert f"dlbench --resume dlbench-results/{second} --adapters " in err
    assert f"dlbench-results/{second}: results.json" in out
    fleet.summary.recorded, fleet.summary.signal = 1, 0
    assert dlbench("--resume", f"dlbench-results/{second}", *MINE[2:])[0] == 0
    assert str(link.readlink()) == second
    # Something else of that name is left alone, and costs no run.
    link.unlink()
    link.write_text("mine")
    status, _, err = dlbench(*MINE)
    assert (status, err.count("\n")) == (0, 1)
    assert link.read_text() == "mine"


@pytest.mark.parametrize(
    "reported",
    [
        "latest",
        "dlbench-results/latest",
        "dlbench-results/latest/",
        "dlbench-results/latest/results.json",
    ],
)
def test_resume_takes_what_a_run_prints(
    dlbench: Run, fleet: Fleet, tmp_path: Path, reported: str
) -> None:
    dlbench(*MINE)
    link = Path("dlbench-results/latest")
    folder = link.readlink()
    for requested in (reported, str(tmp_path / reported) if "/" in reported else reported):
        assert dlbench("--resume", requested, *MINE[2:])[0] == 0
        assert link.readlink() == folder
        assert Path(fleet.calls[-1][1].out) == link.parent / folder


def test_nothing_measured_is_status_2_with_the_reasons_shown(dlbench: Run, fleet: Fleet) -> None:
    fleet.entry = fleet.refused
    status, out, err = dlbench(*MINE)
    assert (status, err) == (2, "dlbench: nothing could be measured: no\n")
    assert "refused" in out


def test_resume_asks_the_same_again(dlbench: Run, fleet: Fleet) -> None:
    dlbench(*MINE, "--sizes", "8KiB", "--seed", "7", "--filter", "dlpack")
    status, _, err = dlbench("--resume", "latest", *MINE[2:])
    assert (status, err) == (0, "")
    (first, begun), (again, resumed) = fleet.calls
    assert [cell.name for cell in again.cells] == [cell.name for cell in first.cells]
    assert (resumed.seed, resumed.resume, begun.resume) == (7, True, False)
    assert Path(resumed.out).resolve() == Path(begun.out).resolve()


@pytest.mark.parametrize(
    "text",
    ["", "{}\n", "no json\n", '{"context": {"dlbench": {}}}\n',
     '{"dlbench_journal": 1, "fingerprint": "", "context": {"dlbench": {}}}\n'],
)  # fmt: skip
def test_resume_needs_a_whole_header(dlbench: Run, text: str) -> None:
    Path("run").mkdir()
    Path("run/journal.jsonl").write_text(text)
    status, _, err = dlbench("--resume", "run")
    assert status == 2
    assert err.startswith("dlbench: cannot resume 'run': run/journal.jsonl:")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (MemoryError(), "not enough memory: raise the limit (ulimit -v), "),
        (OSError(22, "Invalid argument"), ": at most 8 files can be open (ulimit -n)\n"),
        (BadInput("a\nb: no"), "dlbench: a\\nb: no\n"),
    ],
)
def test_an_error_of_the_system_is_one_line(
    dlbench: Run, monkeypatch: pytest.MonkeyPatch, error: Exception, line: str
) -> None:
    def fail(_: object) -> int:
        raise error

    monkeypatch.setattr(cli, "run_command", fail)
    monkeypatch.setattr("resource.getrlimit", lambda _: (8, 8))
    status, _, err = dlbench("list")
    assert (status, err.count("\n")) == (2, 1)
    assert line in err


@pytest.mark.parametrize("key", ["env", "adapters", "compare"])
@pytest.mark.parametrize("path", ["./evil", "{}/evil"])
def test_a_journal_from_elsewhere_chooses_no_program(dlbench: Run, key: str, path: str) -> None:
    dlbench(*MINE, "--out", "run")
    journal = Path("run/journal.jsonl")
    header, _, rest = journal.read_text().partition("\n")
    made, path = json.loads(header), path.format(Path.cwd())
    own = made["context"]["dlbench"]
    if key == "compare":
        own["compare"] = {"env": [f"base={path}", "head=/usr/bin/python3"]}
    else:
        own["request"][key] = path if key == "adapters" else [f"other={path}"]
    journal.write_text(f"{json.dumps(made)}\n{rest}")
    Path("evil").write_text("#!/bin/sh\ntouch ran\n")
    Path("evil").chmod(0o755)
    other = ("--adapters", "adapters")  # names other code than the journal
    for words in (("--resume", "run"), ("compare", "--resume", "run"), ("--resume", "run", *other)):
        status, _, err = dlbench(*words)
        assert (status, err.count("\n")) == (2, 1)
        assert "must name the interpreters and adapters" in err
        assert path in err
    assert not Path("ran").exists()


def test_show_chooses_cells_by_words(dlbench: Run, fleet: Fleet) -> None:
    dlbench(*MINE)
    _, out, _ = dlbench("show", "latest", "mine", "mine", "convert")
    rows = [line.split() for line in out.splitlines()[1:] if " -> " in line]
    assert rows
    assert all(row[3] == "convert" for row in rows)
    # The pair's evidence stands there without a further word.
    assert out.count("\nevidence  ") == 2
    assert "\nthe first of these cells; for another one add its protocol, size or case" in out
    name = "exchange/producer:mine/consumer:mine/protocol:convert/device:cpu/case:f32/bytes:4096"
    _, by_name, _ = dlbench("show", "latest", name)
    _, by_words, _ = dlbench("show", "latest", "mine", "mine", "convert", "4KiB", "call")
    assert by_name == by_words
    assert by_name.splitlines()[0].split() == ["cell", name]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["mine", "nim"], "no consumer 'nim' in this run"),
        (["mine", "mine", "dlpak"], "did you mean 'dlpack'?"),
        (["mine", "mine", "3KiB"], "no cell here has 3KiB (4 KiB, "),
        (["mine"], "a cell is its full name"),
        (["exchange/producer:x"], "no cell 'exchange/producer:x'"),
    ],
)
def test_a_cell_that_is_not_there(
    dlbench: Run, fleet: Fleet, words: list[str], message: str
) -> None:
    dlbench(*MINE)
    for verb in ("show", "repro", "debug"):
        status, out, err = dlbench(verb, "latest", *words)
        assert (status, out) == (2, "")
        assert message in err


def test_an_ambiguous_cell_lists_the_candidates(dlbench: Run, fleet: Fleet) -> None:
    dlbench(*MINE, "--cases", "f32,f64")
    status, _, err = dlbench("repro", "latest", "mine", "mine")
    assert status == 2
    assert "2 cells match: exchange/" in err
    assert "case:f64" in err


def test_adapters_that_a_document_names_are_not_followed(dlbench: Run, fleet: Fleet) -> None:
    dlbench(*MINE)
    line = ("repro", "latest", "mine", "mine", "convert")
    status, out, err = dlbench(*line)
    assert (status, out) == (2, "")
    assert f"--adapters {Path('adapters').absolute()}" in err
    status, out, err = dlbench(*line, "--adapters", "adapters")
    assert (status, err) == (0, "")
    assert "result = np.asarray(array)" in out


def test_an_interpreter_that_a_document_names_is_not_run(
    dlbench: Run, fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("evil").write_text("#!/bin/sh\ntouch pwned\n")
    Path("evil").chmod(0o755)
    monkeypatch.setattr(valgrind, "require", lambda: "valgrind")
    document = samples.document(samples.measured("numpy", "numpy", 1.0, environment="old"))
    places = document["context"]["dlbench"]["environments"]
    place = places["old"] = dict(places["default"])
    for had, named in (("./evil", "old=PYTHON"), (str(Path("evil").absolute()), "old=/")):
        place["executable"] = had
        Path("doc.json").write_text(json.dumps(document))
        for verb in ("debug", "explain"):
            status, out, err = dlbench(verb, "doc.json", "numpy", "numpy")
            assert (status, out) == (2, "")
            assert f"add --env {named}" in err
            assert err.count("\n") == 1
    assert not Path("pwned").exists()
    # What this line names is asked.
    dlbench("debug", "doc.json", "numpy", "numpy", "--env", "old=./evil")
    assert Path("pwned").exists()


def test_debug_prints_the_debugger_line_and_becomes_the_worker(
    dlbench: Run, fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    dlbench(*MINE)
    started: list[list[str]] = []
    monkeypatch.setattr(os, "execv", lambda _, argv: started.append(argv))
    line = ("debug", "latest", "mine", "mine", "convert", "ready")
    _, out, _ = dlbench(*line, "--adapters", "adapters")
    ((_, worker, option, path),) = started
    assert (Path(worker).name, option) == ("worker_main.py", "--requests")
    assert out == f"gdb --args {sys.executable} {worker} --requests {path}\n"
    requested = [json.loads(line) for line in Path(path).read_text().splitlines()]
    Path(path).unlink()
    assert [line["do"] for line in requested] == ["load"] * 2 + ["prepare"] + ["round"] * 6 + [
        "end"
    ]
    assert requested[2]["clocks"] == ["ready"]
    assert requested[2]["exchange"]["protocol"] == "convert"
    assert requested[2]["case"]["dtype"] == "float32"
    assert requested[3] == {
        "do": "round", "id": 0, "clock": "ready", "iterations": 1000, "prelude": 16,
    }  # fmt: skip


def test_list_names_exports_and_imports_of_the_planted_library(dlbench: Run) -> None:
    status, out, _ = dlbench("list", "mine", "--adapters", "adapters")
    lines = out.splitlines()
    assert {line.split()[0] for line in lines} == {"library", "mine", "imports", "NumPy"}
    at = next(i for i, line in enumerate(lines) if line.startswith("mine"))
    assert status == 0
    first = "mine - cpu exports dlpack buffer array_interface array_struct array"
    assert lines[at].split() == first.split()
    second = "imports dlpack dlpack_legacy dlpack_c buffer convert"
    assert lines[at + 1].split() == second.split()


def test_list_knows_a_library_by_its_argument(dlbench: Run) -> None:
    status, out, _ = dlbench("list", "faulty:honest")
    assert status == 0
    assert any(line.startswith("faulty:honest ") for line in out.splitlines())


def test_doctor_has_a_line_for_each_check(dlbench: Run) -> None:
    status, out, _ = dlbench("doctor")
    assert status == 0
    for name in ("cpu", "cores", "governor", "aslr", "cuda", "rocm", "python", "reference"):
        assert any(line.startswith(name) for line in out.splitlines())


def test_a_reader_that_leaves_early_is_no_error(tmp_path: Path) -> None:
    command = f"{sys.executable} -m dlbench --help | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert done.stdout == "0\n"
    assert done.stderr == ""
