"""PyData's sparse arrays, from dense ones and SciPy's."""

import sparse

DEFAULT = False

PROTOCOLS = {"convert": sparse.asarray}
CALLS = {
    "COO": sparse.COO,
    "COO.from_numpy": sparse.COO.from_numpy,
    "COO.from_scipy_sparse": sparse.COO.from_scipy_sparse,
    "as_coo": sparse.as_coo,
}
