"""SciPy's sparse arrays, from dense ones."""

import scipy.sparse

DISTRIBUTION = "scipy"
DEFAULT = False

PROTOCOLS = {"convert": scipy.sparse.csr_array}
