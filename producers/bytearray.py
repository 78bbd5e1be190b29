"""bytearrays: bytes without a dtype, exported only as a buffer."""

from dlbench.adapter import require, require_offset

SCRIPT = {
    "source": "bits",
    "make": "array = bytearray(source)",
    "values": "np.frombuffer({array}, '{dtype}').reshape({shape})",
}

DISTRIBUTION = None
DEFAULT = False


def make(case, device):
    require(case.strides is None, "a bytearray is contiguous")
    require_offset(case, "bytearray")
    return bytearray(case.bits())
