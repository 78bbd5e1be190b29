"""Tests synchronization on real queues without a GPU: every run must have the same result.

`python benchmarks/synchronization.py [TIMES] [CONSUMER,...]` runs `dlbench --matrix --sync` TIMES
times over dpnp, JAX, MLX and TensorFlow, and counts the expected results of each exchange. The exit
status is 1 if one differs.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

PRODUCERS = ("dpnp", "jax", "mlx", "tensorflow")
CONSUMERS = (*PRODUCERS, "numpy", "torch", "tvm_ffi", "paddle")
#: Exchanges that must have a classification, if their consumer is installed.
KNOWN = {
    "dpnp": ("dpnp", "tvm_ffi"),
    "jax": ("dpnp", "jax", "mlx", "numpy", "paddle", "tensorflow", "torch", "tvm_ffi"),
    "mlx": ("dpnp", "jax", "mlx", "numpy", "paddle", "tensorflow", "torch", "tvm_ffi"),
    "tensorflow": ("jax", "mlx", "numpy", "tensorflow", "torch", "tvm_ffi"),
}
#: For the consumer's own argument; with the share for which export held the host, if it is known.
HELD = 0.8
RACE = {("dpnp", "dpnp", None): "none", ("dpnp", "dpnp", "own"): "stream",
        ("dpnp", "dpnp", "foreign"): "none", ("dpnp", "tvm_ffi", None): "none"}  # fmt: skip


def measured(folder: Path, consumers: str) -> list[dict[str, Any]]:
    """Every cell of one run."""
    out = folder / "run"
    words = ["--matrix", "--sync", "--producers", ",".join(PRODUCERS)]
    words += [
        "--consumers",
        consumers,
        "--devices",
        "cpu,sycl:0",
        "--protocols",
        "dlpack",
    ]
    words += ["--sizes", "4KiB", "--quiet", "--no-plots", "--out", str(out)]
    subprocess.run([sys.executable, "-m", "dlbench", *words], check=True)
    document = json.loads((out / "results.json").read_text(encoding="utf-8"))
    return [*document["benchmarks"], *document["not_measured"]]


def is_right(entry: dict[str, Any], one: dict[str, Any]) -> bool:
    """Is the result the expected one?"""
    key = (entry["producer"], entry["consumer"], one["stream"])
    if "waits" not in one:
        return one["requested_by"] == "dlbench"
    if entry["producer"] == "dpnp":
        return one["waits"] == RACE.get(key) and (entry["outcome"] == "race")
    return one["waits"] == "host" and one.get("export_blocked", 0.0) > HELD


def main() -> int:
    """Run, count, print; the exit status."""
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    consumers = sys.argv[2] if len(sys.argv) > 2 else ",".join(CONSUMERS)
    words: Counter[tuple[str, str]] = Counter()
    right: Counter[str] = Counter()
    for producer, known in KNOWN.items():
        device = "sycl:0" if producer == "dpnp" else "cpu"
        for consumer in set(known) & set(consumers.split(",")):
            words[f"{producer} -> {consumer} {device} stream None", "(looked for)"] = 0
    for _ in range(times):
        with tempfile.TemporaryDirectory(prefix="dlbench-synchronization-") as folder:
            entries = measured(Path(folder), consumers)
        for entry in entries:
            lost = [w["text"] for w in entry.get("warnings", []) if w["code"] == "sync-failed"]
            row = f"{entry['producer']} -> {entry['consumer']} {entry['device']}"
            for text in lost:
                words[row, text] += 1
            for one in entry.get("sync", ()):
                name = f"{row} stream {one['stream']}"
                words[name, one.get("waits", "refused")] += 1
                right[name] += is_right(entry, one)
    for (name, word), count in sorted(words.items()):
        if count > 0 or right[name] == 0:
            print(f"{name:44s} {word:14s} {count:3d} of {times}, {right[name]:3d} right")
    return 0 if words and all(right[name] == times for name, _ in words) else 1


if __name__ == "__main__":
    sys.exit(main())
