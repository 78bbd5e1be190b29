"""The documentation builds into a site, and a broken link in it is an error."""

from __future__ import annotations

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


def build(root: Path) -> subprocess.CompletedProcess[str]:
    zensical = str(Path(sys.executable).with_name("zensical"))
    for command in ([sys.executable, "docs/site/stage.py"], [zensical, "build", "--strict"]):
        done = subprocess.run(command, cwd=root, capture_output=True, text=True)
        if done.returncode:
            break
    return done


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


def test_the_site_builds(copy: Path) -> None:
    done = build(copy)
    assert done.returncode == 0, done.stdout + done.stderr
    site = copy / "build/site"
    pages = ("index.html", "tutorial/index.html", "reference/outcomes/index.html")
    assert all((site / page).is_file() for page in pages)
    report = (site / "tutorial/sample-report.html").read_text(encoding="utf-8")
    assert "function drawChart" in report


def test_a_link_to_no_file_is_an_error(copy: Path) -> None:
    """Those to pages and headings are zensical's, and test_docs finds them too."""
    page = copy / "docs/reference/glossary.md"
    page.write_text(page.read_text() + "\n[broken](../../no-file.txt)\n")
    done = build(copy)
    assert done.returncode == 1
    assert "docs/reference/glossary.md: no file ../../no-file.txt" in done.stdout + done.stderr
