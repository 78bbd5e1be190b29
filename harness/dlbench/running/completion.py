"""Completion of words in a shell, by click's own mechanism; see docs/how-to/install.md."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import click
from click.shell_completion import CompletionItem

from dlbench import _core
from dlbench.analysis import cells
from dlbench.document import LATEST, RESULTS, locate, read_document
from dlbench.libraries import discover

Find = Callable[[click.Context], Iterable[str]]
Complete = Callable[[click.Context, click.Parameter, str], list["CompletionItem[str]"]]


def of(find: Find, *, is_list: bool = False, has_folders: bool = False) -> Complete:
    """Completes with the words that `find` returns: the last word of A,B where `is_list`, a folder
    too where `has_folders`. A run or adapter that cannot be read has no words."""

    def complete(
        ctx: click.Context, parameter: click.Parameter, typed: str
    ) -> list[CompletionItem[str]]:
        before, comma, last = typed.rpartition(",") if is_list else ("", "", typed)
        try:
            words = [word for word in find(ctx) if word.startswith(last) and word.isprintable()]
        except (OSError, ValueError):
            words = []
        found = [CompletionItem(before + comma + word) for word in words]
        # click's script for bash forgets the words before it.
        return [CompletionItem(typed, type="dir"), *found] if has_folders else found

    return complete


def libraries(ctx: click.Context) -> list[str]:
    """The names of all adapters."""
    return sorted(discover.catalogue(ctx.params.get("adapters")).files)


def _runs(_: click.Context) -> list[str]:
    return [LATEST, *(str(path) for path in sorted(RESULTS.glob("[!.]*")) if path.name != LATEST)]


def _cells(ctx: click.Context) -> list[str]:
    """What may follow the words of a cell that are typed: PRODUCER CONSUMER [PROTOCOL] ..."""
    typed = ctx.params.get("cell") or ()
    entries = read_document(locate(ctx.params["run_"])).entries
    for axis, word in zip(PAIR, typed, strict=False):
        entries = [entry for entry in entries if entry.axis(axis) == word]
    axes = PAIR[len(typed) :][:1] or cells.WORD_AXES
    return sorted({str(entry.axis(axis)) for entry in entries for axis in axes} - {"", *typed})


PAIR = ("producer", "consumer")

runs = of(_runs, has_folders=True)
cell = of(_cells)


def _any(*words: str) -> Complete:
    return of(lambda _: words, is_list=True)


#: For options of a measuring run.
OPTIONS = {
    "producers": of(libraries, is_list=True),
    "consumers": of(libraries, is_list=True),
    "protocols": _any("all", *_core.protocols),
    "devices": _any("cpu", "cuda:0", "rocm:0", "sycl:0", "sim:0"),
    "cases": _any("all", *_core.case_names()),
    "sizes": _any("4KiB", "64KiB", "256KiB", "1MiB", "4MiB", "64MiB"),
    "phases": _any("all", *_core.phases),
    "count": _any("instructions"),
}
