"""Conducts `--profile` for a plan of exchanges."""

from __future__ import annotations

from dlbench import _core
from dlbench.errors import BadInput, os_line
from dlbench.libraries import discover
from dlbench.machine.noise import Noise
from dlbench.passes.ranges import profile
from dlbench.profiling import files, table
from dlbench.running import run, rundir
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


def run_profile(prepared: run.Prepared, noise: Noise, *, out: str | None, quiet: bool) -> int:
    """Emits ranges instead of measuring times, writes the files, and returns the exit status; see
    docs/how-to/profile.md."""
    found = discover.catalogues(prepared.request.adapters, prepared.places)
    context = run.context(prepared, noise)
    folder = rundir.fresh(out)
    try:
        timeout_s = _core.parse_seconds(prepared.request.timeout)
        made = profile(prepared.plan.cells, found, folder, timeout_s, quiet=quiet)
        files.write(folder, made, context)
    except OSError as error:
        raise BadInput(os_line(folder, error)) from error
    finally:
        rundir.remove_folder(folder)
    if not quiet:
        console = Console()
        terminal.show(table.lines(made, folder, console.width), console)
    for warning in made.warnings:
        run.warn(warning)
    if made.signal:
        run.warn("interrupted; the exchanges profiled so far are written")
        return 128 + made.signal
    if not any(cell.ranges for cell in made.cells):
        run.warn("nothing could be profiled")
        return 2
    return 0
