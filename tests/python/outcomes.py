"""The expected outcomes of exchanges between a library and NumPy or native, both ways.

A word is an outcome and what it changed. What is not named here is no-protocol.
"""

from __future__ import annotations

from collections.abc import Iterable

Words = dict[str, str]

ARRAY_WAYS = ("dlpack", "buffer", "array_interface", "array_struct")


def _all(word: str, ways: Iterable[str]) -> Words:
    return dict.fromkeys(ways, word)


#: An ndarray, of any library.
NDARRAY = {
    "to numpy": _all("zero-copy", (*ARRAY_WAYS, "array", "convert"))
    | _all("unproven", ("array_ufunc", "array_function")),
    "to native": _all("zero-copy", ARRAY_WAYS),
}
#: What has a buffer and nothing else, with or without a dtype.
BUFFER = {
    "to numpy": _all("zero-copy", ("buffer", "convert")),
    "to native": _all("zero-copy", ("buffer",)),
}

#: Library -> "to numpy", "to native", "from numpy", "from native" -> protocol -> word.
OUTCOMES: dict[str, dict[str, Words]] = {
    "array": BUFFER,
    "bytearray": BUFFER
    | {
        "from numpy": {"buffer": "copy dtype"},
        "from native": {"buffer": "copy dtype"},
    },
    "ctypes": BUFFER,
    "memoryview": BUFFER
    | {
        "from numpy": {"buffer": "zero-copy"},
        "from native": {"buffer": "zero-copy"},
    },
    "mmap": BUFFER,
    "mpi4py": BUFFER
    | {
        which: _all("zero-copy dtype", ("buffer", "dlpack")) | {"convert": "copy dtype"}
        for which in ("from numpy", "from native")
    },
    "nanobind": {
        "to numpy": _all("zero-copy", ("dlpack", "buffer", "convert")),
        "to native": _all("zero-copy", ("dlpack", "buffer")),
        "from numpy": _all("zero-copy", ("dlpack", "buffer", "convert")),
        "from native": _all("zero-copy", ("dlpack", "buffer", "convert")),
    },
    "ndonnx": {
        "to numpy": {"dlpack": "refused BufferError"},
        "to native": {"dlpack": "refused BufferError"},
        "from numpy": {"dlpack": "refused BufferError", "convert": "copy"},
        "from native": {"dlpack": "refused BufferError", "convert": "refused ValueError"},
    },
    "numba": NDARRAY
    | {
        "from numpy": _all("zero-copy", ("buffer", "convert")),
        "from native": _all("zero-copy", ("buffer", "convert")),
    },
    # What keeps the memory is the Python object, which no export holds.
    "onnxruntime": {
        "to numpy": _all("wrong", ("dlpack", "array", "convert")),
        "to native": {"dlpack": "wrong"},
        "from numpy": _all("zero-copy", ("dlpack", "convert")),
        "from native": {"dlpack": "zero-copy", "convert": "refused RuntimeError"},
    },
    **{
        name: NDARRAY
        | {"from numpy": {"convert": "copy"}, "from native": {"convert": f"refused {error}"}}
        for name, error in (("duckdb", "TypeError"), ("safetensors", "AttributeError"))
    },
    # UMat imports NumPy arrays alone, and its content does not follow a write into the source.
    "opencv": NDARRAY
    | {
        "from numpy": {"convert": "copy"},
        "from native": {"convert": "refused error"},
    },
    "pillow": {
        "to numpy": _all("copy", ("array_interface", "convert")),
        "to native": {"array_interface": "refused BufferError"},
        "from numpy": {"convert": "copy shape"},
        "from native": {"convert": "copy shape"},
    },
    "pybind11": BUFFER
    | {
        "from numpy": _all(
            "zero-copy", ("buffer", "array_interface", "array_struct", "array", "convert")
        ),
        "from native": _all("zero-copy", ("buffer", "array_interface", "array_struct", "convert")),
    },
    "tvm": {
        "to numpy": {"dlpack": "zero-copy"},
        "to native": {"dlpack": "zero-copy"},
        "from numpy": {"dlpack": "refused RuntimeError", "convert": "copy"},
        "from native": _all("refused RuntimeError", ("dlpack", "dlpack_c")) | {"convert": "copy"},
    },
}

#: Those that want more than a package: what they do where it is there.
CONDITIONAL: dict[str, dict[str, Words]] = {
    "cuda_core": {
        "to numpy": {"dlpack": "zero-copy"},
        "to native": _all("zero-copy", ("dlpack", "dlpack_c")),
        "from numpy": _all("zero-copy", ("dlpack", "convert")),
        "from native": _all("zero-copy", ("dlpack", "convert")),
    },
    # Each call of Tensor.data() returns other memory, and a realized tensor has its own.
    "tinygrad": {
        "to numpy": {"buffer": "copy"},
        "to native": {"buffer": "copy"},
        "from numpy": {"convert": "copy"},
        "from native": {"convert": "refused RuntimeError"},
    },
}

#: Those without a word here: CuPy, CUTLASS and Triton have none but with a GPU, MXNet but in an
#: environment of its own.
ELSEWHERE = {"cffi", "cutlass", "cython", "cupy", "mxnet", "triton"}
