"""cuda.core imports; a stream of -1 stands for none."""

from cuda.core.utils import StridedMemoryView

from dlbench import Call, X

PROTOCOLS = {
    "dlpack": Call(StridedMemoryView.from_dlpack, X, stream_ptr=-1),
    "array_interface": StridedMemoryView.from_array_interface,
    "cuda_array_interface": Call(StridedMemoryView.from_cuda_array_interface, X, stream_ptr=-1),
    "convert": Call(StridedMemoryView.from_any_interface, X, stream_ptr=-1),
}
