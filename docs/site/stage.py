"""What `mkdocs build` adds to the pages of docs/.

The README becomes the home page. A link to a file outside docs/ leads to a copy of that file, so
that the site needs no address of a repository. The sample report is made from the recorded run.
"""

from __future__ import annotations

import posixpath
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[2]
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
SAMPLE = "tutorial/sample-report.html"


def target_of(path: str) -> str:
    """The address in the site of a file of the repository."""
    if path in PAGES:
        return PAGES[path]
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return "source/" + (f"{path}.txt" if path.endswith(".md") else path)


def rewrite_links(text: str, source: str) -> tuple[str, set[str]]:
    """The Markdown of the file `source` with links for the site, and the files that it links to
    outside docs/."""
    outside = set()
    here = posixpath.dirname(target_of(source))

    def rewrite(match: re.Match[str]) -> str:
        if "://" in match[2]:
            return match[0]
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), match[2]))
        if not path.startswith("docs/") and path not in PAGES:
            outside.add(path)
        return f"{match[1]}{posixpath.relpath(target_of(path), here or '.')}{match[3] or ''})"

    text = PICTURE.sub(
        r"![\1](docs/\2-light.svg#only-light)\n![\1](docs/\2-dark.svg#only-dark)", text
    )
    return LINK.sub(rewrite, text), outside


def sample_report() -> bytes:
    """The report of the run that the tutorial shows."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        command = ["report", str(ROOT / "docs/site/sample"), "--output", str(page)]
        subprocess.run([sys.executable, "-m", "dlbench", *command], check=True)
        return page.read_bytes()


def on_files(files: Files, config: Any) -> Files:
    outside = set()
    for source, page in PAGES.items():
        text, linked = rewrite_links((ROOT / source).read_text(encoding="utf-8"), source)
        files.append(File.generated(config, page, content=text))
        outside |= linked
    for file in files.documentation_pages():
        if file.abs_src_path is not None:
            outside |= rewrite_links(file.content_string, f"docs/{file.src_uri}")[1]
    for path in sorted(outside):
        if (ROOT / path).is_file():
            files.append(
                File.generated(config, target_of(path), content=(ROOT / path).read_bytes())
            )
    files.append(File.generated(config, SAMPLE, content=sample_report()))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    if page.file.abs_src_path is None:
        if page.is_homepage:
            page.meta["hide"] = ["navigation"]  # it has one page
        return markdown
    return rewrite_links(markdown, f"docs/{page.file.src_uri}")[0]
