"""Adds the repository's address to what a package index shows of this checkout.

usage: python packaging/add_address.py ADDRESS REF

Links and the picture of README.md become absolute, and pyproject.toml gets project.urls. The
sources know no address; the workflow that builds a release knows its own.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LINK = re.compile(r"(\]\()(?![\w+.-]+:|#)([^)\s]+)(?=\))")
PICTURE = re.compile(
    r'<picture>.*?<img alt="([^"]*)" src="([^"]+)".*?</picture>', re.DOTALL
)  # an index shows no <picture>


def absolute(text: str, address: str, ref: str) -> str:
    """README.md with links that hold elsewhere."""
    text = PICTURE.sub(lambda found: f"![{' '.join(found[1].split())}]({found[2]})", text)
    text = re.sub(
        r"(!\[[^\]]*\]\()([^):]+)(?=\))", rf"\1{address}/raw/{ref}/\2?sanitize=true", text
    )
    return LINK.sub(rf"\1{address}/blob/{ref}/\2", text)


def urls(address: str, ref: str) -> str:
    return (
        f'\n[project.urls]\nSource = "{address}"\nIssues = "{address}/issues"\n'
        f'Documentation = "{address}/blob/{ref}/docs/tutorial/index.md"\n'
        f'Changelog = "{address}/blob/{ref}/CHANGELOG.md"\n'
    )


def main(address: str, ref: str, root: Path = ROOT) -> None:
    readme, project = root / "README.md", root / "pyproject.toml"
    readme.write_text(absolute(readme.read_text(encoding="utf-8"), address, ref), encoding="utf-8")
    with project.open("a", encoding="utf-8") as out:
        out.write(urls(address, ref))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python packaging/add_address.py ADDRESS REF")
    main(*sys.argv[1:])
