"""The verbs that turn a run into files for others: `export` and `report`."""

from __future__ import annotations

from pathlib import Path

import click

from dlbench import exporters
from dlbench.document import locate, read_document
from dlbench.errors import BadInput, first_line
from dlbench.running import comparing, options, reporting, writing
from dlbench.text.output import hand_out, say

OUTPUT = click.option("--output", metavar="FILE", help="Write to FILE. Default: standard output.")


@click.command("export")
@click.argument("run_", metavar="RUN")
@click.option("--format", "format_", metavar="NAME", required=True,
              help="Format: bmf, github-action, pyperf, csv, markdown or support.")  # fmt: skip
@click.option("--base", metavar="RUN", help="markdown: add the changes since RUN.")
@OUTPUT
@options.FORCE
def export(run_: str, format_: str, base: str | None, output: str | None, force: bool) -> None:
    """Print a run in the format of another tool: Bencher, pyperf, CSV, ...

    bmf is Bencher's metric format, github-action the customSmallerIsBetter of
    github-action-benchmark, markdown a step summary of under 1 MiB, support a page of which
    library exports to which.
    """
    if output is not None:
        writing.require_free(Path(output), "--output", force=force)
    if base is not None and format_ != "markdown":
        raise BadInput(f"--base is for --format markdown: {format_} holds one run")
    path = locate(run_)
    document = read_document(path)
    try:
        if base is None:
            text = exporters.export(document, format_)
        else:
            text = exporters.summary(document, comparing.since(base, path))
    except ValueError as error:
        raise BadInput(first_line(error)) from error
    if output is None:
        hand_out(text)
    else:
        writing.write_asked(Path(output), lambda out: out.write(text.encode()))


@click.command("report")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True)
@click.option("--output", metavar="FILE",
              help="Write to FILE. Default: report.html in the run's folder.")  # fmt: skip
@options.FORCE
def report(runs: tuple[str, ...], output: str | None, force: bool) -> None:
    """Write the report of a run as one HTML file; of several runs, with the changes.

    With two runs, base and head, it has a view of the changes. Default file: report.html in the
    folder of the last run; change.html for several runs.
    """
    if output is not None:
        writing.require_free(Path(output), "--output", force=force)
    say(reporting.report(runs, Path(output) if output is not None else None))
