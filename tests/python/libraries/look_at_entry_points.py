"""Runs in a separate process: prints as JSON the public functions of a library that import arrays,
by whether its consumer's adapter calls them.

Usage: look_at_entry_points.py LIBRARY
"""

from __future__ import annotations

import importlib
import json
import re
import sys
from pathlib import Path
from typing import Any

import dlbench
from dlbench import Call, Capsule, loading
from dlbench.libraries.facts import parse, read_calls

#: Names of functions that make an array of another library's array.
IMPORTS = re.compile(
    r"(ortvalue_)?from_numpy|from_(dlpack|array|blob|buffer|any\w*|\w*interface|arrow|cupy|jax"
    r"|paddle|pandas|tensorflow|torch|scipy_sparse|usm_ndarray)|from(buffer|array|arrow)|as_?array"
    r"|asanyarray|ascontiguousarray|as_tensor|as_coo|as_usm_ndarray|to_(tensor|device)"
    r"|(masked_|unyt_|chunked_|[a-z]{3}_)?array|tensor|constant|convert_to_tensor|convert"
    r"|device_put|as_cuda_array|py_buffer|Tensor|Variable|Series|DataFrame|DataArray|Index"
    r"|Quantity|COO|GCXS|MaskedArray|UMat|buffer|lit"
)
#: The modules and classes of public functions, where they are not the library's own module.
OWNERS = {
    "astropy": ("astropy.units",),
    "cuda_core": ("cuda.core.utils:StridedMemoryView",),
    "dask": ("dask.array",),
    "jax": ("jax", "jax.numpy", "jax.dlpack"),
    "mlx": ("mlx.core",),
    "mpi4py": ("mpi4py.MPI",),
    "numba": ("numba.cuda",),
    "numpy_ma": ("numpy.ma",),
    "onnxruntime": ("onnxruntime:OrtValue",),
    "opencv": ("cv2",),
    "pillow": ("PIL.Image",),
    "pyarrow": ("pyarrow", "pyarrow:Array", "pyarrow:Tensor"),
    "scipy_sparse": ("scipy.sparse",),
    "sparse": ("sparse", "sparse:COO"),
    "tensorflow": ("tensorflow", "tensorflow.experimental.dlpack"),
    "tinygrad": ("tinygrad", "tinygrad:Tensor"),
    "torch": ("torch", "torch.utils.dlpack"),
    "tvm": ("tvm.runtime",),
}


def owner(text: str) -> Any:
    module, _, name = text.partition(":")
    found = importlib.import_module(module)
    return getattr(found, name) if name else found


def main() -> None:
    library = sys.argv[1]
    path = Path(dlbench.__file__).parent / "consumers" / f"{library}.py"
    names = [library, *(f"{library}:{call}" for call in read_calls(parse(path), path))]
    adapters = [loading.load_adapter("consumer", name, str(path)) for name in names]
    entries = [entry for adapter in adapters for entry in adapter.PROTOCOLS.values()]
    called = [e.function if isinstance(e, Call | Capsule) else e for e in entries]
    found: dict[str, bool] = {}
    for text in OWNERS.get(library, (library,)):
        for name in dir(owner(text)):
            function = getattr(owner(text), name, None)
            if IMPORTS.fullmatch(name) and callable(function):
                found[f"{text}.{name}".replace(":", ".")] = function in called
    print(json.dumps(found))


if __name__ == "__main__":
    main()
