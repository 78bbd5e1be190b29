"""Makes the pages of the site, for any generator that reads mkdocs.yml.

The README becomes the home page. A link to a file outside docs/ leads to a copy of that file, so
that the site needs no address of a repository. The sample report is made from the recorded run.

usage: python docs/site/stage.py && zensical build --strict
"""

from __future__ import annotations

import posixpath
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
STAGE = ROOT / "build/docs"  # as in mkdocs.yml
#: Files of the repository that are pages of the site.
PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
}
LINK = re.compile(r"(\]\()([^)\s#]+)(#[^)\s]*)?\)")
PICTURE = re.compile(
    r'<picture>.*?<img alt="([^"]*)" src="docs/(\S+)-light\.svg".*?</picture>', re.S
)
HIDE_NAVIGATION = "---\nhide: [navigation]\n---\n"  # of the home page: it has one page


def target_of(path: str) -> str:
    """The address in the site of a file of the repository."""
    if path in PAGES:
        return PAGES[path]
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return "source/" + (f"{path}.txt" if path.endswith(".md") else path)


def rewrite_links(text: str, source: str) -> tuple[str, set[str]]:
    """The Markdown of the file `source` with links for the site, and the files that it links to
    outside docs/. Exits at a link to a file that does not exist."""
    outside = set()
    here = posixpath.dirname(target_of(source))

    def rewrite(match: re.Match[str]) -> str:
        if "://" in match[2]:
            return match[0]
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), match[2]))
        if not path.startswith("docs/") and path not in PAGES:
            if not (ROOT / path).is_file():
                sys.exit(f"{source}: no file {match[2]}")
            outside.add(path)
        return f"{match[1]}{posixpath.relpath(target_of(path), here or '.')}{match[3] or ''})"

    text = PICTURE.sub(
        r"![\1](docs/\2-light.svg#only-light)\n![\1](docs/\2-dark.svg#only-dark)", text
    )
    return LINK.sub(rewrite, text), outside


def stage() -> None:
    shutil.rmtree(STAGE, ignore_errors=True)
    shutil.copytree(ROOT / "docs", STAGE, ignore=shutil.ignore_patterns("site", "make-support"))
    pages = [path.relative_to(STAGE) for path in STAGE.rglob("*.md")]
    outside = set()
    for source in [*PAGES, *(f"docs/{page}" for page in pages)]:
        text, linked = rewrite_links((ROOT / source).read_text(encoding="utf-8"), source)
        top = HIDE_NAVIGATION if source == "README.md" else ""
        (STAGE / target_of(source)).write_text(top + text, encoding="utf-8")
        outside |= linked
    for path in outside:
        target = STAGE / target_of(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, target)
    report = ["report", str(ROOT / "docs/site/sample"), "--force", "--output"]
    sample = str(STAGE / "tutorial/sample-report.html")
    subprocess.run([sys.executable, "-m", "dlbench", *report, sample], check=True)


if __name__ == "__main__":
    stage()
