"""memoryviews of NumPy's memory."""

from dlbench.adapter import require_buffer_dtype

SCRIPT = {"make": "array = memoryview(source)"}

DISTRIBUTION = None
DEFAULT = False


def make(case, device):
    require_buffer_dtype(case, "memoryview")
    return memoryview(case.numpy())
