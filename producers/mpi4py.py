"""mpi4py's buffers over NumPy's memory: bytes without a dtype."""

from mpi4py import MPI

from dlbench.adapter import forget_mpich_memory

SCRIPT = {
    "source": "bits",
    "make": "array = MPI.buffer.frombuffer(source, readonly={readonly})",
    "memory": "np.asarray({array})",
    "values": "np.frombuffer({array}, '{dtype}').reshape({shape})",
}

DEFAULT = False

forget_mpich_memory()


def make(case, device):
    return MPI.buffer.frombuffer(case.bits(), readonly=case.readonly)


def address(buffer):
    return buffer.address if isinstance(buffer, MPI.buffer) else None
