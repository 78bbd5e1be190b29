"""The rule breaker as a library under check."""

from __future__ import annotations

from pathlib import Path

from dlbench.check import runner
from dlbench.check.rule import ROLES

#: Rules about arrays on a device. The rule breaker only reports that device; no memory is touched.
DEVICES = {
    **dict.fromkeys(("cuda.keys", "cuda.version", "cuda.stream", "cuda.empty"), "cuda:0"),
    **{"export.stream-cuda-zero": "cuda:0", "export.stream-rocm-one": "rocm:0"},
    **{"import.stream-cuda": "cuda:0", "import.stream-rocm": "rocm:0"},
}
#: Rules whose trials need streams, which the simulated device has.
ORDER_RULES = ("export.order-", "c-api.work-stream")


def device_of(rule: str) -> str:
    """The device that arrays must be on for the rule to apply."""
    return "sim:0" if rule.startswith(ORDER_RULES) else DEVICES.get(rule, "cpu")


def planted(argument: str, device: str = "cpu") -> runner.Library:
    """The rule breaker with one fault, or `honest`."""
    files = {role: Path(__file__).parent / f"{role}s" / "rulebreaker.py" for role in ROLES}
    return runner.Library(
        f"rulebreaker:{argument}", files["producer"], files["consumer"], device=device
    )
