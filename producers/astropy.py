"""Astropy's quantities: NumPy arrays of a subclass, in metres."""

import astropy.units as u

SCRIPT = {"make": "array = u.Quantity(source, 'm', dtype=source.dtype, copy=False)"}

DEFAULT = False
SPECIAL = ("swapped",)


def make(case, device):
    # The default dtype converts integers to floats.
    content = case.numpy()
    return u.Quantity(content, "m", dtype=content.dtype, copy=False)


def extras(array):
    return {} if array.unit == u.dimensionless_unscaled else {"unit": str(array.unit)}
