"""The color and marker of each library: the same in all figures, on the page and in every run."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from dataclasses import dataclass

#: Okabe and Ito's colors, which color-blind people can distinguish, then their dark shades. On a
#: dark background the second half are light tints.
COLORS = (
    *("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6bb1", "#6f6f6f"),
    *("#00345c", "#7a2f00", "#00523b", "#7d2c58", "#866000", "#1b6f96", "#452d6b", "#2b2b2b"),
)
ON_DARK = (
    *("#3a9bd8", "#e8752a", "#1db98c", "#cc79a7", "#e69f00", "#56b4e9", "#a78bca", "#8a8a8a"),
    *("#a6cdec", "#f7b995", "#93e0c6", "#eec6dc", "#f5d993", "#c4e5fa", "#d3c6ea", "#d6d6d6"),
)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")  #: by matplotlib's names
#: The libraries in the order of their styles. Add new ones at the end to keep the other styles.
ORDER = (
    *("native", "numpy", "torch", "jax", "tensorflow", "paddle", "cupy", "mlx"),
    *("pyarrow", "warp", "tvm_ffi", "numba", "dpnp", "tinygrad", "pandas", "array_api_strict"),
    *("polars", "memoryview", "array", "bytearray", "ctypes", "mmap", "tvm", "mxnet"),
    *("dask", "xarray", "sparse", "scipy_sparse", "awkward", "astropy", "pint", "unyt"),
    *("numpy_ma", "ndonnx", "opencv", "pillow", "mpi4py", "nanobind", "pybind11", "cuda_core"),
    *("onnxruntime", "safetensors", "duckdb"),
)
PLACES = len(COLORS) * len(MARKERS)


@dataclass(frozen=True)
class Style:
    color: str
    on_dark: str
    marker: str


def of(library: str) -> Style:
    """The color and marker of a library; for an unknown library they depend only on its name."""
    return of_all([library])[library]


def of_all(libraries: Iterable[str]) -> dict[str, Style]:
    """The style of each library. If unknown libraries have equal styles, the later one gets another
    marker."""
    found: dict[str, Style] = {}
    for name in sorted(set(libraries), key=lambda one: (one not in ORDER, one)):
        known = name in ORDER
        place = ORDER.index(name) if known else zlib.crc32(name.encode()) % PLACES
        # The color is kept; each further library has the next marker.
        for turn in range(len(MARKERS)):
            style = _at(place + turn * len(COLORS))
            if style not in found.values():
                break
        found[name] = style
    return found


def _at(place: int) -> Style:
    color, turn = place % len(COLORS), place // len(COLORS)
    return Style(COLORS[color], ON_DARK[color], MARKERS[(color + turn) % len(MARKERS)])
