"""`dlbench doctor`: sources of measurement noise on this machine, with advice."""

from __future__ import annotations

import platform
import shutil
import sys
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from pathlib import Path

from rich.cells import cell_len
from rich.text import Text

from dlbench.environments import probe
from dlbench.environments.environment import UNFIT
from dlbench.errors import BadInput, first_line
from dlbench.machine import device_checks, drivers, machine
from dlbench.machine.noise import Noise
from dlbench.profiling import tools
from dlbench.text.doctor_check import Check
from dlbench.text.layout import pad, wrap

GIB = 1 << 30
HEAD = ("check", "state", "what to do")


def checks(root: Path = Path("/")) -> list[Check]:
    """All checks except those of noise. `root`: the file system of the machine."""
    return [
        *_processor(root),
        *_memory(root),
        *device_checks.checks(drivers.find_drivers(), root),
        *tools.checks(),
        *_software(),
    ]


def _processor(root: Path) -> Iterator[Check]:
    cores = machine.cores()
    model = machine.cpuinfo(root, "model name") or platform.machine()
    yield Check("cpu", model)
    few = "with one core, the supervisor and the workers share it" if cores < 2 else ""
    yield Check("cores", f"{cores} for this process", few)
    governor = machine.governor(root)
    slow = governor not in ("performance", "unknown")
    advice = "sudo cpupower frequency-set -g performance" if slow else ""
    yield Check("governor", governor, advice)
    turbo = machine.turbo(root)
    intel = (root / machine.CPU / "intel_pstate/no_turbo").exists()
    switch = "1 > /sys/devices/system/cpu/intel_pstate/no_turbo"
    if not intel:
        switch = "0 > /sys/devices/system/cpu/cpufreq/boost"
    advice = f"before runs that you compare: sudo sh -c 'echo {switch}'" if turbo == "on" else ""
    yield Check("turbo", turbo, advice)
    smt = machine.smt(root)
    yield Check("smt", smt, "leave the sibling threads idle" if smt == "on" else "")
    aslr = machine.aslr(root)
    advice = "addresses differ between workers: raise --replicas, or run under setarch -R"
    yield Check("aslr", aslr, advice if aslr == "on" else "")
    if machine.is_virtual(root):
        advice = "other virtual machines use its cores: compare times within one run only"
        yield Check("virtual machine", "yes", advice)
    else:
        yield Check("virtual machine", "no")


def _memory(root: Path) -> Iterator[Check]:
    total = machine.memory_bytes(root)
    free = machine.memory_bytes(root, "MemAvailable")
    if total:
        tight = free < 2 * GIB
        state = f"{free / GIB:.1f} of {total / GIB:.1f} GiB free"
        advice = "lower --jobs: each worker holds all libraries of its group"
        yield Check("memory", state, advice if tight else "")
    pages = machine.huge_pages(root)
    advice = "the rate of large copies depends on it: keep the setting between runs"
    yield Check("huge pages", pages, advice if pages == "always" else "")


def _software() -> Iterator[Check]:
    gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    state = f"{platform.python_implementation()} {platform.python_version()}"
    yield Check("python", f"{state}, GIL {'on' if gil else 'off'}")
    found = shutil.which("valgrind")
    yield Check("valgrind", found or "not found", "" if found else "optional: counts instructions")


def environments(requested: Mapping[str, str], timeout_s: float) -> Iterator[Check]:
    """Whether a worker can run with each of these interpreters."""
    for name, python in requested.items():
        try:
            found = probe.probe(name, python, timeout_s)
        except BadInput as error:
            yield Check(name, "no worker runs there", first_line(error))
            continue
        if found.failure is not None:
            is_unfit = found.failure.outcome == UNFIT
            state = "no worker runs there" if is_unfit else found.failure.outcome
            yield Check(name, state, found.failure.reason)
            continue
        gil = "on" if found.gil else "off"
        yield Check(name, f"CPython {found.version}, GIL {gil}, worker of this build")


def noise(found: Noise) -> Iterator[Check]:
    """Current sources of noise."""
    for source in found.sources():
        yield Check(source.name, source.value, source.advice)


def table(found: list[Check], width: int) -> list[Text]:
    """One line a check; long texts are wrapped in their column, never cut."""
    name = max(cell_len(check.name) for check in found) + 2
    widest = max([cell_len(c.state) for c in found if c.advice] + [len(HEAD[1])]) + 2
    state = min(widest, max((width - name) // 2, 24))
    room = max(width - name - state, 24)
    lines = [Text(pad(HEAD[0], name) + pad(HEAD[1], state) + HEAD[2], style="bold")]
    for check in found:
        # Without advice the text has the whole line.
        states = wrap(check.state, state - 2, whole=True) if check.advice else [check.state]
        advice = wrap(check.advice, room, whole=True)
        for first, middle, todo in zip_longest([check.name], states, advice, fillvalue=""):
            line = pad(first, name) + pad(middle, state) + todo
            lines.append(Text(line.rstrip(), style="yellow" if check.advice else ""))
    return lines
