"""Unyt's arrays, from any array that NumPy can read."""

import unyt

DEFAULT = False

PROTOCOLS = {
    "convert": unyt.unyt_array,
    "buffer": unyt.unyt_array,
    "array_interface": unyt.unyt_array,
    "array_struct": unyt.unyt_array,
    "array": unyt.unyt_array,
}
