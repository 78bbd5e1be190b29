"""Prints time and memory of merging many machines, and the time to open their report.

usage: python benchmarks/machines.py [MACHINES [CELLS]]     default: 50 machines of 3000 cells
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests/python"))

import browser  # noqa: E402
import synthetic  # noqa: E402
from dlbench.machines import plan  # noqa: E402

LIBRARIES = synthetic.TWELVE


def plant(folder: Path, machines: int, cells: int) -> tuple[list[str], int]:
    """Write a run for each machine; return the arguments of `merge` and the cells of one run."""
    sizes = [4096 + 64 * step for step in range(1 + cells // 280)]
    made = synthetic.document(LIBRARIES, sizes)
    made["benchmarks"] = made["benchmarks"][: cells - len(made["not_measured"])]
    count = len(made["benchmarks"]) + len(made["not_measured"])
    chance, words = random.Random(1), []
    for number in range(machines):
        place = folder / f"runs/node{number:02}"
        place.mkdir(parents=True)
        made["context"]["host_name"] = f"node{number}"
        for entry in made["benchmarks"]:
            vary(entry, chance)
        (place / "results.json").write_text(json.dumps(made))
        words.append(f"{place.name}={place}")
    return words, count


def as_fleet(folder: Path) -> str:
    """The file of a fleet with the runs of all jobs in the folder `runs`."""
    path = folder / "fleet.toml"
    names = sorted(each.name for each in (folder / "runs").iterdir())
    path.write_text("".join(f"[machines.{name}]\n" for name in names))
    for job in plan.read(path).jobs:
        (folder / "runs" / job.name / "job.json").write_text(json.dumps(job.request()))
    return str(path)


def vary(entry: dict[str, Any], chance: random.Random) -> None:
    """Change the times, as on another machine."""
    factor = chance.uniform(0.5, 2.0)
    for key in ("real_time", "cpu_time", "lo_ns", "hi_ns", "mad_ns"):
        if key in entry:
            entry[key] *= factor
    for worker in entry["workers"]:
        worker["median_ns"] *= factor
        worker["samples_ns"] = [
            round(ns * factor * chance.uniform(0.95, 1.05), 3) for ns in worker["samples_ns"]
        ]


def timed(words: list[str]) -> str:
    """Seconds, CPU seconds, and the peak memory of a process."""
    begin = time.perf_counter()
    started = subprocess.Popen([sys.executable, "-m", "dlbench", *words], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(started.pid, 0)
    seconds = time.perf_counter() - begin
    if status:
        sys.exit(f"dlbench {words[0]} ended with status {status}")
    cpu, megabytes = used.ru_utime + used.ru_stime, used.ru_maxrss / 1000
    return f"{seconds:6.1f} s  {cpu:6.1f} s of a processor  {megabytes:6.0f} MB memory"


def opened(path: Path) -> dict[str, Any]:
    """Seconds until the page is complete in Chromium, by its own clock."""
    with browser.started() as started:
        page = browser.Page(started, path)
        ready = page.own.evaluate("Number(document.documentElement.dataset.ready)")
        shown = page.own.locator("#machines-table tbody tr").count()
        assert not page.complaints, page.complaints
        return {"seconds": ready / 1000, "rows of machines": shown}


def main() -> None:
    words = [int(word) for word in sys.argv[1:]]
    machines, cells = words + [50, 3000][len(words) :]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        words, count = plant(folder, machines, cells)
        print(f"{machines} machines x {count} cells")
        print(f"merge    {timed(['merge', *words, '--out', str(folder / 'all')])}")
        fleet = ["fleet", as_fleet(folder), "--out", str(folder), "--quiet", "--no-report"]
        print(f"fleet    {timed(fleet)}")
        print(f"report   {timed(['report', str(folder / 'all')])}")
        for name in ("results.json", "report.html"):
            print(f"{name:13}{(folder / 'all' / name).stat().st_size / 1e6:.0f} MB")
        found = opened(folder / "all/report.html")
        print(f"open     {found['seconds']:6.1f} s   {found['rows of machines']} rows")


if __name__ == "__main__":
    main()
