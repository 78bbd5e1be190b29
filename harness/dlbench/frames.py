"""A run as a data frame."""

from __future__ import annotations

import importlib
from os import PathLike, fspath
from typing import Any

from dlbench.document import locate, read_document
from dlbench.errors import BadInput
from dlbench.exporters import rows

FRAMES = ("pandas", "polars")


def load(run: str | PathLike[str], frame: str) -> Any:
    """See dlbench.load."""
    if frame not in FRAMES:
        raise BadInput(f"unknown frame {frame!r}; allowed: {', '.join(FRAMES)}")
    try:
        library = importlib.import_module(frame)
    except ImportError as error:
        raise BadInput(f"dlbench.load needs {frame}: pip install {frame}") from error
    document = read_document(locate(fspath(run)))
    columns = list(rows.COLUMNS)
    lists = zip(*rows.rows(document), strict=True)
    data = dict(zip(columns, map(list, lists), strict=False)) or {name: [] for name in columns}
    kinds = dict.fromkeys(columns, "text") | dict.fromkeys(rows.FLOATS, "float")
    kinds |= dict.fromkeys(rows.INTEGERS, "integer") | dict.fromkeys(rows.FLAGS, "flag")
    return (_pandas if frame == "pandas" else _polars)(library, data, kinds)


def _pandas(pandas: Any, data: dict[str, list[Any]], kinds: dict[str, str]) -> Any:
    types = {"text": "string", "float": "float64", "integer": "Int64", "flag": "boolean"}
    return pandas.DataFrame(
        {name: pandas.Series(column, dtype=types[kinds[name]]) for name, column in data.items()}
    )


def _polars(polars: Any, data: dict[str, list[Any]], kinds: dict[str, str]) -> Any:
    types = {"text": polars.String, "float": polars.Float64, "integer": polars.Int64}
    types["flag"] = polars.Boolean
    schema = {name: types[kinds[name]] for name in data}
    return polars.DataFrame(data, schema=schema, strict=False)
