"""Unyt's arrays: NumPy arrays of a subclass, in metres."""

import unyt

SCRIPT = {"make": "array = unyt.unyt_array(source, 'm')", "own": "array = array.copy(){slice}"}

DEFAULT = False
SPECIAL = ("swapped",)


def make(case, device):
    return case.build(lambda content: unyt.unyt_array(content, "m"), unyt.unyt_array.copy)


def extras(array):
    return {} if array.units.is_dimensionless else {"unit": str(array.units)}
