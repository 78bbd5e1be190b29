"""SciPy's sparse arrays, from dense ones."""

import scipy.sparse

DISTRIBUTION = "scipy"
DEFAULT = False

PROTOCOLS = {"convert": scipy.sparse.csr_array}
CALLS = {
    "bsr_array": scipy.sparse.bsr_array,
    "coo_array": scipy.sparse.coo_array,
    "csc_array": scipy.sparse.csc_array,
}
