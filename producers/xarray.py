"""Xarray's labeled arrays over NumPy's: each dimension has a name and a coordinate."""

import numpy as np
import xarray as xr

SCRIPT = {
    "make": (
        "dims = [f'd{n}' for n in range(source.ndim)]\n"
        "coords = {d: np.arange(size) * 2 for d, size in zip(dims, source.shape)}\n"
        "array = xr.DataArray(source, dims=dims, coords=coords)"
    ),
    "own": "array = array.copy(){slice}",
}

DEFAULT = False
SPECIAL = ("swapped",)


def labeled(content):
    dims = [f"d{number}" for number in range(content.ndim)]
    coords = {dim: np.arange(size) * 2 for dim, size in zip(dims, content.shape, strict=True)}
    return xr.DataArray(content, dims=dims, coords=coords)


def make(case, device):
    return case.build(labeled, xr.DataArray.copy)


def memory(array):
    return array.data


def extras(array):
    if not array.coords:
        return {}
    labels = array.coords
    return {"labels": tuple(labels[dim].data if dim in labels else None for dim in array.dims)}
