"""What the libraries' own test suites assert about DLPack, as a table to compare with.

Each claim is asked of the library in a process of its own; `cell` is an exchange that says the same
in dlbench's words, held against what a run of it finds. Where the installed version does otherwise
than its suite says, `differs` tells why, and the claim must then fail.
"""

from __future__ import annotations

from dataclasses import dataclass

#: Before every claim: what its line may use.
COMMON = """
import numpy as np
def raises(kind, call):
    try:
        call()
    except Exception as error:
        assert type(error).__name__ == kind, repr(error)
    else:
        raise AssertionError(f"nothing was raised, not {kind}")
def name(capsule): return str(capsule).split('"')[1]
def aligned(bytes_off):
    raw = np.zeros(4096 + 128, np.uint8)
    begin = -raw.ctypes.data % 64 + bytes_off
    return raw[begin:begin + 4096].view(np.float32)
"""

SETUP = {
    "numpy": "x = np.arange(6.0)",
    "torch": "import torch; x = torch.arange(6.0)",
    "jax": "import jax.numpy as jnp; from jax.dlpack import from_dlpack; import torch",
    "array_api_strict": "import array_api_strict as xp; x = xp.asarray([1.0, 2.0])",
    "tensorflow": "import tensorflow as tf; from tensorflow.experimental import dlpack\n"
    "x = tf.constant([1.0, 2.0])",
}

SUITES = {
    "numpy": "numpy/_core/tests/test_dlpack.py",
    "torch": "test/test_dlpack.py",
    "jax": "tests/array_interoperability_test.py, tests/pytorch_interoperability_test.py",
    "array_api_strict": "array-api-tests: array_api_tests/test_dlpack.py",
    "tensorflow": "tensorflow/python/dlpack/dlpack_test.py",
}


@dataclass(frozen=True)
class Claim:
    """`line` is Python that raises AssertionError where the library does otherwise."""

    library: str
    says: str
    line: str
    differs: str = ""


@dataclass(frozen=True)
class ExpectedExchange:
    """The same of an exchange: outcome, and by which exception or what changed on the way."""

    producer: str
    consumer: str
    protocol: str
    case: str
    outcome: str
    exception: str = ""
    changed: tuple[str, ...] = ()


def _numpy(says: str, line: str, differs: str = "") -> Claim:
    return Claim("numpy", says, line, differs)


def _torch(says: str, line: str, differs: str = "") -> Claim:
    return Claim("torch", says, line, differs)


def _jax(says: str, line: str, differs: str = "") -> Claim:
    return Claim("jax", says, line, differs)


def _strict(says: str, line: str, differs: str = "") -> Claim:
    return Claim("array_api_strict", says, line, differs)


def _tensorflow(says: str, line: str, differs: str = "") -> Claim:
    return Claim("tensorflow", says, line, differs)


READONLY = "r = np.arange(3.0); r.flags.writeable = False; "
OLD = (
    "class Old:\n"
    "    def __dlpack__(self, stream=None): return x.__dlpack__()\n"
    "    def __dlpack_device__(self): return x.__dlpack_device__()\n"
)
ODD = "y = np.lib.stride_tricks.as_strided(np.zeros(4), (2,), (12,)); "

CLAIMS = (
    _numpy("a stream is a ValueError", "raises('ValueError', lambda: x.__dlpack__(stream=1))",
           differs="2.4 raises RuntimeError; the suite of the development branch asks ValueError"),
    _numpy("a read-only array without max_version is a BufferError",
           READONLY + "raises('BufferError', lambda: r.__dlpack__())"),
    _numpy("a read-only array with a version is exported, and imported read-only",
           READONLY + "assert not np.from_dlpack(r).flags.writeable"),
    _numpy("an import of the legacy struct is read-only",
           OLD + "assert not np.from_dlpack(Old()).flags.writeable"),
    _numpy("datetimes are a BufferError",
           "raises('BufferError', lambda: np.array(['2020'], 'M8[D]').__dlpack__())"),
    _numpy("byte-swapped numbers are a BufferError",
           "raises('BufferError', lambda: x.astype('>f8').__dlpack__())"),
    _numpy("strides that are no multiple of the element are a BufferError",
           ODD + "raises('BufferError', lambda: y.__dlpack__())"),
    _numpy("0 to 32 dimensions cross",
           "assert all(np.from_dlpack(np.ones((1,) * n)).ndim == n for n in range(33))"),
    _numpy("copy=True shares nothing, None and False share",
           "assert not np.shares_memory(x, np.from_dlpack(x, copy=True))\n"
           "assert all(np.shares_memory(x, np.from_dlpack(x, copy=c)) for c in (None, False))"),
    _numpy("dl_device (1, 0) is allowed, (10, 0) is a BufferError",
           "x.__dlpack__(dl_device=(1, 0))\n"
           "raises('BufferError', lambda: x.__dlpack__(dl_device=(10, 0)))"),
    _numpy("device='gpu' is a ValueError",
           "raises('ValueError', lambda: np.from_dlpack(x, device='gpu'))"),
    _numpy("scalars are exported", "np.float32(1).__dlpack__()",
           differs="2.4 exports arrays only; the suite of the development branch exports scalars"),
    _torch("the capsule's name follows max_version, (2, 0) included",
           "assert [name(x.__dlpack__(max_version=v)) for v in (None, (0, 8), (1, 0), (2, 0))] == "
           "['dltensor'] * 2 + ['dltensor_versioned'] * 2"),
    _torch("memory is shared unless copy=True",
           "assert torch.from_dlpack(x, copy=True).data_ptr() != x.data_ptr()\n"
           "assert torch.from_dlpack(x, copy=False).data_ptr() == x.data_ptr()"),
    _torch("copy=False to another device is a ValueError",
           "raises('ValueError', lambda: x.__dlpack__(dl_device=(2, 0), copy=False))"),
    _torch("what requires a gradient is a BufferError",
           "raises('BufferError', lambda: torch.ones(2, requires_grad=True).__dlpack__())"),
    _torch("a conjugated tensor is a BufferError",
           "raises('BufferError', lambda: torch.ones(2, dtype=torch.cfloat).conj().__dlpack__())"),
    _torch("a sparse tensor is a BufferError",
           "raises('BufferError', lambda: torch.ones(2, 2).to_sparse().__dlpack__())"),
    _torch("a stream on the CPU is an AssertionError",
           "raises('AssertionError', lambda: x.__dlpack__(stream=0))"),
    _torch("strides of dimensions of size 1 are kept",
           "assert torch.from_dlpack(torch.empty_strided((1, 4), (7, 1))).stride() == (7, 1)"),
    _torch("the type has the C exchange API",
           "assert name(torch.Tensor.__dlpack_c_exchange_api__) == 'dlpack_exchange_api'"),
    _jax("copy=False of an aligned NumPy array shares its memory",
         "x = aligned(0)\n"
         "assert jnp.from_dlpack(x, copy=False).unsafe_buffer_pointer() == x.ctypes.data"),
    _jax("copy=False of an unaligned one is a ValueError",
         "raises('ValueError', lambda: jnp.from_dlpack(aligned(4), copy=False))"),
    _jax("an unaligned one is copied in silence",
         "x = aligned(4)\nassert jnp.from_dlpack(x).unsafe_buffer_pointer() != x.ctypes.data"),
    _jax("int64 becomes int32", "assert jnp.from_dlpack(np.arange(4)).dtype == np.int32"),
    _jax("columns of a torch tensor are refused as not compact",
         "raises('JaxRuntimeError', lambda: from_dlpack(torch.ones(4, 4)[:, :2]))"),
    _jax("a transposed torch tensor is taken",
         "assert from_dlpack(torch.ones(4, 2).T).shape == (2, 4)"),
    _jax("arrays of the CPU have no __cuda_array_interface__",
         "assert not hasattr(jnp.ones(2), '__cuda_array_interface__')"),
    _strict("__dlpack_device__ is a kind and a number",
            "kind, number = x.__dlpack_device__(); assert (int(kind), int(number)) == (1, 0)"),
    _strict("__dlpack__ takes max_version up to (2, 0)",
            "for v in ((0, 0), (0, 8), (1, 0), (2, 0)): x.__dlpack__(max_version=v)"),
    _strict("__dlpack__ takes copy and dl_device",
            "for c in (True, False, None): x.__dlpack__(copy=c)\nx.__dlpack__(dl_device=(1, 0))"),
    _strict("from_dlpack takes device=", "xp.from_dlpack(x, device=xp.Device('CPU_DEVICE'))"),
    _tensorflow("a capsule is good for one import",
                "c = dlpack.to_dlpack(x); dlpack.from_dlpack(c)\n"
                "raises('InvalidArgumentError', lambda: dlpack.from_dlpack(c))"),
    _tensorflow("tensors have no __dlpack__", "assert not hasattr(x, '__dlpack__')",
                differs="2.21 has it; the suite was read as of 2020"),
    _tensorflow("complex64 is rejected",
                "raises('Exception', lambda: dlpack.to_dlpack(tf.constant([1j], tf.complex64)))",
                differs="2.21 takes complex numbers; the suite was read as of 2020"),
)  # fmt: skip

_PLAIN = ("bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "f64", "c64", "c128")

EXCHANGES = (
    *(
        ExpectedExchange("numpy", "numpy", "dlpack", case, "zero-copy")
        for case in (*_PLAIN, "f32-0d")
    ),
    ExpectedExchange("numpy", "numpy", "dlpack", "f32-readonly", "zero-copy"),
    ExpectedExchange(
        "numpy", "numpy", "dlpack_legacy", "f32-readonly", "no-protocol", "BufferError"
    ),
    ExpectedExchange("numpy", "numpy", "dlpack", "f32-swapped", "refused", "BufferError"),
    *(
        ExpectedExchange("torch", "torch", "dlpack", case, "zero-copy")
        for case in (*_PLAIN, "f8e4m3")
    ),
    ExpectedExchange("torch", "torch", "dlpack", "f32-ones", "zero-copy"),
    ExpectedExchange("torch", "torch", "dlpack", "f32-grad", "refused", "BufferError"),
    ExpectedExchange("numpy", "jax", "dlpack", "f32", "zero-copy"),
    ExpectedExchange("numpy", "jax", "dlpack", "f32-unaligned", "copy"),
    ExpectedExchange("numpy", "jax", "dlpack", "i64", "copy", changed=("precision",)),
    ExpectedExchange("torch", "jax", "dlpack", "f32-strided", "refused", "JaxRuntimeError"),
    ExpectedExchange("torch", "jax", "dlpack", "f32-fortran", "zero-copy"),
    ExpectedExchange("array_api_strict", "array_api_strict", "dlpack", "f64", "zero-copy"),
    ExpectedExchange("tensorflow", "tensorflow", "dlpack", "c64", "zero-copy"),
)
