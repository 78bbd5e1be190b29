"""SciPy's sparse arrays, which offer no protocol: only a conversion call can import them."""

import scipy.sparse

SCRIPT = {"make": "array = scipy.sparse.csr_array(source)"}

DISTRIBUTION = "scipy"
DEFAULT = False

values = scipy.sparse.csr_array.toarray


def make(case, device):
    return scipy.sparse.csr_array(case.numpy())


def memory(array):
    return array.data


def extras(array):
    return {"sparsity": True} if scipy.sparse.issparse(array) else {}
