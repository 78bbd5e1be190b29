"""Builds the documentation of this checkout and of each release into one site.

usage: python docs/site/versions.py FOLDER [ADDRESS]

Each version is in a folder of its name, this checkout in `dev`. The pages make their version switch
from `versions.json`. A release is built from its tag, with the published package of that version.
ADDRESS is that of FOLDER on its host; without it the site has no sitemap and no social card.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from packaging.version import Version

ROOT = Path(__file__).parents[2]


def build(source: Path, python: Path, target: Path, address: str) -> None:
    """Builds the pages of the checkout `source`; a broken link is an error."""
    own = {"SITE_URL": f"{address.rstrip('/')}/{target.name}/"} if address else {}
    zensical = [str(python.with_name("zensical")), "build", "--strict"]
    for command in ([str(python), "docs/site/stage.py"], zensical):
        subprocess.run(command, cwd=source, env=os.environ | own, check=True)
    (source / "build/site").rename(target)


def build_release(tag: str, folder: Path, address: str) -> None:
    """Builds the pages of a tag in an environment of its own."""
    version = tag.removeprefix("v")
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        source, environment = Path(scratch) / "source", Path(scratch) / "environment"
        subprocess.run(["git", "worktree", "add", "--detach", source, tag], cwd=ROOT, check=True)
        venv.create(environment, with_pip=True)
        python = environment / "bin/python"
        install = [python, "-m", "pip", "install", "--quiet", f"dlbench[docs]=={version}"]
        if subprocess.run(install, check=False).returncode:
            print(f"{tag}: no package of this version; left out", file=sys.stderr)
        else:
            build(source, python, folder / version, address)
    subprocess.run(["git", "worktree", "prune"], cwd=ROOT, check=True)


def write_index(folder: Path) -> None:
    """Lists the versions, the newest release first, which the page of the folder opens, and the
    pre-releases behind the releases."""
    names = [path.name for path in folder.iterdir() if path.name[0].isdigit()]

    def rank(name: str) -> tuple[bool, Version]:
        return not Version(name).is_prerelease, Version(name)

    releases = sorted(names, key=rank, reverse=True)
    names = [*releases, *(name for name in ("dev",) if (folder / name).is_dir())]
    rows = [
        {"version": name, "title": name, "aliases": ["latest"] if name == names[0] else []}
        for name in names
    ]
    (folder / "versions.json").write_text(json.dumps(rows), encoding="utf-8")
    page = f'<!DOCTYPE html>\n<meta http-equiv="refresh" content="0; url={names[0]}/">\n'
    (folder / "index.html").write_text(page, encoding="utf-8")


def main() -> None:
    folder, address = Path(sys.argv[1]), (sys.argv[2:] or [""])[0]
    folder.mkdir(parents=True)
    listed = subprocess.run(
        ["git", "tag", "--list", "v*"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for tag in listed.stdout.split():
        build_release(tag, folder, address)
    build(ROOT, Path(sys.executable), folder / "dev", address)
    write_index(folder)


if __name__ == "__main__":
    main()
