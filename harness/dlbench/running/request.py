"""The request of a run, which its journal keeps so that `--resume` can repeat it."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from itertools import permutations
from pathlib import Path
from typing import Any

import click

from dlbench import _core
from dlbench.document import Run
from dlbench.document.facts import ENOUGH_REPLICAS
from dlbench.environments import env_option
from dlbench.environments.environment import DEFAULT
from dlbench.errors import BadInput, first_line, os_line, require_file
from dlbench.machine import drivers, machine
from dlbench.supervisor import WORKER

AXES = ("producers", "consumers", "protocols", "devices", "cases", "phases", "sizes")

#: What most people use: a run with --budget begins with their pairs.
USED_MOST = ["numpy", "torch", "jax", "cupy", "tensorflow", "pandas", "pyarrow", "scipy", "numba"]

#: The ranges of the core, and of seeds that every JSON reader keeps exactly.
WORKERS = click.IntRange(1, 1000)
JOBS = click.IntRange(1, 1024)
SEED = click.IntRange(0, 2**32 - 1)

#: The replicas of a run of at most as many cells by default. A pair with the other options by
#: default has 18 cells, four libraries 108. More cells need more processes for the same power
#: (docs/explanation/stored-runs.md).
SMALL_RUNS = {18: ENOUGH_REPLICAS, 120: 12}
REPLICAS = 3  #: of a larger run, which would take minutes


def option(text: str, default: Any = "", **how: Any) -> Any:
    """A field that is an option of the same name: its help, and `how` click reads it. A list is
    written A,B."""
    if default is list:
        return field(default_factory=list, metadata={"metavar": "A,B", "help": text, **how})
    shown = f" Default: {default}." if default else ""
    return field(default=default, metadata={"help": text + shown, **how})


@dataclass
class Request:
    """The request of a run, as it was typed: what a journal keeps. A field that is no option()
    is an argument.

    `pair` names libraries: the exchanges between each two of them in both directions. `env` are the
    further environments, NAME=PYTHON with an absolute path.
    """

    pair: list[str] = field(default_factory=list)
    producers: list[str] = option(
        "Measure these producers, or all; faulty:FAULT injects a fault. "
        "Default: all installed, except opt-in ones.",
        list,
    )
    consumers: list[str] = option(
        "Measure these consumers, or all; torch:tensor is another call of torch, torch:all each. "
        "Default: all installed, except opt-in ones.",
        list,
    )
    protocols: list[str] = option(
        "Measure these protocols, or all but call. Default: dlpack,dlpack_c,convert.", list
    )
    devices: list[str] = option(
        "Measure on these devices: cpu, cuda:0, rocm:0, sycl:0, sim:0, cuda:0+cpu (from one to the "
        "other). Default: cpu, sycl:0, the first GPU.",
        list,
    )
    cases: list[str] = option(
        "Measure these cases: f32, c64-fortran-readonly, 'dtype=bf16,f64 layout=view', ..., or "
        "all. Default: f32.",
        list,
    )
    sizes: list[str] = option(
        "Measure arrays of these sizes. Default: 4KiB,256KiB,4MiB; of all cases 64KiB.", list
    )
    arrays: list[str] = option(
        "Pass so many arrays in each call of --protocols call: 1,8,20. Default: 1.", list
    )
    phases: list[str] = option(
        "Time these phases: query, export, import, release, or all. Default: exchange.", list
    )
    count: list[str] = option(
        "Count `instructions` of each exchange after the rounds, with valgrind.", list
    )
    trace_api: bool = option("Count the CUDA calls of each exchange after the rounds.", False)
    sync: bool = option("Classify the synchronization of each exchange after the rounds.", False)
    capture: bool = option(
        "Try each exchange during a graph capture after the rounds, on CUDA and ROCm.", False
    )
    filter: str = option("Measure only cells whose name matches.", metavar="REGEX")
    budget: str = option(
        "Measure for this time, imports and floors not counted, the most used libraries first: "
        "90s, 2m. Default: none.",
        metavar="TIME",
    )
    precision: str = option(
        "Add rounds within each worker down to this half-width; no effect from nine replicas on.",
        "2%",
        metavar="SHARE",
    )
    replicas: int = option(
        "Measure each cell in this many worker processes. "
        "Default: "
        + ", ".join(f"{replicas} for up to {most} cells" for most, replicas in SMALL_RUNS.items())
        + f", {REPLICAS} for more.",
        0,
        type=WORKERS,
    )
    isolate: bool = option("Import only the two libraries of a pair into each worker.", False)
    evict: bool = option(
        "Evict the libraries' code from the page cache between replicas; always with --env.", False
    )
    jobs: int = option(
        "Import in this many workers at a time. Default: the number of cores, at most 4.",
        0,
        type=JOBS,
    )
    timeout: str = option("Deadline of one step of a worker.", "30s", metavar="TIME")
    adapters: str = option(
        "Load the adapters in DIR/producers and DIR/consumers too.", metavar="DIR"
    )
    env: list[str] = option(
        "Measure the libraries of that Python too; may be repeated.",
        list,
        multiple=True,
        metavar="NAME=PYTHON",
    )
    seed: int = option("Seed of the order of rounds.", 1, type=SEED)

    def libraries(self) -> set[str]:
        """The words that name libraries."""
        return {*self.pair, *self.producers, *self.consumers}

    def axes(self) -> _core.Axes:
        """The axes of the plan. Raises _core.UsageError for an invalid size."""
        words = {axis: list(getattr(self, axis)) for axis in AXES[:-1]}
        if self.pair:
            words["producers"] = words["consumers"] = list(dict.fromkeys(self.pair))
        sizes = [_core.parse_bytes(size) for size in self.sizes]
        places = [DEFAULT, *env_option.read(self.env)]
        return _core.Axes(
            environments=places,
            **words,
            sizes=sizes,
            arrays=[parse_count(number) for number in self.arrays],
            filter=self._whole_filter(),
            device_kinds=[kind for driver in drivers.find_drivers() for kind in driver.kinds()],
        )

    def plan(self, libraries: Sequence[_core.Library]) -> _core.Plan:
        """The cells of these libraries. Raises _core.UsageError."""
        return _core.make_plan(libraries, self.axes())

    def decide_replicas(self, plan: _core.Plan) -> None:
        """Sets the number of replicas, unless it is given."""
        default = (count for most, count in SMALL_RUNS.items() if len(plan.cells) <= most)
        self.replicas = self.replicas or next(default, REPLICAS)

    def _whole_filter(self) -> str:
        return self.filter_for(list(permutations(dict.fromkeys(self.pair), 2)))

    def filter_for(self, directions: Sequence[tuple[str, str]]) -> str:
        """The requested filter, for these producers and consumers only; for all, if none."""
        if not directions:
            return self.filter
        pairs = "|".join(
            f"/producer:{_escaped(producer)}/consumer:{_escaped(consumer)}/"
            for producer, consumer in directions
        )
        return f"^(?=.*(?:{self.filter}))(?=.*(?:{pairs}))" if self.filter else pairs

    def options(self, out: Path, context: dict[str, Any], resume: bool) -> dict[str, Any]:
        """The options of _core.run() for a run into `out`. Raises _core.UsageError for invalid
        values."""
        return {
            "out": str(out),
            "pythons": {DEFAULT: sys.executable, **env_option.read(self.env)},
            "worker_main": str(WORKER),
            "jobs": self.jobs or max(1, min(machine.cores(), 4)),
            "timeout_s": _core.parse_seconds(self.timeout),
            "first": USED_MOST,
            "budget_s": _core.parse_seconds(self.budget) if self.budget else 0.0,
            "precision": _core.parse_percent(self.precision),
            "replicas": self.replicas,
            "isolate": self.isolate,
            "evict": self.evict or bool(self.env),
            "seed": self.seed,
            "context": json.dumps(context),
            "resume": resume,
        }

    def kept(self) -> dict[str, Any]:
        """As `context.dlbench.request`."""
        return asdict(self)


def parse_count(text: str) -> int:
    """ "8" -> 8. Raises BadInput."""
    if re.fullmatch(r"\d{1,9}", text) is None:
        raise BadInput(f"--arrays {text!r}: allowed: whole numbers, as in 1,8,20")
    return int(text)


def _escaped(name: str) -> str:
    """A library's name escaped for a regular expression; only these two characters need it."""
    return name.replace(".", "\\.").replace("+", "\\+")


def journal_context(
    folder: Path, params: Mapping[str, Any], made: Path | None = None
) -> dict[str, Any]:
    """The context of a run to resume. Raises BadInput if there is none, if it is one of bisect, or
    if it names an interpreter or adapters that the command's `params` do not. `made`: dlbench made
    the interpreters below this folder, so they need not be named."""
    context = read_context(folder)
    own = context["dlbench"]
    if Run(own).is_search:
        again = Run(own).resume_command(folder)
        raise BadInput(f"cannot resume {str(folder)!r}: it is a search of bisect; {again}")
    _require_named(folder, own, params, made)
    return context


def read_context(folder: Path) -> dict[str, Any]:
    """The context in a journal's first line. Raises BadInput if there is no journal to resume."""
    journal = folder / "journal.jsonl"
    try:
        require_file(journal)
        context: dict[str, Any] = json.loads(_core.journal_context(str(journal)))
    except OSError as error:
        raise BadInput(f"cannot resume {str(folder)!r}: {os_line(journal, error)}") from error
    except _core.UsageError as error:
        raise BadInput(f"cannot resume {str(folder)!r}: {first_line(error)}") from error
    if "request" not in context.get("dlbench", {}):
        raise BadInput(f"cannot resume {str(folder)!r}: {journal}:1: no /context/dlbench/request")
    return context


def _require_named(
    folder: Path, own: Mapping[str, Any], params: Mapping[str, Any], made: Path | None
) -> None:
    """Raises BadInput unless the command names the code that the journal names, and no other: a
    folder from elsewhere must not choose a program here."""
    env = [*(params.get("env") or []), params.get("base_env"), params.get("head_env")]
    env = [text for text in env if text]
    named = {*env, *(f"{name}={python}" for name, python in env_option.read(env).items())}
    if params.get("adapters"):
        named.add(str(Path(params["adapters"]).absolute()))
    stored = {*own["request"].get("env", []), *own.get("compare", {}).get("env", [])}
    if made:
        stored = {text for text in stored if made not in _parents(text.partition("=")[2])}
        own = {**own, "request": {**own["request"], "env": sorted(stored)}}
    stored |= {*filter(None, [own["request"].get("adapters")])}
    if not stored <= named or len(stored) < len(env) + bool(params.get("adapters")):
        raise BadInput(
            f"cannot resume {str(folder)!r}: the command must name the interpreters and adapters "
            f"of the journal, and no others: {Run(own).resume_command(folder)}"
        )


def _parents(path: str) -> Sequence[Path]:
    # Links are not resolved: the interpreter of an environment is one.
    return Path(os.path.normpath(path)).parents


def resumed(context: dict[str, Any]) -> Request:
    """The request of an earlier run."""
    known = {each.name for each in fields(Request)}
    stored = context["dlbench"]["request"]
    return Request(**{name: value for name, value in stored.items() if name in known})
