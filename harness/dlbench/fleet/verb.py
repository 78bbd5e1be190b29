"""`dlbench fleet FILE`: one matrix over the machines of a file."""

from __future__ import annotations

from pathlib import Path

import click

from dlbench import _core
from dlbench.command import merge, shards, showing
from dlbench.document import RESULTS, Document, read_document
from dlbench.errors import BadInput, first_line, os_reason
from dlbench.fleet import collecting, plan, reframe
from dlbench.fleet.plan import Job
from dlbench.fleet.reframe import Ended
from dlbench.running import reporting
from dlbench.text import output
from dlbench.text.layout import count
from dlbench.text.output import Console

INCOMPLETE = 3  #: exit status where a job has no whole run


@click.command("fleet")
@click.argument("file", metavar="FILE")
@click.option(
    "--out", metavar="DIR", help="Folder of the fleet. Default: dlbench-results/ and FILE's name."
)
@click.option("--dry-run", is_flag=True, help="Print the jobs and which are measured; stop.")
@click.option("--quiet", is_flag=True, help="Print only errors and what is missing.")
@click.option("--no-report", is_flag=True, help="Write no report.")
def fleet(file: str, out: str | None, dry_run: bool, quiet: bool, no_report: bool) -> int:
    """Measure one matrix on several machines through ReFrame, and merge the runs.

    FILE is a TOML file that names the machines. Each runs `dlbench --matrix` alone, or as many
    shards as it has nodes. The runs are collected in DIR and merged; what is missing is named, with
    the log of its job, and the exit code is 3. The same command again runs only what is missing: a
    run that was cut continues.
    """
    wanted = plan.read(Path(file))
    folder = Path(out) if out else RESULTS / Path(file).stem
    store = collecting.Store(folder / "runs")
    store.require_fitting(wanted.jobs)
    todo = [job for job in wanted.jobs if store.state(job).fault]
    if dry_run:
        for job in wanted.jobs:
            output.say(f"{job.label}: {'to measure' if job in todo else 'measured'}")
        return 0
    session = reframe.Session({})
    if todo:
        reframe.require()
        try:
            (folder / "runs").mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadInput(f"cannot create {folder / 'runs'}: {os_reason(error)}") from error
        if not quiet:
            labels = ", ".join(job.label for job in todo)
            output.complain(f"measuring through ReFrame, {count(len(todo), 'job')}: {labels}")
        begun = {job.name: place for job in todo if (place := store.begun(job))}
        session = reframe.run(todo, folder / "reframe", wanted.config, begun)
        for job in todo:
            if job.name in session.ended:
                try:
                    store.collect(job, session.ended[job.name])
                except BadInput as error:
                    output.complain(f"dlbench: {first_line(error)}")
    missing = _missing(wanted.jobs, store, session.ended)
    path, left_out = _merge(wanted.jobs, store, folder)
    if path is not None:
        report = _report(path) if not no_report else ""
        if not quiet:
            showing.show(read_document(path), path, str(folder), Console())
            if report:
                output.say(report)
    for line in (*missing, *left_out):
        output.complain(f"dlbench: {line}")
    if session.signal:
        output.complain(f"dlbench: interrupted; the same command runs what is missing: {file}")
        return 128 + session.signal
    if path is None:
        output.complain("dlbench: nothing was measured on any machine")
        return 2
    return INCOMPLETE if missing or left_out else 0


def _missing(jobs: tuple[Job, ...], store: collecting.Store, ended: dict[str, Ended]) -> list[str]:
    """A line for each job without a whole run: why, and where its log is."""
    lines = []
    for job in jobs:
        fault = store.state(job).fault
        if not fault:
            continue
        parts = [fault]
        if job.name in ended:
            end = ended[job.name]
            log, last = collecting.log_of(end)
            parts += [part for part in (end.reason, last) if part]
            parts += [f"log: {log}"] if log else []
        elif ended:
            parts.append(f"ReFrame did not run it: is there a partition {job.partition}?")
        lines.append(f"{job.label} is missing: {'; '.join(parts)}")
    return lines


def _merge(
    jobs: tuple[Job, ...], store: collecting.Store, folder: Path
) -> tuple[Path | None, list[str]]:
    """Merges what the jobs have; the document's path, or None where they have nothing, and a line
    for each shard that does not fit to the others of its machine."""
    found: dict[str, list[tuple[str, Document]]] = {}
    for job in jobs:
        if document := store.state(job).document:
            found.setdefault(job.machine, []).append((str(store.place(job)), document))
    if not found:
        return None, []
    chosen: list[tuple[str, str, Document]] = []
    left_out: list[str] = []
    for machine, parts in found.items():
        fitting, faults = shards.largest_run(parts)
        chosen += [(machine, word, document) for word, document in fitting]
        left_out += [f"{machine} is merged without {fault}" for fault in faults]
    merged = merge.of_documents(chosen)
    for remark in merged.remarks:
        output.complain(f"dlbench: {remark}")
    path = folder / "results.json"
    merged.write(path)
    return path, left_out


def _report(path: Path) -> str:
    """The report's path; empty where it cannot be written, which costs no result."""
    try:
        return str(reporting.report([str(path)], None))
    except (BadInput, _core.UsageError, OSError) as error:
        output.complain(f"dlbench: no report: {first_line(error)}")
        return ""
