"""Unyt's arrays: NumPy arrays of a subclass, in metres."""

import unyt

SCRIPT = {"make": "array = unyt.unyt_array(source, 'm')"}

DEFAULT = False
SPECIAL = ("swapped",)


def make(case, device):
    return unyt.unyt_array(case.numpy(), "m")


def extras(array):
    return {} if array.units.is_dimensionless else {"unit": str(array.units)}
