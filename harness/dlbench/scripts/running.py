"""`dlbench repro --run`: a script's result beside that of the run."""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from dlbench import _core
from dlbench.errors import BadInput, last_line, signal_name

VERDICT = re.compile("observed: (.*) / now: (.*)")


@dataclass(frozen=True)
class Verdict:
    """The result of a run and that of its script now, with the lines that the script printed.
    `observed` is empty for a script without a verdict."""

    printed: list[str]
    observed: str
    now: str
    holds: bool


def run_script(script: str, python: str, timeout_s: float) -> Verdict:
    """Runs a script in its own process. Raises BadInput where it ends without its verdict."""
    with tempfile.TemporaryDirectory(prefix="dlbench-repro-") as folder:
        path = Path(folder) / "repro.py"
        path.write_text(script, encoding="utf-8")
        ended = _core.run_program([python, str(path)], timeout_s)
    if ended.status is None:
        raise BadInput(f"the script did not end within {timeout_s:g} s (--timeout)")
    printed = ended.out.splitlines()
    # A library may print at its end.
    verdicts = [number for number, line in enumerate(printed) if VERDICT.fullmatch(line)]
    if ended.status not in (0, 1) or (ended.status == 1 and not verdicts):
        how = signal_name(ended.status) or f"exit status {ended.status}"
        why = last_line(ended.err)
        after = "after its verdict " if verdicts else ""
        raise BadInput(f"the script ended {after}by {how}" + (f": {why}" if why else ""))
    if not verdicts:
        return Verdict(printed, "", "", holds=True)
    last = verdicts[-1]
    found = VERDICT.fullmatch(printed[last])
    assert found is not None
    others = printed[:last] + printed[last + 1 :]
    return Verdict(others, found[1], found[2], holds=ended.status == 0)
