"""A bug report in Markdown from a script that was just run: `--issue` of `repro` and `check`."""

from __future__ import annotations

import platform
import re
from collections.abc import Sequence

from dlbench import _core
from dlbench.environments.environment import Environment
from dlbench.errors import BadInput
from dlbench.scripts.running import Verdict
from dlbench.text.escaping import log_line, markdown


def text(
    title: str, facts: Sequence[str], script: str, verdict: Verdict, place: Environment, device: str
) -> str:
    """The report. `facts` are lines of Markdown, `place` and `device` where the script ran. Raises
    BadInput for a script that showed no fault."""
    if not verdict.is_fault:
        actual = verdict.actual or "the script has no verdict"
        raise BadInput(f"no fault to report: {actual}")
    where = [f"Python {place.version}", platform.platform()]
    where += [device] * (device != "cpu")
    lines = [
        f"# {markdown(title)}",
        "",
        *(f"- {fact}" for fact in facts),
        f"- Expected: {markdown(verdict.expected)}",
        f"- Actual: {markdown(verdict.actual)}",
        f"- Platform: {markdown(', '.join(where))}",
        "",
        "This script shows it:",
        "",
        *_fenced("python", script.splitlines()),
        "",
        "Its output, with exit status 1:",
        "",
        *_fenced("text", list(map(log_line, verdict.lines))),
        "",
        f"The script was made by dlbench {_core.version}.",
    ]
    return "\n".join(lines) + "\n"


def _fenced(language: str, lines: Sequence[str]) -> list[str]:
    """A block of code that none of its own lines can end."""
    longest = max((len(found) for line in lines for found in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}{language}", *lines, fence]
