"""The verbs that turn a run into files for others: `export` and `report`."""

from __future__ import annotations

import json
import re
from pathlib import Path

import click

from dlbench import _core, exporters, writing
from dlbench.document import locate, read_document
from dlbench.errors import BadInput, first_line, os_reason
from dlbench.exporters import asv
from dlbench.running import comparing, completion, options, reporting
from dlbench.text.escaping import json_text
from dlbench.text.output import is_terminal, print_line, write_bytes, write_text

OUTPUT = click.option("--output", metavar="FILE", help="Write to FILE. Default: standard output.")


@click.command("export")
@click.argument("run_", metavar="RUN", shell_complete=completion.runs)
@click.option("--format", "format_", metavar="NAME", required=True,
              help="Write this format: bmf, google-benchmark, pyperf, asv, "
                   "openmetrics, csv, markdown, support, record, parquet or arrow.",
              shell_complete=completion.of(lambda _: exporters.NAMES)
)  # fmt: skip
@click.option(
    "--base",
    metavar="RUN",
    shell_complete=completion.runs,
    help="Add the changes since RUN to --format markdown.",
)
@click.option(
    "--commit",
    metavar="HASH",
    help="Hash of the measured commit, which --format asv needs.",
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

    bmf is Bencher's metric format, markdown a step summary of under 1 MiB, support a page with the
    outcome of each pair. asv adds the results of a commit to the folder of --output, which is the
    results_dir of airspeed velocity. google-benchmark has a repetition for each process, of which
    compare.py makes its U-test; results.json itself has one row a cell. openmetrics is for a push
    gateway. record is what a history needs, a tenth of the document. parquet and arrow have the
    columns of csv with types, need pyarrow, and are not written to a terminal.
    """
    _core.require_known("format", format_, exporters.NAMES)
    if format_ in exporters.BINARY and output is None and is_terminal():
        raise BadInput(f"--format {format_} is binary: use --output FILE, or a pipe")
    require_commit(commit, commit_date, format_)
    if format_ == exporters.ASV and output is None:
        raise BadInput("--format asv writes several files: give asv's results_dir as --output")
    if output is not None and format_ != exporters.ASV:
        writing.require_free(Path(output), "--output", force=force)
    if base is not None and format_ != "markdown":
        raise BadInput(f"--base is for --format markdown: {format_} holds one run")
    path = locate(run_)
    document = read_document(path)
    try:
        if base is not None:
            data = exporters.summary(document, comparing.since(base, path)).encode()
        elif commit is not None and output is not None:
            add_to_asv(exporters.asv_files(document, commit, commit_date), Path(output), force)
            return
        else:
            data = exporters.export_bytes(document, format_)
    except ValueError as error:
        raise BadInput(first_line(error)) from error
    if output is not None:
        write_file(Path(output), data)
    elif format_ in exporters.BINARY:
        write_bytes(data)
    else:
        write_text(data.decode())


def require_commit(commit: str | None, date: int | None, format_: str) -> None:
    """Raises BadInput for a text that is not a hash, for none where the format needs one, and for a
    format without a commit."""
    if format_ != exporters.ASV:
        for option, value in (("--commit", commit), ("--commit-date", date)):
            if value is not None:
                raise BadInput(f"{option} is for --format asv: {format_} names no commit")
    elif commit is None:
        raise BadInput("--format asv needs --commit HASH, the commit that was measured")
    elif not re.fullmatch("[0-9a-f]{40}|[0-9a-f]{64}", commit):
        raise BadInput(f"--commit {commit!r}: allowed: a full hash of 40 or 64 digits 0-9, a-f")


def add_to_asv(files: dict[str, str], folder: Path, force: bool) -> None:
    """Writes the files into asv's folder, beside what it has: benchmarks of other commits and of
    asv's own suite stay in its list, and a machine that it knows stays as it is."""
    made = {folder / place: text for place, text in files.items()}
    listed = folder / asv.BENCHMARKS
    made[listed] = with_benchmarks_of(listed, made[listed])
    made = {path: text for path, text in made.items()
            if path.name != asv.MACHINE or not path.exists()}  # fmt: skip
    try:
        for path in made:
            path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"--output {folder}: {os_reason(error)}") from error
    for path in made:
        writing.require_free(path, "--output", force=force or path == listed)
    for path, text in made.items():
        write_file(path, text.encode())


def write_file(path: Path, data: bytes) -> None:
    """Writes a file that the user named."""
    writing.write_requested(path, lambda out: out.write(data))


def with_benchmarks_of(path: Path, text: str) -> str:
    """asv's list of benchmarks with those of the file, if it exists."""
    if not path.exists():
        return text
    made = json.loads(text)
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput(f"--output: cannot read {path}: {first_line(error)}") from error
    version = found.get("version") if isinstance(found, dict) else None
    if version != made["version"]:
        raise BadInput(f"--output: {path} is no list of benchmarks of version {made['version']}")
    return json_text({**found, **made}, indent=1) + "\n"


@click.command("report")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True,
                shell_complete=completion.runs)  # fmt: skip
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
