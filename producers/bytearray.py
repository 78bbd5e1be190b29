"""bytearrays: bytes without a dtype, exported only as a buffer."""

SCRIPT = {
    "source": "bits",
    "make": "array = bytearray(source)",
    "values": "np.frombuffer({array}, '{dtype}').reshape({shape})",
}

DISTRIBUTION = None
DEFAULT = False


def make(case, device):
    return bytearray(case.bits())
