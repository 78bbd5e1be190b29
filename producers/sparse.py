"""PyData's sparse arrays: `__array__` raises unless SPARSE_AUTO_DENSIFY is set."""

import sparse

SCRIPT = {"make": "array = sparse.COO.from_numpy(source)"}

DEFAULT = False

values = sparse.COO.todense


def make(case, device):
    return sparse.COO.from_numpy(case.numpy())


def memory(array):
    return array.data


def extras(array):
    return {"sparsity": True} if isinstance(array, sparse.SparseArray) else {}
