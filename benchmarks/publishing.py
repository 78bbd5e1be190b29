"""Prints seconds, MB of memory and MB written of exporters and report, by the number of cells.

The documents repeat the cells of a real run under the names of other libraries. Name the run's
folder or results.json; without it a small run of native and NumPy is measured, with phases, in
seconds. Each size is measured in a separate process, which has its own peak memory.
`load` is reading and checking the document, which every exporter needs, so that its memory includes
it. `report` is the whole of `dlbench report`. `open` is the time until Chromium has drawn the page.
"""

from __future__ import annotations

import importlib
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dlbench import exporters
from dlbench.document import Document, locate, read_document
from dlbench.running import reporting

CELLS = (1_000, 10_000, 100_000)
ACROSS = 20  #: names made of each library
HEAD = ("cells", "what", "seconds", "peak MB", "written MB")


def copies(entries: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The entries repeated, each time between other libraries."""
    number = 0
    while True:
        for entry in entries:
            producer = f"{entry['producer']}{number // ACROSS:03}"
            consumer = f"{entry['consumer']}{number % ACROSS:02}"
            pair = f"producer:{entry['producer']}/consumer:{entry['consumer']}/"
            name = entry["name"].replace(pair, f"producer:{producer}/consumer:{consumer}/")
            made = {**entry, "name": name, "producer": producer, "consumer": consumer}
            yield made | ({"run_name": name} if "run_name" in entry else {})
        number += 1


def enlarged(source: Path, target: Path, cells: int) -> None:
    """Write a document of this many cells."""
    document = json.loads(source.read_text())
    source_of = copies(document["benchmarks"] + document["not_measured"])
    made = [next(source_of) for _ in range(cells)]
    document["benchmarks"] = [entry for entry in made if "real_time" in entry]
    document["not_measured"] = [entry for entry in made if "real_time" not in entry]
    target.write_text(json.dumps(document))


def work(document: Document, what: str) -> int:
    """The number of bytes written."""
    if what == "load":
        return 0
    return len(exporters.export(document, what).encode())


def measure(path: Path, what: str) -> dict[str, float]:
    """Measure one exporter with one document."""
    begin = time.perf_counter()
    if what == "report":
        page = reporting.report([str(path)], path.with_suffix(".html"))
        written = page.stat().st_size
    else:
        document = read_document(path)
        begin = begin if what == "load" else time.perf_counter()
        written = work(document, what)
    seconds = time.perf_counter() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": seconds, "peak": peak, "written": written / 1e6}


def opened(path: Path) -> float:
    """Seconds until the report of a document is drawn in Chromium; raises without Chromium."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests/python"))
    browser = importlib.import_module("browser")
    page = path.with_suffix(".html")
    if not page.exists():
        reporting.report([str(path)], page)
    with browser.started() as started:
        shown = browser.Page(started, page)
        ready = float(shown.own.evaluate("document.documentElement.dataset.ready")) / 1000
        shown.close()
    return ready


def one_run(folder: Path) -> Path:
    """A small run; its libraries do not matter."""
    line = [sys.executable, "-m", "dlbench", "--matrix", "--phases", "all", "--no-plots"]
    few = ["--producers", "native,numpy", "--consumers", "native,numpy", "--budget", "20s"]
    subprocess.run([*line, *few, "--quiet", "--out", str(folder)], check=True)
    return folder / "results.json"


def apart(path: Path, what: str) -> dict[str, float]:
    """Measure in a separate process."""
    found = subprocess.check_output([sys.executable, __file__, what, str(path)])
    return dict(json.loads(found))


def main() -> None:
    """Print the curves."""
    if len(sys.argv) == 3:
        what, path = sys.argv[1], Path(sys.argv[2])
        print(json.dumps({"seconds": opened(path)} if what == "open" else measure(path, what)))
        return
    formats = list(exporters.FORMATS)
    with tempfile.TemporaryDirectory() as folder:
        source = (locate(sys.argv[1]) if len(sys.argv) == 2
                  else one_run(Path(folder) / "run"))  # fmt: skip
        print("{:>8}  {:14}{:>9}{:>9}{:>12}".format(*HEAD))
        for cells in CELLS:
            path = Path(folder) / f"{cells}.json"
            enlarged(source, path, cells)
            for what in ("load", *formats, "report"):
                observed = apart(path, what)
                print(f"{cells:8}  {what:14}{observed['seconds']:9.2f}{observed['peak']:9.0f}"
                      f"{observed['written']:12.1f}", flush=True)  # fmt: skip
            try:
                print(f"{cells:8}  {'open':14}{apart(path, 'open')['seconds']:9.2f}", flush=True)
            except subprocess.CalledProcessError:
                print(f"{cells:8}  {'open':14}  needs Chromium and playwright")


if __name__ == "__main__":
    main()
