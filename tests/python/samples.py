"""Results documents made up for tests."""

from __future__ import annotations

from typing import Any

from dlbench import _core
from dlbench.case import DIMS, Case

NAMES = ("native", "numpy", "torch", "jax", "tensorflow", "paddle", "mlx", "warp", "tvm_ffi")

#: A row of `sync` or `capture` of the consumer's own call.
OWN_CALL = {"requested_by": "consumer", "reads_on": "own"}
OWN = {"used": "own", "via": "direct", "calls": [], "struct": "", "version": [], "flags": []}


def axes(producer: str, consumer: str, **given: Any) -> dict[str, Any]:
    usual = {"phase": "exchange", "clock": "call", "producer": producer, "consumer": consumer}
    usual |= {"protocol": "dlpack", "device": "cpu", "case": "f32", "bytes": 4096}
    return {**usual, "environment": "default", **given}


def name(entry: dict[str, Any]) -> str:
    text = "/".join(
        f"{axis}:{entry[axis]}"
        for axis in ("producer", "consumer", "protocol", "device", "case", "bytes")
    )
    further = (("clock", "call"), ("environment", "default"))
    return f"{entry['phase']}/{text}" + "".join(
        f"/{axis}:{entry[axis]}" for axis, usual in further if entry[axis] != usual
    )


def warned(code: str, text: str = "", **data: str) -> dict[str, Any]:
    """A warning as it stands in a document."""
    return {"code": code, "text": text or code.replace("-", " ")} | ({"data": data} if data else {})


def warning_codes(entry: Any) -> list[str]:
    """Of a cell in a document, or of a worker's answer."""
    return [warning["code"] for warning in entry.get("warnings", ())]


def warning_data(entry: Any) -> dict[str, Any]:
    """The data of its warnings, by code."""
    return {warning["code"]: warning.get("data") for warning in entry.get("warnings", ())}


def warning_texts(entry: Any) -> list[str]:
    return [warning["text"] for warning in entry.get("warnings", ())]


def measured(producer: str, consumer: str, ns: float, **given: Any) -> dict[str, Any]:
    entry = axes(producer, consumer, outcome="zero-copy", real_time=ns, cpu_time=ns)
    entry |= {"run_type": "iteration", "repetitions": 1, "repetition_index": 0, "threads": 1}
    entry |= {"time_unit": "ns", "iterations": 1000, "lo_ns": ns * 0.99, "hi_ns": ns * 1.02}
    entry |= {"mad_ns": ns * 0.01, "floor_ratio": ns / 21.0, "changed": [], "warnings": []}
    entry |= {"between_half_width": 0.28}
    entry |= {"evidence": dict.fromkeys(("address", "guard", "write", "slope"), "skipped")}
    entry |= {"workers": [{"median_ns": ns, "first_ns": ns * 50, "samples_ns": [ns]}]}
    observed = {"used": "dlpack", "via": "direct", "calls": ["__dlpack__(max_version=(1,0))"]}
    entry["observed"] = observed | {"struct": "versioned", "version": [1, 0], "flags": []}
    entry |= given
    entry["name"] = entry["run_name"] = name(entry)
    return entry


def missing(
    producer: str, consumer: str, outcome: str, reason: str, **given: Any
) -> dict[str, Any]:
    reported = {"outcome": outcome, "reason": reason, "code": outcome}
    entry = axes(producer, consumer, **reported | given)
    return entry | {"name": name(entry)}


def document(*entries: dict[str, Any], **own: Any) -> dict[str, Any]:
    machine = {"cpu": "Ryzen 9 7950X", "cores": 16, "devices": [{"name": "cpu", "state": "ok"}]}
    environment = {
        "python": "3.13.1",
        "gil": True,
        "libraries": {"numpy": "2.4.6", "torch": "2.13.0", "jax": "0.10.2"},
        "floors_ns": {"empty": 0.3, "clock": 23.5, "call": 21.0, "proxy": 35.0},
        "reference_exchange": {
            "median_ns": 61.0,
            "spread": 0.031,
            "workers": 3,
        },
        "between_processes": [{"length_ns": 64.0, "half_width": 0.28, "series": 1}],
    }
    about = {
        "schema": 1,
        "version": "0.1.0",
        "command": ["dlbench", "--matrix"],
        "wall_s": 38.2,
        "seed": 1,
        "request": {"budget": "60s", "protocols": []},
        "machine": machine | {"turbo": "on", "governor": "powersave", "virtual": False},
        "environments": {"default": environment},
    } | own
    context = {"date": "2026-01-01T00:00:00+00:00", "host_name": "host", "num_cpus": 16}
    context |= {"mhz_per_cpu": 4500, "caches": [], "json_schema_version": 1}
    context |= {"library_build_type": "release", "dlbench": about}
    return {
        "context": context,
        "benchmarks": [entry for entry in entries if "real_time" in entry],
        "not_measured": [entry for entry in entries if "real_time" not in entry],
    }


def pair() -> dict[str, Any]:
    """numpy and torch: near the floor, zero-copy and copying, measured and refused."""
    return document(
        measured("numpy", "numpy", 36.0, protocol="convert", observed=OWN),
        measured("numpy", "numpy", 112.4),
        measured("numpy", "torch", 940.0),
        measured("numpy", "torch", 1210.0, bytes=262144),
        measured("torch", "numpy", 1732.0),
        measured("torch", "numpy", 16600.0, bytes=262144, outcome="copy", copied_by="consumer",
                 gb_per_s=2.23),
        missing("torch", "torch", "refused", "Can't export tensors that require gradient\nmore",
                exception="BufferError"),
        missing("numpy", "torch", "no-protocol", "torch has no call for dlpack_c",
                protocol="dlpack_c", code="not-imported"),
    )  # fmt: skip


def matrix() -> dict[str, Any]:
    """Nine libraries both ways over three sizes, with one failure of each kind."""
    entries = []
    for i, producer in enumerate(NAMES):
        for j, consumer in enumerate(NAMES):
            for size in (4096, 262144, 4194304):
                ns = 60.0 * 2.1 ** ((i + 2 * j) % 9)
                copied = {"outcome": "copy", "copied_by": "consumer", "gb_per_s": size / ns}
                entries.append(_special(producer, consumer, size) or (
                    measured(producer, consumer, ns + size / 2, bytes=size, **copied)
                    if consumer == "mlx"
                    else measured(producer, consumer, ns, bytes=size)
                ))  # fmt: skip
    entries.append(
        missing(
            "native", "numpy", "no-protocol", "no call", protocol="dlpack_c", code="not-imported"
        )
    )
    return document(*entries, not_installed={"cupy": "pip install cupy-cuda13x"})


def _special(producer: str, consumer: str, size: int) -> dict[str, Any] | None:
    given: dict[str, Any] = {"bytes": size}
    if (producer, consumer) == ("torch", "warp"):
        return missing(producer, consumer, "crashed", "died in call", signal="SIGSEGV", **given)
    if (producer, consumer) == ("jax", "warp"):
        return missing(producer, consumer, "timed-out", "no answer in 30 s", **given)
    if producer == "warp" and consumer in ("numpy", "jax"):
        why = "Unsupported device type 13"
        return missing(producer, consumer, "refused", why, exception="BufferError", **given)
    if producer == "paddle" and consumer == "tvm_ffi":
        return missing(producer, consumer, "wrong", "element 1 is 0.0, not 10.0", **given)
    return None


def own_size(case: str) -> int:
    """Bytes of a case's array: 4096, but for the cases that have a size of their own."""
    made = Case(**_core.case(case), bytes=4096)
    return made.itemsize if made.shape == () else 0 if 0 in DIMS.get(made.dims, ()) else 4096
