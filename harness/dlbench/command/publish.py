"""The verbs that turn a run into files for others: `export` and `report`."""

from __future__ import annotations

import re
from pathlib import Path

import click

from dlbench import _core, exporters, writing
from dlbench.document import locate, read_document
from dlbench.errors import BadInput, first_line
from dlbench.running import comparing, options, reporting
from dlbench.text.output import is_terminal, print_line, write_bytes, write_text

OUTPUT = click.option("--output", metavar="FILE", help="Write to FILE. Default: standard output.")


@click.command("export")
@click.argument("run_", metavar="RUN")
@click.option("--format", "format_", metavar="NAME", required=True,
              help="Write this format: bmf, github-action, google-benchmark, pyperf, asv, "
                   "asv-benchmarks, openmetrics, csv, markdown, support, parquet or arrow."
)  # fmt: skip
@click.option("--base", metavar="RUN", help="Add the changes since RUN to --format markdown.")
@click.option(
    "--commit",
    metavar="HASH",
    help="Hash of the measured commit, for --format asv. Default: zeros.",
)
@click.option(
    "--commit-date",
    type=click.IntRange(min=0),
    metavar="SECONDS",
    help="Date of the commit in seconds since 1970 (git show -s --format=%ct), for --format "
         "asv. Default: the run's date.",
)  # fmt: skip
@OUTPUT
@options.FORCE
def export(
    run_: str,
    format_: str,
    base: str | None,
    commit: str | None,
    commit_date: int | None,
    output: str | None,
    force: bool,
) -> None:
    """Print a run in the format of another tool: Bencher, pyperf, asv, CSV, Parquet, ...

    bmf is Bencher's metric format, github-action the customSmallerIsBetter of
    github-action-benchmark, markdown a step summary of under 1 MiB, support a page with the
    outcome of each pair. asv is a file of results of airspeed velocity, asv-benchmarks its
    benchmarks.json. google-benchmark has a repetition for each process, of which compare.py makes
    its U-test; results.json itself has one row a cell. openmetrics is for a push gateway. parquet
    and arrow have the columns of csv with types, need pyarrow, and are not written to a terminal.
    """
    _core.require_known("format", format_, [*exporters.FORMATS, *exporters.BINARY])
    if format_ in exporters.BINARY and output is None and is_terminal():
        raise BadInput(f"--format {format_} is binary: use --output FILE, or a pipe")
    if commit is not None:
        require_commit(commit, format_)
    if commit_date is not None and format_ != "asv":
        raise BadInput(f"--commit-date is for --format asv: {format_} names no commit")
    if output is not None:
        writing.require_free(Path(output), "--output", force=force)
    if base is not None and format_ != "markdown":
        raise BadInput(f"--base is for --format markdown: {format_} holds one run")
    path = locate(run_)
    document = read_document(path)
    try:
        if base is not None:
            data = exporters.summary(document, comparing.since(base, path)).encode()
        elif format_ == "asv":
            data = exporters.export_asv(document, commit, commit_date).encode()
        else:
            data = exporters.export_bytes(document, format_)
    except ValueError as error:
        raise BadInput(first_line(error)) from error
    if output is not None:
        writing.write_requested(Path(output), lambda out: out.write(data))
    elif format_ in exporters.BINARY:
        write_bytes(data)
    else:
        write_text(data.decode())


def require_commit(commit: str, format_: str) -> None:
    """Raises BadInput for a text that is not a hash, and for a format without a commit."""
    if format_ != "asv":
        raise BadInput(f"--commit is for --format asv: {format_} names no commit")
    if not re.fullmatch("[0-9a-f]{40}|[0-9a-f]{64}", commit):
        raise BadInput(f"--commit {commit!r}: allowed: a full hash of 40 or 64 digits 0-9, a-f")


@click.command("report")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True)
@click.option("--output", metavar="FILE",
              help="Write to FILE. Default: report.html in the run's folder.")  # fmt: skip
@options.FORCE
def report(runs: tuple[str, ...], output: str | None, force: bool) -> None:
    """Write the report of a run as one HTML file; of several runs, with their changes.

    With two runs, base and head, it has a view of the changes. Default file: report.html in the
    folder of the last run; change.html for several runs.
    """
    if output is not None:
        writing.require_free(Path(output), "--output", force=force)
    print_line(reporting.report(runs, Path(output) if output is not None else None))
