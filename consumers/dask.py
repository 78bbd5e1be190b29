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
CALLS = {"array": da.array, "asanyarray": da.asanyarray, "from_array": da.from_array}


def extras(array):
    return {}
