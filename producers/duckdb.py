"""Arrays as DuckDB returns a column of a query: NumPy's, over memory of DuckDB."""

import duckdb
import numpy as np
import pyarrow as pa

from dlbench.adapter import require

SCRIPT = {
    "make": (
        "rows = duckdb.from_arrow(pa.table(dict(array={unsliced})))\n"
        "array = rows.fetchnumpy()['array']{slice}"
    ),
    "make readonly": (
        "rows = duckdb.from_arrow(pa.table(dict(array={unsliced})))\n"
        "array = rows.fetchnumpy()['array']{slice}\n"
        "array.flags.writeable = False"
    ),
    "make broadcast": "",
}

DEFAULT = False


def make(case, device):
    content = case.unsliced(case.numpy())
    rows = duckdb.from_arrow(pa.table({"array": content}))
    array = rows.fetchnumpy()["array"]
    is_time = content.dtype.kind in "mM"
    require(not is_time or array.dtype == content.dtype, f"DuckDB returns {array.dtype}")
    return case.sliced(array, np.broadcast_to)
