"""Public issues: which library breaks which rule, and the link to the discussion."""

from __future__ import annotations

from dlbench.libraries import arguments

GITHUB = "https://github.com/"
#: (library, rule) -> link. One link may explain several rules.
KNOWN: dict[tuple[str, str], str] = {
    ("torch", "import.reversed"): f"{GITHUB}pytorch/pytorch/issues/188023",
    ("jax", "import.requests-version"): f"{GITHUB}jax-ml/jax/issues/40789",
    ("warp", "import.byte-offset"): f"{GITHUB}NVIDIA/warp/pull/1573",
    ("cupy", "export.copy-true"): f"{GITHUB}cupy/cupy/issues/9842",
    ("torch", "import.empty-deleted"): f"{GITHUB}pytorch/pytorch/issues/117058",
    ("torch", "import.null-deleter"): f"{GITHUB}pytorch/pytorch/issues/43266",
    ("torch", "import.null-strides"): f"{GITHUB}pytorch/pytorch/issues/18510",
    ("torch", "import.byte-offset"): f"{GITHUB}pytorch/pytorch/issues/168177",
    ("numpy", "import.writable"): f"{GITHUB}numpy/numpy/issues/28599",
    ("numpy", "import.ones"): f"{GITHUB}numpy/numpy/issues/20336",
    ("cupy", "import.null-strides"): f"{GITHUB}cupy/cupy/issues/2095",
    ("cupy", "import.consumed-twice"): f"{GITHUB}cupy/cupy/issues/3611",
    ("tensorflow", "import.ones"): f"{GITHUB}tensorflow/tensorflow/issues/61184",
    ("numpy", "export.deleter-without-gil"): f"{GITHUB}numpy/numpy/issues/22507",
}
#: Rules that are discussed for all libraries.
OF_ALL: dict[str, str] = {
    "export.alignment": f"{GITHUB}data-apis/array-api/issues/293",
    "export.empty-data": f"{GITHUB}apache/arrow/pull/38472",
    "c-api.capsule": f"{GITHUB}dmlc/dlpack/issues/179",
}


def link(library: str, rule: str) -> str:
    """The link to the discussion, or an empty text."""
    return KNOWN.get((arguments.split(library)[0], rule), OF_ALL.get(rule, ""))
