"""The extras of pyproject.toml, each resolved by pip with the constraints that go with it."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = [pytest.mark.process, pytest.mark.index]

tomllib = pytest.importorskip("tomllib")
ROOT = Path(__file__).resolve().parents[3]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
PLAIN = "constraints.txt"
#: What is installed together, and the constraints for it.
TOGETHER = [
    (("libraries", "on-top", "report"), PLAIN),
    (("libraries", "on-top", "report", "cuda"), "constraints-cuda.txt"),
    (("on-top", "report", "rocm"), "constraints-rocm.txt"),
    (("all", "test", "lint"), PLAIN),
    (("fleet", "report"), ""),  # it wants an older polars than the one that is measured
]
NAMED = {extra for extras, _ in TOGETHER for extra in extras}
TOGETHER += [((extra,), PLAIN) for extra in EXTRAS if extra not in NAMED]
#: pip's words where the index does not answer.
NO_INDEX = re.compile("Failed to establish a new connection|Read timed out|ConnectTimeoutError|"
                      "ProxyError|Temporary failure in name resolution|No matching distribution "
                      "found for click")  # fmt: skip


def requirements(extra: str) -> Iterator[str]:
    """What an extra asks for; an extra in it is spelled out."""
    for line in EXTRAS[extra]:
        own = re.fullmatch(r"dlbench\[(.*)\]", line)
        if own:
            for name in own[1].split(","):
                yield from requirements(name)
        else:
            yield line


@pytest.mark.parametrize(
    ("extras", "constraints"), TOGETHER, ids=["+".join(extras) for extras, _ in TOGETHER]
)
def test_extras_resolve_together(extras: tuple[str, ...], constraints: str, tmp_path: Path) -> None:
    wanted = [*PROJECT["dependencies"]]
    for extra in extras:
        wanted += requirements(extra)
    done = subprocess.run(
        # With a report pip reads metadata alone, and downloads no wheel.
        [sys.executable, "-m", "pip", "install", "--dry-run", "--report", str(tmp_path / "report"),
         "--ignore-installed", "--quiet", "--disable-pip-version-check", "--retries", "1",
         *(["--constraint", constraints] if constraints else []), *wanted],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    absent = NO_INDEX.search(done.stderr)
    if done.returncode != 0 and absent:
        pytest.skip(f"no package index answers: {absent[0]}")
    assert done.returncode == 0, done.stderr
