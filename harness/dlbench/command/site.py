"""`dlbench site RUN... --out DIR`: static pages from the records of many runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from dlbench import _core, plots
from dlbench.analysis.archive import Archive
from dlbench.document import DOCUMENT, JOURNAL, Document, locate, read_document, run_record
from dlbench.errors import BadInput
from dlbench.plots import site as pages
from dlbench.plots.site import folder, known_reports
from dlbench.plots.site.pages import LICENSES
from dlbench.running import completion
from dlbench.text import output
from dlbench.text.layout import count


@click.command("site")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", shell_complete=completion.runs)
@click.option("--out", metavar="DIR", required=True,
              help="Write the site to this folder: new, empty, or a site of before.")  # fmt: skip
@click.option("--reports", metavar="FILE",
              help="Annotate steps with the reports of this TOML file too.")  # fmt: skip
@click.option("--license", "license_", metavar="NAME", default="CC-BY-4.0",
              help=f"License of the data: {', '.join(LICENSES)}. Default: CC-BY-4.0.")  # fmt: skip
def site(runs: tuple[str, ...], out: str, reports: str | None, license_: str) -> None:
    """Write a static site from many runs, machines and dates.

    RUN is a run, a record (dlbench export --format record), or a folder of records. The pages work
    from a file and from any web server. Documents need not be kept: records suffice.
    """
    if lacking := plots.lacks("the site", "jinja2"):
        raise BadInput(lacking)
    _core.require_known("license", license_, list(LICENSES))
    known = known_reports.of(reports)
    place = Path(out)
    folder.require(place)
    archive = Archive(document for run in runs for document in documents(run))
    if not archive.runs:
        raise BadInput(f"no cells in {', '.join(runs)}: nothing to show")
    made = pages.Site(archive, known, license_)
    number = folder.write(place, made.pages())
    output.print_line(f"{place / 'index.html'}  {count(number, 'file')}, "
                      f"{count(len(archive.runs), 'run')}")  # fmt: skip


def documents(run: str) -> Iterator[Document]:
    """The records of RUN, read. Raises BadInput."""
    found = records(run)
    for path in found:
        yield from run_record.read(path)
    if not found:
        path = locate(run)
        for document in run_record.as_record(read_document(path), str(path)):
            if not document.entries and not document.checks:
                raise BadInput(f"{path} has no cells")
            yield document


def records(run: str) -> Sequence[Path]:
    """The files of RUN that hold records: itself, or those of a folder that is no run."""
    path = Path(run)
    if path.is_dir() and not any((path / name).is_file() for name in (DOCUMENT, JOURNAL)):
        return sorted(file for file in path.rglob("*.jsonl") if run_record.is_record(file))
    return [path] if path.is_file() and run_record.is_record(path) else []
