"""Planted machines, and the doctor's report about them."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlbench.machine import doctor, machine

pytestmark = pytest.mark.process

CPUINFO = (
    "processor\t: 0\nmodel name\t: Test CPU\ncpu MHz\t\t: 2596.998\nflags\t\t: fpu hypervisor\n"
)
CPU = "sys/devices/system/cpu"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for path, text in {
        "proc/cpuinfo": CPUINFO,
        "proc/meminfo": "MemTotal: 1048576 kB\nMemAvailable: 524288 kB\n",
        "proc/sys/kernel/randomize_va_space": "2\n",
        f"{CPU}/cpu0/cpufreq/scaling_governor": "powersave\n",
        f"{CPU}/cpu0/cpufreq/cpuinfo_max_freq": "4500000\n",
        f"{CPU}/intel_pstate/no_turbo": "0\n",
        f"{CPU}/smt/active": "1\n",
        f"{CPU}/cpu0/cache/index0/type": "Data\n",
        f"{CPU}/cpu0/cache/index0/level": "1\n",
        f"{CPU}/cpu0/cache/index0/size": "32K\n",
        f"{CPU}/cpu0/cache/index0/shared_cpu_map": "00000000,00000003\n",
        f"{CPU}/cpu0/cache/index1/type": "Unified\n",
        "sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never\n",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


def test_the_planted_machine_is_described(root: Path) -> None:
    reported = machine.describe(root)
    facts = ("cpu", "memory_bytes", "governor", "turbo", "aslr", "smt", "virtual", "huge_pages")
    planted = ("Test CPU", 1 << 30, "powersave", "on", "on", "on", True, "always")
    assert tuple(reported[fact] for fact in facts) == planted
    assert {device["name"] for device in reported["devices"]} == {"cpu", "cuda", "rocm"}


def test_an_arm_processor_is_reported_by_its_numbers(tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    arm = "CPU implementer\t: 0x41\nCPU architecture: 8\nCPU part\t: 0xd40\n"
    (tmp_path / "proc/cpuinfo").write_text(arm)
    assert machine.processor(tmp_path).endswith("implementer 0x41 part 0xd40")
    assert not machine.is_virtual(tmp_path)
    vendor = tmp_path / "sys/class/dmi/id/sys_vendor"
    vendor.parent.mkdir(parents=True)
    vendor.write_text("QEMU\n")
    assert machine.is_virtual(tmp_path)


def test_google_benchmarks_context_is_whole(root: Path) -> None:
    reported = machine.benchmark_context(root)
    assert reported["mhz_per_cpu"] == 4500
    assert reported["caches"] == [{"type": "Data", "level": 1, "size": 32768, "num_sharing": 2}]
    assert reported["cpu_scaling_enabled"] is True
    assert reported["num_cpus"] >= 1


def test_an_unknown_machine_is_unknown_not_wrong(tmp_path: Path) -> None:
    reported = machine.describe(tmp_path)
    assert (reported["governor"], reported["turbo"], reported["aslr"]) == ("unknown",) * 3
    assert machine.benchmark_context(tmp_path)["caches"] == []
    assert machine.mhz(tmp_path) == 0


def test_without_cpufreq_the_clock_is_the_present_one(root: Path) -> None:
    (root / CPU / "cpu0/cpufreq/cpuinfo_max_freq").unlink()
    assert machine.mhz(root) == 2596


def test_amd_boost_is_read_too(root: Path) -> None:
    (root / CPU / "intel_pstate/no_turbo").unlink()
    (root / CPU / "cpufreq").mkdir()
    (root / CPU / "cpufreq/boost").write_text("0\n")
    assert machine.turbo(root) == "off"


def test_the_doctor_says_what_to_do(root: Path) -> None:
    advice = {check.name: check.advice for check in doctor.checks(root)}
    for name in ("governor", "turbo", "smt", "aslr", "virtual machine", "memory", "huge pages"):
        assert advice[name], name
    assert "no_turbo" in advice["turbo"]
    (root / CPU / "cpu0/cpufreq/scaling_governor").write_text("performance\n")
    assert {c.name: c.advice for c in doctor.checks(root)}["governor"] == ""
