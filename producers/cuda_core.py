"""cuda.core's StridedMemoryView of memory that NumPy laid out."""

from cuda.core.utils import StridedMemoryView

from dlbench.adapter import require_buffer_dtype

DISTRIBUTION = ("cuda-core[cu13]", "cuda-core[cu12]", "cuda-core")
DEFAULT = False


def make(case, device):
    require_buffer_dtype(case, "NumPy's DLPack")
    return StridedMemoryView.from_dlpack(case.numpy(), stream_ptr=-1)


def address(view):
    return view.ptr
