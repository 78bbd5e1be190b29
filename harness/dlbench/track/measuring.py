"""Environments of versions, and runs in them: what `track`, `bisect` and `canary` share."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from dlbench import _core
from dlbench.document import Document, Run, read_document
from dlbench.environments import env_option, probe, versions
from dlbench.environments.environment import Environment, Failure, here
from dlbench.errors import BadInput
from dlbench.libraries import cache, discover
from dlbench.libraries.facts import requirement_name
from dlbench.machine.noise import NoiseProbe
from dlbench.running import options, run
from dlbench.running.request import Request, journal_context
from dlbench.running.request import resumed as resumed_request
from dlbench.text import output
from dlbench.text.layout import count

REPLICAS = 10  #: workers of a pair: fewer than nine find no step between two versions
SIZES = ["4KiB"]
DEFAULTS: dict[str, object] = {"replicas": REPLICAS, "sizes": ",".join(SIZES)}
INSTALLING = 2  #: installations at a time


WHEELS = click.option(
    "--wheels", metavar="DIR", help="Take the versions from the wheels in DIR, not from the index."
)


def installing(function: options.Function) -> options.Function:
    """Adds the options that say what is installed, and from where."""
    for option in (
        click.option(
            "--install-timeout", metavar="TIME", default="600s",
            help="Deadline for the installation of a version. Default: 600s.",
        ),
        options.words_option(
            "--with", "Install these packages in each environment too: numpy==2.2.6,pandas."
        ),
        click.option("--pre", is_flag=True, help="Pre-releases too."),
    ):  # fmt: skip
        function = option(function)
    return function


def environments() -> Path:
    """The folder with an environment for each version."""
    return cache.folder() / "versions"


def make_request(
    params: Mapping[str, Any], producers: Sequence[str], consumers: Sequence[str]
) -> Request:
    """The request of the options. Invalid values are reported before the index is asked."""
    made = options.request({**params, "env": (), "producers": [*producers],
                            "consumers": [*consumers]}, ())  # fmt: skip
    made.sizes = made.sizes or SIZES
    made.evict = True
    for word in params["with"] or []:
        versions.parsed("--with", word)
    packages(made)
    made.options(Path(), {}, resume=False)
    _core.make_plan(run.find_libraries(made, [here()], compiles=False), made.axes())
    return made


def counts() -> list[str]:
    """What is counted beside the times, where that is possible: `count` of a request."""
    if shutil.which("valgrind"):
        return ["instructions"]
    run.warn("without valgrind no instructions are counted")
    return []


def recipes(
    wanted: Request, spec: str, params: Mapping[str, Any], *, is_minor: bool = False
) -> list[versions.Recipe]:
    """The environment of each release, oldest first: with the packages of `--with`, and those that
    the libraries need, in the versions that they have here where that is possible."""
    releases, beside = versions.parsed("--versions", spec), params["with"] or []
    named = {requirement_name(one) for one in (releases.name, *beside)}
    needed = dict.fromkeys(packages(wanted).values())
    free = [one for one in needed if requirement_name(one) not in named]
    known = {one: here().installed_version([requirement_name(one)]) for one in free}
    # A local part, as of 2.6.0+cpu, is not on the index.
    pins = [f"{one}=={version.partition('+')[0]}" for one, version in known.items() if version]
    folder = environments()
    found = versions.find(releases, pre=params["pre"], is_minor=is_minor, wheels=params["wheels"])
    return [
        versions.recipe(folder, version, [found.pinned(version), *beside, *free], pins)
        for version in found.versions
    ]


def packages(wanted: Request) -> dict[str, str]:
    """The package of each library, by requirement, and NumPy's, which every worker needs."""
    adapters = run.find_adapters(wanted.adapters, here())
    found = {"numpy": "numpy"}
    for name in sorted(wanted.libraries()):
        for package in package_of(adapters, name):
            found[name] = package
    return found


def package_of(adapters: discover.Catalogue, library: str) -> list[str]:
    """The package of a library, by requirement, if it has one: of several the one that is installed
    here, or else the first. Raises BadInput for an unknown library."""
    try:
        named = discover.distributions(adapters, library)
        known = [one for one in named if here().installed_version([requirement_name(one)])]
        return [*known, *named][:1]
    except KeyError:
        raise BadInput(discover.unknown(library, adapters.files)) from None


def install(
    wanted: Sequence[versions.Recipe], install_s: float, request: Request, *, quiet: bool
) -> list[Environment]:
    """Makes the environments that are missing, the first one alone: its size and time tell those of
    the others. Raises BadInput if the disk is too small, or no version can be measured."""
    missing = [recipe for recipe in wanted if not recipe.is_made]
    kept = count(len(wanted) - len(missing), "environment")
    say = (lambda text: None) if quiet else output.print_error
    folder = wanted[0].folder.parent
    say(f"{count(len(wanted), 'version')}: {kept} in {folder}, {len(missing)} to install")
    found = {recipe: prepare(recipe, install_s, request) for recipe in wanted if recipe.is_made}

    def one(recipe: versions.Recipe) -> None:
        found[recipe] = made = prepare(recipe, install_s, request)
        say(f"  {recipe.name}  {made.failure.reason if made.failure else 'installed'}")

    while missing and all(place.failure for place in found.values()):
        first, began = missing.pop(0), time.monotonic()
        one(first)
        if missing and found[first].failure is None:
            _require_room(first.folder, len(missing), time.monotonic() - began, say)
    with ThreadPoolExecutor(INSTALLING) as pool:
        list(pool.map(one, missing))
    if all(place.failure for place in found.values()):
        found[wanted[-1]].require_worker()
    return [found[recipe] for recipe in wanted]


def prepare(recipe: versions.Recipe, install_s: float, request: Request) -> Environment:
    """The environment, made unless that was done, or the failure."""
    failed = versions.make(recipe, install_s)
    timeout_s = _core.parse_seconds(request.timeout)
    return failed or probe.probe(recipe.name, str(recipe.python), timeout_s)


def _require_room(made: Path, others: int, seconds: float, say: Any) -> None:
    size = sum(file.lstat().st_blocks * 512 for file in made.rglob("*") if not file.is_symlink())
    free = shutil.disk_usage(made).free
    room = f"at most {others * size / 1e9:.1f} GB for {count(others, 'more version')}"
    if others * size > free:
        raise BadInput(f"{made.parent}: {free / 1e9:.1f} GB free, {room}; choose fewer versions")
    say(f"  {room} and about {others * seconds / INSTALLING:.0f} s; {free / 1e9:.1f} GB free")


def resumed(folder: Path, params: Mapping[str, Any]) -> tuple[Request, list[Environment]]:
    """The request and the environments of an interrupted run. Raises BadInput."""
    own = journal_context(folder, params, environments())["dlbench"]
    if not (own["request"].get("env") and own.get("environments")):
        again = Run(own).resume_command(folder)
        raise BadInput(f"cannot resume {str(folder)!r}: it is no run of track or canary; {again}")
    request = replace(resumed_request({"dlbench": own}), env=[])
    timeout_s = _core.parse_seconds(request.timeout)
    fit = env_option.read(own["request"]["env"])
    places = [probe.probe(name, python, timeout_s) for name, python in fit.items()]
    for name, facts in own["environments"].items():
        if name not in fit:
            outcome, _, reason = facts.get("failure", "").partition(": ")
            places.append(Environment(name, facts["executable"], failure=Failure(outcome, reason)))
    return request, places


def named(places: Sequence[Environment]) -> list[str]:
    """`env` of a request."""
    return [f"{place.name}={place.python}" for place in places]


def measure(
    wanted: Request,
    places: Sequence[Environment],
    folder: Path,
    *,
    quiet: bool,
    resume: bool = False,
) -> tuple[Document, int]:
    """Measures all versions in one run and writes the document; also the signal that ended it."""
    fit = [place for place in places if place.failure is None]
    axes = wanted.axes()
    axes.environments = [place.name for place in fit]
    libraries = run.find_libraries(wanted, fit)
    plan = _core.make_plan(libraries, axes)
    run.require_cells(plan)
    prepared = run.Prepared(replace(wanted, env=named(fit)), list(places), libraries, plan)
    noise = NoiseProbe().finish()
    settings = wanted.options(folder, run.context(prepared, noise), resume=resume)
    settings["pythons"] = {place.name: place.python for place in fit}
    summary = run.execute(prepared, settings, folder, noise, quiet=quiet)
    signal = run.after_rounds(prepared, folder, summary, quiet=quiet)
    if summary.disk_full:
        raise BadInput(f"{summary.disk_full}; what was measured is kept in {folder}")
    return read_document(Path(_core.write_document(str(folder)))), signal
