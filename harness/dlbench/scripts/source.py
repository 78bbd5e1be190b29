"""The content of a case as lines of a script."""

from __future__ import annotations

from dlbench.case import ENDS, FOREIGN, NULL, NUMPYS, VARIABLE, Case


def lines(case: Case, bits: bool = False, alone: bool = False, place: int = NUMPYS) -> list[str]:
    """Lines that bind the content of a case to `source`, a new NumPy array, `place` bytes above a
    multiple of `align` unless the case has an offset; with `alone` no other name holds its memory.
    """
    item, shape, strides = case.itemsize, case.shape, case.strides
    count = case.bytes // item
    dtype = f"ml_dtypes.{case.dtype}" if case.foreign else repr(case.dtype)
    if is_variable := case.dtype == VARIABLE:
        dtype = f"np.dtypes.{VARIABLE}"
    if case.special == "swapped":
        dtype = f"np.dtype({dtype}).newbyteorder()"
    content = _content(case, ENDS if case.dims == "huge" else count)
    made = ["import ml_dtypes"] * case.foreign
    if is_variable or (case.storage == "own" and strides is None):
        made.append(f"source = ({content}).astype({dtype})")
    else:
        first = (case.offset or place) - case.reach[0]
        begin = f"-raw.ctypes.data % {case.align}" + (f" + {first}" if first else "")
        # A buffer comes before the offset into it, which reads its address.
        words = [repr(shape), dtype, f"raw := np.zeros({case.room}, 'u1')", begin]
        words += [repr(case.steps)] if strides or 0 in shape else []
        is_huge = case.dims == "huge"
        target = f"source[:{ENDS}] = source[-{ENDS}:]" if is_huge else "source[...]"
        made += [f"source = np.ndarray({', '.join(words)})", f"{target} = {content}"]
        made += ["del raw"] * alone
    if case.dtype.startswith("complex") and not case.foreign:
        made.append("source.imag = source.real % 13")
    null = "np.nan" if case.dtype.startswith("float") else NULL
    made += [f"source.flat[1::101] = {null}"] * (case.special == "nulls")
    made += ["source.flags.writeable = False"] * case.readonly
    made += [f"source = source.view({FOREIGN.get(case.dtype)!r})"] * (case.foreign and bits)
    return made


def _content(case: Case, count: int) -> str:
    """An expression of the values of `dlbench.case.period`."""
    shape = case.shape
    index = f"np.arange({shape[-1] if case.layout == 'broadcast' else count})"
    if case.layout == "windows":
        index = f"np.add.outer({', '.join(f'np.arange({size})' for size in shape)})"
    content = f"({index} * 7 + 3) % 101"
    content += " % 2" * (case.dtype == "bool")
    content += " % 8" * case.dtype.startswith(("float8", "float6_", "float4_", "int4", "uint4"))
    if case.dtype == "float8_e8m0fnu":
        content = f"1 + {content}"
    if case.dtype == "complex32":
        content = f"(a := {content}) + 1j * (a % 13)"
    if case.layout == "fortran":
        return f"({content}).reshape({shape[::-1]}).T"
    if len(shape) == 1 or case.layout in ("broadcast", "windows"):
        return content
    return f"({content}).reshape({shape})"
