"""bytearrays: bytes without a dtype, exported only as a buffer."""

from dlbench.adapter import require_own_layout

DISTRIBUTION = None
DEFAULT = False


def make(case, device):
    require_own_layout(case, "bytearray")
    return bytearray(case.bits())
