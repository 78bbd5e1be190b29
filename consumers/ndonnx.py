"""ndonnx imports; its `from_dlpack` is a stub."""

import ndonnx as ndx

PROTOCOLS = {"dlpack": ndx.from_dlpack, "convert": ndx.asarray}
