"""Arrays as DuckDB returns a column of a query: NumPy's, over memory of DuckDB."""

import duckdb
import numpy as np
import pyarrow as pa

SCRIPT = {
    "make": (
        "rows = duckdb.from_arrow(pa.table(dict(array={unsliced})))\n"
        "array = rows.fetchnumpy()['array']{slice}"
    ),
    "make broadcast": "",
}

DEFAULT = False


def make(case, device):
    rows = duckdb.from_arrow(pa.table({"array": case.unsliced(case.numpy())}))
    return case.sliced(rows.fetchnumpy()["array"], np.broadcast_to)
