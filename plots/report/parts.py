"""The parts of the page: its template, style and scripts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dlbench import values
from dlbench.document.facts import NATIVE
from dlbench.text.escaping import printable

HERE = Path(__file__).parent
#: The scripts in the order of their definitions; they share one scope.
SCRIPTS = ("text", "theme", "address", "unpack", "run", "choice", "matrix", "chart", "samples",
           "cell", "scaling", "phases", "change", "sync", "refusals", "findings", "machines",
           "warnings", "glossary", "page")  # fmt: skip


def style() -> str:
    return (HERE / "style.css").read_text(encoding="utf-8")


def scripts() -> str:
    """All scripts in one function, so that they define no globals."""
    marks = {"nearFloor": values.NEAR_FLOOR_TEXT, "wide": values.with_signs(values.WIDE_TEXT),
             "loses": values.LOSES_TEXT}  # fmt: skip
    constants = f"const MARK_TEXTS = {json.dumps(marks)}, NATIVE = {json.dumps(NATIVE)};\n"
    texts = map(script, SCRIPTS)
    return '"use strict";\n(() => {\n' + constants + "\n".join(texts) + "\n})();\n"


def script(name: str) -> str:
    return (HERE / "js" / f"{name}.js").read_text(encoding="utf-8")


def template() -> Any:
    return engine(HERE).get_template("page.html.j2")


def engine(folder: Path) -> Any:
    """The templates of a folder."""
    import jinja2

    loader = jinja2.FileSystemLoader(folder)
    return jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True,
                              finalize=_shown)  # fmt: skip


def _shown(value: Any) -> Any:
    """The value of a template's expression: printable text, or dlbench's own HTML unchanged."""
    return printable(value) if type(value) is str else value
