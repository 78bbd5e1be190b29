"""The columns of the CSV with types, as an Arrow or a Parquet file; written by pyarrow."""

from __future__ import annotations

import importlib
import io
from typing import Any

from dlbench import _core
from dlbench.document import Document
from dlbench.errors import BadInput, first_line

from . import rows


def export_arrow(document: Document) -> bytes:
    """An Arrow IPC file, also known as Feather version 2."""
    pyarrow = _library("arrow")
    out = io.BytesIO()
    table = _table(pyarrow, document)
    with pyarrow.ipc.new_file(out, table.schema) as writer:
        writer.write_table(table)
    return out.getvalue()


def export_parquet(*documents: Document) -> bytes:
    """A Parquet file; of several documents their rows."""
    pyarrow = _library("parquet")
    parquet = importlib.import_module("pyarrow.parquet")
    out = io.BytesIO()
    tables = [_table(pyarrow, document) for document in documents]
    parquet.write_table(pyarrow.concat_tables(tables), out)
    return out.getvalue()


def _library(name: str) -> Any:
    """pyarrow. Raises BadInput where it cannot be imported."""
    try:
        return importlib.import_module("pyarrow")
    except ModuleNotFoundError as error:
        raise BadInput(f"--format {name} needs pyarrow: pip install pyarrow") from error
    except ImportError as error:
        raise BadInput(
            f"--format {name}: pyarrow cannot be imported: {first_line(error)}"
        ) from error


def _table(pyarrow: Any, document: Document) -> Any:
    """The columns of the CSV; null if a cell has no such value."""
    kinds = dict.fromkeys(rows.COLUMNS, pyarrow.string())
    kinds |= dict.fromkeys(rows.FLOATS, pyarrow.float64())
    kinds |= dict.fromkeys(rows.INTEGERS, pyarrow.int64())
    kinds |= dict.fromkeys(rows.FLAGS, pyarrow.bool_())
    lines = [[_unicode(value) for value in row] for row in rows.rows(document)]
    columns = zip(*lines, strict=True) if lines else ((),) * len(kinds)
    arrays = [
        pyarrow.array(column, kind) for column, kind in zip(columns, kinds.values(), strict=True)
    ]
    schema = pyarrow.schema(list(kinds.items()), {"dlbench_version": _core.version})
    return pyarrow.Table.from_arrays(arrays, schema=schema)


def _unicode(value: rows.Value) -> rows.Value:
    """The text without lone surrogates, which UTF-8 cannot encode."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    return value
