"""The guard's results with planted faults and without."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import dlbench
from judging import COPY, GIVE, READONLY, SHARE, found
from samples import warning_codes, warning_data
from wire import F32, UNALIGNED, prepare, send_request

pytestmark = pytest.mark.process

COPIES = """\
import ctypes
import numpy as np
class Box:
    def __init__(self, array): self.array = array
    def __dlpack_device__(self): return (1, 0)
    def __dlpack__(self, **k): return self.array.copy().__dlpack__(**(k | {FLAGGED}))
def make(case, device): return Box(case.numpy())
def address(box): return box.array.ctypes.data
"""
LAZY = """\
import threading
import numpy as np
class Later:
    def __init__(self, source):
        self.source, self.array = source, np.zeros_like(source)
        START
    def copy(self): self.array[...] = self.source
    def __dlpack__(self, **k):
        LOOK
        return self.array.__dlpack__(**k)
def ready(later): READY
PROTOCOLS = {'dlpack': lambda x: Later(np.from_dlpack(x))}
"""


def lazily(start: str = "pass", ready: str = "pass", look: str = "pass") -> str:
    return LAZY.replace("START", start).replace("READY", ready).replace("LOOK", look)


@pytest.mark.parametrize("case", [F32, UNALIGNED, READONLY], ids=lambda case: case["name"])
def test_a_library_that_shares_reads_nothing(tmp_path: Path, case: dict[str, Any]) -> None:
    ok = found(tmp_path, GIVE, SHARE, case=case)
    assert ok["outcome"] == "zero-copy"
    assert ok["evidence"]["guard"] == "yes"
    assert ok["guard"]["pages"] in (255, 256)
    assert (ok["guard"]["read"], ok["guard"]["written"], ok["guard"]["by"]) == (0, 0, [])
    assert (ok["copied_by"], ok["late_read"], ok["warnings"]) == ("", False, [])


ROOT = Path(dlbench.__file__).parent


def real(folder: Path, producer: str, consumer: str, case: dict[str, Any]) -> dict[str, Any]:
    """The same for libraries of ours, with both files of each."""
    files = [
        {"do": "load", "role": role, "library": name, "path": str(ROOT / f"{role}s" / f"{name}.py")}
        for name in (producer, consumer)
        for role in ("producer", "consumer")
    ]
    last = {"do": "judge", "id": 1}
    size = 16 << 20
    answer = send_request(
        folder, *files, prepare(1, producer, consumer, "dlpack", case, size), last
    )[-1]
    assert "ok" in answer, answer
    ok: dict[str, Any] = answer["ok"]
    return ok


def test_jax_copies_what_is_not_aligned_and_before_0_12_reads_on_after_it_returned(
    tmp_path: Path,
) -> None:
    is_late = pytest.importorskip("jax").__version_info__ < (0, 12)
    ok = real(tmp_path, "numpy", "jax", UNALIGNED)
    assert (ok["outcome"], ok["copied_by"], ok["late_read"]) == ("copy", "consumer", is_late)
    assert ok["guard"]["read"] == ok["guard"]["pages"] >= 4095
    assert any("jax" in library for library in ok["guard"]["by"])
    assert ok["warnings"] == []


def test_mlx_copies_and_torch_does_not(tmp_path: Path) -> None:
    pytest.importorskip("mlx.core")
    pytest.importorskip("torch")
    ok = real(tmp_path, "numpy", "mlx", F32)
    observed = (ok["outcome"], ok["evidence"]["guard"], ok["copied_by"])
    assert observed == ("copy", "no", "consumer"), ok
    ok = real(tmp_path, "numpy", "torch", F32)
    assert (ok["outcome"], ok["evidence"]["guard"], ok["guard"]["read"]) == ("zero-copy", "yes", 0)


@pytest.mark.parametrize("size", [1 << 16, 1 << 20, 1 << 26])
def test_a_consumer_that_copies_reads_every_page(tmp_path: Path, size: int) -> None:
    ok = found(tmp_path, GIVE, COPY, size=size)
    guard = ok["guard"]
    assert (ok["outcome"], ok["evidence"]["guard"]) == ("copy", "no")
    assert (ok["copied_by"], ok["late_read"], ok["warnings"]) == ("consumer", False, [])
    assert guard["read"] == guard["pages"] > 0
    assert any("multiarray" in library for library in guard["by"])


def test_a_producer_that_copies_is_named_and_that_it_did_not_say_so(tmp_path: Path) -> None:
    ok = found(tmp_path, COPIES.replace("{FLAGGED}", "{}"), SHARE)
    assert (ok["outcome"], ok["evidence"]["guard"]) == ("copy", "no")
    assert (ok["copied_by"], ok["late_read"]) == ("producer", False)
    assert warning_codes(ok) == ["copy-without-flag"]


def test_a_producer_that_says_that_it_copied_is_not_accused(tmp_path: Path) -> None:
    ok = found(tmp_path, COPIES.replace("{FLAGGED}", "{'copy': True}"), SHARE)
    assert (ok["outcome"], ok["copied_by"]) == ("copy", "producer")
    assert ok["warnings"] == []


LIES = """\
import ctypes
class Box:
    def __init__(self, array): self.array = array
    def __dlpack_device__(self): return (1, 0)
    def __dlpack__(self, **k):
        capsule = self.array.__dlpack__(max_version=(1, 0))
        get = ctypes.pythonapi.PyCapsule_GetPointer
        get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        flags = ctypes.c_uint64.from_address(get(capsule, b"dltensor_versioned") + 24)
        flags.value |= 2
        return capsule
def make(case, device): return Box(case.numpy())
"""


def test_is_copied_over_shared_memory_is_a_lie(tmp_path: Path) -> None:
    ok = found(tmp_path, LIES, SHARE)
    assert ok["outcome"] == "zero-copy"
    assert warning_codes(ok) == ["flag-without-copy"]
    ok = found(tmp_path, LIES, COPY)
    assert (ok["outcome"], ok["copied_by"]) == ("copy", "consumer")
    assert warning_codes(ok) == ["flag-without-copy"]


def test_two_copies_are_reported(tmp_path: Path) -> None:
    ok = found(tmp_path, COPIES.replace("{FLAGGED}", "{'copy': True}"), COPY)
    assert (ok["outcome"], ok["copied_by"]) == ("copy", "producer")
    assert warning_codes(ok) == ["copied-twice"]


@pytest.mark.parametrize("size", [1 << 16, 1 << 20])
def test_a_copy_that_goes_on_after_the_call_is_late(tmp_path: Path, size: int) -> None:
    on_a_thread = "self.worker = threading.Thread(target=self.copy)"
    ready = "later.worker.start(), later.worker.join()"
    ok = found(tmp_path, GIVE, lazily(on_a_thread, ready), size=size)
    assert (ok["outcome"], ok["copied_by"], ok["late_read"]) == ("copy", "consumer", True)
    assert ok["guard"]["late"] == ok["guard"]["read"] == ok["guard"]["pages"]


def test_a_copy_at_the_first_look_is_lazy(tmp_path: Path) -> None:
    look = "self.array.any() or self.copy()"
    ok = found(tmp_path, GIVE, lazily(look=look))
    assert (ok["outcome"], ok["evidence"]["guard"]) == ("copy", "no")
    assert (ok["copied_by"], ok["late_read"]) == ("consumer", True)
    assert "copied-lazily" in warning_codes(ok)


@pytest.mark.parametrize(
    ("look", "guard", "write", "outcome"),
    [
        # No export shows where it lies, but each one shows what was written into the source.
        ("return self.a.copy()", "skipped", "yes", "zero-copy"),
        # What was read back lies at one address, and is a copy of it.
        ("self.own[:] = self.a; return self.own", "yes", "no", "unproven"),
    ],
    ids=["into-new-memory", "into-its-own"],
)
def test_a_result_that_is_copied_at_every_look_was_not_copied_lazily(
    tmp_path: Path, look: str, guard: str, write: str, outcome: str
) -> None:
    take = (
        "import numpy as np\nclass View:\n"
        "    def __init__(self, a): self.a, self.own = a, np.ones_like(a)\n"
        f"    def __dlpack__(self, **k): {look}.__dlpack__(**k)\n"
        "PROTOCOLS = {'dlpack': lambda x: View(np.from_dlpack(x))}\n"
    )
    ok = found(tmp_path, GIVE, take)
    evidence = ok["evidence"]
    assert (evidence["guard"], evidence["write"], ok["outcome"]) == (guard, write, outcome)
    assert not ok["late_read"]


def test_a_page_that_was_read_and_then_written_is_one_page(tmp_path: Path) -> None:
    take = (
        "import numpy as np\n"
        "def take(x):\n"
        "    h = np.from_dlpack(x)\n"
        "    half = h[:h.size // 2]\n"
        "    half += 0\n"
        "    return h\n"
        "PROTOCOLS = {'dlpack': take}\n"
    )
    ok = found(tmp_path, GIVE, take)
    guard = ok["guard"]
    assert guard["read"] == guard["written"] in (127, 128)
    assert ok["evidence"]["guard"] == "skipped"
    counts = {key: str(guard[key]) for key in ("read", "pages")}
    assert warning_data(ok)["partly-read"] == counts
    assert ok["outcome"] == "zero-copy"


def test_pages_that_were_written_first_count_as_seen(tmp_path: Path) -> None:
    take = (
        "import numpy as np\n"
        "KEPT = []\n"
        "def take(x):\n"
        "    h = np.from_dlpack(x)\n"
        "    KEPT or KEPT.append(h.copy())\n"
        "    h[h.size // 2:] = KEPT[0][h.size // 2:]\n"
        "    return h.copy()\n"
        "PROTOCOLS = {'dlpack': take}\n"
    )
    ok = found(tmp_path, GIVE, take)
    guard = ok["guard"]
    assert 0 < guard["read"] < guard["pages"]
    assert (ok["outcome"], ok["evidence"]["guard"]) == ("copy", "no")
