"""The documentation builds into a site, and a broken link in it is an error."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[3]
#: What the build reads.
SOURCES = ("docs", "results", "tests/recorder/README.md")
FILES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE", "mkdocs.yml")


def build(root: Path, site: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(site)],
        cwd=root,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The documentation in a folder of its own."""
    for name in SOURCES:
        source, target = ROOT / name, tmp_path / "copy" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("*.cpp", "*.hpp"))
        else:
            shutil.copy(source, target)
    for name in FILES:
        shutil.copy(ROOT / name, tmp_path / "copy")
    return tmp_path / "copy"


def test_the_site_builds(tmp_path: Path) -> None:
    done = build(ROOT, tmp_path)
    assert done.returncode == 0, done.stderr
    pages = ("index.html", "tutorial/index.html", "reference/outcomes/index.html")
    assert all((tmp_path / page).is_file() for page in pages)
    report = (tmp_path / "tutorial/sample-report.html").read_text(encoding="utf-8")
    assert "function drawChart" in report


def test_each_broken_link_is_an_error(copy: Path, tmp_path: Path) -> None:
    links = ("no-page.md", "outcomes.md#no-heading", "../../no-file.txt")
    page = copy / "docs/reference/glossary.md"
    page.write_text(page.read_text() + "".join(f"\n[broken]({link})" for link in links))
    done = build(copy, tmp_path / "site")
    assert done.returncode == 1
    assert all(word in done.stderr for word in ("no-page", "no-heading", "no-file"))
