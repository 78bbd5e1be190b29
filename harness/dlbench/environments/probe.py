"""Runs an interpreter to list its environment, and whether a worker can run there."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from dlbench import _core, interpreter, worker_main
from dlbench.environments import env_option
from dlbench.environments.environment import UNFIT, Environment, Failure, here
from dlbench.errors import BadInput, first_line, last_line, marked_line, os_reason, signal_name

OLDEST = (3, 10)
WORKER = Path(worker_main.__file__)
VERSION_LINE = re.compile(
    re.escape(interpreter.VERSION) + r"(?P<version>\d+\.\d+\.\d+) (?P<kind>\w+)"
)
HALF_A_PAIR = re.compile("[\ud800-\udfff]")
#: Runs on every Python from 2.7 on; a Python that is new enough continues as a worker does.
BOOT = f"""
import os, sys
kind = getattr(getattr(sys, "implementation", None), "name", "cpython")
print({interpreter.VERSION!r} + "%d.%d.%d " % sys.version_info[:3] + kind)
sys.stdout.flush()
if sys.version_info >= {OLDEST} and kind == "cpython":
    os.execv(sys.argv[1], sys.argv[1:])
"""


def find(texts: Iterable[str], timeout_s: float) -> list[Environment]:
    """The environment that dlbench runs in, followed by those of `--env`; each is probed.

    Raises BadInput for a program that is no Python, and if no worker can run in any environment of
    `--env`. An environment that is unfit beside others, or crashes or hangs during the probe, has a
    `failure`.
    """
    requested = env_option.read(texts)
    found = [probe(name, python, timeout_s) for name, python in requested.items()]
    if found and all(place.failure and place.failure.outcome == UNFIT for place in found):
        found[0].require_worker()
    return [here(), *found]


def probe(name: str, python: str, timeout_s: float) -> Environment:
    """One environment; see find()."""
    answer = _request_facts(name, python, timeout_s)
    python_line = VERSION_LINE.fullmatch(marked_line(answer.out, interpreter.VERSION))
    unfit = _unfit_python(python_line["version"], python_line["kind"]) if python_line else None
    failure = unfit or _failure(answer, timeout_s)
    if failure is not None:
        return Environment(name, python, failure=failure)
    if not python_line:
        words = answer.err.strip() or answer.out.strip()
        message = repr(first_line(words)[:200]) if words else "nothing"
        raise BadInput(
            f"environment {name!r}: {python} is not a Python interpreter; its output: {message}"
        )
    facts = marked_line(answer.out, interpreter.FACTS)
    if not facts:
        how = f"exit status {answer.status}: {last_line(answer.err)}"
        return Environment(
            name, python, failure=Failure("crashed", f"while it listed its packages:  {how}")
        )
    try:
        return _environment(name, python, answer, _message(facts.partition(interpreter.FACTS)[2]))
    except (RecursionError, LookupError, TypeError, ValueError, AttributeError) as error:
        # Code that runs at the interpreter's start may print such lines as well.
        failure = Failure(
            "crashed", f"while it listed its packages:  {type(error).__name__}: {error}"
        )
        return Environment(name, python, failure=failure)


def _request_facts(name: str, python: str, timeout_s: float) -> _core.Program:
    words = [python, "-c", BOOT, python, str(WORKER), "--facts"]
    try:
        return _core.run_program(words, timeout_s)
    except OSError as error:
        raise BadInput(f"environment {name!r}: {python}: {os_reason(error)}") from error


def _message(text: str) -> dict[str, Any]:
    """The JSON object of a line. Half of a surrogate pair, which no document may hold, is spelled
    out."""
    shown = json.dumps(json.loads(text), ensure_ascii=False)
    found = json.loads(HALF_A_PAIR.sub(lambda half: rf"\\u{ord(half[0]):04x}", shown))
    if not isinstance(found, dict):
        raise TypeError(f"no object: {text[:60]!r}")
    return found


def _failure(answer: _core.Program, timeout_s: float) -> Failure | None:
    if answer.status is None:
        return Failure("timed-out", f"the interpreter did not answer within {timeout_s:g} s")
    if answer.status < 0:
        how = signal_name(answer.status)
        words = last_line(answer.err)
        reported = f": {words}" if words else ""
        return Failure("crashed", f"the interpreter ended by {how} during the probe{reported}")
    return None


def _unfit_python(version: str, kind: str) -> Failure | None:
    numbers = tuple(int(part) for part in version.split("."))
    if numbers >= OLDEST and kind == "cpython":
        return None
    message = f"{'Python' if kind == 'cpython' else kind} {version}"
    return Failure(UNFIT, f"{message}; allowed: CPython {'.'.join(map(str, OLDEST))} and newer")


def _require_kinds(facts: dict[str, Any]) -> None:
    """Raises TypeError, and KeyError for a missing fact."""
    texts = [facts["version"], facts["fault"], *facts["suffixes"], *facts["folders"]]
    texts += [text for point in facts["points"] for text in point.values()]
    texts += [text for item in facts["versions"].items() for text in item]
    others = {type(facts[name]) for name in ("gil", "numpy", "worker", "callgrind_requests")}
    if {*map(type, texts)} - {str} or others != {bool}:
        raise TypeError("a fact has another type")


def _environment(
    name: str, python: str, answer: _core.Program, facts: dict[str, Any]
) -> Environment:
    _require_kinds(facts)
    reason = _unfit_packages(python, answer, facts)
    if reason:
        return Environment(name, python, failure=Failure(UNFIT, reason))
    return Environment(
        name=name,
        python=python,
        version=facts["version"],
        gil=facts["gil"],
        suffixes=tuple(facts["suffixes"]),
        folders=tuple(Path(folder) for folder in facts["folders"]),
        versions=facts["versions"],
        points=tuple(interpreter.Point(**point) for point in facts["points"]),
        callgrind_requests=facts["callgrind_requests"],
    )


def building(python: str) -> str:
    """How the modules for a Python are made."""
    return f"in dlbench's sources: ./build-worker {shlex.quote(python)}"


def not_built(module: str, version: str, suffix: str, python: str) -> str:
    """Why nothing that needs the extension module runs in a Python."""
    return f"no {module}{suffix} for Python {version}; {building(python)}"


def _unfit_packages(python: str, answer: _core.Program, facts: dict[str, Any]) -> str:
    """Why no worker can run with these packages, or nothing."""
    build = building(python)
    if not facts["numpy"]:
        return f"no NumPy, which every worker needs: {shlex.quote(python)} -m pip install numpy"
    version, suffix = facts["version"], facts["suffixes"][0]
    if not facts["worker"]:
        return not_built("_worker", version, suffix, python)
    if facts["fault"]:
        return f"_worker{suffix}: {facts['fault']}; again {build}"
    greeting = marked_line(answer.out, interpreter.GREETING)
    hello = _message(greeting)["hello"] if greeting else {}
    build_id = hello.get("build") if isinstance(hello, dict) else None
    if build_id != _core.build_id:
        other = f"is of build {build_id}, this is {_core.build_id}"
        return f"_worker{suffix} {other}; again {build}"
    return ""
