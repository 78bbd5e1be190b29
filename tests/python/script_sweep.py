"""Runs the scripts of `repro` for the cells of a run, and compares each with its cell.

    python script_sweep.py RUN [--each N] [--seed N] [--pair PRODUCER CONSUMER]

takes at most N cells of each pair, protocol and outcome. The scripts of a pair run in forks of one
process that imported its libraries; what disagrees there runs again in a process of its own. Prints
every disagreement and counts, also after an interrupt, and exits with 1 if there is one.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from dlbench.document import Document, Entry, read_document
from dlbench.environments.environment import here
from dlbench.errors import BadInput
from dlbench.libraries import discover
from dlbench.scripts import exchange, running

SECONDS = 60
#: Outcomes of the exchange itself. The others have no exchange that a script could show.
SHOWN = {"zero-copy", "copy", "device-copy", "unproven", "refused", "wrong", "crashed", "timed-out"}


def chosen(document: Document, each: int, seed: int) -> Iterator[Entry]:
    groups: dict[tuple[str, ...], list[Entry]] = defaultdict(list)
    for entry in document.entries:
        if entry.is_exchange and entry.device == "cpu" and entry.observed_outcome in SHOWN:
            key = (*entry.pair, entry.protocol, entry.observed_outcome, *entry.changed, entry.code)
            groups[key].append(entry)
    for entries in groups.values():
        yield from random.Random(seed).sample(entries, min(each, len(entries)))


def run_all(scripts: list[str]) -> None:
    """Runs each script in a fork, and prints its status and output as a line of JSON."""
    for line in scripts[0].splitlines():
        if line.startswith(("import ", "from ")):
            exec(line, {})
    for script in scripts:
        with tempfile.TemporaryFile("w+", errors="replace") as file:
            child = os.fork()
            if not child:
                os.dup2(file.fileno(), 1)
                os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
                signal.alarm(SECONDS)
                try:
                    exec(compile(script, "script", "exec"), {"__name__": "__main__"})
                    status = 0
                except SystemExit as end:
                    status = int(end.code or 0)
                except BaseException:  # a library may raise anything
                    status = 1
                sys.stdout.flush()
                os._exit(status)
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            file.seek(0)
            print(json.dumps([status, file.read()]), file=sys.__stdout__, flush=True)


def disagreement(entry: Entry, script: str) -> str:
    """What the script shows otherwise than the cell; empty where they agree."""
    try:
        verdict = running.run_script(script, here(), SECONDS)
    except BadInput as error:
        return str(error)
    return judged(entry, verdict.is_fault, verdict.expected, verdict.actual)


def judged(entry: Entry, is_fault: bool, expected: str, actual: str) -> str:
    if not actual:
        return "" if is_inconclusive(entry) else "no verdict"
    seen = exchange.observed(entry)
    holds = actual.partition(":")[0] == seen if seen else is_fault
    if holds and (is_fault or entry.observed_outcome not in ("wrong", "crashed", "timed-out")):
        return ""
    return f"cell {entry.observed_outcome}, script expected {expected}, actual {actual}"


def is_inconclusive(entry: Entry) -> bool:
    """Does only dlbench see it?"""
    return entry.code == "deleter-twice" or entry.late_free == "late"


def swept(pair: list[tuple[Entry, str]]) -> list[str]:
    """The disagreements of the cells of a pair."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump([script for _, script in pair], file)
        file.flush()
        command = [sys.executable, __file__, "--scripts", file.name]
        done = subprocess.run(command, capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if line.startswith("[")]
    found = []
    for i, (entry, script) in enumerate(pair):
        status, out = json.loads(lines[i]) if i < len(lines) else (2, "")
        words = {m[1]: m[2] for m in map(running.VERDICT.fullmatch, out.splitlines()) if m}
        expected, actual = words.get("expected", ""), words.get("actual", "")
        if status in (0, 1) and not judged(entry, status == 1, expected, actual):
            found.append("")
        else:
            found.append(disagreement(entry, script))
    return found


def report(entry: Entry, text: str) -> None:
    words = (*entry.pair, entry.protocol, entry.case, entry.bytes, *entry.changed)
    print(*words, "\n    " + text, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("run", nargs="?")
    parser.add_argument("--each", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pair", nargs=2)
    parser.add_argument("--scripts")
    options = parser.parse_args()
    if options.scripts:
        run_all(json.loads(Path(options.scripts).read_text()))
        return 0
    document = read_document(Path(options.run))
    catalogue = discover.catalogue()
    make: Callable[[Entry], str] = partial(exchange.of_run, document, found=catalogue)
    pairs: dict[tuple[str, str], list[tuple[Entry, str]]] = defaultdict(list)
    counts: Counter[str] = Counter()
    failed = []
    for entry in chosen(document, options.each, options.seed):
        if options.pair is None or entry.pair == tuple(options.pair):
            try:
                pairs[entry.pair].append((entry, make(entry)))
            except BadInput as error:
                failed.append((entry, str(error)))
                report(entry, str(error))
    work = [*pairs.values()]
    random.Random(options.seed).shuffle(work)
    with ThreadPoolExecutor(2) as pool, contextlib.suppress(KeyboardInterrupt):
        for pair, texts in zip(work, pool.map(swept, work), strict=True):
            counts.update(entry.observed_outcome for entry, _ in pair)
            for (entry, _), text in zip(pair, texts, strict=True):
                if text:
                    failed.append((entry, text))
                    report(entry, text)
    for what, count in counts.most_common():
        print(f"{count:>7} {what}")
    print(f"{len(failed):>7} disagree")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
