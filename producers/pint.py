"""Pint's quantities around NumPy's arrays, in metres."""

import copy

import pint

SCRIPT = {
    "make": "array = pint.get_application_registry().Quantity(source, 'm')",
    "own": "array = copy.deepcopy(array){slice}",
    "memory": (
        "{array}.magnitude if isinstance({array}.magnitude, np.ndarray)"
        " else np.from_dlpack({array}.magnitude)"
    ),
}

DEFAULT = False
SPECIAL = ("swapped",)

_units = pint.get_application_registry()


def make(case, device):
    return case.build(lambda content: _units.Quantity(content, "m"), copy.deepcopy)


def memory(array):
    return array.magnitude


def extras(array):
    return {} if array.unitless else {"unit": f"{array.units:~}"}
