"""A generator of results documents: any set of libraries, the same numbers each time."""

from __future__ import annotations

import copy
import zlib
from collections.abc import Iterable, Sequence
from typing import Any

TWELVE = ("native", "numpy", "torch", "jax", "tensorflow", "paddle", "tvm_ffi", "pyarrow", "mlx",
          "warp", "array_api_strict", "dpnp")  # fmt: skip
SIZES = (4096, 65536, 1 << 20, 16 << 20)
FLOORS = {"empty": 0.3, "clock": 23.5, "call": 21.0, "proxy": 35.0}

#: ns that each half of an exchange takes, near to what libraries really take.
EXPORT = {"native": 20.0, "numpy": 55.0, "torch": 1700.0, "jax": 1800.0, "tensorflow": 500.0,
          "paddle": 1750.0, "warp": 6900.0, "tvm_ffi": 70.0, "pyarrow": 240.0,
          "mlx": 300.0}  # fmt: skip
IMPORT = {"native": 18.0, "numpy": 57.0, "torch": 900.0, "jax": 16500.0, "tensorflow": 700.0,
          "paddle": 5400.0, "tvm_ffi": 90.0, "mlx": 330.0, "warp": 3100.0}  # fmt: skip
ALWAYS_COPIES = ("mlx",)
HAS_READY = ("jax", "mlx")
REFUSALS = (
    ("refused", "BufferError", "Unsupported device type 13"),
    ("crashed", "", "died in call"),
    ("timed-out", "", "no answer in 30 s"),
    ("unsupported", "", "has no arrays of this kind"),
    ("wrong", "", "element 1 is 0.0, not 10.0"),
    ("not-run", "", "the budget was used up"),
)


def noise(*words: object) -> float:
    """A number in [0, 1) that depends on the words alone."""
    return zlib.crc32("/".join(map(str, words)).encode()) / 2**32


def document(
    libraries: Sequence[str] = TWELVE,
    sizes: Sequence[int] = SIZES,
    devices: Sequence[str] = ("cpu",),
    protocols: Sequence[str] = ("dlpack", "convert"),
    failing: float = 0.06,
    copy_floors: bool = True,
) -> dict[str, Any]:
    """Every library to each other one; the share `failing` of the pairs has no number."""
    items = [
        item
        for device in devices
        for protocol in protocols
        for producer in libraries
        for consumer in libraries
        for size in sizes
        for item in cells(producer, consumer, protocol, device, size, failing)
    ]
    items.sort(key=lambda item: str(item["name"]))
    return {
        "context": context(libraries, copy_floors),
        "benchmarks": [item for item in items if "real_time" in item],
        "not_measured": [item for item in items if "real_time" not in item],
    }


def cells(
    producer: str, consumer: str, protocol: str, device: str, size: int, failing: float
) -> Iterable[dict[str, Any]]:
    for clock in ("call", "ready") if consumer in HAS_READY else ("call",):
        place = axes(producer, consumer, protocol, device, size, clock)
        if noise(producer, consumer, "fails") < failing:
            yield without_number(place, producer, consumer)
        else:
            yield measured(place)


def axes(
    producer: str, consumer: str, protocol: str, device: str, size: int, clock: str
) -> dict[str, Any]:
    name = f"exchange/producer:{producer}/consumer:{consumer}/protocol:{protocol}"
    name += f"/device:{device}/case:f32/bytes:{size}"
    return {
        "name": name if clock == "call" else f"{name}/clock:{clock}",
        "phase": "exchange",
        "clock": clock,
        "producer": producer,
        "consumer": consumer,
        "protocol": protocol,
        "device": device,
        "case": "f32",
        "bytes": size,
        "environment": "default",
    }


def without_number(place: dict[str, Any], producer: str, consumer: str) -> dict[str, Any]:
    outcome, exception, reason = REFUSALS[int(noise(producer, consumer) * len(REFUSALS))]
    item = {**place, "outcome": outcome, "code": outcome, "reason": reason}
    return item | {"exception": exception} if exception else item


def measured(place: dict[str, Any]) -> dict[str, Any]:
    producer, consumer, size = place["producer"], place["consumer"], place["bytes"]
    copied = consumer in ALWAYS_COPIES or (consumer == "jax" and noise(producer) < 0.3)
    late = 25.0 if place["clock"] == "ready" else 0.0
    ns = EXPORT.get(producer, 400.0) + IMPORT.get(consumer, 350.0) + late
    ns *= (1.6 if place["protocol"] == "convert" else 1.0) * (1 + 0.04 * noise(*place.values()))
    if copied:
        ns += size / (16.0 if size <= 1 << 20 else 2.0) * (1 if late else 0.4)
    wide = 0.01 + 0.08 * noise(place["name"], "wide")
    item: dict[str, Any] = {"name": place["name"], "run_name": place["name"]}
    item |= {"run_type": "iteration", "repetitions": 1, "repetition_index": 0, "threads": 1}
    item |= {"iterations": 1000, "real_time": ns, "cpu_time": ns * 0.99, "time_unit": "ns", **place}
    item |= {"outcome": "copy" if copied else "zero-copy", "changed": []}
    evidence = {"address": "no" if copied else "yes", "write": "no" if copied else "yes"}
    item["evidence"] = evidence | {"guard": evidence["address"], "slope": "skipped"}
    item |= {"lo_ns": ns * (1 - wide), "hi_ns": ns * (1 + wide), "mad_ns": ns * wide / 3}
    item["floor_ratio"] = ns / FLOORS["call"]
    if copied:
        item |= {"copied_by": "consumer", "gb_per_s": size / ns}
    item["warnings"] = (
        [{"code": "near-floor", "text": "near floor"}] if item["floor_ratio"] < 2 else []
    )
    item["workers"] = [{"median_ns": ns, "first_ns": ns * 40, "samples_ns": [ns, ns * 1.01]}]
    observed = {"used": "dlpack", "via": "direct", "calls": ["__dlpack__(max_version=(1, 0))"]}
    item["observed"] = observed | {"struct": "versioned", "version": [1, 0], "flags": []}
    item["observed"]["guard"] = guard(max(size // 4096, 1), copied, bool(late))
    return item


def call(
    consumer: str, arrays: int, ns: float, producer: str = "numpy", **more: Any
) -> dict[str, Any]:
    """A measured call with so many arrays, within half a percent."""
    place = axes(producer, consumer, "call", "cpu", 1024, "call") | {"arrays": arrays}
    place["name"] += f"/arrays:{arrays}" if arrays != 1 else ""
    times = {"real_time": ns, "lo_ns": ns * 0.995, "hi_ns": ns * 1.005}
    return measured(place) | times | more


def guard(pages: int, copied: bool, late: bool) -> dict[str, Any]:
    read = pages if copied else 0
    by = ["libcopier.so"] if copied else []
    return {"pages": pages, "read": read, "written": 0, "late": read if late else 0, "by": by}


def context(libraries: Sequence[str], copy_floors: bool) -> dict[str, Any]:
    environment: dict[str, Any] = {
        "python": "3.11.7",
        "gil": True,
        "libraries": {
            name: f"{1 + int(9 * noise(name))}.{int(30 * noise(name, 1))}.{int(9 * noise(name, 2))}"
            for name in libraries
        },
        "floors_ns": FLOORS,
        "reference_exchange": {"median_ns": 61.0, "spread": 0.031, "workers": 12},
    }
    if copy_floors:
        environment["copy_floors_gb_per_s"] = {"warm": 16.0, "fresh": 0.5}
    machine = {"cpu": "AMD EPYC 7B13", "cores": 2, "devices": [{"name": "cpu", "state": "ok"}]}
    return {
        "date": "2026-01-02T03:04:05+00:00",
        "host_name": "host",
        "num_cpus": 2,
        "mhz_per_cpu": 2596,
        "caches": [{"type": "Data", "level": 1, "size": 32768, "num_sharing": 2}],
        "json_schema_version": 1,
        "library_build_type": "release",
        "dlbench": {
            "schema": 1,
            "version": "0.1.0",
            "command": ["dlbench", "--matrix"],
            "wall_s": 61.2,
            "seed": 1,
            "machine": machine,
            "environments": {"default": environment},
        },
    }


def with_phases(made: dict[str, Any]) -> dict[str, Any]:
    """The document with the phases of each exchange over DLPack."""
    for item in made["benchmarks"]:
        if item["protocol"] != "dlpack" or item["clock"] != "call":
            continue
        whole = item["real_time"]
        shares = (("query", 0.1), ("export", 0.4), ("import", 0.3), ("release", 0.15))
        parts = [{"phase": name, "what": name, "ns": share * whole} for name, share in shares]
        item |= {"unexplained_ns": 0.05 * whole, "unexplained_lo_ns": 0.04 * whole}
        item |= {"unexplained_hi_ns": 0.06 * whole}
        item["phases"] = {"via": "proxy", "exchange_ns": whole, "parts": parts}
    return made


def with_case_sweep(document: dict[str, Any]) -> dict[str, Any]:
    """The same after `--cases all`: f64 ends as f32 does, f16 is refused."""
    found = copy.deepcopy(document)
    for entry in document["benchmarks"]:
        if entry["bytes"] != SIZES[0]:
            continue
        axes = {key: entry[key] for key in ("phase", "clock", "producer", "consumer", "protocol",
                                            "device", "bytes", "environment")}  # fmt: skip
        name = entry["name"].replace("/case:f32/", "/case:{}/").format
        observed = {key: entry[key] for key in ("changed", "evidence")}
        found["not_measured"] += [
            {"name": name("f64"), **axes, "case": "f64", "outcome": "not-run", "code": "untimed",
             "reason": "not timed", "found": entry["outcome"], **observed},
            {"name": name("f16"), **axes, "case": "f16", "outcome": "refused", "code": "refused",
             "reason": "no"},
        ]  # fmt: skip
    found["not_measured"].sort(key=lambda item: str(item["name"]))
    return found
