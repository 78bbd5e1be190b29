"""Dask's arrays, from any array that NumPy can read."""

import dask.array as da

DISTRIBUTION = "dask[array]"
DEFAULT = False

PROTOCOLS = {
    "convert": da.asarray,
    "buffer": da.asarray,
    "array_interface": da.asarray,
    "array_struct": da.asarray,
    "array": da.asarray,
}


def extras(array):
    return {}
