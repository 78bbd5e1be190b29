"""dlbench in Python: makes or reads a run, compares it, and shows it in a notebook."""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import click
from rich.text import Text

from dlbench import _core
from dlbench.document import Comparison, locate, read_document
from dlbench.errors import BadInput
from dlbench.exporters import rows
from dlbench.running import comparing, rundir
from dlbench.terminal import changes, terminal
from dlbench.text import output

FRAMES = ("pandas", "polars")
#: Options that make no run, or that run() sets.
UNFIT = ("matrix", "resume", "dry_run", "all", "profile", "reframe_checks", "version", "help")


class Shown(ABC):
    """What a notebook shows as the terminal does."""

    @abstractmethod
    def lines(self, width: int) -> list[Text]:
        """As lines for a terminal."""

    def __str__(self) -> str:
        return "\n".join(line.plain for line in self.lines(100))

    def _repr_html_(self) -> str:
        return output.html(self.lines(100))


class Changes(Shown):
    """What changed between two runs."""

    def __init__(self, comparison: Comparison) -> None:
        self.comparison = comparison
        self.cells = comparison.cells

    def lines(self, width: int) -> list[Text]:
        return changes.lines(self.comparison, width)


class Run(Shown):
    """The results of a run, in the file `path`; `document` has them as typed records."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.document = read_document(path)

    def __repr__(self) -> str:
        return f"dlbench.load({str(self.path)!r})"

    def lines(self, width: int) -> list[Text]:
        is_pair = self.document.run.request.is_pair
        return terminal.render(
            self.document, width, str(self.path), is_pair=is_pair, is_ending=True
        )

    def compare(self, other: Run, *, force: bool = False) -> Changes:
        """The changes from this run to `other`. `force`: of another machine too."""
        return Changes(comparing.compare(self.path, other.path, force=force))

    def frame(self, library: str = "pandas") -> Any:
        """A data frame of `pandas` or `polars`: one row for each cell, measured or not. Times are
        in nanoseconds; a value that a cell does not have is missing, never 0."""
        if library not in FRAMES:
            raise BadInput(f"unknown frame {library!r}; allowed: {', '.join(FRAMES)}")
        try:
            module = importlib.import_module(library)
        except ImportError as error:
            raise BadInput(f"a frame needs {library}: pip install {library}") from error
        columns = list(rows.COLUMNS)
        lists = zip(*rows.rows(self.document), strict=True)
        data = dict(zip(columns, map(list, lists), strict=False)) or {name: [] for name in columns}
        kinds = dict.fromkeys(columns, "text") | dict.fromkeys(rows.FLOATS, "float")
        kinds |= dict.fromkeys(rows.INTEGERS, "integer") | dict.fromkeys(rows.FLAGS, "flag")
        return (_pandas if library == "pandas" else _polars)(module, data, kinds)


def load(run: str | PathLike[str]) -> Run:
    """See dlbench.load."""
    return Run(locate(fspath(run)))


def run(*libraries: str, **options: Any) -> Run:
    """See dlbench.run."""
    from dlbench import cli

    for name in set(UNFIT) & options.keys():
        raise BadInput(f"{name}: not an option of dlbench.run")
    folder = rundir.fresh(options.pop("out", None))
    options = {"matrix": not libraries, "no_plots": True, "quiet": True} | options
    words = [*_typed(options), f"--out={folder}"]
    try:
        # A journal keeps the command, which is not that of the notebook.
        command = ["dlbench", *libraries, *words]
        words += ["--", *libraries]  # one that begins with "-" is no option
        with cli.dlbench.make_context("dlbench", words, obj=command) as context:
            status = int(cli.dlbench.invoke(context))
        if status > 128:
            raise KeyboardInterrupt
        return load(folder)
    except click.ClickException as error:
        raise BadInput(error.format_message()) from error
    except _core.UsageError as error:
        raise BadInput(str(error)) from error
    finally:
        rundir.remove_folder(folder)  # if nothing was written there


def _typed(options: dict[str, Any]) -> list[str]:
    """The options as words of a command line."""
    words = []
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        if value is True:
            words.append(option)
        elif value is not None and value is not False:
            for text in value if name == "env" and not isinstance(value, str) else [value]:
                joined = ",".join(map(str, text)) if isinstance(text, (list, tuple)) else text
                words.append(f"{option}={joined}")
    return words


def _pandas(pandas: Any, data: dict[str, list[Any]], kinds: dict[str, str]) -> Any:
    types = {"text": "string", "float": "float64", "integer": "Int64", "flag": "boolean"}
    return pandas.DataFrame(
        {name: pandas.Series(column, dtype=types[kinds[name]]) for name, column in data.items()}
    )


def _polars(polars: Any, data: dict[str, list[Any]], kinds: dict[str, str]) -> Any:
    types = {"text": polars.String, "float": polars.Float64, "integer": polars.Int64}
    types["flag"] = polars.Boolean
    schema = {name: types[kinds[name]] for name in data}
    return polars.DataFrame(data, schema=schema, strict=False)
