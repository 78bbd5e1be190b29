"""Prints seconds and MB of the site of 40 libraries, 12 dates and 3 machines, and its largest page.

Asked: a minute, and 300 KB a page.
"""

from __future__ import annotations

import random
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests/python"))

import samples
from dlbench import cli
from dlbench.document import parse_document, run_record

LIBRARIES, DATES, MACHINES = 40, 12, 3
WORKERS = 3


def entry(producer: str, consumer: str, protocol: str, ns: float) -> dict[str, Any]:
    rounds = [ns * random.uniform(0.95, 1.0) for _ in range(WORKERS)]
    workers = [{"median_ns": ns, "samples_ns": [one]} for one in rounds]
    return samples.measured(producer, consumer, ns, protocol=protocol, workers=workers)


def record(machine: int, date: int) -> str:
    names = [f"lib{i:02}" for i in range(LIBRARIES)]
    entries = []
    for i, producer in enumerate(names):
        for j, consumer in enumerate(names):
            ns = 60.0 * 2.1 ** ((i + 2 * j) % 9) * random.uniform(0.97, 1.03)
            entries.append(entry(producer, consumer, "dlpack", ns))
            if (i + j) % 4:
                entries.append(entry(producer, consumer, "convert", 3 * ns))
    made = samples.document(*entries)
    made["context"] |= {"date": f"2026-{date:02}-01T00:00:00+00:00", "host_name": f"host{machine}"}
    versions = dict.fromkeys(names, f"1.{date}")
    made["context"]["dlbench"]["environments"]["default"]["libraries"] = versions
    return run_record.text(parse_document(made))


def main() -> None:
    random.seed(1)
    with tempfile.TemporaryDirectory() as folder:
        records, out = Path(folder) / "records", Path(folder) / "out"
        records.mkdir()
        for machine in range(MACHINES):
            for date in range(1, DATES + 1):
                (records / f"{machine}-{date}.jsonl").write_text(record(machine, date))
        lines = sum(path.read_text().count("\n") for path in records.iterdir())
        size = sum(path.stat().st_size for path in records.iterdir())
        print(f"{lines} lines, {size / lines:.0f} bytes each")
        wall, processor = time.perf_counter(), time.process_time()
        assert cli.main(["site", str(records), "--out", str(out)]) == 0
        wall, processor = time.perf_counter() - wall, time.process_time() - processor
        largest = max(out.rglob("*.html"), key=lambda path: path.stat().st_size)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{wall:.1f} s, {processor:.1f} s of the processor, {peak:.0f} MB at most")
        print(f"largest page: {largest.relative_to(out)}, {largest.stat().st_size / 1000:.0f} KB")


if __name__ == "__main__":
    main()
