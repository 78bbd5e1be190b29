"""The content of a case as lines of a script."""

from __future__ import annotations

from dlbench.case import FOREIGN, Case


def lines(case: Case, bits: bool = False, alone: bool = False) -> list[str]:
    """Lines that bind the content of a case to `source`, a new NumPy array; with `alone`
    no other name holds its memory."""
    item, shape, strides = case.itemsize, case.shape, case.strides
    count = case.bytes // item
    first = case.offset + (item * (count - 1) if case.layout == "reversed" else 0)
    dtype = f"ml_dtypes.{case.dtype}" if case.foreign else repr(case.dtype)
    if case.special == "swapped":
        dtype = f"np.dtype({dtype}).newbyteorder()"
    place = f"-raw.ctypes.data % {case.align}" + (f" + {first}" if first else "")
    # A buffer comes before the offset into it, which reads its address.
    words = [repr(shape), dtype, f"raw := np.zeros({case.room}, np.uint8)", place]
    words += [repr(tuple(step * item for step in strides))] if strides else []
    content = f"(np.arange({shape[-1] if case.layout == 'broadcast' else count}) * 7 + 3) % 101"
    content += " % 2" * (case.dtype == "bool") + " % 8" * case.dtype.startswith("float8")
    if case.layout in ("grid", "scalar", "ones", "fortran"):
        back, turn = (shape[::-1], ".T") if case.layout == "fortran" else (shape, "")
        content = f"({content}).reshape({back}){turn}"
    made = ["import ml_dtypes"] * case.foreign
    made += [f"source = np.ndarray({', '.join(words)})", f"source[...] = {content}"]
    made += ["source.imag = source.real % 13"] * case.dtype.startswith("complex")
    made += ["source[1::101] = np.nan"] * (case.special == "nulls")
    made += ["source.flags.writeable = False"] * case.readonly
    made += [f"source = source.view({FOREIGN.get(case.dtype)!r})"] * (case.foreign and bits)
    return [*made, "del raw"] if alone else made
