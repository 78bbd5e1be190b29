"""Tests each rule: libraries without a fault keep it, and one with that fault breaks it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from dlbench.check import runner
from dlbench.check.rule import ROLES, Rule
from dlbench.check.rules import RULES
from dlbench.check.verdict import BROKEN, HOLDS, UNCLEAR
from dlbench.libraries import discover

PLANTED = Path(__file__).with_name("planted")
#: Rules about arrays on a device. The fault-injecting producer only reports that device; no memory
#: is touched.
DEVICES = {
    **{"export.stream-cuda-zero": "cuda:0", "export.stream-rocm-one": "rocm:0"},
    **{"import.stream-cuda": "cuda:0", "import.stream-rocm": "rocm:0"},
}
#: Rules whose trials need streams, which the simulated device has.
ORDER_RULES = "export.order-"
CUDA_RULES = ("cuda.keys", "cuda.version", "cuda.stream", "cuda.empty")
#: Results of the native library that no text clearly forbids.
NATIVE_UNCLEAR = ("export.empty-data", "export.alignment")


@dataclass(frozen=True)
class Proof:
    """The proof of one rule. `honest`: the libraries that keep it. `others`: rules that the faulty
    library breaks too."""

    rule: str
    honest: tuple[str, ...]
    blamed: tuple[str, ...]
    found: str
    others: tuple[str, ...]
    wanted: str

    @property
    def is_honest(self) -> bool:
        return bool(self.honest) and not self.blamed

    @property
    def is_found(self) -> bool:
        return self.found == self.wanted and not self.others


def device_of(rule: str) -> str:
    """The device that arrays must be on for the rule to apply."""
    if rule.startswith(ORDER_RULES):
        return "sim:0"
    return "cuda:0" if rule in CUDA_RULES else DEVICES.get(rule, "cpu")


def planted(argument: str, device: str = "cpu") -> runner.Library:
    """The rule breaker with one fault, or `honest`."""
    files = {role: PLANTED / f"{role}s" / "rulebreaker.py" for role in ROLES}
    return runner.Library(
        f"rulebreaker:{argument}", files["producer"], files["consumer"], device=device
    )


def native() -> runner.Library:
    """The native producer and consumer."""
    files = {role: discover.PACKAGE / f"{role}s" / "native.py" for role in ROLES}
    return runner.Library("native", files["producer"], files["consumer"])


def results(library: runner.Library, rules: Sequence[Rule]) -> dict[str, runner.Result]:
    """The results of these rules for a library, by rule."""
    return runner.check(library, rules).results


def prove_rules(chosen: Sequence[Rule], jobs: int = 2) -> Iterator[Proof]:
    """A proof for each rule, in their order."""
    rules = list(RULES.by_name.values())
    honest = [("native", results(native(), rules))]
    for device in ("cpu", "cuda:0", "rocm:0", "sim:0"):
        mine = [rule for rule in rules if device_of(rule.name) == device]
        honest.append((f"planted on {device}", results(planted("honest", device), mine)))
    with ThreadPoolExecutor(jobs) as pool:
        work = {
            rule.name: pool.submit(
                results,
                planted(f"breaks={rule.name}", device_of(rule.name)),
                # The other role's file has no such fault to plant.
                [
                    other
                    for other in rules
                    if (other.role, device_of(other.name)) == (rule.role, device_of(rule.name))
                ],
            )
            for rule in chosen
        }
        for rule in chosen:
            yield _proof(rule, honest, work[rule.name].result())


def _proof(
    rule: Rule,
    honest: Sequence[tuple[str, dict[str, runner.Result]]],
    broken: dict[str, runner.Result],
) -> Proof:
    kept, blamed = [], []
    for name, found in honest:
        result = found.get(rule.name)
        if result is None:
            continue
        if result.outcome == HOLDS:
            kept.append(name)
        excused = name == "native" and rule.name in NATIVE_UNCLEAR
        if result.outcome in (BROKEN, UNCLEAR) and not excused:
            blamed.append(f"{name}: {result.observed}")
    others = tuple(
        f"{name}: {result.observed}"
        for name, result in broken.items()
        if name != rule.name and result.outcome in (BROKEN, UNCLEAR)
    )
    result = broken[rule.name]
    return Proof(rule.name, tuple(kept), tuple(blamed), result.outcome, others, rule.verdict)
