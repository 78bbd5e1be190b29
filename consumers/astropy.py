"""Astropy's quantities from what NumPy can read; a unit only where the source's is understood."""

import astropy.units as u

from dlbench import Call, X

DEFAULT = False

# copy=None: only where it must. False would be NumPy's: raise where it must.
PROTOCOLS = {
    "convert": Call(u.Quantity, X, copy=None),
    "buffer": Call(u.Quantity, X, copy=None),
    "array_interface": Call(u.Quantity, X, copy=None),
    "array_struct": Call(u.Quantity, X, copy=None),
    "array": Call(u.Quantity, X, copy=None),
}
