"""Xarray's arrays: an array with NumPy's functions is kept; any other becomes a NumPy array."""

import xarray as xr

DEFAULT = False

PROTOCOLS = {
    "convert": xr.DataArray,
    "buffer": xr.DataArray,
    "array_interface": xr.DataArray,
    "array_struct": xr.DataArray,
    "array": xr.DataArray,
}
