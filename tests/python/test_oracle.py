"""The verdicts of a real run, compared with those of a judge that shares no code with dlbench."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import whole
from samples import warned, warning_codes

pytestmark = [
    pytest.mark.libraries,
    pytest.mark.timeout(900),
    pytest.mark.process,
    pytest.mark.timing,
]

LIBRARIES = ["numpy", "torch", "jax", "mlx", "pyarrow", "tvm_ffi", "array_api_strict"]
CASES = ["f32", "i64", "c64", "bool", "f32-fortran", "f32-strided", "f32-unaligned"]
CASES += ["f32-readonly", "f32-empty", "f32-grad"]
#: For a long look by hand: DLBENCH_ORACLE=all.
ALL_LIBRARIES = [*LIBRARIES, "warp", "paddle", "tensorflow"]
ALL_CASES = [*CASES, "f64", "f16", "i32", "u8", "u16", "c128", "f32-2d", "f32-reversed"]
ALL_CASES += ["f32-broadcast", "f32-0d", "f32-align16", "f32-align64"]
PROTOCOLS = ["dlpack", "dlpack_legacy", "dlpack_versioned", "buffer", "convert"]
LEAST = 300  #: combinations that both must have decided
FLAGS = {"read-only": 1, "is-copied": 2}

Key = tuple[str, ...]
Verdicts = dict[Key, dict[str, Any]]


def by_key(document: dict[str, Any]) -> Verdicts:
    """The exchanges of a run by producer, consumer, protocol and case."""
    every = (*document["benchmarks"], *document["not_measured"])
    return {
        (e["producer"], e["consumer"], e["protocol"], e["case"]): e
        for e in every
        if e["phase"] == "exchange" and e["clock"] == "call"
    }


WORKS = ("zero-copy", "copy", "device-copy", "unproven")
Claim = tuple[str, Any, Any]  #: what, as the oracle found it, as the document says it


def claims(oracle: dict[str, Any], entry: dict[str, Any]) -> Iterator[Claim]:
    """What both say of one combination. What one of them left undecided is no claim."""
    outcome = entry.get("found", entry["outcome"])
    works = "raised" not in oracle and "objects" not in oracle
    yield "works", works, outcome in WORKS
    if not works or outcome not in WORKS:
        return
    changed, evidence = set(entry["changed"]), entry["evidence"]
    for proof in ("address", "write"):
        if proof in oracle and evidence[proof] != "skipped":
            yield proof, oracle[proof], evidence[proof] == "yes"
    if "address" in oracle and outcome != "unproven":
        yield "shared", oracle["address"], outcome == "zero-copy"
    yield "dtype kept", oracle["dtype"], not changed & {"dtype", "precision"}
    yield "shape kept", oracle["shape"], "shape" not in changed
    if oracle["shape"] and not oracle["empty"]:
        yield "strides kept", oracle["layout"], "layout" not in changed
    if "struct" not in oracle:
        return
    observed = entry.get("observed", {})
    if observed.get("struct"):
        yield "struct", oracle["struct"], observed["struct"]
    if observed.get("struct") == "versioned":
        yield "flags", oracle["flags"] & 3, sum(FLAGS.get(word, 0) for word in observed["flags"])
    if "warnings" in entry:
        reported = sorted(code for code in warning_codes(entry) if code.startswith("deleter-"))
        yield "deleter", sorted(deleter_warnings(oracle)), reported


def deleter_warnings(oracle: dict[str, Any]) -> Iterator[str]:
    if oracle["null"]:
        yield "deleter-null"
    elif oracle["deleted"] == 0:
        yield "deleter-never"
    if oracle.get("early"):
        yield "deleter-early"


def compared(oracle: Verdicts, document: dict[str, Any]) -> tuple[int, list[str]]:
    """How many combinations both decided, and every disagreement with both verdicts."""
    cells = by_key(document)
    decided, found = 0, []
    for key, verdict in oracle.items():
        entry = cells.get(key, {"outcome": "no-protocol"})
        if "unmade" in verdict or entry["outcome"] in ("no-protocol", "unsupported"):
            continue
        decided += 1
        differing = [claim for claim in claims(verdict, entry) if claim[1] != claim[2]]
        if differing:
            message = {
                k: entry[k] for k in ("outcome", "reason", "changed", "evidence") if k in entry
            }
            lines = [f"{what}: oracle {mine}, document {its}" for what, mine, its in differing]
            found.append("\n    ".join([" ".join(key), *lines, f"{verdict}", f"{message}"]))
    return decided, found


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> tuple[Verdicts, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("oracle")
    is_long = os.environ.get("DLBENCH_ORACLE") == "all"
    libraries = ALL_LIBRARIES if is_long else LIBRARIES
    cases = ALL_CASES if is_long else CASES
    request = folder / "request.json"
    requested = {"producers": libraries, "consumers": libraries}
    request.write_text(json.dumps({**requested, "protocols": PROTOCOLS, "cases": cases}))
    program = Path(__file__).with_name("oracle.py")
    done = subprocess.run([sys.executable, str(program), str(request)], capture_output=True,
                          text=True, timeout=600)  # fmt: skip
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, (lines[-1:], done.stderr[-2000:])
    oracle = {tuple(line.pop("cell")): line for line in lines if "cell" in line}
    names, run = ",".join(libraries), folder / "run"
    words = ["--matrix", "--producers", names, "--consumers", names, "--sizes", "4096"]
    words += ["--protocols", ",".join(PROTOCOLS), "--cases", ",".join(cases)]
    words += ["--replicas", "1", "--precision", "99%", "--no-plots", "--quiet"]
    process = whole.start(folder, *words, "--out", str(run))
    out, err = process.communicate(timeout=800)
    assert process.returncode == 0, (out, err)
    return oracle, whole.document(folder)


def test_the_run_and_the_oracle_agree(judged: tuple[Verdicts, dict[str, Any]]) -> None:
    decided, found = compared(*judged)
    print(f"oracle: {decided} combinations decided by both, {len(found)} disagreements")
    assert not found, "\n" + "\n".join(found)
    assert decided >= LEAST


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"outcome": "copy"}, ("numpy", "torch", "dlpack", "f32")),
        ({"outcome": "refused"}, ("numpy", "torch", "dlpack", "f32")),
        ({"changed": ["dtype"]}, ("numpy", "torch", "dlpack", "f32")),
        ({"changed": ["layout"]}, ("numpy", "numpy", "dlpack", "f32-strided")),
        ({"warnings": [warned("deleter-never")]}, ("numpy", "torch", "dlpack_legacy", "f32")),
    ],
)
def test_a_false_verdict_is_found(
    judged: tuple[Verdicts, dict[str, Any]], change: dict[str, Any], key: Key
) -> None:
    oracle, document = judged
    document = copy.deepcopy(document)
    by_key(document)[key].update(change)
    _, found = compared({key: oracle[key]}, document)
    assert len(found) == 1
