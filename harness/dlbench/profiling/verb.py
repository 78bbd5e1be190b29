"""What `--profile` does once it is known which exchanges are meant."""

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
    """Raises BadInput for what a profile cannot take."""
    for name in OF_TIME:
        if name in typed:
            told = name.replace("_", "-")
            raise BadInput(f"--profile measures nothing: leave out --{told}")


def conduct(
    asked: Request,
    plan: _core.Plan,
    places: list[Environment],
    context: dict[str, Any],
    *,
    out: str | None,
    quiet: bool,
) -> tuple[int, list[str]]:
    """Profiles and writes; the exit status, and what to warn of."""
    found = discover.catalogues(asked.adapters, places)
    folder = rundir.fresh(out)
    try:
        timeout_s = _core.parse_seconds(asked.timeout)
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
        warnings.append("interrupted; what was profiled by then is written")
    elif not any(cell.ranges for cell in made.cells):
        warnings.append("nothing could be profiled")
    return _status(made), warnings


def _status(made: Profile) -> int:
    if made.signal:
        return 128 + made.signal
    return 0 if any(cell.ranges for cell in made.cells) else 2
