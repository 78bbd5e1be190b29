"""Conducts `--profile` for a plan of exchanges."""

from __future__ import annotations

from typing import Any

from dlbench import _core
from dlbench.environments.environment import Environment
from dlbench.errors import BadInput, os_line
from dlbench.libraries import discover
from dlbench.passes.ranges import Profile, profile
from dlbench.profiling import files, table
from dlbench.running import rundir
from dlbench.running.request import Request
from dlbench.terminal import terminal
from dlbench.text.output import Console

#: Options about timing; a profile times nothing.
OF_TIME = ("resume", "count", "trace_api", "budget", "precision", "replicas", "jobs")


def require_alone(typed: set[str]) -> None:
    """Raises BadInput for options that a profile does not allow."""
    for name in OF_TIME:
        if name in typed:
            option = name.replace("_", "-")
            raise BadInput(f"--profile measures nothing: leave out --{option}")


def conduct(
    requested: Request,
    plan: _core.Plan,
    places: list[Environment],
    context: dict[str, Any],
    *,
    out: str | None,
    quiet: bool,
) -> tuple[int, list[str]]:
    """Profiles, writes the files, and returns the exit status and warnings."""
    found = discover.catalogues(requested.adapters, places)
    folder = rundir.fresh(out)
    try:
        timeout_s = _core.parse_seconds(requested.timeout)
        made = profile(plan.cells, found, folder, timeout_s, quiet=quiet)
        files.write(folder, made, context)
    except OSError as error:
        raise BadInput(os_line(folder, error)) from error
    finally:
        rundir.give_up(folder)
    if not quiet:
        console = Console()
        terminal.show(table.lines(made, folder, console.width), console)
    warnings = list(made.warnings)
    if made.signal:
        warnings.append("interrupted; the exchanges profiled so far are written")
    elif not any(cell.ranges for cell in made.cells):
        warnings.append("nothing could be profiled")
    return _status(made), warnings


def _status(made: Profile) -> int:
    if made.signal:
        return 128 + made.signal
    return 0 if any(cell.ranges for cell in made.cells) else 2
