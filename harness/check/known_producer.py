"""The known producer: an object that exports tensors of any description to a consumer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dlbench import _check
from dlbench.check.reading import CODES, CPU
from dlbench.check.result_reader import is_bytes_of
from dlbench.check.situation import SOURCES
from dlbench.check.subject import Subject, collect
from dlbench.check.verdict import Ended, assume, expect

IS_READ_ONLY, IS_COPIED = 1, 2
Array = np.ndarray[Any, Any]


def content(dtype: str = "float32", count: int = 64) -> Array:
    """Small whole numbers, exact in every dtype; booleans alternate."""
    numbers = np.arange(count) % 2 == 1 if dtype == "bool" else np.arange(1, count + 1)
    return numbers.astype(dtype)


strided = np.lib.stride_tricks.as_strided
#: The content of each layout.
LAYOUTS: dict[str, Callable[[], Array]] = {
    "line": content,
    "grid": lambda: content().reshape(8, 8),
    "fortran": lambda: content().reshape(8, 8).T,
    "strided": lambda: content(count=128)[::2],
    "reversed": lambda: content()[::-1],
    "broadcast": lambda: strided(content(count=16), (4, 16), (0, 4)),
    "ones": lambda: strided(content(), (1, 64, 1), (12, 4, 20)),
    "window": lambda: content(count=90).reshape(9, 10)[1:, 2:],
    "scalar": lambda: content(count=1).reshape(()),
    "empty": lambda: content(count=0),
    "0xn": lambda: content(count=0).reshape(0, 8),
    "nx0": lambda: content(count=0).reshape(8, 0),
    "1x8x0x128": lambda: content(count=0).reshape(1, 8, 0, 128),
}
#: A struct that the consumer did not request.
LEGACY = {"legacy": True}


def copy_bytes(array: Array, offset: int = 0) -> tuple[_check.Memory, int]:
    """A copy of the bytes that an array reaches, and where in it the first element lies."""
    # The lowest byte is not always the first element's.
    steps = [
        step * (size - 1) for step, size in zip(array.strides, array.shape, strict=True) if size
    ]
    low = sum(step for step in steps if step < 0)
    reach = sum(map(abs, steps)) + array.itemsize if array.size else 0
    raw = _check.gather(array.ctypes.data + low, (reach,), None, 1) if reach else b""
    memory = _check.Memory(raw, offset)
    return memory, memory.address - low


#: Number of elements that each rule exports, so that a planted fault affects that rule alone.
SIZES = {
    "import.legacy": 65,
    "import.versioned": 63,
    "import.deleter-once": 66,
    "import.deleter-not-early": 67,
    "import.view-keeps": 68,
    "import.several": 70,
    "import.other-thread": 72,
    "import.leak": 74,
    "import.alive-at-exit": 76,
    "import.null-context": 78,
    "import.exported-again": 80,
}


def sized(rule: str) -> Array:
    """The content for a rule of SIZES."""
    return content(count=SIZES[rule])


class KnownProducer:
    """Exports an array's bytes by DLPack, as `describes` sets: keywords of `_check.BorrowedTensor`.

    `calls` are the keywords of each call of `__dlpack__`. The first export is `borrowed`.
    """

    def __init__(
        self,
        subject: Subject,
        array: Array | None = None,
        *,
        offset: int = 0,
        raises: Exception | None = None,
        raising: str = "__dlpack__",
        knows: tuple[str, ...] = ("stream", "max_version", "dl_device", "copy"),
        once: bool = False,
        **describes: Any,
    ) -> None:
        source = content() if array is None else array
        self.subject = subject
        self.array = source
        self.memory, self.first = copy_bytes(source, offset)
        self.describes = describes
        self.raises, self.raising, self.knows, self.once = raises, raising, knows, once
        self.word = "line"
        self.raised = False
        self.calls: list[dict[str, Any]] = []
        self.borrowed_tensors: list[_check.BorrowedTensor] = []
        self.capsules: list[Any] = []

    @classmethod
    def of(cls, subject: Subject, word: str, **describes: Any) -> KnownProducer:
        """The producer of an array in a situation: a word of `situation.SOURCES`."""
        layout = word.removeprefix("readonly-").replace("readonly", "line")
        if layout != word:
            describes = {"flags": IS_READ_ONLY, **describes}
        offset = SOURCES[layout].get("offset", 0)
        made = cls(subject, LAYOUTS["line" if offset else layout](), offset=offset, **describes)
        made.word = word
        return made

    @property
    def borrowed(self) -> _check.BorrowedTensor:
        return self.borrowed_tensors[0]

    @property
    def deletions(self) -> int:
        """The number of deletions of all borrowed tensors."""
        return sum(borrowed.deletions for borrowed in self.borrowed_tensors)

    def release_kept(self) -> None:
        """Drops the capsules and collects garbage."""
        self.capsules.clear()
        collect()

    def require_deleted(self, after: str = "") -> str:
        """Raises Broken unless each borrowed tensor was deleted, once."""
        self.release_kept()
        for borrowed in self.borrowed_tensors:
            expect(
                borrowed.deletions == 1, f"its deleter was called {borrowed.deletions} times{after}"
            )
        return "its deleter was called once"

    def __dlpack_device__(self) -> tuple[int, int]:
        self._raise("__dlpack_device__")
        device: tuple[int, int] = self.describes.get("device", CPU)
        return device

    def __dlpack__(self, **keywords: Any) -> Any:
        self.calls.append(keywords)
        unknown = [word for word in keywords if word not in self.knows]
        if unknown:
            raise TypeError(f"__dlpack__() got an unexpected keyword argument {unknown[0]!r}")
        self._raise("__dlpack__")
        if self.once and self.capsules:
            return self.capsules[0]
        borrowed = self._export(keywords)
        self.borrowed_tensors.append(borrowed)
        self.capsules.append(borrowed.capsule())
        return self.capsules[-1]

    def _raise(self, method: str) -> None:
        if self.raises is not None and method == self.raising:
            self.raised = True
            raise self.raises

    def _export(self, keywords: dict[str, Any]) -> _check.BorrowedTensor:
        array, item = self.array, self.array.itemsize
        code, bits = CODES[array.dtype.name]
        version = keywords.get("max_version")
        words: dict[str, Any] = {
            "dtype": (code, bits, 1),
            "legacy": version is None or version[0] < 1,
            "data": self.first,
            **self.describes,
        }
        shape = words.pop("shape", array.shape)
        strides = words.pop("strides", tuple(step // item for step in array.strides))
        memory = self.memory
        if keywords.get("copy") is True:
            memory = _check.Memory(memory)
            words["data"] = memory.address + self.first - self.memory.address
            words["flags"] = words.get("flags", 0) | IS_COPIED
        self.subject.handed = "legacy" if words["legacy"] else "versioned"
        return _check.BorrowedTensor(memory, shape, strides, **words)


def require_dtypes(subject: Subject) -> None:
    """Raises NotApplicable unless the consumer's results have a dtype. The control is the same call
    on a plain tensor: a consumer that returns bytes cannot express a dtype."""
    if subject.keeps_dtype is None:
        subject.keeps_dtype = _has_dtypes(subject)
    assume(subject.keeps_dtype, "what it returns is bytes, which have no dtype")


def _has_dtypes(subject: Subject) -> bool:
    handed = subject.handed
    try:
        plain = [KnownProducer(subject, content(name)) for name in ("float32", "int16")]
        observed = [subject.read_facts(subject.import_(producer)) for producer in plain]
    except (Exception, Ended):
        return True  # another rule tests whether it imports anything
    finally:
        subject.handed = handed
    return not all(
        is_bytes_of(one, producer.array) for one, producer in zip(observed, plain, strict=True)
    )
