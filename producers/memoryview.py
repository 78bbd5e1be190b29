"""memoryviews of NumPy's memory."""

SCRIPT = {"make": "array = memoryview(source)"}

DISTRIBUTION = None
DEFAULT = False


def make(case, device):
    return memoryview(case.numpy())
