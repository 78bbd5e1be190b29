"""Writes a ReFrame check for jobs, runs it, and reads what became of each job."""

from __future__ import annotations

import importlib.util
import json
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from dlbench.errors import BadInput, first_line, last_line
from dlbench.fleet.plan import Job

CHECKS = Path(__file__).parent / "checks"
#: ReFrame's system that has this machine alone, where the file names no partition.
HERE = "dlbench"
JOBS, CHECK, SETTINGS, REPORT, LOG = (
    "jobs.json", "fleet_check.py", "settings.py", "report.json", "reframe.log",
)  # fmt: skip

MARK = "fleet-job"  #: in a job's stage folder: its name
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
#: ReFrame has no `-m`; its command may not be on PATH.
START = "import sys; from reframe.frontend.cli import main; sys.exit(main())"

#: One job at a time: a machine is measured alone.
SETTINGS_TEXT = f'''\
"""Written by `dlbench fleet`: this machine, for ReFrame."""

site_configuration = {{
    "systems": [
        {{
            "name": "{HERE}",
            "descr": "this machine",
            "hostnames": [".*"],
            "max_local_jobs": 1,
            "partitions": [
                {{
                    "name": "here",
                    "scheduler": "local",
                    "launcher": "local",
                    "environs": ["builtin"],
                    "max_jobs": 1,
                }}
            ],
        }}
    ],
}}
'''

CHECK_TEXT = '''\
"""Written by `dlbench fleet`: a test for each job of jobs.json."""

import json
import shlex
import sys
from pathlib import Path

sys.path.insert(0, {checks!r})

import reframe as rfm
from dlbench_matrix import DlbenchMatrix
from reframe.core.builtins import parameter, run_after, run_before

JOBS = json.loads(Path(__file__).with_name("jobs.json").read_text(encoding="utf-8"))


@rfm.simple_test
class Fleet(DlbenchMatrix):
    """A job of the fleet"""

    fleet_job = parameter(sorted(JOBS))

    @run_after("init")
    def set_job(self):
        facts = JOBS[self.fleet_job]
        self.descr = facts["label"]
        self.valid_systems = [facts["partition"]]
        self.python, self.arguments = facts["python"], shlex.join(facts["options"])
        self.shard, self.launched_by = facts["shard"], facts["prefix"]
        self.modules, self.env_vars = facts["modules"], facts["env"]
        self.prerun_cmds, self.resumed_from = facts["setup"], facts["resumed_from"]
        self.time_limit = facts["time_limit"]
        if facts["max_pending_time"]:
            self.max_pending_time = facts["max_pending_time"]
        self.records_cells = False

    @run_before("run")
    def set_mark(self):
        Path(self.stagedir, "fleet-job").write_text(self.fleet_job, encoding="utf-8")
'''


@dataclass(frozen=True)
class Ended:
    """What ReFrame tells of a job."""

    is_good: bool
    reason: str  #: one line; empty where all is well
    stage: Path | None  #: the folder in which it ran


def require() -> None:
    """Raises BadInput where ReFrame is not installed."""
    if importlib.util.find_spec("reframe") is None:
        raise BadInput("fleet needs ReFrame: pip install 'dlbench[fleet]'")


@dataclass
class Session:
    """What became of the jobs."""

    ended: dict[str, Ended]  #: by name
    signal: int = 0  #: what interrupted it, or 0


def run(
    jobs: Sequence[Job], folder: Path, config: Path | None, begun: Mapping[str, Path]
) -> Session:
    """Runs the jobs, a session of ReFrame for each system. Interrupted, it ends its jobs.

    `folder` gets ReFrame's files; `begun`: by job's name, the run folder that it continues. Where
    ReFrame itself fails, the jobs of that system do.
    """
    systems: dict[str, list[Job]] = {}
    for job in jobs:
        systems.setdefault(job.partition.partition(":")[0] or HERE, []).append(job)
    done = Session({})
    for system, own in systems.items():
        place = folder / system
        place.mkdir(parents=True, exist_ok=True)
        _write(place, own, begun)
        try:
            session = _run(place, system, config if system != HERE else place / SETTINGS)
        except BadInput as error:
            # The jobs of other systems are measured all the same.
            session = Session({job.name: Ended(False, first_line(error), None) for job in own})
        done.ended |= session.ended
        done.signal = session.signal
        if done.signal:
            break
    return done


def _write(place: Path, jobs: Sequence[Job], begun: Mapping[str, Path]) -> None:
    (place / SETTINGS).write_text(SETTINGS_TEXT, encoding="utf-8")
    (place / CHECK).write_text(CHECK_TEXT.format(checks=str(CHECKS)), encoding="utf-8")
    facts = {
        job.name: {
            **job.request(),
            "label": job.label,
            "resumed_from": str(begun[job.name].absolute()) if job.name in begun else "",
            "partition": job.partition or f"{HERE}:here",
            "time_limit": max(1, round(job.timeout_s)),
            "max_pending_time": round(job.pending_s),
        }
        for job in jobs
    }
    (place / JOBS).write_text(json.dumps(facts, indent=1), encoding="utf-8")


def _run(place: Path, system: str, config: Path | None) -> Session:
    report = place / REPORT
    report.unlink(missing_ok=True)
    for mark in place.rglob(MARK):
        mark.unlink()  # of an earlier session
    words = [sys.executable, "-c", START, "-C", str(config), "--system", system]
    words += ["-c", str(place / CHECK), "-n", "^Fleet", "-r", "--prefix", str(place)]
    words += ["--keep-stage-files", "--report-file", str(report), "--exec-policy", "async"]
    words += ["--nocolor", "--max-retries", "0"]
    with (place / LOG).open("wb") as log:
        status, interrupted = _wait(words, log)
    if interrupted:
        stages = {mark.read_text(encoding="utf-8"): mark.parent for mark in place.rglob(MARK)}
        reason = "interrupted"
        ended = {name: Ended(False, reason, stage) for name, stage in stages.items()}
        return Session(ended, interrupted)
    if not report.is_file():
        text = (place / LOG).read_text(encoding="utf-8", errors="replace")
        marked = [line for line in text.splitlines() if "ERROR" in line or "WARNING" in line]
        reason = marked[0] if marked else last_line(text)
        raise BadInput(f"ReFrame ran no test (exit status {status}): {reason}; see {place / LOG}")
    found = json.loads(report.read_text(encoding="utf-8"))
    return Session(
        {
            case["fleet_job"]: _ended(case)
            for session in found["runs"]
            for case in session["testcases"]
        }
    )


def _wait(words: list[str], log: IO[bytes]) -> tuple[int, int]:
    """Runs ReFrame to its end: its exit status, and the signal that we got meanwhile or 0. ReFrame
    gets one interrupt, however many signals we get: a second one would stop it from ending its
    jobs."""
    interrupted, program = 0, None

    def stop(number: int, _: object) -> None:
        nonlocal interrupted
        is_first, interrupted = not interrupted, interrupted or number
        if is_first and program is not None:
            program.send_signal(signal.SIGINT)

    # Before ReFrame starts: a signal in between would end us alone.
    before = {number: signal.signal(number, stop) for number in SIGNALS}
    try:
        started = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
        if interrupted:
            started.send_signal(signal.SIGINT)
        program = started
        return program.wait(), interrupted
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _ended(case: dict[str, Any]) -> Ended:
    reason = ""
    if case["result"] != "pass":
        phase, why = case.get("fail_phase") or "", case.get("fail_reason") or case["result"]
        reason = f"{phase}: {' '.join(str(why).split())}" if phase else str(why)
    stage = case.get("stagedir")
    return Ended(case["result"] == "pass", reason, Path(stage) if stage else None)
