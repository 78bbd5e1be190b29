"""`dlbench fleet` on ReFrame's local partition: several machines that are simulated by commands in
front of the Python, and what they leave when they fail."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import samples
import synthetic
from dlbench import _core, cli
from dlbench.document import read_document
from dlbench.errors import BadInput
from dlbench.machines import plan, reframe
from dlbench.machines.collecting import State
from typed import merged_of

OPTIONS = (
    "--producers native,numpy --consumers native,numpy --protocols dlpack --sizes 4KiB "
    "--replicas 1 --budget 3s"
)

#: Of a run that is killed: it must not end before that.
LONG = "--isolate --budget 120s --sizes 4KiB,8KiB,16KiB,32KiB,64KiB,128KiB"

#: Commands in front of the Python, as a machine with that fault has them: until the file `mended`
#: is there.
FAULTS = {
    "good": 'exec "$@"',
    "killed": """
"$@" &
until grep -q real_time run/journal.jsonl 2>/dev/null; do sleep 0.05; done
kill -9 $!; wait $!; echo "the node went down" >&2; exit 1""",
    "silent": "exec sleep 600",
    "full": 'ulimit -f 4; exec "$@"',
    "cut": """
"$@"; rm run/journal.jsonl
head -c 300 run/results.json > run/part; mv run/part run/results.json""",
}


@dataclass
class Site:
    """A folder with a fleet's file."""

    folder: Path

    def write(self, machines: dict[str, str], more: str = "") -> None:
        """`machines`: name -> fault, or a script."""
        lines = ["[defaults]", f'options = "{OPTIONS}"', 'timeout = "40s"', more]
        for name, fault in machines.items():
            script = self.folder / f"{name}.sh"
            mended = f'[ -e {self.folder}/mended ] && exec "$@"\n'
            script.write_text(f"#!/bin/bash\n{mended}{FAULTS.get(fault, fault)}\n")
            script.chmod(0o755)
            lines += [f"[machines.{name}]", f'prefix = ["{script}"]']
            lines += ['timeout = "4s"'] if fault == "silent" else []
            lines += [f'options = "{LONG}"'] if fault == "killed" else []
        (self.folder / "site.toml").write_text("\n".join(lines) + "\n")

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "dlbench", "fleet", "site.toml", "--out", "out", *words]
        path = f"{self.folder}:{os.environ['PATH']}"
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=240,
                              env={**os.environ, "PATH": path})  # fmt: skip

    def ran(self) -> set[str]:
        """The jobs of the last session of ReFrame."""
        path = self.folder / "out/reframe/dlbench/jobs.json"
        return set(json.loads(path.read_text()))

    def cells(self, job: str) -> dict[str, Any]:
        """What a job's journal holds: the time of each cell."""
        path = self.folder / "out/runs" / job / "results.json"
        return {entry.name: entry.median_ns for entry in read_document(path).measured}

    def document(self) -> Any:
        return read_document(self.folder / "out/results.json")


def wait_for(is_so: Callable[[], object]) -> None:
    end = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.1)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


@pytest.mark.process
def test_machines_become_one_document(site: Site) -> None:
    pytest.importorskip("reframe")
    site.write({"one": "good"}, more='env = {FLEET_MARK = "1"}')
    text = (site.folder / "site.toml").read_text()
    other = '[machines.nodes]\nenv = {OMP_NUM_THREADS = "1"}\n'
    (site.folder / "site.toml").write_text(text + other)
    ended = site.run()
    assert ended.returncode == 0, ended.stderr
    document = site.document()
    assert document.machines == ["nodes", "one"]
    cells = {name: {e.name for e in own.entries} for name, own in document.by_machine()}
    assert cells["one"] == cells["nodes"]
    assert len(cells["one"]) == 4
    assert "machines, relative to nodes" in ended.stdout
    assert (site.folder / "out/report.html").stat().st_size > 100_000
    script = next((site.folder / "out/reframe/dlbench/stage").rglob("rfm_job.sh")).parent.parent
    jobs = "".join(path.read_text() for path in script.rglob("rfm_job.sh"))
    assert "OMP_NUM_THREADS=1" in jobs
    assert "FLEET_MARK=1" in jobs
    # All of it is there: nothing runs again.
    jobs_file = site.folder / "out/reframe/dlbench/jobs.json"
    before = jobs_file.stat().st_mtime_ns
    assert site.run("--quiet", "--no-report").returncode == 0
    assert jobs_file.stat().st_mtime_ns == before


@pytest.mark.process
def test_what_is_missing_is_named_and_runs_again(site: Site) -> None:
    pytest.importorskip("reframe")
    site.write({name: name for name in FAULTS})
    ended = site.run()
    assert ended.returncode == 3, ended.stderr
    lines = [line for line in ended.stderr.splitlines() if " is missing: " in line]
    lines_of = {line.split()[1]: line for line in lines}
    assert set(lines_of) == {"killed", "silent", "full", "cut"}
    for name in lines_of:
        log = Path(site.folder, lines_of[name].rpartition("log: ")[2])
        assert log.is_file()
    assert "the run did not end" in lines_of["killed"]
    assert "the node went down" in lines_of["killed"]
    assert "timed out" in lines_of["silent"]
    assert "File too large" in lines_of["full"]
    assert "results.json" in lines_of["cut"]
    document = site.document()
    # As each job ends it is reported.
    ends = [line.partition(",")[0] for line in ended.stderr.splitlines() if " of 5 jobs" in line]
    assert {"good: ended", "silent: failed"} <= set(ends)
    assert len(ends) == 5
    assert {"good"} <= set(document.machines) <= {"good", "killed", "full"}
    assert len(document.of_machine("good").entries) == 4
    recorded = site.cells("killed")
    assert 0 < len(recorded) < 24

    (site.folder / "mended").touch()
    ended = site.run("--quiet")
    assert ended.returncode == 0, ended.stderr
    assert site.ran() == {"killed", "silent", "full", "cut"}
    document = site.document()
    assert document.machines == sorted(FAULTS)
    found = {name: len(own.measured) for name, own in document.by_machine()}
    assert found == {name: 24 if name == "killed" else 4 for name in FAULTS}
    # The run that was killed went on: what it had is not measured again.
    assert recorded.items() <= site.cells("killed").items()


@pytest.mark.process
def test_a_run_that_cannot_go_on_begins_anew(site: Site) -> None:
    pytest.importorskip("reframe")
    site.write({"box": "killed"})
    assert site.run("--quiet", "--no-report").returncode == 3
    journal = site.folder / "out/runs/box/journal.jsonl"
    first, rest = journal.read_text().split("\n", 1)
    made = json.loads(first)
    before = made["fingerprint"]
    assert before in first
    journal.write_text(f"{first.replace(before, '0' * len(before))}\n{rest}")
    (site.folder / "mended").touch()
    ended = site.run("--quiet", "--no-report")
    assert ended.returncode == 0, ended.stderr
    assert len(site.document().measured) == 24


@pytest.mark.process
def test_a_machine_without_a_number_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    found = read("[machines.box]\n[machines.bare]\n", tmp_path)
    whole = synthetic.document(("native", "numpy"), (4096,), failing=0.0)
    refused = synthetic.document(("native", "numpy"), (4096,), failing=1.0)
    assert not refused["benchmarks"]

    def plant(made: Any, job: plan.Job) -> None:
        place = tmp_path / "out/runs" / job.name
        place.mkdir(parents=True, exist_ok=True)
        (place / "results.json").write_text(json.dumps(made))
        (place / "job.json").write_text(json.dumps(job.request()))

    box, bare = found.jobs
    plant(whole, box)
    plant(refused, bare)
    words = ["fleet", "f.toml", "--out", "out", "--no-report", "--quiet"]
    assert cli.main(words) == 3
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("dlbench: bare: nothing could be measured: ")
    assert line.endswith("; to measure again, remove out/runs/bare")
    assert read_document(tmp_path / "out/results.json").machines == ["bare", "box"]
    plant(refused, box)
    assert cli.main(words) == 2
    *_, last = capsys.readouterr().err.splitlines()
    assert last == "dlbench: nothing was measured on any machine"


@pytest.mark.parametrize("words", [[], ["--dry-run"]])
def test_the_folder_of_another_run_is_refused(
    words: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delattr("dlbench.machines.reframe.run")  # nothing is measured
    (tmp_path / "latest.toml").write_text("[machines.a]\n")
    other = tmp_path / "dlbench-results/first"
    other.mkdir(parents=True)
    (other / "results.json").write_text("mine")
    (tmp_path / "dlbench-results/latest").symlink_to("first")
    (tmp_path / "link").symlink_to("dlbench-results/first")
    for out, why in (
        ("link", "is not empty and holds no fleet"),
        ("dlbench-results/first", "is not empty and holds no fleet"),
        ("./dlbench-results/latest/", "is the link to the latest run"),
        ("", "is the link to the latest run"),  # the file's name
        ("latest.toml", "is a file"),
    ):
        place = ["--out", out] if out else []
        assert cli.main(["fleet", "latest.toml", *place, *words]) == 2
        err = capsys.readouterr().err
        assert why in err
        assert err.count("\n") == 1
    assert [path.name for path in other.iterdir()] == ["results.json"]
    for name in ("runs", "reframe"):
        (tmp_path / f"of-{name}" / name).mkdir(parents=True)
        assert cli.main(["fleet", "latest.toml", "--out", f"of-{name}", "--dry-run"]) == 0


#: Ends as ReFrame does when it is interrupted; the signal comes as soon as it has started.
EARLY = """
import os, signal
from dlbench import _core
from dlbench.machines import reframe

def start():
    program = _core.Program(["sleep", "600"], variables={}, log=os.devnull, inherited=-1)
    print(program.pid, flush=True)
    for number in (signal.SIGTERM, signal.SIGTERM):
        os.kill(os.getpid(), number)
    return program

print(reframe._wait(start, lambda: None), flush=True)
"""


@pytest.mark.process
def test_a_signal_as_reframe_starts_leaves_no_process() -> None:
    words = [sys.executable, "-c", EARLY]
    # As behind `&` in a script: there interrupts are ignored.
    ended = subprocess.run(["sh", "-c", 'trap "" INT; exec "$@"', "-", *words],
                           capture_output=True, text=True, timeout=60)  # fmt: skip
    pid, *rest = ended.stdout.split("\n")
    left = Path("/proc", pid).exists()
    if left:
        os.kill(int(pid), signal.SIGKILL)
    assert not left
    assert rest[0] == f"({-signal.SIGINT}, {signal.SIGTERM.value})", ended.stderr


@pytest.mark.parametrize("text", ['{"runs": [{"testca', "{}", '{"runs": 3}', '{"runs": [[]]}'])
def test_a_broken_report_of_reframe_is_one_line(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = read("[machines.a]\n", tmp_path).jobs
    report = tmp_path / "reframe/dlbench/report.json"

    def leave(*_: object) -> tuple[int, int]:
        report.write_text(text)
        return 1, 0

    monkeypatch.setattr("dlbench.machines.reframe._wait", leave)
    ended = reframe.run(jobs, tmp_path / "reframe", None, {}, lambda name, is_good: None, -1).ended
    assert ended["a"].reason.startswith("ReFrame wrote an invalid report (exit status 1): ")
    assert ended["a"].reason.endswith("; see " + str(report.with_name("reframe.log")))


#: Writes its process, and does not end.
SLEEPS = "echo $$ > run.pid; exec sleep 600"


@pytest.mark.process
def test_an_interrupted_fleet_ends_its_jobs_and_keeps_the_others(site: Site) -> None:
    pytest.importorskip("reframe")
    site.write({"a": "good"})
    assert site.run("--quiet", "--no-report").returncode == 0
    site.write({"a": "good", "b": SLEEPS, "c": SLEEPS})
    command = [sys.executable, "-m", "dlbench", "fleet", "site.toml", "--out", "out"]
    with subprocess.Popen(command, cwd=site.folder, stderr=subprocess.PIPE, text=True) as program:
        wait_for(lambda: list(site.folder.rglob("run.pid")))
        (pid,) = site.folder.rglob("run.pid")
        program.send_signal(signal.SIGINT)
        _, err = program.communicate(timeout=60)
    assert program.returncode == 130, err
    assert err.count(" is missing: nothing was collected; interrupted; log: ") == 1
    assert err.count(" is missing: nothing was collected; interrupted before it ran\n") == 1
    assert site.document().machines == ["a"]
    wait_for(lambda: not Path("/proc", pid.read_text().strip()).exists())


@pytest.mark.process
def test_what_a_killed_fleet_left_is_collected(site: Site) -> None:
    pytest.importorskip("reframe")
    site.write({"a": f'"$@"; {SLEEPS}'})
    command = [sys.executable, "-m", "dlbench", "fleet", "site.toml", "--out", "out"]
    with subprocess.Popen(command, cwd=site.folder, stderr=subprocess.DEVNULL) as program:
        wait_for(lambda: list(site.folder.rglob("run.pid")))
        (of_reframe,) = Path(f"/proc/{program.pid}/task/{program.pid}/children").read_text().split()
        # ReFrame goes on without us, and no other fleet may use its folder.
        program.kill()
    ended = site.run()
    assert (ended.returncode, "another `dlbench fleet` is measuring" in ended.stderr) == (2, True)
    os.kill(int(of_reframe), signal.SIGKILL)
    (pid,) = site.folder.rglob("run.pid")
    os.killpg(os.getpgid(int(pid.read_text())), signal.SIGKILL)
    assert not (site.folder / "out/runs/a").exists()
    wait_for(lambda: "another" not in site.run("--quiet", "--no-report").stderr)
    assert len(site.document().of_machine("a").measured) == 4
    # No job ran for it.
    assert not (site.folder / "out/reframe/dlbench/report.json").exists()


#: What machines leave in their job's folder; the run of `good` is beside it.
LEFT = {
    "good": '"$@"; ln -s /etc/hostname run/shadow; mkfifo run/fifo; mkdir run/folder',
    "list": "mkdir run; echo '[]' > fleet-job.json",
    "deep": "mkdir run; head -c 200000 /dev/zero | tr '\\0' '[' > fleet-job.json",
    "fifo": "rm fleet-job.json; mkdir run; mkfifo fleet-job.json run/results.json",
    "link": "ln -s /etc run",
    "merged": "mkdir run; cp {merged} run/results.json",
}


@pytest.mark.process
def test_what_a_machine_leaves_costs_no_other(site: Site) -> None:
    pytest.importorskip("reframe")
    merged = merged_of([("x", samples.pair()), ("y", samples.pair())]).to_json()
    (site.folder / "merged.json").write_text(json.dumps(merged))
    _core.validate_document(str(site.folder / "merged.json"))
    faults = {n: text.replace("{merged}", f"{site.folder}/merged.json") for n, text in LEFT.items()}
    site.write(faults)
    for _ in range(2):
        ended = site.run("--quiet", "--no-report")
        assert ended.returncode == 3, ended.stderr
        lines = [line.split(": ")[1] for line in ended.stderr.splitlines()]
        assert sorted(lines) == [f"{name} is missing" for name in sorted(LEFT) if name != "good"]
        assert site.document().machines == ["good"]
        names = {path.name for path in site.folder.glob("out/runs/*/*")}
        assert names & {"shadow", "fifo", "folder", "hostname"} == set()


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("x = " + "[" * 100_000, "nested too deeply"),
        ("x = " + "{a = " * 10_000, "nested too deeply"),
        ("x = " + "1" * 5000, "digits"),
        ("#" * (1 << 21), "is larger than 1024 KiB"),
        ('"a\\nb" = 1', "unknown key a\nb; allowed"),
        ("", "is not a file"),
    ],
)
def test_a_hostile_file_is_one_line(text: str, fault: str, tmp_path: Path) -> None:
    path = tmp_path / "fleet.toml"
    if text:
        path.write_text(text)
    else:
        os.mkfifo(path)
    with pytest.raises(BadInput, match=fault):
        plan.read(path)


@pytest.mark.process
def test_a_run_that_cannot_be_collected_is_kept(site: Site) -> None:
    pytest.importorskip("reframe")
    site.write({"a": "good"})
    (site.folder / "out/runs").mkdir(parents=True)
    blocks = site.folder / "out/runs/.a"  # in the way of the copy
    blocks.touch()
    ended = site.run("--quiet", "--no-report")
    assert ended.returncode == 2, ended.stderr
    site.write({"a": "good", "b": "good"})
    ended = site.run("--quiet", "--no-report")
    assert ended.returncode == 3, ended.stderr
    assert site.ran() == {"b"}
    (line,) = ended.stderr.splitlines()
    assert line.startswith("dlbench: a is missing: nothing was collected; cannot collect a from ")
    assert "the next call collects its run" in line
    blocks.unlink()
    before = (site.folder / "out/reframe/dlbench/report.json").stat().st_mtime_ns
    ended = site.run("--quiet", "--no-report")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert site.document().machines == ["a", "b"]
    assert (site.folder / "out/reframe/dlbench/report.json").stat().st_mtime_ns == before


@pytest.mark.process
def test_a_cut_document_beside_its_journal_is_written_again(site: Site) -> None:
    pytest.importorskip("reframe")
    cut = FAULTS["cut"].replace("rm run/journal.jsonl", "true")
    site.write({"box": "good"})
    (site.folder / "box.sh").write_text(f"#!/bin/bash\n{cut}\n")
    ended = site.run("--no-report")
    assert ended.returncode == 0, ended.stderr
    assert len(site.document().of_machine("box").measured) == 4


#: Partitions of one computer, with ReFrame's own number of jobs at a time.
SHARED = """
partition = {"scheduler": "local", "launcher": "local", "environs": ["builtin", "other"]}
site_configuration = {
    "systems": [{"name": "cluster", "hostnames": ["none"], "partitions": [
        {"name": "cpu", **partition}, {"name": "gpu", **partition}]}],
    "environments": [{"name": "other"}],
}
"""


@pytest.mark.process
def test_each_job_runs_once_and_alone_on_its_computer(site: Site) -> None:
    pytest.importorskip("reframe")
    (site.folder / "config.py").write_text(SHARED)
    record = f"""
echo begin >> {site.folder}/times
"$@"; status=$?
echo end >> {site.folder}/times
exit $status"""
    site.write({"one": record, "two": record, "three": record})
    text = (site.folder / "site.toml").read_text()
    for name, part in (("one", "cpu"), ("two", "gpu"), ("three", "gpu")):
        table = f"[machines.{name}]\n"
        facts = f'partition = "cluster:{part}"\npython = "{sys.executable}"\n'
        text = text.replace(table, table + facts)
    (site.folder / "site.toml").write_text(f'config = "config.py"\n{text}')
    ended = site.run("--quiet", "--no-report")
    assert ended.returncode == 0, ended.stderr
    assert site.document().machines == ["one", "three", "two"]
    assert (site.folder / "times").read_text().split() == ["begin", "end"] * 3


#: A site's configuration: a partition that sets a variable.
SITE = """
partition = {"name": "gpu", "scheduler": "local", "launcher": "local", "environs": ["builtin"],
             "env_vars": [["OF_PARTITION", "gpu"]]}
site_configuration = {
    "systems": [{"name": "cluster", "hostnames": ["none"], "partitions": [partition]}]
}
"""


@pytest.mark.process
@pytest.mark.thorough
def test_a_partition_of_the_sites_configuration_is_used(site: Site) -> None:
    pytest.importorskip("reframe")
    (site.folder / "config.py").write_text(SITE)
    site.write({"node": "good"})
    text = (site.folder / "site.toml").read_text()
    python = f'python = "{sys.executable}"\npartition = "cluster:gpu"\n'
    (site.folder / "site.toml").write_text('config = "config.py"\n' + text + python)
    (site.folder / "node.sh").write_text('#!/bin/bash\n[ $OF_PARTITION = gpu ] && exec "$@"\n')
    ended = site.run("--quiet", "--no-report")
    assert ended.returncode == 0, ended.stderr
    assert len(site.document().of_machine("node").measured) == 4
    absent = python.replace(":gpu", ":cpu")
    with (site.folder / "site.toml").open("a") as file:
        file.write(f"[machines.new]\n{python}[machines.absent]\n{absent}")
    ended = site.run("--quiet", "--no-report")
    assert ended.returncode == 3
    assert "absent is missing: nothing was collected; ReFrame did not run it" in ended.stderr
    assert site.document().machines == ["new", "node"]
    (site.folder / "site.toml").write_text('config = "config.py"\n' + text + absent)
    ended = site.run("--out", "other")
    assert ended.returncode == 2
    assert "ReFrame ran no test" in ended.stderr
    # The machines of other systems are measured all the same.
    site.write({"laptop": "good"})
    text = (site.folder / "site.toml").read_text()
    (site.folder / "site.toml").write_text(
        f'config = "config.py"\n{text}[machines.absent]\n{absent}'
    )
    ended = site.run("--quiet", "--no-report", "--out", "third")
    assert ended.returncode == 3
    assert "absent is missing: nothing was collected; ReFrame ran no test" in ended.stderr
    merged = read_document(site.folder / "third/results.json")
    assert len(merged.measured) == 4


#: A host behind ssh.
FAR = """
partition = {"name": "box", "scheduler": "ssh", "launcher": "local", "environs": ["builtin"],
             "sched_options": {"ssh_hosts": ["box"]}}
site_configuration = {
    "systems": [{"name": "far", "hostnames": ["none"], "partitions": [partition]}]
}
"""
#: The commands of it; without rsync, ReFrame takes scp.
SSH = {
    "ssh": 'shift 3; exec sh -c "$*"',  # -o BatchMode=yes HOST COMMAND
    "scp": 'shift 3; [ $# = 2 ] || set -- "${1%/*}/*" "${@: -1}"; exec cp -r ${1#*:} "${2#*:}"',
    "rsync": "exit 1",
}


@pytest.mark.process
def test_a_job_behind_ssh_that_is_killed_is_collected(site: Site) -> None:
    pytest.importorskip("reframe")
    (site.folder / "config.py").write_text(FAR)
    for name, line in SSH.items():
        (site.folder / name).write_text(f"#!/bin/bash\n{line}\n")
        (site.folder / name).chmod(0o755)
    site.write({"box": "killed"})
    text = (site.folder / "site.toml").read_text()
    text += f'partition = "far:box"\npython = "{sys.executable}"\n'
    (site.folder / "site.toml").write_text('config = "config.py"\n' + text)
    ended = site.run("--quiet", "--no-report")
    assert ended.returncode == 3, ended.stderr
    assert "box is missing: the run did not end" in ended.stderr
    recorded = site.cells("box")
    assert recorded
    (site.folder / "mended").touch()
    ended = site.run("--quiet", "--no-report")
    assert ended.returncode == 0, ended.stderr
    assert recorded.items() <= site.cells("box").items()
    (script,) = (site.folder / "out/reframe/far/stage").rglob("rfm_job.sh")
    assert "timeout 40.0 " in script.read_text()


@pytest.mark.process
def test_runs_of_another_file_are_not_mixed_in(site: Site) -> None:
    pytest.importorskip("reframe")
    site.write({"box": "good"})
    assert site.run("--quiet", "--no-report").returncode == 0
    before = (site.folder / "out/results.json").read_bytes()
    text = (site.folder / "site.toml").read_text()
    (site.folder / "site.toml").write_text(text.replace("4KiB", "8KiB"))
    ended = site.run()
    assert ended.returncode == 2
    assert "was measured with other options than box has now" in ended.stderr
    assert (site.folder / "out/results.json").read_bytes() == before


@pytest.mark.process
def test_the_check_runs_with_a_sites_own_parameters(site: Site) -> None:
    pytest.importorskip("reframe")
    checks = subprocess.run(
        [sys.executable, "-m", "dlbench", "--reframe-checks"], capture_output=True, text=True
    ).stdout.strip()
    words = [sys.executable, "-c", "import sys; from reframe.frontend.cli import main; main()"]
    words += ["-c", checks, "-r", "-S", f"python={sys.executable}"]
    of_each = (OPTIONS.replace("native,numpy", library) for library in ("native", "numpy"))
    words += ["-P", f"arguments={','.join(of_each)}", "--prefix", "rfm", "--nocolor"]
    words += ["--performance-report"]
    ended = subprocess.run(words, cwd=site.folder, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stdout
    found = sorted((site.folder / "rfm/output").rglob("results.json"))
    assert len(found) == 2
    assert "producer=native/consumer=native/" in ended.stdout
    runs = [f"{name}={path.parent}" for name, path in zip("ab", found, strict=True)]
    assert cli.main(["merge", *runs, "--out", str(site.folder / "all")]) == 0
    assert len(read_document(site.folder / "all/results.json").measured) == 2


def read(text: str, tmp_path: Path) -> plan.Fleet:
    (tmp_path / "f.toml").write_text(text)
    return plan.read(tmp_path / "f.toml")


def test_a_run_replaces_one_with_fewer_cells_only() -> None:
    whole, cut, less = State(2, ""), State(2, "cut"), State(1, "cut")
    nothing = State(None, "nothing was collected")
    assert less.is_less_than(cut)
    assert less.is_less_than(whole)
    assert cut.is_less_than(whole)
    assert nothing.is_less_than(less)
    assert not cut.is_less_than(less)
    assert not whole.is_less_than(whole)
    assert not less.is_less_than(nothing)


def test_defaults_hold_unless_a_machine_has_its_own(tmp_path: Path) -> None:
    found = read(
        """
[defaults]
options = "--sizes 4KiB"
env = {A = "1", B = "2"}
[machines.one]
env = {B = "3"}
[machines.two]
options = ["--replicas", "2"]
timeout = "90s"
""",
        tmp_path,
    )
    one, two = found.jobs
    assert [one.name, two.name] == ["one", "two"]
    assert dict(one.env) == {"A": "1", "B": "3"}
    assert two.options == ("--sizes", "4KiB", "--replicas", "2")
    assert (one.timeout_s, two.timeout_s) == (3600.0, 90.0)
    assert one.python == sys.executable


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it names no machine: add a table such as [machines.laptop]"),
        ("[machines.a]\n[machines.a]\n", "Cannot declare ('machines', 'a') twice"),
        ("[machine.a]\n", "unknown key machine (did you mean 'machines'?)"),
        ('[machines.a]\nopts = "x"\n', "unknown key machines.a.opts"),
        ("[machines.a]\nshards = 2\n", "unknown key machines.a.shards"),
        ('[machines.a]\ntimeout = "5"\n', "machines.a.timeout: "),
        ('[machines."a b"]\n', "machine 'a b': allowed: letters"),
        ('[machines.a]\noptions = "--out x"\n', "leave out --out: fleet sets it"),
        ('[machines.a]\npartition = "x:y"\n', "set config"),
        ('config = "none.py"\n[machines.a]\n', "no such file"),
        ("machines = 3\n", "machines: allowed: a table"),
    ],
)
def test_a_bad_file_is_one_line(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput) as caught:
        read(text, tmp_path)
    assert message in str(caught.value)
    assert str(tmp_path / "f.toml") in str(caught.value)
    assert "\n" not in str(caught.value)


def test_without_reframe_the_verb_says_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "f.toml").write_text("[machines.a]\n")
    monkeypatch.setitem(sys.modules, "reframe", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert cli.main(["fleet", str(tmp_path / "f.toml"), "--out", str(tmp_path / "out")]) == 2
    assert "pip install 'dlbench[fleet]'" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_the_jobs_are_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "f.toml").write_text("[machines.a]\n[machines.b]\n")
    assert cli.main(["fleet", str(tmp_path / "f.toml"), "--dry-run"]) == 0
    assert capsys.readouterr().out == "a: to measure\nb: to measure\n"
