"""Mapped files: bytes without a dtype, from the start of a page.

No consumer, because a mapping is made from a file.
"""

import mmap
import os

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
    access = mmap.ACCESS_READ if case.readonly else mmap.ACCESS_WRITE
    with os.fdopen(os.memfd_create("dlbench"), "r+b") as file:
        file.write(case.bits())
        file.flush()
        return mmap.mmap(file.fileno(), case.bytes, access=access)
