"""Mapped files: bytes without a dtype, from the start of a page.

No consumer, because a mapping is made from a file.
"""

import mmap
import os

from dlbench.adapter import require

SCRIPT = {
    "source": "bits",
    "make": ("array = mmap.mmap(-1, source.nbytes)\narray[:] = source.tobytes()"),
    "make readonly": (
        "file = os.memfd_create('array')\n"
        "os.write(file, source)\n"
        "array = mmap.mmap(file, 0, access=mmap.ACCESS_READ)"
    ),
}

DISTRIBUTION = None
DEFAULT = False


def make(case, device):
    require(case.offset == 0, "a mapping begins at a page")
    require(case.strides is None, "a mapping is contiguous")
    access = mmap.ACCESS_READ if case.readonly else mmap.ACCESS_WRITE
    with os.fdopen(os.memfd_create("dlbench"), "r+b") as file:
        file.write(case.bits())
        file.flush()
        return mmap.mmap(file.fileno(), case.bytes, access=access)
