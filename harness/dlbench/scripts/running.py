"""`dlbench repro --run`: a script's claim beside what happens here."""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from dlbench import _core
from dlbench.errors import BadInput, last_line, signal_name

VERDICT = re.compile("expected (.*) / actual (.*)")


@dataclass(frozen=True)
class Verdict:
    """What a script claims and what it saw, with the lines that it printed before. `expected` is
    empty for a script that only shows an exchange."""

    printed: list[str]
    expected: str
    actual: str
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
    found = VERDICT.fullmatch(printed[-1]) if printed else None
    if found is None and ended.status != 0:
        how = signal_name(ended.status) or f"exit status {ended.status}"
        why = last_line(ended.err)
        raise BadInput(f"the script ended by {how}" + (f": {why}" if why else ""))
    if found is None:
        return Verdict(printed, "", "", holds=True)
    return Verdict(printed[:-1], found[1], found[2], holds=ended.status == 0)
