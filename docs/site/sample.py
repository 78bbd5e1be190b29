"""Makes the sample run of the documentation, and the pictures of it.

Drawing needs matplotlib, Playwright and Chromium.

usage: python docs/site/sample.py          measures again (three minutes), then draws
       python docs/site/sample.py --draw   draws the recorded run
       python docs/site/sample.py RESULTS  takes that results.json as the sample run, then draws
"""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image
from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "docs/site/sample"
ASSETS = ROOT / "docs/assets"
LIBRARIES = "native,numpy,torch,jax,mlx,tensorflow,tvm_ffi"
MEASURE = ("--matrix", "--producers", LIBRARIES, "--consumers", LIBRARIES,
           "--protocols", "dlpack,convert", "--sizes", "4KiB,1MiB")  # fmt: skip
#: Columns of the picture.
WIDTH = 84
#: Pixels of the report that its picture shows.
REPORT = {"width": 1000, "height": 760}
#: Background, text, and the colors of marks, for each theme of a page.
THEMES = {
    "light": TerminalTheme(
        (255, 255, 255),
        (31, 35, 40),
        [(36, 41, 47), (190, 30, 40), (17, 99, 41), (120, 72, 0),
         (9, 80, 190), (110, 60, 190), (20, 110, 120), (90, 98, 106)],
    ),
    "dark": TerminalTheme(
        (13, 17, 23),
        (230, 237, 243),
        [(72, 79, 88), (255, 123, 114), (63, 185, 80), (210, 153, 34),
         (88, 166, 255), (188, 140, 255), (57, 197, 207), (177, 186, 196)],
    ),
}  # fmt: skip
#: Rich's picture without the frame of a window and without fonts of another host.
SVG = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="-20 -16 WIDTH HEIGHT" \
role="img">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, \
"DejaVu Sans Mono", monospace; font-size: {char_height}px; line-height: {line_height}px; }}
{styles}
</style>
<defs>{lines}</defs>
<rect x="-20" y="-16" width="WIDTH" height="HEIGHT" rx="10" fill="BACKGROUND"/>
<g class="{unique_id}-matrix">{backgrounds}{matrix}</g>
</svg>
"""


def dlbench(*words: str, color: bool = False, width: int = 100) -> str:
    """What dlbench prints; as on a terminal with `color`."""
    environment = os.environ | {"COLUMNS": str(width)}
    if color:
        # 16 colors, which the pictures' themes define.
        environment |= {"FORCE_COLOR": "1", "TERM": "xterm", "COLORTERM": ""}
    command = [sys.executable, "-m", "dlbench", *words]
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True
    ).stdout


def without_machine(document: dict[str, Any]) -> dict[str, Any]:
    """The document without the names and paths of the machine that measured it."""
    context = document["context"]
    context |= {"executable": "dlbench", "host_name": "sample"}
    made = context["dlbench"]
    made["command"] = ["dlbench", *MEASURE]
    made["machine"]["kernel"] = re.sub(r"^(\w+ \d+\.\d+).*", r"\1", made["machine"]["kernel"])
    for environment in made["environments"].values():
        environment["executable"] = "python"
    return document


def measure() -> Path:
    folder = Path(tempfile.mkdtemp()) / "run"
    dlbench(*MEASURE, "--no-plots", "--quiet", "--out", str(folder))
    return folder / "results.json"


def matrix_picture(theme: str) -> str:
    """The first two matrices of the sample run as an SVG, as a terminal shows them."""
    blocks = dlbench("show", str(SAMPLE), color=True, width=WIDTH).split("\n\n")
    [marks] = [block for block in blocks if Text.from_ansi(block).plain.startswith("* copied")]
    console = Console(record=True, width=WIDTH, file=io.StringIO(), highlight=False)
    shown = Text.from_ansi("\n\n".join((*blocks[1:3], marks)))
    console.print(shown)
    rows = len(shown.plain.splitlines())
    size = {"WIDTH": round(12.2 * WIDTH) + 40, "HEIGHT": round(24.4 * rows) + 32}
    colors = THEMES[theme]
    picture = console.export_svg(theme=colors, code_format=SVG, unique_id="dlbench")
    for name, value in (size | {"BACKGROUND": colors.background_color.hex}).items():
        picture = picture.replace(name, str(value))
    return picture


def save_small(png: bytes, path: Path) -> None:
    """The picture in 64 colors."""
    picture = Image.open(io.BytesIO(png)).convert("RGB")
    picture.quantize(64, dither=Image.Dither.NONE).save(path, optimize=True)


def picture_report() -> None:
    """The top of the sample run's report as PNG, in both themes."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        run = Path(name) / "run"  # the page's commands have the folder's name
        run.mkdir()
        shutil.copy(SAMPLE / "results.json", run)
        dlbench("report", str(run))
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium") or shutil.which("google-chrome"),
            args=["--no-sandbox"] if os.geteuid() == 0 else [],
        )
        for theme in THEMES:
            page = browser.new_page(viewport=REPORT, color_scheme=theme)
            page.goto((run / "report.html").as_uri())
            page.wait_for_function("document.documentElement.dataset.ready !== undefined")
            save_small(page.screenshot(), ASSETS / f"report-{theme}.png")
        browser.close()


def picture_figure() -> None:
    """The figure `scaling` of the sample run, small enough for a page."""
    from dlbench.document import read_document
    from dlbench.plots import drawing, scaling

    drawn = io.BytesIO()
    with drawing.style():
        figure = scaling.figure(read_document(SAMPLE / "results.json"))
        figure.savefig(drawn, dpi=80, metadata={"Software": None})
    save_small(drawn.getvalue(), ASSETS / "scaling.png")


def draw() -> None:
    for theme in THEMES:
        (ASSETS / f"matrix-{theme}.svg").write_text(matrix_picture(theme), encoding="utf-8")
    picture_report()
    picture_figure()


if __name__ == "__main__":
    words = sys.argv[1:]
    if words != ["--draw"]:
        results = Path(words[0]) if words else measure()
        made = without_machine(json.loads(results.read_text(encoding="utf-8")))
        text = json.dumps(made, sort_keys=True, separators=(",", ":"))
        (SAMPLE / "results.json").write_text(text + "\n", encoding="utf-8")
    draw()
