"""What a guard finds when a fault is planted, and its silence where there is none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import dlbench
from wire import F32, UNALIGNED, ask, plant, prepare

SIZE = 1 << 20
READONLY = F32 | {"name": "f32-readonly", "readonly": True}
GIVE = """\
def make(case, device):
    return case.numpy()
def address(array):
    return array.ctypes.data
"""
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
NUMPY = "import numpy as np\n"
SHARE = NUMPY + "PROTOCOLS = {'dlpack': np.from_dlpack}\n"
COPY = NUMPY + "PROTOCOLS = {'dlpack': lambda x: np.from_dlpack(x).copy()}\n"
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


def judged(
    folder: Path, make: str, take: str, case: dict[str, Any] = F32, size: int = SIZE
) -> dict[str, Any]:
    """The answer to `judge` after one exchange was prepared."""
    *_, prepared, judgement = ask(
        folder,
        plant(folder, "producer", "giver", make),
        plant(folder, "consumer", "taker", take),
        prepare(1, "giver", "taker", "dlpack", case, size),
        {"do": "judge", "id": 1},
    )
    assert "ok" in prepared, prepared
    return judgement


def found(folder: Path, make: str, take: str, **more: Any) -> dict[str, Any]:
    answer = judged(folder, make, take, **more)
    assert "ok" in answer, answer
    ok: dict[str, Any] = answer["ok"]
    return ok


@pytest.mark.parametrize("case", [F32, UNALIGNED, READONLY], ids=lambda case: case["name"])
def test_who_shares_reads_nothing(tmp_path: Path, case: dict[str, Any]) -> None:
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
    answer = ask(folder, *files, prepare(1, producer, consumer, "dlpack", case, size), last)[-1]
    assert "ok" in answer, answer
    ok: dict[str, Any] = answer["ok"]
    return ok


def test_jax_copies_what_is_not_aligned_and_reads_on_after_it_returned(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    ok = real(tmp_path, "numpy", "jax", UNALIGNED)
    assert (ok["outcome"], ok["copied_by"], ok["late_read"]) == ("copy", "consumer", True)
    assert ok["guard"]["read"] == ok["guard"]["pages"] >= 4095
    assert any("jax" in library for library in ok["guard"]["by"])
    assert ok["warnings"] == []


def test_mlx_copies_and_torch_does_not(tmp_path: Path) -> None:
    pytest.importorskip("mlx.core")
    pytest.importorskip("torch")
    ok = real(tmp_path, "numpy", "mlx", F32)
    assert (ok["outcome"], ok["evidence"]["guard"], ok["copied_by"]) == ("copy", "no", "consumer")
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
    assert ok["warnings"] == ["the producer copied without setting IS_COPIED"]


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
    assert ok["warnings"] == ["IS_COPIED is set, but the memory is the producer's own"]
    ok = found(tmp_path, LIES, COPY)
    assert (ok["outcome"], ok["copied_by"]) == ("copy", "consumer")
    assert ok["warnings"] == ["IS_COPIED is set, but the producer handed its own memory over"]


def test_two_copies_are_told(tmp_path: Path) -> None:
    ok = found(tmp_path, COPIES.replace("{FLAGGED}", "{'copy': True}"), COPY)
    assert (ok["outcome"], ok["copied_by"]) == ("copy", "producer")
    assert ok["warnings"] == ["copied twice: by the producer and by the consumer"]


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
    assert "copied when the result was first looked at, after `ready`" in ok["warnings"]


def test_a_result_that_is_copied_at_every_look_was_not_copied_lazily(tmp_path: Path) -> None:
    take = (
        "import numpy as np\nclass View:\n"
        "    def __init__(self, a): self.a = a\n"
        "    def __dlpack__(self, **k): return self.a.copy().__dlpack__(**k)\n"
        "PROTOCOLS = {'dlpack': lambda x: View(np.from_dlpack(x))}\n"
    )
    ok = found(tmp_path, GIVE, take)
    assert ok["evidence"]["guard"] == "yes"
    assert ok["outcome"] == "unproven", "what was read back is a copy of it"
    assert not ok["late_read"]


WRITES = (
    "import ctypes\nimport numpy as np\n"
    "def f(x):\n    y = np.from_dlpack(x)\n"
    "    WHERE = y.ctypes.data\n    ctypes.memmove(WHERE, bytes(np.asarray(y[:PAGES * 1024])),"
    " PAGES * 4096)\n    return y\nPROTOCOLS = {'dlpack': f}\n"
)


def test_a_consumer_that_writes_is_told_even_if_it_writes_what_was_there(tmp_path: Path) -> None:
    take = WRITES.replace("WHERE", "at").replace("PAGES", "8")
    ok = found(tmp_path, GIVE, take)
    assert ok["guard"]["written"] == 8
    assert any("the consumer wrote into 8 of 25" in warning for warning in ok["warnings"])
    ok = found(tmp_path, GIVE, take, case=READONLY)
    assert any("which is exported read-only" in warning for warning in ok["warnings"])


def test_a_copy_that_is_written_back_at_release_is_told(tmp_path: Path) -> None:
    take = (
        "import numpy as np\nclass Back:\n"
        "    def __init__(self, a): self.source, self.array = a, a.copy()\n"
        "    def __dlpack__(self, **k): return self.array.__dlpack__(**k)\n"
        "    def __del__(self): self.source[...] = self.array\n"
        "def f(x):\n    return Back(np.asarray(np.from_dlpack(x)))\n"
        "PROTOCOLS = {'dlpack': f}\n"
    )
    ok = found(tmp_path, GIVE, take)
    assert (ok["outcome"], ok["copied_by"]) == ("copy", "consumer")
    assert any("the release of the result wrote into 25" in warning for warning in ok["warnings"])


def test_a_look_at_a_few_values_is_no_copy(tmp_path: Path) -> None:
    take = NUMPY + "def f(x):\n    y = np.from_dlpack(x)\n    y[0], y[-5000]\n    return y\n"
    ok = found(tmp_path, GIVE, take + "PROTOCOLS = {'dlpack': f}\n")
    assert (ok["outcome"], ok["evidence"]["guard"], ok["copied_by"]) == ("zero-copy", "yes", "")
    assert ok["guard"]["read"] in (1, 2)
    assert any("were read: a look, no copy" in warning for warning in ok["warnings"])


def test_reading_all_of_shared_memory_is_not_called_zero_copy(tmp_path: Path) -> None:
    take = NUMPY + "def f(x):\n    y = np.from_dlpack(x)\n    y.sum()\n    return y\n"
    ok = found(tmp_path, GIVE, take + "PROTOCOLS = {'dlpack': f}\n")
    assert (ok["outcome"], ok["evidence"]["guard"]) == ("unproven", "no")
    assert any("looked through, or copied and thrown away" in w for w in ok["warnings"])


def test_reading_half_of_it_decides_nothing(tmp_path: Path) -> None:
    take = NUMPY + "def f(x):\n    y = np.from_dlpack(x)\n    y[:131072].sum()\n    return y\n"
    ok = found(tmp_path, GIVE, take + "PROTOCOLS = {'dlpack': f}\n")
    assert (ok["outcome"], ok["evidence"]["guard"]) == ("zero-copy", "skipped")
    assert any("neither a look nor all of it" in warning for warning in ok["warnings"])


THROUGH_A_PIPE = """\
import os, threading
import numpy as np
def send(x):
    y = np.from_dlpack(x)
    r, w = os.pipe()
    copy = bytearray()
    def drain():
        with os.fdopen(r, 'rb') as end:
            copy.extend(end.read())
    reader = threading.Thread(target=drain)
    reader.start()
    try:
        view = memoryview(y).cast('B')
        while view:
            view = view[os.write(w, view):]
    finally:
        os.close(w)
        reader.join()
    return np.frombuffer(copy, np.float32)
"""


def test_system_calls_that_read_make_the_guard_step_aside(tmp_path: Path) -> None:
    take = THROUGH_A_PIPE + "PROTOCOLS = {'dlpack': send}\n"
    ok = found(tmp_path, GIVE, take, size=1 << 16)
    assert (ok["outcome"], ok["evidence"]["guard"]) == ("copy", "skipped")
    assert "guard" not in ok
    assert any("no guard: under it the exchange fails" in warning for warning in ok["warnings"])
    assert ok["copied_by"] == "consumer"


def test_wrong_data_under_guard_alone_makes_it_step_aside_too(tmp_path: Path) -> None:
    swallow = (
        "def f(x):\n    try:\n        return send(x)\n"
        "    except OSError:\n        return np.zeros_like(np.from_dlpack(x))\n"
        "PROTOCOLS = {'dlpack': f}\n"
    )
    ok = found(tmp_path, GIVE, THROUGH_A_PIPE + swallow, size=1 << 16)
    assert (ok["outcome"], ok["evidence"]["guard"]) == ("copy", "skipped")
    assert any("no guard" in warning and "expected" in warning for warning in ok["warnings"])


def test_wrong_data_without_a_guard_stays_wrong(tmp_path: Path) -> None:
    take = NUMPY + (
        "count = 0\ndef f(x):\n    global count\n    count += 1\n    y = np.from_dlpack(x)\n"
        "    return y if count < 5 else y + 1\nPROTOCOLS = {'dlpack': f}\n"
    )
    answer = judged(tmp_path, GIVE, take)
    assert answer["error"]["outcome"] == "wrong"


def test_a_double_mapping_is_one_memory_at_two_addresses(tmp_path: Path) -> None:
    take = (
        "import mmap\nimport numpy as np\nfrom giver import file\n"
        "def f(x): return np.frombuffer(mmap.mmap(file, 0), np.float32)[:len(np.from_dlpack(x))]\n"
        "PROTOCOLS = {'dlpack': f}\n"
    )
    make = (
        "import mmap, os, sys\nimport numpy as np\n"
        "file = os.memfd_create('twice')\n"
        "sys.modules['giver'] = sys.modules[__name__]\n"
        "def make(case, device):\n"
        "    os.ftruncate(file, case.bytes)\n"
        "    a = np.frombuffer(mmap.mmap(file, 0), np.float32)\n    a[:] = case.numpy()\n"
        "    return a\n"
    )
    ok = found(tmp_path, make, take)
    assert ok["outcome"] == "zero-copy"
    assert ok["evidence"] == {"address": "no", "guard": "yes", "write": "yes", "slope": "skipped"}
    assert any("address says copied" in warning for warning in ok["warnings"])


def test_small_arrays_have_no_page_to_take(tmp_path: Path) -> None:
    ok = found(tmp_path, GIVE, COPY, case=UNALIGNED, size=4096)
    assert (ok["outcome"], ok["evidence"]["guard"]) == ("copy", "skipped")
    assert ok["copied_by"] == "consumer", "the tap saw where the data was handed over"
    assert "guard" not in ok


def test_memory_that_was_read_only_stays_so(tmp_path: Path) -> None:
    make = (
        "import mmap, tempfile\nimport numpy as np\n"
        "def make(case, device):\n"
        "    file = tempfile.TemporaryFile()\n"
        "    file.write(case.numpy().tobytes())\n    file.flush()\n"
        "    kept = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)\n"
        "    return np.frombuffer(kept, np.float32)\n"
    )
    take = (
        "import numpy as np\ndef f(x):\n    y = np.from_dlpack(x)\n"
        "    at = y.ctypes.data\n"
        "    for line in open('/proc/self/maps'):\n"
        "        begin, end = (int(part, 16) for part in line.split()[0].split('-'))\n"
        "        if begin <= at < end: assert line.split()[1][1] == '-', line\n"
        "    return y\nPROTOCOLS = {'dlpack': f}\n"
    )
    ok = found(tmp_path, make, take)
    assert (ok["outcome"], ok["evidence"]["guard"]) == ("zero-copy", "yes")
    again = found(tmp_path, make, COPY)
    assert (again["outcome"], again["copied_by"]) == ("copy", "consumer")
