"""Runs a session of ReFrame for jobs, and reads the result of each."""

from __future__ import annotations

import contextlib
import fcntl
import importlib.util
import json
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dlbench import _core, writing
from dlbench.errors import BadInput, first_line, last_line, os_line, read_file
from dlbench.machines.plan import Job

SESSION = Path(__file__).parent / "session"
#: ReFrame's system that has this machine alone, where the file names no partition.
HERE = "dlbench"
JOBS, REPORT, LOG, LOCK = "jobs.json", "report.json", "reframe.log", "lock"
#: In a job's stage folder, until its run is collected: the job's facts of jobs.json.
MARK = "fleet-job.json"
LARGEST_FACTS = 1 << 20  #: bytes of a job's facts
#: The jobs' stage folders below a system's: system, partition, environment, test.
STAGES = "stage/*/*/*/*"
FOLLOW_S = 0.5  #: between two reads of ReFrame's log
#: A line of it, as a job has ended.
ENDED = re.compile(r"\[ +(?P<how>OK|FAIL) *\].* %fleet_job=(?P<job>\S+) ")
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
#: ReFrame has no `-m`; its command may not be on PATH.
START = "import sys; from reframe.frontend.cli import main; sys.exit(main())"


@dataclass(frozen=True)
class Ended:
    """The result of a job."""

    reason: str  #: why it failed, one line; empty where it did not
    stage: Path | None  #: the folder in which it ran


@dataclass
class Session:
    """The results of the jobs."""

    ended: dict[str, Ended]  #: by name
    signal: int = 0  #: what interrupted it, or 0


#: Called at the end of a job with its name and whether it succeeded.
OnEnd = Callable[[str, bool], object]


def require() -> None:
    """Raises BadInput where ReFrame is not installed."""
    if importlib.util.find_spec("reframe") is None:
        raise BadInput("fleet needs ReFrame: pip install 'dlbench[fleet]'")


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[int]:
    """Makes and locks the folder for this process and for those that inherit the descriptor. Raises
    BadInput if another process has locked it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / LOCK).open("a")  # a link there costs its file nothing
    except OSError as error:
        raise BadInput(os_line(folder, error)) from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise BadInput(f"another `dlbench fleet` is measuring in {folder}") from error
        except OSError:
            pass  # a file system without locks
        yield lock.fileno()


def run(
    jobs: Sequence[Job],
    folder: Path,
    config: Path | None,
    begun: Mapping[str, Path],
    on_end: OnEnd,
    lock: int,
) -> Session:
    """Runs the jobs, a session of ReFrame for each system. Interrupted, it ends its jobs.

    `folder`: for ReFrame's files; `begun`: by job's name, the run folder that it continues; `lock`:
    the descriptor of `locked`. If ReFrame fails, the jobs of that system fail.
    """
    systems: dict[str, list[Job]] = {}
    for job in jobs:
        systems.setdefault(job.partition.partition(":")[0] or HERE, []).append(job)
    done = Session({})
    for system, own in systems.items():
        place = folder / system
        try:
            _write(place, own, begun)
            site = config if system != HERE else None
            session = _run(place, system, site, own, on_end, lock)
        except (BadInput, OSError) as error:
            # The jobs of other systems are still measured.
            reason = os_line(place, error) if isinstance(error, OSError) else first_line(error)
            session = Session({job.name: Ended(reason, None) for job in own})
        done.ended |= session.ended
        done.signal = session.signal
        if done.signal:
            break
    return done


def left(folder: Path, jobs: Sequence[Job]) -> Iterator[tuple[Job, Path]]:
    """Earlier jobs with runs that were not collected, and their folders: `dlbench fleet` was
    killed, or its disk was full."""
    for name, (facts, stage) in _stages(folder).items():
        found = (job for job in jobs if job.name == name and job.request() == facts["request"])
        yield from ((job, stage) for job in found)


def _stages(folder: Path) -> dict[str, tuple[dict[str, Any], Path]]:
    """By job's name its facts, and the folder in which it ran."""
    found = {}
    for pattern in (STAGES, f"*/{STAGES}"):
        for mark in sorted(folder.glob(f"{pattern}/{MARK}")):
            try:
                facts = json.loads(read_file(mark, LARGEST_FACTS))
                name, _ = facts["name"], facts["request"]
                found[str(name)] = facts, mark.parent
            except (OSError, ValueError, RecursionError, LookupError, TypeError):
                continue  # written incompletely, or by the machine
    return found


def _write(place: Path, jobs: Sequence[Job], begun: Mapping[str, Path]) -> None:
    place.mkdir(parents=True, exist_ok=True)
    facts = {
        job.name: {
            "name": job.name,
            "request": job.request(),
            "resumed_from": str(begun[job.name].absolute()) if job.name in begun else "",
            "partition": job.partition or f"{HERE}:here",
            "time_limit": max(1, round(job.timeout_s)),
            "max_pending_time": round(job.pending_s),
        }
        for job in jobs
    }
    text = json.dumps(facts, indent=1)
    writing.write(place / JOBS, lambda out: out.write(text.encode()))


def _run(
    place: Path, system: str, config: Path | None, jobs: Sequence[Job], on_end: OnEnd, lock: int
) -> Session:
    report, log = place / REPORT, place / LOG
    report.unlink(missing_ok=True)
    names = {job.name for job in jobs}
    for name, (_, stage) in _stages(place).items():
        if name in names:  # the runs of other jobs can be collected
            (stage / MARK).unlink()
    words = [sys.executable, "-c", START, "-C", str(config or SESSION / "settings.py")]
    words += [
        "--system",
        system,
        "-c",
        str(SESSION / "fleet_check.py"),
        "-n",
        "^Fleet",
        "-r",
        "--prefix",
        str(place),
    ]
    words += ["--keep-stage-files", "--report-file", str(report), "--exec-policy", "async"]
    words += ["--nocolor", "--max-retries", "0"]
    writing.write(log, lambda _: None)
    with log.open(encoding="utf-8", errors="replace") as lines:

        def follow() -> None:
            for found in filter(None, map(ENDED.search, lines)):
                on_end(found["job"], found["how"] == "OK")

        variables = {"DLBENCH_FLEET_JOBS": str((place / JOBS).absolute())}

        def start() -> _core.Program:
            return _core.Program(words, variables=variables, log=str(log), inherited=lock)

        status, interrupted = _wait(start, follow)
    stages = {name: stage for name, (_, stage) in _stages(place).items() if name in names}
    if interrupted:
        return Session({name: Ended("interrupted", at) for name, at in stages.items()}, interrupted)
    fault = "ran no test"
    if report.is_file():
        try:
            return Session(_ended(report, stages))
        except (ValueError, LookupError, TypeError):
            fault = "wrote an invalid report"  # for example because the disk was full
    text = log.read_text(encoding="utf-8", errors="replace")
    marked = [line for line in text.splitlines() if "ERROR" in line or "WARNING" in line]
    reason = marked[0] if marked else last_line(text)
    raise BadInput(f"ReFrame {fault} (exit status {status}): {reason}; see {log}")


def _ended(report: Path, stages: Mapping[str, Path]) -> dict[str, Ended]:
    """The result of each job. Raises ValueError, LookupError or TypeError for a broken report."""
    found = json.loads(report.read_text(encoding="utf-8"))
    cases = [case for session in found["runs"] for case in session["testcases"]]
    return {
        case["fleet_job"]: Ended(_reason(case), stages.get(case["fleet_job"])) for case in cases
    }


def _wait(
    start: Callable[[], _core.Program], follow: Callable[[], object]
) -> tuple[int | None, int]:
    """Runs ReFrame to its end and calls `follow` meanwhile. Returns its exit status, and the signal
    that this process received, or 0. ReFrame receives one interrupt at most, because a second one
    would stop it from ending its jobs."""
    interrupted, was_sent = 0, False

    def stop(number: int, _: object) -> None:
        nonlocal interrupted
        interrupted = interrupted or number

    # A SIGHUP that is ignored, as under nohup, stays ignored.
    numbers = [
        number
        for number in SIGNALS
        if number != signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN
    ]
    # Set before ReFrame starts: an earlier signal would end this process alone.
    before = {number: signal.signal(number, stop) for number in numbers}
    try:
        program = start()
        while not program.wait(FOLLOW_S):
            # Here, not in the handler: a signal may come before the program has started.
            if interrupted and not was_sent:
                os.kill(program.pid, signal.SIGINT)  # ReFrame ends its jobs
                was_sent = True
            follow()
        follow()
        return program.status, interrupted
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _reason(case: dict[str, Any]) -> str:
    if case["result"] == "pass":
        return ""
    phase, why = case.get("fail_phase") or "", case.get("fail_reason") or case["result"]
    return f"{phase}: {' '.join(str(why).split())}" if phase else str(why)
