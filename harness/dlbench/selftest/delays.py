"""Delays in export or import: tests whether the right phase has the right delay."""

from __future__ import annotations

import json
import statistics
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dlbench import _core, worker_requests
from dlbench.document import Entry
from dlbench.errors import BadInput
from dlbench.libraries.discover import PACKAGE
from dlbench.selftest.row import Row, Setting
from dlbench.supervisor import END, WORKER

#: Requested, in ns.
DELAYS = (200, 1_000, 5_000, 50_000)
PLACES = (("producer", "slow-export", "export"), ("consumer", "slow-import", "import"))
WITHIN = 0.05
#: Tolerance of a phase, in ns.
WANDER_NS = 15.0
#: One reading of the clock, which is in the phase but not in the delay's own time.
READING_NS = 30.0
BLOCK_NS = 300_000
TIMEOUT_S = 600.0


@dataclass(frozen=True)
class Found:
    """The increase of each phase by the delay, and the delay by its own clock, in ns."""

    more: dict[str, float]
    delay_ns: float

    def is_right(self, phase: str) -> bool:
        """Is the whole delay in that phase, and none of it in the others?"""
        share = WITHIN * self.delay_ns
        off = {name: abs(ns) for name, ns in self.more.items()}
        off[phase] = abs(self.more[phase] - self.delay_ns)
        return all(
            ns <= max(share, READING_NS if name == phase else WANDER_NS) for name, ns in off.items()
        )


def trial(setting: Setting) -> list[Row]:
    """One row for each place of a delay."""
    rows = []
    for role, fault, phase in PLACES:
        measured, missed = [], []
        for ns in DELAYS:
            found = _measured(setting, role, f"faulty:{fault}={ns}ns", ns)
            off = found.more[phase] / found.delay_ns - 1
            measured.append(f"{found.delay_ns:.0f} ns {off:+.1%}")
            if not found.is_right(phase):
                parts = ", ".join(f"{name} {more:+.0f} ns" for name, more in found.more.items())
                missed.append(f"{fault} of {found.delay_ns:.0f} ns: {parts}")
        description = f"{phase} slower by {', '.join(f'{ns / 1000:g}' for ns in DELAYS)} us"
        rows.append(Row(description, "; ".join(measured), not missed, tuple(missed)))
    return rows


def _measured(setting: Setting, role: str, slow: str, ns: int) -> Found:
    rounds = 15 if setting.short else 61
    iterations = max(32, BLOCK_NS // (ns + 100))
    script = setting.folder / f"{slow.partition(':')[2]}.jsonl"
    requests = _requests(role, slow, rounds, iterations)
    script.write_text("".join(json.dumps(each) + "\n" for each in requests), encoding="utf-8")
    child = Path(__file__).with_name("delays_child.py")
    command = [sys.executable, str(child), str(WORKER), str(script)]
    ended = _core.run_program(command, TIMEOUT_S)
    answers = [json.loads(line) for line in ended.out.splitlines() if line.startswith("{")]
    failed = [answer["error"]["reason"] for answer in answers if "error" in answer]
    if ended.status != 0 or failed or not answers or "delays" not in answers[-1]:
        raise BadInput(
            f"{slow}: {failed[0] if failed else ended.err.strip()[-200:] or 'it did not end'}"
        )
    readings = [answer["ok"] for answer in answers if "release" in answer.get("ok", {})]
    delayed, honest = readings[::2], readings[1::2]
    more = {
        name: statistics.median(
            _phase(a, name) - _phase(b, name) for a, b in zip(delayed, honest, strict=True)
        )
        for name in ("export", "import", "release", "unexplained")
    }
    return Found(more, answers[-1]["delays"][f"{role} {slow}"]["usual_ns"])


def _phase(reading: dict[str, Any], name: str) -> float:
    # The native consumer requests nothing but the export.
    return float(sum(reading["calls"]) if name == "export" else reading[name])


def _requests(role: str, slow: str, rounds: int, iterations: int) -> list[dict[str, Any]]:
    """The delayed pair under 0 and the same without a fault under 1, interleaved."""
    other = "consumer" if role == "producer" else "producer"
    home = {name: str(PACKAGE / f"{name}s") for name in ("producer", "consumer")}
    description = [worker_requests.load(other, "native", f"{home[other]}/native.py")]
    description += [
        worker_requests.load(role, one, f"{home[role]}/faulty.py")
        for one in (slow, "faulty:honest")
    ]
    for number, library in enumerate((slow, "faulty:honest")):
        entry: dict[str, Any] = {
            role: library,
            other: "native",
            "protocol": "dlpack",
            "device": "cpu",
        }
        entry |= {"case": "f32", "bytes": 4096}
        description.append({**worker_requests.prepare(Entry(entry)), "id": number})
    description += [{"do": "split", "id": number} for number in (0, 1)]
    for seed in range(rounds):
        description += [
            {"do": "phases", "id": number, "iterations": iterations, "prelude": 16, "seed": seed}
            for number in (0, 1)
        ]
    return [*description, END]
