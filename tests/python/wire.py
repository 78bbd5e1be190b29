"""Sends requests to a worker from a file, as `dlbench debug` does."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import dlbench
from dlbench import _core

WORKER = Path(dlbench.__file__).parent / "worker_main.py"
F32 = _core.case("f32")
UNALIGNED = F32 | {"name": "f32-align4", "offset": 4}


def plant(folder: Path, role: str, name: str, source: str) -> dict[str, str]:
    """Write an adapter file; returns the request that loads it."""
    path = folder / f"{role}s" / f"{name}.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(source)
    return {"do": "load", "role": role, "library": name, "path": str(path)}


def prepare(
    number: int,
    producer: str,
    consumer: str,
    protocol: str,
    case: dict[str, Any],
    size: int = 4096,
    clocks: tuple[str, ...] = ("call",),
) -> dict[str, Any]:
    exchange = {
        "environment": "default",
        "producer": producer,
        "consumer": consumer,
        "protocol": protocol,
        "device": "cpu",
        "case": case["name"],
        "bytes": size,
    }
    return {
        "do": "prepare",
        "id": number,
        "exchange": exchange,
        "clocks": list(clocks),
        "round_ns": 50_000,
        "case": case,
    }


def send_request(folder: Path, *requests: dict[str, Any]) -> list[dict[str, Any]]:
    """The answers to the requests, without the steps and the hello."""
    script = folder / "requests.jsonl"
    script.write_text("".join(json.dumps(request) + "\n" for request in requests))
    done = subprocess.run(
        [sys.executable, str(WORKER), "--requests", str(script)],
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return [line for line in lines if "ok" in line or "error" in line]


def cross(
    folder: Path,
    make: str,
    take: str,
    protocol: str = "dlpack",
    case: dict[str, Any] = F32,
    size: int = 4096,
) -> dict[str, Any]:
    """Prepare one exchange between a planted producer and a planted consumer."""
    return send_request(
        folder,
        plant(folder, "producer", "giver", make),
        plant(folder, "consumer", "taker", take),
        prepare(1, "giver", "taker", protocol, case, size),
    )[-1]
