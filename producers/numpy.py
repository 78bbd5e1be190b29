"""NumPy arrays."""

SPECIAL = ("swapped",)


def make(case, device):
    return case.numpy()


def address(array):
    return array.ctypes.data
