"""memoryviews of NumPy's memory."""

from dlbench.adapter import require_buffer_dtype

DISTRIBUTION = None
DEFAULT = False


def make(case, device):
    require_buffer_dtype(case, "memoryview")
    return memoryview(case.numpy())
