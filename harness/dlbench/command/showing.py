"""A whole run on the terminal: of several machines, one after the other."""

from __future__ import annotations

from pathlib import Path

from rich.text import Text

from dlbench.check import table as check_table
from dlbench.check import verb
from dlbench.document import Document
from dlbench.terminal import machines, terminal
from dlbench.text.output import Console


def show(document: Document, path: Path, run: str, console: Console, relative_to: str = "") -> None:
    """Prints a run. `path`: the document. `run`: its name in commands. `relative_to`: a machine."""
    made = files(path.parent)
    for machine, part in document.shares():
        if machine:
            terminal.show([Text(), Text(f"machine {machine}", style="bold")], console)
        if part.checks:
            for reported in check_table.of_document(part, console.width):
                verb.print_lines(reported, console)
            continue
        is_pair = part.run.request.is_pair
        lines = terminal.render(
            part, console.width, run, str(path.parent), made, most_lines=1000, is_pair=is_pair
        )
        terminal.show(lines, console)
    terminal.show(machines.side_by_side(document, console.width, relative_to), console)


def files(folder: Path) -> tuple[str, ...]:
    """The files in a run's folder that a person may open."""
    made = (path.name for path in folder.iterdir() if path.suffix in (".html", ".svg", ".json"))
    return tuple(sorted(made))
