"""NumPy arrays."""

SCRIPT = {"make": "array = source", "memory": "{array}"}

SPECIAL = ("swapped",)


def make(case, device):
    return case.numpy()


def address(array):
    return array.ctypes.data
