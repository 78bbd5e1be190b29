"""Xarray's arrays: what has NumPy's functions stays what it is, all else becomes NumPy's."""

import xarray as xr

DEFAULT = False

PROTOCOLS = {
    "convert": xr.DataArray,
    "buffer": xr.DataArray,
    "array_interface": xr.DataArray,
    "array_struct": xr.DataArray,
    "array": xr.DataArray,
}
