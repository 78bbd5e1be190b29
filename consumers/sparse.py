"""PyData's sparse arrays, from dense ones and SciPy's."""

import sparse

DEFAULT = False

PROTOCOLS = {"convert": sparse.asarray}
