"""Astropy's quantities, from any array that NumPy can read; units that Astropy knows are kept."""

import astropy.units as u

from dlbench import Call, X

DEFAULT = False

# copy=None copies only if necessary; copy=False raises in that case.
PROTOCOLS = {
    "convert": Call(u.Quantity, X, copy=None),
    "buffer": Call(u.Quantity, X, copy=None),
    "array_interface": Call(u.Quantity, X, copy=None),
    "array_struct": Call(u.Quantity, X, copy=None),
    "array": Call(u.Quantity, X, copy=None),
}
CALLS = {"Quantity": u.Quantity}
