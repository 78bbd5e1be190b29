"""Xarray's arrays; an array without NumPy's dispatch protocols becomes a NumPy array."""

import xarray as xr

DEFAULT = False

PROTOCOLS = {
    "convert": xr.DataArray,
    "buffer": xr.DataArray,
    "array_interface": xr.DataArray,
    "array_struct": xr.DataArray,
    "array": xr.DataArray,
}
