"""Masked arrays, from any array that NumPy can read; no element is masked."""

import numpy as np

DISTRIBUTION = "numpy"
DEFAULT = False

PROTOCOLS = {
    "convert": np.ma.asarray,
    "buffer": np.ma.asarray,
    "array_interface": np.ma.asarray,
    "array_struct": np.ma.asarray,
    "array": np.ma.asarray,
}
CALLS = {
    "MaskedArray": np.ma.MaskedArray,
    "array": np.ma.array,
    "asanyarray": np.ma.asanyarray,
}
