"""Runs a script and reads its verdict."""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from dlbench import _core
from dlbench.environments.environment import Environment
from dlbench.errors import BadInput, last_line, signal_name
from dlbench.libraries import discover

VERDICT = re.compile("(expected|actual): (.*)")


@dataclass(frozen=True)
class Verdict:
    """What a script printed: all lines, and of them what is expected and what happens now. Both
    are empty for a script without a verdict."""

    lines: list[str]
    expected: str
    actual: str
    is_fault: bool  #: the script ended with status 1

    @property
    def printed(self) -> list[str]:
        """The other lines."""
        return [line for line in self.lines if not VERDICT.fullmatch(line)]


def run_script(script: str, place: Environment, timeout_s: float) -> Verdict:
    """Runs a script in its own process. Raises BadInput where it ends without its verdict."""
    with tempfile.TemporaryDirectory(prefix="dlbench-repro-") as folder:
        path = Path(folder) / "repro.py"
        path.write_text(script, encoding="utf-8")
        # dlbench's own libraries come from the folders of the worker that measured.
        (package := Path(folder) / "dlbench").mkdir()
        text = (discover.PACKAGE / "__init__.py").read_text(encoding="utf-8")
        text += f"\n__path__ = {[*map(str, place.folders)]!r}\n"
        (package / "__init__.py").write_text(text, encoding="utf-8")
        ended = _core.run_program([place.python, str(path)], timeout_s)
    if ended.status is None:
        raise BadInput(f"the script did not end within {timeout_s:g} s (--timeout)")
    lines = ended.out.splitlines()
    lines += filter(VERDICT.fullmatch, ended.err.splitlines())  # of a SystemExit with a text
    verdict = {found[1]: found[2] for found in map(VERDICT.fullmatch, lines) if found}
    if ended.status not in (0, 1) or (ended.status == 1 and len(verdict) < 2):
        how = signal_name(ended.status) or f"exit status {ended.status}"
        why = last_line(ended.err)
        after = "after its verdict " if len(verdict) == 2 else ""
        raise BadInput(f"the script ended {after}by {how}" + (f": {why}" if why else ""))
    return Verdict(lines, verdict.get("expected", ""), verdict.get("actual", ""), ended.status == 1)
