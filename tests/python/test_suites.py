"""The libraries and dlbench, compared with the libraries' own test suites."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dlbench import cli
from suites import CLAIMS, COMMON, EXCHANGES, SETUP, SUITES, Claim, ExpectedExchange

pytestmark = pytest.mark.process

QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "", "JAX_PLATFORMS": "cpu"}


@pytest.fixture(scope="session")
def held() -> dict[Claim, str]:
    """What each claim's line raised, or nothing; one process a library."""
    found: dict[Claim, str] = {}
    for library, setup in SETUP.items():
        mine = [claim for claim in CLAIMS if claim.library == library]
        script = (
            f"import json\n{COMMON}\n{setup}\nfound = []\n"
            f"for line in {[claim.line for claim in mine]!r}:\n"
            "    try:\n"
            "        exec(line, globals())\n"
            "        found.append('')\n"
            "    except Exception as error:\n"
            "        found.append(f'{type(error).__name__}: {error}')\n"
            "print(json.dumps(found))\n"
        )
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True,
                              timeout=180, env=os.environ | QUIET)  # fmt: skip
        assert done.returncode == 0, done.stderr[-2000:]
        found |= dict(zip(mine, json.loads(done.stdout.splitlines()[-1]), strict=True))
    return found


@pytest.mark.timeout(600)
@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: f"{claim.library}: {claim.says}")
def test_the_library_does_as_its_suite_says(held: dict[Claim, str], claim: Claim) -> None:
    assert bool(held[claim]) == bool(claim.differs), held[claim] or "it does as its suite says"


@pytest.fixture(scope="session")
def cells(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, ...], dict[str, Any]]:
    """What runs of dlbench found of the exchanges; one run a pair."""
    found: dict[tuple[str, ...], dict[str, Any]] = {}
    for pair in dict.fromkeys((one.producer, one.consumer) for one in EXCHANGES):
        mine = [one for one in EXCHANGES if (one.producer, one.consumer) == pair]
        out = tmp_path_factory.mktemp("suites") / "run"
        words = ["--matrix", "--producers", pair[0], "--consumers", pair[1], "--sizes", "64KiB"]
        words += ["--protocols", ",".join(dict.fromkeys(one.protocol for one in mine))]
        words += ["--cases", ",".join(dict.fromkeys(one.case for one in mine))]
        assert cli.main([*words, "--no-plots", "--quiet", "--out", str(out)]) == 0
        document = json.loads((out / "results.json").read_text())
        for entry in document["benchmarks"] + document["not_measured"]:
            axes = (entry["producer"], entry["consumer"], entry["protocol"], entry["case"])
            found.setdefault(axes, entry)
    return found


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "one", EXCHANGES, ids=lambda one: f"{one.producer}-{one.consumer}-{one.protocol}-{one.case}"
)
def test_dlbench_finds_what_the_suite_says(
    cells: dict[tuple[str, ...], dict[str, Any]], one: ExpectedExchange
) -> None:
    entry = cells[one.producer, one.consumer, one.protocol, one.case]
    assert entry["outcome"] == one.outcome, entry
    assert entry.get("exception", "") == one.exception
    assert tuple(entry.get("changed", ())) == one.changed


def test_every_suite_is_reported() -> None:
    assert set(SUITES) == set(SETUP) == {claim.library for claim in CLAIMS}
    for suite in SUITES.values():
        assert Path(suite.split(", ")[0].split(": ")[-1]).suffix == ".py"
