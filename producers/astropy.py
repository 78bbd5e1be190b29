"""Astropy's quantities: NumPy arrays of a subclass, in metres."""

import astropy.units as u

SCRIPT = {
    "make": "array = u.Quantity(source, 'm', dtype=source.dtype, copy=False)",
    "own": "array = array.copy(){slice}",
}

DEFAULT = False
SPECIAL = ("swapped",)


def make(case, device):
    def metres(content):
        # The default dtype converts integers to floats.
        return u.Quantity(content, "m", dtype=content.dtype, copy=False)

    return case.build(metres, u.Quantity.copy)


def extras(array):
    return {} if array.unit == u.dimensionless_unscaled else {"unit": str(array.unit)}
