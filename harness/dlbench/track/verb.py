"""`dlbench track`: a library's versions side by side, each in its own environment."""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from dlbench import _core
from dlbench.analysis import history
from dlbench.document import Document, read_document
from dlbench.environments import probe, versions
from dlbench.environments.environment import Environment, here
from dlbench.errors import BadInput
from dlbench.libraries import cache, discover
from dlbench.libraries.facts import requirement_name
from dlbench.machine.noise import NoiseProbe
from dlbench.running import completion, options, run, rundir
from dlbench.running.request import Request
from dlbench.terminal import history as table
from dlbench.terminal import terminal
from dlbench.text import output
from dlbench.text.layout import count
from dlbench.text.output import Console

#: Options of a measuring run that apply to versions.
MEASURING = {"protocols", "devices", "cases", "sizes", "phases", "filter", "count", "replicas",
             "budget", "jobs", "timeout", "adapters", "out", "seed", "quiet",
             "dry_run"}  # fmt: skip
REPLICAS = 10  #: workers of a pair: fewer than nine find no step between two versions
SIZES = ["4KiB"]
INSTALLING = 2  #: installations at a time


@dataclass(frozen=True)
class Version:
    """A version's environment, or one with the failure that left it without."""

    recipe: versions.Recipe
    place: Environment


@click.command("track")
@click.argument("libraries", nargs=-1, required=True, metavar="LIBRARY...",
                shell_complete=completion.of(completion.libraries))  # fmt: skip
@click.option(
    "--versions", "spec", metavar="PACKAGE", required=True,
    help="Measure these releases of a package: 'numpy>=1.25,<2.5'.",
)  # fmt: skip
@click.option("--minor", is_flag=True, help="Only the newest release of each minor version.")
@click.option("--pre", is_flag=True, help="Pre-releases too.")
@options.words_option(
    "--with", "Install these packages in each environment too: numpy==2.2.6,pandas."
)
@click.option(
    "--install-timeout", metavar="TIME", default="600s",
    help="Deadline for the installation of a version. Default: 600s.",
)  # fmt: skip
@options.measuring(MEASURING)
@click.pass_context
def track(ctx: click.Context, /, libraries: tuple[str, ...], **params: Any) -> int:
    """Measure exchanges over the versions of a library, and report the steps.

    Makes an environment for each release by uv, or else pip, and keeps it in the user's cache.
    Measures the exchanges of the LIBRARIES with each other and themselves, of one library also with
    `native`, in all versions at once. Defaults: 10 replicas, arrays of 4KiB.
    """
    every = list(dict.fromkeys(libraries if len(libraries) > 1 else (*libraries, "native")))
    sides = {"env": (), "producers": every, "consumers": every}
    request = options.request({**params, **sides}, ())
    request.replicas = params["replicas"] or REPLICAS
    request.sizes = request.sizes or SIZES
    request.evict = True
    # Invalid values are reported before the index is asked and anything is made.
    request.options(Path(), {}, resume=False)
    _core.make_plan(run.find_libraries(request, [here()]), request.axes())
    install_s = _core.parse_seconds(params["install_timeout"])
    wanted = recipes(request, params)
    if params["dry_run"]:
        for recipe in wanted:
            output.print_line(f"{recipe.name}  {' '.join(recipe.requirements)}")
        return 0
    quiet, probe_s = params["quiet"], _core.parse_seconds(request.timeout)
    folder = rundir.fresh(params["out"])
    try:
        found = install(wanted, install_s, probe_s, quiet=quiet)
        return measure(request, found, folder, quiet=quiet)
    finally:
        rundir.remove_folder(folder)  # keeps a run that has begun


def recipes(request: Request, params: dict[str, Any]) -> list[versions.Recipe]:
    """The environment of each release, oldest first."""
    spec, beside = versions.parsed("--versions", params["spec"]), params["with"] or []
    named = {requirement_name(params["spec"]), *map(requirement_name, beside)}
    for word in beside:
        versions.parsed("--with", word)
    adapters = run.find_adapters(request.adapters, here())
    needed = ["numpy"]
    for name in sorted(request.libraries() - {"native", "memoryview"}):
        try:
            needed += discover.distributions(adapters, name)[:1]
        except KeyError:
            hint = _core.did_you_mean(name, list(adapters.files))
            raise BadInput(f"unknown library {name!r}{hint}; 'dlbench list' lists them") from None
    beside += [one for one in dict.fromkeys(needed) if requirement_name(one) not in named]
    releases = versions.find(spec, pre=params["pre"], is_minor=params["minor"])
    folder = cache.folder() / "versions"
    return [
        versions.recipe(folder, version, [releases.pinned(version), *beside])
        for version in releases.versions
    ]


def install(
    wanted: Sequence[versions.Recipe], install_s: float, probe_s: float, *, quiet: bool
) -> list[Version]:
    """Makes the environments that are missing, the first one alone: its size and time tell those of
    the others. Raises BadInput if the disk is too small, or no version can be measured."""
    missing = [recipe for recipe in wanted if not recipe.is_made]
    kept = count(len(wanted) - len(missing), "environment")
    say = (lambda text: None) if quiet else output.print_error
    folder = wanted[0].folder.parent
    say(f"{count(len(wanted), 'version')}: {kept} in {folder}, {len(missing)} to install")
    unfit: dict[versions.Recipe, Environment] = {}

    def one(recipe: versions.Recipe) -> None:
        failed = versions.make(recipe, install_s)
        if failed is not None:
            unfit[recipe] = failed
        reason = failed.failure.reason if failed and failed.failure else "installed"
        say(f"  {recipe.name}  {reason}")

    while missing and all(recipe in unfit for recipe in wanted if recipe not in missing):
        first, began = missing.pop(0), time.monotonic()
        one(first)
        if missing and first not in unfit:
            _require_room(first.folder, len(missing), time.monotonic() - began, say)
    with ThreadPoolExecutor(INSTALLING) as pool:
        list(pool.map(one, missing))
    found = [
        Version(recipe, unfit.get(recipe) or probe.probe(recipe.name, str(recipe.python), probe_s))
        for recipe in wanted
    ]
    if all(version.place.failure for version in found):
        found[-1].place.require_worker()
    return found


def _require_room(made: Path, others: int, seconds: float, say: Any) -> None:
    size = sum(file.lstat().st_blocks * 512 for file in made.rglob("*") if not file.is_symlink())
    free = shutil.disk_usage(made).free
    room = f"at most {others * size / 1e9:.1f} GB for {count(others, 'more version')}"
    if others * size > free:
        raise BadInput(f"{made.parent}: {free / 1e9:.1f} GB free, {room}; choose fewer versions")
    say(f"  {room} and about {others * seconds / INSTALLING:.0f} s; {free / 1e9:.1f} GB free")


def measure(request: Request, found: Sequence[Version], folder: Path, *, quiet: bool) -> int:
    """Measures all versions in one run, writes the document and prints the table; the status."""
    places = [version.place for version in found]
    fit = [place for place in places if place.failure is None]
    axes = request.axes()
    axes.environments = [place.name for place in fit]
    libraries = run.find_libraries(request, fit)
    plan = _core.make_plan(libraries, axes)
    run.require_cells(plan)
    named = replace(request, env=[f"{place.name}={place.python}" for place in fit])
    prepared = run.Prepared(named, places, libraries, plan)
    noise = NoiseProbe().finish()
    context = run.context(prepared, noise)
    wanted = request.options(folder, context, resume=False)
    wanted["pythons"] = {place.name: place.python for place in fit}
    summary = run.execute(prepared, wanted, folder, noise, quiet=quiet)
    signal = run.after_rounds(prepared, folder, summary, quiet=quiet)
    kept = f"what was measured is kept in {folder}"
    if summary.disk_full:
        raise BadInput(f"{summary.disk_full}; {kept}")
    document = read_document(Path(_core.write_document(str(folder))))
    if not quiet:
        show(document, found)
        output.print_line(f"->  {folder / 'results.json'}")
    if signal:
        run.warn(f"interrupted; {kept}")
        return 128 + signal
    return 0


def show(document: Document, found: Sequence[Version]) -> None:
    """The table on the terminal."""
    names = [version.recipe.name for version in found if version.place.failure is None]
    unfit = {
        version.recipe.name: version.place.failure.reason
        for version in found
        if version.place.failure is not None
    }
    terminal.show(table.lines(history.cells(document, names), unfit), Console())
