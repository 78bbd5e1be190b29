"""Helpers of the tests of the native producer and consumer."""

from __future__ import annotations

from typing import Any

import numpy as np

WAYS = ("from_dlpack", "from_dlpack_c", "from_buffer", "from_array_interface", "from_array_struct")
NEWEST = {"max_version": (1, 3)}
INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
DTYPES = ["bool", *INTEGERS, "float16", "float32", "float64", "complex64", "complex128"]


def counted(dtype: str = "float32", size: int = 24) -> np.ndarray[Any, Any]:
    return np.arange(size).astype(dtype)


class Forged:
    """Hands out a prepared answer."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def __dlpack__(self, **_: Any) -> Any:
        return self.answer
