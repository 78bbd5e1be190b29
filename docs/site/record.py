"""Runs the commands of the tutorial and of how-to pages, and writes their output into the pages.

usage: python docs/site/record.py [PAGE ...]     default: each page that has such commands

A page holds `<!-- run: COMMAND -->`, and its output up to `<!-- end -->`. FAULTY in a command is
the name of the fault-injecting adapter. The commands of one page run in one new folder, which
begins with the files of docs/site/examples. A test runs them again and compares the shape.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
#: The fault-injecting adapter; everything else here and in the pages says FAULTY.
FAULTY = "faulty"
WIDTH = 96
RUN = re.compile(r"<!-- run: (.+?) -->\n(.*?)<!-- end -->", re.S)
#: A line is a fact up to one of these words or a mark of a copy. Times, notes and findings about
#: noise depend on how busy the machine is.
FACT = re.compile(
    r"(?<![\w-])(zero-copy|copy|refused|wrong|crashed|no-protocol|not-installed|unproven|address|exports|imports"
    r"|expected|actual|SLOW|FAST|worse|better|lost|gained|holds|broken)\b|\*"
)


def run_page(text: str) -> list[tuple[str, str]]:
    """Each command of a page with the Markdown that shows it and what it printed."""
    done = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(ROOT / "docs/site/examples", folder, dirs_exist_ok=True)
        (folder / ".bin").mkdir()
        for program, words in (("dlbench", "-m dlbench "), ("python", "")):
            script = folder / ".bin" / program
            script.write_text(f'#!/bin/sh\nexec "{sys.executable}" {words}"$@"\n')
            script.chmod(0o755)
        for command, _ in RUN.findall(text):
            done.append((command, _output(command.replace("FAULTY", FAULTY), folder)))
    return done


def _output(command: str, folder: Path) -> str:
    environment = os.environ | {
        "COLUMNS": str(WIDTH),
        "PATH": f"{folder / '.bin'}:{os.environ['PATH']}",
    }
    # What `dlbench list` keeps between calls is the machine's.
    environment["XDG_CACHE_HOME"] = str(folder / ".cache")
    ended = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    shown = ended.stdout.strip("\n")
    if ended.returncode:
        shown += f"\n(exit status {ended.returncode})"
    return block(command, without_machine(shown, folder))


def block(command: str, output: str) -> str:
    """A command to copy, and below it what it printed."""
    shown = f"```text\n{output}```\n" if output.strip() else ""
    return f"```sh\n{command}\n```\n{shown}"


def without_machine(text: str, folder: Path) -> str:
    """The text without this machine's paths and without colors."""
    text = re.sub(r"\x1b\[[\d;]*m", "", text)
    text = text.replace(f"{folder}/", "").replace(str(folder), ".")
    text = text.replace(sys.prefix, "/path/to/venv").replace(str(Path.home()), "~")
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def recorded(text: str) -> str:
    """The page with what its commands print now."""
    outputs = iter(run_page(text))

    def fill(match: re.Match[str]) -> str:
        _, output = next(outputs)
        return f"<!-- run: {match[1]} -->\n{output}<!-- end -->"

    return RUN.sub(fill, text)


def shape(output: str) -> set[tuple[str, ...]]:
    """The facts of an output, as words without numbers and units."""
    facts = set()
    for line in output.partition("\n```\n")[2].splitlines():
        if fact := FACT.search(line):
            line = re.sub(r"\S*\d\S*|[~?%]", " ", line[: fact.end()])
            facts.add(tuple(re.findall(r"[A-Za-z_][\w:-]{2,}|\*", line)))
    return facts


def pages() -> list[Path]:
    """The pages with commands to run."""
    found = sorted((ROOT / "docs").rglob("*.md"))
    return [page for page in found if RUN.search(page.read_text(encoding="utf-8"))]


if __name__ == "__main__":
    for page in [Path(name) for name in sys.argv[1:]] or pages():
        page.write_text(recorded(page.read_text(encoding="utf-8")), encoding="utf-8")
        print(page)
