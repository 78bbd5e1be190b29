"""What the guard finds besides copies, what it cannot see, and when it is skipped."""

from __future__ import annotations

from pathlib import Path

import pytest

from judging import COPY, GIVE, NUMPY, READONLY, found, judged
from samples import warning_codes, warning_data, warning_texts
from wire import UNALIGNED

pytestmark = pytest.mark.process

WRITES = (
    "import ctypes\nimport numpy as np\n"
    "def f(x):\n    y = np.from_dlpack(x)\n"
    "    WHERE = y.ctypes.data\n    ctypes.memmove(WHERE, bytes(np.asarray(y[:PAGES * 1024])),"
    " PAGES * 4096)\n    return y\nPROTOCOLS = {'dlpack': f}\n"
)


def test_a_consumer_that_writes_is_reported_even_if_it_writes_what_was_there(
    tmp_path: Path,
) -> None:
    take = WRITES.replace("WHERE", "at").replace("PAGES", "8")
    ok = found(tmp_path, GIVE, take)
    assert ok["guard"]["written"] == 8
    written = warning_data(ok)["source-written"]
    assert (written["by"], written["pages"]) == ("consumer", "8")
    ok = found(tmp_path, GIVE, take, case=READONLY)
    assert any("read-only" in text for text in warning_texts(ok))


def test_a_copy_that_is_written_back_at_release_is_reported(tmp_path: Path) -> None:
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
    written = warning_data(ok)["source-written"]
    assert (written["by"], written["pages"]) == ("release", written["of"])


def test_a_look_at_a_few_values_is_no_copy(tmp_path: Path) -> None:
    take = NUMPY + "def f(x):\n    y = np.from_dlpack(x)\n    y[0], y[-5000]\n    return y\n"
    ok = found(tmp_path, GIVE, take + "PROTOCOLS = {'dlpack': f}\n")
    assert (ok["outcome"], ok["evidence"]["guard"], ok["copied_by"]) == ("zero-copy", "yes", "")
    assert ok["guard"]["read"] in (1, 2)
    assert "few-pages-read" in warning_codes(ok)


def test_reading_all_of_shared_memory_is_not_called_zero_copy(tmp_path: Path) -> None:
    take = NUMPY + "def f(x):\n    y = np.from_dlpack(x)\n    y.sum()\n    return y\n"
    ok = found(tmp_path, GIVE, take + "PROTOCOLS = {'dlpack': f}\n")
    assert (ok["outcome"], ok["evidence"]["guard"]) == ("unproven", "no")
    assert "contradiction" in warning_codes(ok)


def test_reading_half_of_it_decides_nothing(tmp_path: Path) -> None:
    take = NUMPY + "def f(x):\n    y = np.from_dlpack(x)\n    y[:131072].sum()\n    return y\n"
    ok = found(tmp_path, GIVE, take + "PROTOCOLS = {'dlpack': f}\n")
    assert (ok["outcome"], ok["evidence"]["guard"]) == ("zero-copy", "skipped")
    assert "partly-read" in warning_codes(ok)


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
    assert "no-guard" in warning_codes(ok)
    assert ok["copied_by"] == "consumer"


def test_wrong_data_under_guard_alone_makes_it_step_aside_too(tmp_path: Path) -> None:
    swallow = (
        "def f(x):\n    try:\n        return send(x)\n"
        "    except OSError:\n        return np.zeros_like(np.from_dlpack(x))\n"
        "PROTOCOLS = {'dlpack': f}\n"
    )
    ok = found(tmp_path, GIVE, THROUGH_A_PIPE + swallow, size=1 << 16)
    assert (ok["outcome"], ok["evidence"]["guard"]) == ("copy", "skipped")
    assert "no-guard" in warning_codes(ok)


def test_wrong_data_without_a_guard_stays_wrong(tmp_path: Path) -> None:
    take = NUMPY + (
        "count = 0\ndef f(x):\n    global count\n    count += 1\n    y = np.from_dlpack(x)\n"
        "    return y if count < 5 else y + 1\nPROTOCOLS = {'dlpack': f}\n"
    )
    answer = judged(tmp_path, GIVE, take)
    assert answer["error"]["outcome"] == "wrong"


OPAQUE = """\
import numpy as np
class Opaque:
    def __init__(self, array): self.array, self.copied = array, None
    def copy(self):
        if self.copied is None: self.copied = self.array.copy()
        return self.copied
def values(opaque): return VALUES
PROTOCOLS = {'dlpack': lambda x: Opaque(TAKEN)}
"""
VIEW = "np.from_dlpack(x)"


@pytest.mark.parametrize(
    ("taken", "values", "outcome", "guard", "copier"),
    [
        (f"{VIEW}.copy()", "opaque.array", "copy", "no", "consumer"),
        (VIEW, "opaque.array", "zero-copy", "yes", ""),
        (VIEW, "opaque.array.copy()", "zero-copy", "skipped", ""),  # its values show each write
        (VIEW, "opaque.copy()", "unproven", "skipped", ""),
        (f"{VIEW}.copy()", "None", "unproven", "skipped", ""),
    ],
    ids=["copied", "shared", "shared-and-read", "lazy-or-cached", "read-by-nobody"],
)
def test_a_result_without_a_place_is_no_failure_under_the_guard(
    tmp_path: Path, taken: str, values: str, outcome: str, guard: str, copier: str
) -> None:
    """Reading it is ours: what that reads is no copy of the consumer's."""
    take = OPAQUE.replace("VALUES", values).replace("TAKEN", taken)
    ok = found(tmp_path, GIVE, take, size=1 << 16)
    assert "no-guard" not in warning_codes(ok)
    assert (ok["outcome"], ok["evidence"]["guard"], ok["copied_by"]) == (outcome, guard, copier)
    assert ok["guard"]["read"] == (ok["guard"]["pages"] if ".copy()" in taken else 0)
    assert not ok["late_read"]


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
    assert warning_data(ok)["disagreement"]["other"] == "address"
    assert "copy-on-write" not in warning_codes(ok)
    private = take.replace("mmap.mmap(file, 0)", "mmap.mmap(file, 0, access=mmap.ACCESS_COPY)")
    ok = found(tmp_path, make, private)
    assert ok["outcome"] == "zero-copy"
    assert "copy-on-write" in warning_codes(ok)


def test_small_arrays_have_no_page_to_take(tmp_path: Path) -> None:
    ok = found(tmp_path, GIVE, COPY, case=UNALIGNED, size=4096)
    assert (ok["outcome"], ok["evidence"]["guard"]) == ("copy", "skipped")
    assert ok["copied_by"] == "consumer", "the recorder saw where the data was handed over"
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
