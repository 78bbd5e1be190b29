"""`dlbench fleet FILE`: one matrix over the machines of a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import click

from dlbench import _core
from dlbench.command import merge, showing
from dlbench.document import LATEST, RESULTS, Document, read_document
from dlbench.errors import BadInput, first_line, os_reason
from dlbench.machines import collecting, plan, reframe
from dlbench.machines.collecting import State, Store
from dlbench.machines.plan import Job
from dlbench.running import reporting, run, rundir
from dlbench.text import output
from dlbench.text.layout import count
from dlbench.text.output import Console

RUNS, REFRAME = "runs", "reframe"  #: folders in that of a fleet
INCOMPLETE = 3  #: exit status where a job has no whole run


@click.command("fleet")
@click.argument("file", metavar="FILE")
@click.option(
    "--out",
    metavar="DIR",
    help="Write the fleet to this folder. Default: dlbench-results/ and FILE's name.",
)
@click.option("--dry-run", is_flag=True, help="Print the jobs with their states and stop.")
@click.option("--quiet", is_flag=True, help="Print only errors and missing runs.")
@click.option("--no-report", is_flag=True, help="Write no report.")
def fleet(file: str, out: str | None, dry_run: bool, quiet: bool, no_report: bool) -> int:
    """Measure one matrix on several machines through ReFrame, and merge the runs.

    FILE is a TOML file that names the machines. Each runs `dlbench --matrix` alone. The runs are
    collected in DIR and merged. Missing runs are listed with the logs of their jobs, and the exit
    code is 3. The same command again runs only the missing jobs; an interrupted run continues.
    """
    wanted = plan.read(Path(file))
    folder = rundir.typed(out) if out else RESULTS / Path(file).stem
    _require_own(folder)
    store = Store(folder / RUNS)
    store.require_fitting(wanted.jobs)
    states = {job: store.state(job) for job in wanted.jobs}
    todo = [job for job, state in states.items() if state.fault]
    if dry_run:
        for job in wanted.jobs:
            output.print_line(f"{job.name}: {'to measure' if states[job].fault else 'measured'}")
        return 0
    session = reframe.Session({})
    if todo:
        reframe.require()
        session = _measure(todo, store, folder / REFRAME, wanted.config, quiet=quiet)
        states |= {job: store.state(job) for job in todo}
    missing = _missing(states, session)
    path, not_measured, is_measured = _merge(states, store, folder)
    if path is not None:
        report = _report(path) if not no_report else ""
        if not quiet:
            showing.show(read_document(path), path, str(folder), Console())
            if report:
                output.print_line(report)
    for line in (*missing, *not_measured):
        output.print_error(f"dlbench: {line}")
    if session.signal:
        output.print_error(f"dlbench: interrupted; the same command runs what is missing: {file}")
        return 128 + session.signal
    if not is_measured:
        output.print_error("dlbench: nothing was measured on any machine")
        return 2
    return INCOMPLETE if missing or not_measured else 0


def _require_own(folder: Path) -> None:
    """Raises BadInput unless the folder is new, empty or a fleet's, so that no other run is
    overwritten."""
    if folder == RESULTS / LATEST:
        raise BadInput(f"--out {folder}: is the link to the latest run; choose another folder")
    try:
        if folder.exists() and not folder.is_dir():
            raise BadInput(f"--out {folder}: is a file")
        is_of_fleet = (folder / RUNS).is_dir() or (folder / REFRAME).is_dir()
        if folder.is_dir() and not is_of_fleet and any(folder.iterdir()):
            raise BadInput(f"--out {folder}: is not empty and holds no fleet; choose another")
    except OSError as error:
        raise BadInput(f"--out {folder}: {os_reason(error)}") from error


def _measure(
    jobs: Sequence[Job], store: Store, folder: Path, config: Path | None, *, quiet: bool
) -> reframe.Session:
    """Collects the runs that an earlier call left in `folder`, then runs the other jobs.

    A job with a run that cannot be collected is not started, because that would delete the run."""
    with reframe.locked(folder) as lock:
        store.create()
        not_collected = _collect(store, reframe.left(folder, jobs))
        states = {job: store.state(job) for job in jobs if job.name not in not_collected}
        todo = [job for job, state in states.items() if state.fault]
        begun = {job.name: place for job in todo if (place := store.begun(job, states[job]))}
        on_end = _progress(todo) if todo and not quiet else lambda name, is_good: None
        session = reframe.run(todo, folder, config, begun, on_end, lock)
        ran = ((job, session.ended[job.name].stage) for job in todo if job.name in session.ended)
        not_collected |= _collect(store, ((job, stage) for job, stage in ran if stage))
        session.ended |= not_collected
    return session


def _progress(jobs: Sequence[Job]) -> reframe.OnEnd:
    """Prints a line now, and a line when a job ends."""
    names = ", ".join(job.name for job in jobs)
    output.print_error(f"measuring through ReFrame, {count(len(jobs), 'job')}: {names}")
    ended = set[str]()

    def on_end(name: str, is_good: bool) -> None:
        ended.add(name)
        how = "ended" if is_good else "failed"
        output.print_error(f"{name}: {how}, {len(ended)} of {count(len(jobs), 'job')}")

    return on_end


def _collect(store: Store, ran: Iterable[tuple[Job, Path]]) -> dict[str, reframe.Ended]:
    """Collects the runs of jobs from the folders in which they ran. Returns by name the jobs with
    runs that cannot be collected; these runs stay in their folders."""
    failed = {}
    for job, stage in ran:
        try:
            store.collect(job, stage)
        except BadInput as error:
            reason = f"{first_line(error)}; the next call collects its run"
            failed[job.name] = reframe.Ended(reason, stage)
    return failed


def _missing(states: Mapping[Job, State], session: reframe.Session) -> list[str]:
    """A line for each job without a whole run: why, and where its log is."""
    lines = []
    for job, state in states.items():
        if not state.fault:
            continue
        parts = [state.fault]
        if end := session.ended.get(job.name):
            log, last = collecting.log_of(end.stage)
            parts += [part for part in (end.reason, last) if part]
            parts += [f"log: {log}"] if log else []
        elif session.signal:
            parts.append("interrupted before it ran")
        elif session.ended:
            parts.append(f"ReFrame did not run it: check that partition {job.partition} exists")
        lines.append(f"{job.name} is missing: {'; '.join(parts)}")
    return lines


def _merge(
    states: Mapping[Job, State], store: Store, folder: Path
) -> tuple[Path | None, list[str], bool]:
    """Merges the jobs' runs. Returns the document's path, or None without a run; a remark for each
    machine without a measured cell; and whether any cell was measured."""
    found = [job for job, state in states.items() if state.cells is not None]
    if not found:
        return None, [], False
    not_measured: list[str] = []

    def runs() -> Iterator[tuple[str, str, Document]]:
        # The document of one machine at a time is in memory.
        for job in found:
            place, document = str(store.place(job)), store.document(job)
            if not document.measured:
                not_measured.append(f"{job.name}: nothing could be measured"
                                    f"{run.most_frequent_reason(document)}; "
                                    f"to measure again, remove {place}")  # fmt: skip
            yield job.name, place, document

    merged = merge.of_machines(runs())
    for remark in merged.remarks:
        output.print_error(f"dlbench: {remark}")
    path = folder / "results.json"
    merged.write(path)
    return path, not_measured, bool(merged.lines["benchmarks"])


def _report(path: Path) -> str:
    """The report's path; empty where it cannot be written. The results are kept in any case."""
    try:
        return str(reporting.report([str(path)], None))
    except (BadInput, _core.UsageError, OSError) as error:
        output.print_error(f"dlbench: no report: {first_line(error)}")
        return ""
