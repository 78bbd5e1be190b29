"""bytearrays: bytes without a type. Their buffer is their only export.

As a consumer a bytearray copies a buffer's bytes.
"""

from dlbench.adapter import require_own_layout

DISTRIBUTION = None
DEFAULT = False


def make(case, device):
    require_own_layout(case, "bytearray")
    return bytearray(case.bits())
