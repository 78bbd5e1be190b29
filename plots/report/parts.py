"""The parts of the page: the template, style and scripts of dlbench, and plotly.js."""

from __future__ import annotations

import functools
import importlib.util
import json
from pathlib import Path
from typing import Any

from dlbench import values
from dlbench.document.facts import NATIVE
from dlbench.text.escaping import printable

from .packing import packed_bytes

HERE = Path(__file__).parent
#: The scripts in the order of their definitions; they share one scope.
SCRIPTS = ("text", "address", "unpack", "run", "choice", "matrix", "chart", "samples", "cell",
           "scaling", "phases", "change", "sync", "refusals", "findings", "machines", "warnings",
           "glossary", "page")  # fmt: skip
PLOTLY = "package_data/plotly.min.js"
INSTALL = "pip install 'dlbench[report]'"


def require() -> None:
    """Raises ModuleNotFoundError unless the template engine and the plotting library exist."""
    for name in ("jinja2", "plotly"):
        if importlib.util.find_spec(name) is None:
            raise ModuleNotFoundError(f"the report needs {name}: {INSTALL}", name=name)
    _plotly()


def style() -> str:
    return (HERE / "style.css").read_text(encoding="utf-8")


def scripts() -> str:
    """All scripts in one function, so that they define no globals."""
    marks = {"nearFloor": values.NEAR_FLOOR_TEXT, "wide": values.with_signs(values.WIDE_TEXT),
             "loses": values.LOSES_TEXT}  # fmt: skip
    constants = f"const MARK_TEXTS = {json.dumps(marks)}, NATIVE = {json.dumps(NATIVE)};\n"
    texts = ((HERE / "js" / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS)
    return '"use strict";\n(() => {\n' + constants + "\n".join(texts) + "\n})();\n"


def template() -> Any:
    import jinja2

    loader = jinja2.FileSystemLoader(HERE)
    return jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True,
                              finalize=_shown).get_template("page.html.j2")  # fmt: skip


def _shown(value: Any) -> Any:
    """The value of a template's expression: printable text, or dlbench's own HTML unchanged."""
    return printable(value) if type(value) is str else value


@functools.cache
def plotly() -> str:
    """plotly.js, packed: the page unpacks it when the first chart is visible."""
    return packed_bytes(_plotly().read_bytes())


def _plotly() -> Path:
    # Do not import plotly: only its JavaScript is needed, and the import takes long.
    spec = importlib.util.find_spec("plotly")
    places = list(spec.submodule_search_locations or ()) if spec else []
    path = Path(places[0], PLOTLY) if places else Path(PLOTLY)
    if not path.is_file():
        raise ModuleNotFoundError(f"the installed plotly has no {PLOTLY}: {INSTALL}", name="plotly")
    return path
