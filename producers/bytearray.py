"""bytearrays: bytes without a dtype, exported only as a buffer."""

from dlbench.adapter import require

SCRIPT = {
    "source": "bits",
    "make": "array = bytearray(source)",
    "values": "np.frombuffer({array}, '{dtype}').reshape({shape})",
}

DISTRIBUTION = None
DEFAULT = False


def make(case, device):
    require(case.strides is None, "a bytearray is contiguous")
    return bytearray(case.bits())
