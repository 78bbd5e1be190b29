"""Standard output and standard error that cannot be written to."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.process

#: A compare with a regression would be the same: what the verb found is its status.
SAYS = "import sys, click, dlbench.cli as c; c.run_command = lambda words: click.echo('x' * 9) or "


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    ("returns", "redirected", "status", "reported"),
    [
        ("3", "| true; exit ${PIPESTATUS[0]}", 3, ""),
        ("3", ">&-", 3, ""),
        ("3", ">/dev/full", 2, "standard output: No space left"),
        ("sys.exit(3)", ">/dev/full", 2, "standard output: No space left"),
        ("c.options.require_utf8(['\\ud800'])", ">/dev/null 2>&-", 2, ""),
        ("c.options.require_utf8(['\\ud800'])", ">/dev/null 2>/dev/full", 2, ""),
        ("c.options.require_utf8(['\\ud800'])", ">&- 2>&- <&-", 2, ""),
    ],
)
def test_the_status_is_that_of_the_command(
    returns: str, redirected: str, status: int, reported: str, unbuffered: str
) -> None:
    line = f'"{sys.executable}" -c "$CODE" {redirected}'
    code = f"{SAYS}{returns}\nsys.exit(c.main())"
    done = subprocess.run(
        ["bash", "-c", line],
        env={"CODE": code, "PATH": "/usr/bin:/bin", "PYTHONUNBUFFERED": unbuffered},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status, done.stderr
    assert reported in done.stderr
    assert done.stderr.count("\n") == bool(reported)
