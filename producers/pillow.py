"""Pillow images of one column, which export a copy of their pixels."""

from PIL import Image

from dlbench.adapter import capsule_pointer, word_at

SCRIPT = {"make": "array = Image.fromarray(source)"}

DISTRIBUTION = "pillow"
DEFAULT = False


def make(case, device):
    return Image.fromarray(case.numpy())


def address(image):
    """The address of the image's own memory; its `__array_interface__` has that of a copy."""
    _, array = image.__arrow_c_array__()
    buffers = word_at(capsule_pointer(array, b"arrow_array") + 40)
    return word_at(buffers + 8)  # the first buffer is a mask
