"""Two sides of one run: environments whose workers are interleaved on the same machine."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from dlbench import _core, writing
from dlbench.counting import valgrind
from dlbench.document import Comparison, Run
from dlbench.environments import environment
from dlbench.environments.environment import Environment
from dlbench.errors import BadInput
from dlbench.machine.noise import NoiseProbe
from dlbench.running import options, run
from dlbench.running.request import Request, journal_context, resumed
from dlbench.text.layout import count

#: Processes vary more than rounds, so more workers are better than more rounds.
PRECISION = "4%"


@dataclass(frozen=True)
class ComparisonRequest:
    """Options of a comparison of two sides, beside its axes; a journal keeps them.

    `env` are base and head, NAME=PYTHON each; none where both sides are this environment.
    """

    env: list[str]
    workers: int
    threshold: float
    instructions: bool

    @property
    def to_options(self) -> dict[str, Any]:
        """As options of `_core.compare`."""
        return {"threshold": self.threshold, "instructions": self.instructions}


@dataclass(frozen=True)
class Side:
    """One environment, and the libraries that it can measure."""

    place: Environment
    libraries: list[_core.Library]

    @property
    def name(self) -> str:
        return self.place.name


@dataclass(frozen=True)
class Pair:
    """Two sides with their common options."""

    base: Side
    head: Side
    request: Request
    comparison: ComparisonRequest
    quiet: bool

    def plan(self, directions: set[tuple[str, str]] | None = None) -> _core.Plan:
        """The whole request, or some directions only: producer and consumer."""
        axes = self.request.axes()
        axes.environments = [self.base.name, self.head.name]
        if directions is not None:
            axes.filter = self.request.filter_for(sorted(directions))
        return _core.make_plan([*self.base.libraries, *self.head.libraries], axes)

    def measure(
        self, plan: _core.Plan, folder: Path, workers: int, budget_s: float, *, root: Path
    ) -> tuple[str, float]:
        """Runs, or resumes, with so many workers for each pair and side; returns the document and
        the part of the budget that it used, in seconds."""
        probe = NoiseProbe()
        if folder != root:
            writing.make_folder(folder)
        libraries = [*self.base.libraries, *self.head.libraries]
        places = [self.base.place, self.head.place]
        request = replace(self.request, replicas=workers)
        prepared = run.Prepared(request, places, libraries, plan)
        noise = probe.finish()
        context = run.context(prepared, noise)
        context["dlbench"]["compare"] = asdict(self.comparison)
        resume = (folder / "journal.jsonl").exists()
        wanted = request.options(folder, context, resume=resume)
        wanted["pythons"] = {place.name: place.python for place in places}
        wanted["budget_s"] = budget_s
        stage = f"{'first' if folder == root else 'further'} {count(workers, 'worker')} a side"
        summary = run.execute(prepared, wanted, root, noise, quiet=self.quiet, stage=stage)
        go_on = Run(context["dlbench"]).resume_command(root)
        if summary.disk_full:
            raise BadInput(f"{summary.disk_full}; what was recorded is kept: {go_on}")
        signal = run.after_rounds(prepared, folder, summary, quiet=self.quiet)
        document = _core.write_document(str(folder))
        if signal:
            raise SystemExit(run.interrupted(signal, go_on))
        return document, summary.budget_used_s

    def compare(self, documents: list[str], false_alarms: float) -> Comparison:
        """Compares both sides over all these documents. `false_alarms`: probability of any, if
        nothing changed."""
        return Comparison(
            _core.compare(
                base=documents,
                head=documents,
                base_environment=self.base.name,
                head_environment=self.head.name,
                false_alarms=false_alarms,
                **self.comparison.to_options,
            )
        )


def is_requested(params: dict[str, Any]) -> bool:
    """Do the options request a measurement? Raises BadInput if they are incomplete."""
    named = [params["base_env"], params["head_env"]]
    if params["aa"] and any(named):
        raise BadInput("--aa has this environment on both sides: leave out --base-env, --head-env")
    if any(named) and not all(named):
        raise BadInput("give two environments: --base-env NAME=PYTHON and --head-env NAME=PYTHON")
    return bool(params["aa"] or any(named))


def requested(words: tuple[str, ...], params: dict[str, Any], core_options: dict[str, Any]) -> Pair:
    """The two sides that the options request. `core_options` are options of `_core.compare`."""
    if bool(words) == params["matrix"]:
        raise BadInput("nothing to compare: give --matrix, or two libraries as in --aa numpy torch")
    if words and len(words) != 2:
        raise BadInput(f"a pair needs two libraries, not {len(words)}")
    request = options.request({**params, "count": None}, words)
    request.precision = PRECISION
    request.evict = True
    if core_options["instructions"]:
        request.count = ["instructions"]
    env = [] if params["aa"] else [params["base_env"], params["head_env"]]
    comparison = ComparisonRequest(env, params["workers"] or _core.most_workers, **core_options)
    return pair(request, comparison, quiet=params["quiet"] or params["as_json"])


def kept(folder: Path, params: dict[str, Any]) -> Pair:
    """The two sides of an interrupted comparison. Raises BadInput if the folder holds none."""
    context = journal_context(folder, params)
    try:
        comparison = ComparisonRequest(**context["dlbench"]["compare"])
    except (KeyError, TypeError) as error:
        command = Run(context["dlbench"]).resume_command(folder)
        other = f"it holds a run, not a comparison; to continue it: {command}"
        raise BadInput(f"cannot resume {str(folder)!r}: {other}") from error
    if len(comparison.env) == 1:
        raise BadInput(f"cannot resume {str(folder)!r}: its journal has one side only")
    return pair(resumed(context), comparison, quiet=params["quiet"] or params["as_json"])


def pair(request: Request, comparison: ComparisonRequest, *, quiet: bool) -> Pair:
    """Base and head, with their libraries."""
    if comparison.instructions:
        valgrind.require()
    if comparison.env:
        request.env = list(comparison.env)
        _, base, head = run.find_environments(request)
        for side in (base, head):
            side.require_worker()
    else:
        base, head = (replace(environment.here(), name=name) for name in ("base", "head"))
    first, second = (Side(place, run.find_libraries(request, [place])) for place in (base, head))
    return Pair(first, second, request, comparison, quiet)
