"""Pint's quantities around NumPy's arrays, in metres."""

import pint

SCRIPT = {"make": "array = pint.get_application_registry().Quantity(source, 'm')"}

DEFAULT = False
SPECIAL = ("swapped",)

_units = pint.get_application_registry()


def make(case, device):
    return _units.Quantity(case.numpy(), "m")


def memory(array):
    return array.magnitude


def extras(array):
    return {} if array.unitless else {"unit": f"{array.units:~}"}
