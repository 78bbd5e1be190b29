"""ndonnx imports; its `from_dlpack` is a stub."""

import ndonnx as ndx
import numpy as np

PROTOCOLS = {"dlpack": ndx.from_dlpack, "convert": ndx.asarray}


def extras(array):
    mask = np.ma.getmaskarray(array.unwrap_numpy())
    return {"mask": mask} if mask.any() else {}
