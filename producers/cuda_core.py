"""cuda.core's StridedMemoryView of memory that NumPy laid out."""

from cuda.core.utils import StridedMemoryView

DISTRIBUTION = ("cuda-core[cu13]", "cuda-core[cu12]", "cuda-core")
DEFAULT = False


def make(case, device):
    return StridedMemoryView.from_dlpack(case.numpy(), stream_ptr=-1)


def address(view):
    return view.ptr
