"""The documentation builds into a site, and a broken link in it is an error."""

from __future__ import annotations

import functools
import http.server
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import versions

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


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of the folder on a static host."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.browser
def test_the_pages_switch_between_versions(copy: Path, tmp_path: Path, chromium: Any) -> None:
    folder = tmp_path / "pages"
    folder.mkdir()
    with served(folder) as address:
        versions.build(copy, Path(sys.executable), folder / "0.10.0", address)
        for other in ("0.9.1", "0.11.0rc1", "dev"):
            shutil.copytree(folder / "0.10.0", folder / other)
        (folder / "0.9.1/architecture/index.html").unlink()
        versions.write_index(folder)
        page = chromium.new_page()
        page.goto(address)
        page.wait_for_url(f"{address}/0.10.0/")
        shown = page.locator(".md-version__link")
        shown.first.wait_for(state="attached")
        names = [text.strip() for text in shown.all_text_contents()]
        assert names == ["0.10.0", "0.9.1", "0.11.0rc1", "dev"]
        page.goto(f"{address}/0.10.0/architecture/")
        page.locator(".md-version__current").hover(force=True)  # the list covers it
        page.get_by_role("link", name="dev", exact=True).click()
        page.wait_for_url(f"{address}/dev/**")
        picture = page.locator("meta[property='og:image']").get_attribute("content")
        assert picture == f"{address}/0.10.0/assets/report-light.png"
        assert (folder / picture.removeprefix(f"{address}/")).is_file()
        page.close()
    assert f"{address}/0.10.0/architecture/" in (folder / "0.10.0/sitemap.xml").read_text()


def test_a_link_to_no_file_is_an_error(copy: Path) -> None:
    """Those to pages and headings are zensical's, and test_docs finds them too."""
    page = copy / "docs/reference/glossary.md"
    page.write_text(page.read_text() + "\n[broken](../../no-file.txt)\n")
    done = build(copy)
    assert done.returncode == 1
    assert "docs/reference/glossary.md: no file ../../no-file.txt" in done.stdout + done.stderr
