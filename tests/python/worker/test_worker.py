"""The worker, tested over its own wire with planted adapters around NumPy."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dlbench import _core
from samples import warning_codes
from wire import F32, UNALIGNED, cross, plant, prepare, send_request

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[3]
MAKE = "def make(case, device):\n    return case.numpy()\n"
SHARE = 'import numpy as np\nPROTOCOLS = {"dlpack": np.from_dlpack, "convert": np.asarray}\n'


NUMPY = "import numpy as np\n"


def found(answer: dict[str, Any]) -> str:
    """The outcome of an exchange, with what it changed."""
    ok = answer.get("ok")
    return f"{ok['outcome']} {ok['changed']}" if ok else str(answer["error"]["outcome"])


def test_a_worker_keeps_large_freed_memory_from_the_start() -> None:
    code = """
import ctypes, os
from dlbench import _worker
names = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"
class Info(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in names.split()]
libc = ctypes.CDLL(None)
libc.mallinfo2.restype, libc.malloc.restype = Info, ctypes.c_void_p
def mapped():
    libc.malloc(ctypes.c_size_t(24 << 20))
    return libc.mallinfo2().hblks
first = libc.mallinfo2().hblks
before = mapped()
read, write = os.pipe()
os.write(write, b'{"do":"end"}\\n')
_worker.serve(read, os.open(os.devnull, os.O_WRONLY))
print(before - first, mapped() - before)
"""
    if not hasattr(ctypes.CDLL(None), "mallinfo2"):
        pytest.skip("glibc before 2.33 or another C library")
    own = ("GLIBC_TUNABLES", "LD_PRELOAD", "MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_")
    environment = {name: value for name, value in os.environ.items() if name not in own}
    printed = subprocess.check_output([sys.executable, "-c", code], text=True, env=environment)
    assert printed == "1 0\n", "blocks that the kernel mapped, before and after"


def test_sharing_is_zero_copy_with_both_proofs(tmp_path: Path) -> None:
    ok = cross(tmp_path, MAKE, SHARE)["ok"]
    assert ok["outcome"] == "zero-copy"
    assert (ok["evidence"]["address"], ok["evidence"]["write"]) == ("yes", "yes")
    assert ok["observed"]["used"] == "dlpack"
    assert ok["observed"]["calls"] == ["__dlpack__(dl_device=None,copy=None,max_version=(1,0))"]
    assert (ok["observed"]["struct"], ok["observed"]["version"]) == ("versioned", [1, 0])
    assert ok["iterations"]["call"] > 1


def test_a_copy_is_a_copy(tmp_path: Path) -> None:
    take = "import numpy as np\ndef f(x): return np.from_dlpack(x).copy()\nPROTOCOLS={'dlpack': f}"
    ok = cross(tmp_path, MAKE, take)["ok"]
    assert ok["outcome"] == "copy"
    assert (ok["evidence"]["address"], ok["evidence"]["write"]) == ("no", "no")


def test_the_offset_of_a_case_reaches_the_array(tmp_path: Path) -> None:
    take = (
        "import numpy as np\n"
        "def f(x):\n"
        "    y = np.from_dlpack(x)\n"
        "    assert y.ctypes.data % 256 == 4, y.ctypes.data\n"
        "    return y\n"
        "PROTOCOLS = {'dlpack': f}\n"
    )
    assert cross(tmp_path, MAKE, take, case=UNALIGNED)["ok"]["outcome"] == "zero-copy"
    assert cross(tmp_path, MAKE, take, case=F32)["error"]["exception"] == "AssertionError"


@pytest.mark.parametrize(
    ("make", "take", "outcome", "reason"),
    [
        (MAKE, "PROTOCOLS = {'dlpack': lambda x: None}", "wrong", "returned None"),
        ("def make(case, device): return None", SHARE, "unsupported", "`make` returned None"),
        (MAKE, "import numpy as np\nPROTOCOLS = {'dlpack': lambda x: np.from_dlpack(x) + 1}",
         "wrong", "element (0,): expected 3, found 4"),
        (MAKE, "import numpy as np\ndef f(x):\n    x[5] = 9\n    return np.from_dlpack(x).copy()\n"
         "PROTOCOLS = {'dlpack': f}", "wrong", "expected"),
        (MAKE, "import numpy as np\nPROTOCOLS = {'dlpack': lambda x: np.from_dlpack(x)[:-1]}",
         "wrong", "shape"),
        (MAKE, "def f(x): raise BufferError('\\n  no, thank you\\nmore')\nPROTOCOLS={'dlpack': f}",
         "refused", "no, thank you"),
        (MAKE, "def f(x): raise MemoryError('full')\nPROTOCOLS = {'dlpack': f}",
         "out-of-memory", "full"),
        ("def make(case, device): raise RuntimeError('cannot')", SHARE, "unsupported", "cannot"),
        ("from dlbench import Unsupported\n"
         "def make(case, device): raise Unsupported('not that')", SHARE, "unsupported", "not that"),
        ("def make(case, device): return bytearray(case.numpy().tobytes())", SHARE,
         "no-protocol", "a bytearray offers no dlpack"),
        (MAKE, "import numpy as np\nPROTOCOLS = {'dlpack': lambda x: np.array(['', None])}",
         "no-protocol", "the result is an array, but its elements are Python objects"),
    ],
)  # fmt: skip
def test_what_is_no_number_has_a_reason(
    tmp_path: Path, make: str, take: str, outcome: str, reason: str
) -> None:
    error = cross(tmp_path, make, take)["error"]
    assert error["outcome"] == outcome
    assert reason in error["reason"]
    assert "\n" not in error["reason"]


def test_an_array_of_python_objects_has_a_code(tmp_path: Path) -> None:
    make = "class Box: pass\ndef make(case, device): return Box()"
    take = "import numpy as np\nPROTOCOLS = {'convert': np.asarray}"
    error = cross(tmp_path, make, take, protocol="convert")["error"]
    assert (error["outcome"], error["code"]) == ("no-protocol", "python-objects")


def test_a_consumer_that_writes_into_its_input_is_reported(tmp_path: Path) -> None:
    take = (
        "import numpy as np\n"
        "def f(x):\n    y = np.from_dlpack(x).copy()\n    x[5] = 77\n    return y\n"
        "PROTOCOLS = {'dlpack': f}\n"
    )
    error = cross(tmp_path, MAKE, take)["error"]
    assert error["outcome"] == "wrong"


def test_an_import_error_is_the_libraries_own(tmp_path: Path) -> None:
    answer = send_request(tmp_path, plant(tmp_path, "producer", "giver", "import no_such_library"))[
        0
    ]
    assert answer["error"]["outcome"] == "import-failed"
    assert answer["error"]["exception"] == "ModuleNotFoundError"
    assert "no_such_library" in answer["error"]["reason"]


def test_convert_tells_which_protocol_it_used(tmp_path: Path) -> None:
    make = (
        "class Box:\n"
        "    def __init__(self, a): self.a = a\n"
        "    def __dlpack__(self, **k): return self.a.__dlpack__(**k)\n"
        "    def __dlpack_device__(self): return self.a.__dlpack_device__()\n"
        "    @property\n"
        "    def __array_interface__(self): return self.a.__array_interface__\n"
        "def make(case, device): return Box(case.numpy())\n"
    )
    ok = cross(tmp_path, make, SHARE, protocol="convert")["ok"]
    assert ok["observed"]["used"] == "array_interface"
    assert ok["outcome"] == "zero-copy"


def test_convert_of_its_own_type_asks_no_protocol(tmp_path: Path) -> None:
    assert cross(tmp_path, MAKE, SHARE, protocol="convert")["ok"]["observed"]["used"] == "own"


def test_retries_are_seen(tmp_path: Path) -> None:
    make = (
        "class Old:\n"
        "    def __init__(self, a): self.a = a\n"
        "    def __dlpack__(self): return self.a.__dlpack__()\n"
        "    def __dlpack_device__(self): return self.a.__dlpack_device__()\n"
        "def make(case, device): return Old(case.numpy())\n"
    )
    observed = cross(tmp_path, make, SHARE)["ok"]["observed"]
    assert observed["calls"][0].endswith("-> TypeError")
    assert observed["calls"][-1] == "__dlpack__()"
    assert observed["struct"] == "legacy"


def test_a_consumer_that_takes_another_way_is_not_filed_under_dlpack(tmp_path: Path) -> None:
    take = "import numpy as np\nPROTOCOLS = {'dlpack': np.asarray}\n"
    error = cross(tmp_path, MAKE, take)["error"]
    assert error["outcome"] == "no-protocol"
    assert "returns the array itself" in error["reason"]


def test_a_protocol_that_was_not_used_is_named(tmp_path: Path) -> None:
    take = "import numpy as np\nPROTOCOLS = {'dlpack': lambda x: np.asarray(memoryview(x))}\n"
    error = cross(tmp_path, MAKE, take)["error"]
    assert (error["outcome"], error["code"]) == ("no-protocol", "other-protocol")
    assert "buffer, not dlpack" in error["reason"]


def test_calls_are_compiled_with_their_arguments(tmp_path: Path) -> None:
    take = (
        "import numpy as np\nfrom dlbench import Call, X\n"
        "PROTOCOLS = {'buffer': Call(np.frombuffer, X, dtype=np.float32)}\n"
    )
    ok = cross(tmp_path, MAKE, take, protocol="buffer")["ok"]
    assert (ok["outcome"], ok["observed"]["used"]) == ("zero-copy", "buffer")


def test_a_capsule_consumer_is_given_a_capsule(tmp_path: Path) -> None:
    take = (
        "import numpy as np\nfrom dlbench import Capsule\n"
        "class Shim:\n"
        "    def __init__(self, c): self.c = c\n"
        "    def __dlpack__(self, **k): return self.c\n"
        "    def __dlpack_device__(self): return (1, 0)\n"
        "PROTOCOLS = {'dlpack': Capsule(lambda c: np.from_dlpack(Shim(c)))}\n"
    )
    ok = cross(tmp_path, MAKE, take)["ok"]
    assert ok["outcome"] == "zero-copy"
    assert ok["observed"]["struct"] == "legacy"


def test_ready_is_waited_for_before_judging(tmp_path: Path) -> None:
    take = (
        "import numpy as np\n"
        "class Lazy:\n"
        "    def __init__(self, a): self.source, self.array = a, np.zeros_like(a)\n"
        "    def __array_interface__(self): raise AssertionError\n"
        "    def __dlpack__(self, **k): return self.array.__dlpack__(**k)\n"
        "    def wait(self): self.array[...] = self.source\n"
        "def ready(x): x.wait()\n"
        "PROTOCOLS = {'dlpack': lambda x: Lazy(np.from_dlpack(x))}\n"
    )
    ok = cross(tmp_path, MAKE, take)["ok"]
    assert ok["outcome"] == "copy"
    assert ok["first_ns"]["ready"] > ok["first_ns"]["call"]


def test_a_round_that_raises_is_an_error_not_a_number(tmp_path: Path) -> None:
    take = (
        "import numpy as np\ncount = 0\n"
        "def f(x):\n    global count\n    count += 1\n"
        "    if count > 60000: raise ValueError('worn out')\n    return np.from_dlpack(x)\n"
        "PROTOCOLS = {'dlpack': f}\n"
    )
    answers = send_request(
        tmp_path,
        plant(tmp_path, "producer", "giver", MAKE),
        plant(tmp_path, "consumer", "taker", take),
        prepare(1, "giver", "taker", "dlpack", F32),
        {"do": "round", "id": 1, "clock": "call", "iterations": 100, "prelude": 16},
        {"do": "round", "id": 1, "clock": "call", "iterations": 60000, "prelude": 16},
        {"do": "drop", "id": 1},
        {"do": "round", "id": 1, "clock": "call", "iterations": 1, "prelude": 0},
    )
    assert answers[3]["ok"]["ns"] > 0
    assert answers[4]["error"]["exception"] == "ValueError"
    assert answers[5]["ok"] == {}
    assert "no exchange is prepared with the id 1" in answers[6]["error"]["reason"]


def test_floors_are_positive_and_in_order(tmp_path: Path) -> None:
    floors = send_request(tmp_path, {"do": "floors"})[0]["ok"]
    assert 0 < floors["empty"] < floors["call"] < floors["proxy"]
    assert floors["clock"] > 0


def test_signed_bytes_with_a_type_are_no_untyped_bytes(tmp_path: Path) -> None:
    case = {**F32, "name": "i8", "dtype": "int8"}
    for producer in ("native", "nanobind", "pybind11"):
        answers = send_request(
            tmp_path,
            {
                "do": "load",
                "role": "producer",
                "library": producer,
                "path": str(ROOT / "producers" / f"{producer}.py"),
            },
            plant(tmp_path, "consumer", "taker", SHARE),
            prepare(1, producer, "taker", "convert", case),
        )
        assert found(answers[-1]) == "zero-copy []", producer


def test_judging_again_sees_what_changed(tmp_path: Path) -> None:
    take = (
        "import numpy as np\ncount = 0\n"
        "def f(x):\n    global count\n    count += 1\n    y = np.from_dlpack(x)\n"
        "    return y if count < 4 else y.copy()\n"
        "PROTOCOLS = {'dlpack': f}\n"
    )
    answers = send_request(
        tmp_path,
        plant(tmp_path, "producer", "giver", MAKE),
        plant(tmp_path, "consumer", "taker", take),
        prepare(1, "giver", "taker", "dlpack", F32),
        {"do": "judge", "id": 1},
    )
    assert answers[2]["ok"]["outcome"] == "zero-copy"
    assert answers[3]["ok"]["outcome"] == "copy"


def test_results_in_cycles_are_collected_between_rounds(tmp_path: Path) -> None:
    take = (
        "import numpy as np\nalive = 0\n"
        "class Ring:\n"
        "    def __init__(self, a):\n"
        "        global alive\n"
        "        self.array, self.me = a, self\n"
        "        alive += 1\n"
        "        if alive > 500: raise MemoryError('rings pile up')\n"
        "    def __del__(self):\n        global alive\n        alive -= 1\n"
        "    def __dlpack__(self, **k): return self.array.__dlpack__(**k)\n"
        "PROTOCOLS = {'dlpack': lambda x: Ring(np.from_dlpack(x))}\n"
    )
    one_round = {"do": "round", "id": 1, "clock": "call", "iterations": 100, "prelude": 0}
    answers = send_request(
        tmp_path,
        plant(tmp_path, "producer", "giver", MAKE),
        plant(tmp_path, "consumer", "taker", take),
        prepare(1, "giver", "taker", "dlpack", F32),
        *[one_round] * 20,
    )
    assert all("ok" in answer for answer in answers[3:]), answers[-1]


def test_a_ready_clock_without_a_ready_is_no_number(tmp_path: Path) -> None:
    answers = send_request(
        tmp_path,
        plant(tmp_path, "producer", "giver", MAKE),
        plant(tmp_path, "consumer", "taker", SHARE),
        prepare(1, "giver", "taker", "dlpack", F32, clocks=("call", "ready")),
    )
    assert "no `ready`" in answers[2]["error"]["reason"]


def test_what_convert_was_seen_to_use_is_the_recorders_word(tmp_path: Path) -> None:
    take = "import numpy as np\nPROTOCOLS = {'convert': lambda x: np.asarray(memoryview(x))}\n"
    observed = cross(tmp_path, MAKE, take, protocol="convert")["ok"]["observed"]
    assert (observed["used"], observed["via"]) == ("buffer", "recorder")


def test_a_refusal_that_only_bears_the_name_is_no_unsupported(tmp_path: Path) -> None:
    take = (
        "class Unsupported(Exception): pass\ndef f(x): raise Unsupported('mine')\n"
        "PROTOCOLS = {'dlpack': f}\n"
    )
    error = cross(tmp_path, MAKE, take)["error"]
    assert (error["outcome"], error["exception"]) == ("refused", "Unsupported")


def test_a_proxy_that_is_kept_forgets_its_recorder(tmp_path: Path) -> None:
    take = (
        "import numpy as np\nkept = []\n"
        "def f(x):\n"
        "    for old in kept: old.__dlpack_device__()\n"
        "    kept.append(x)\n    return np.from_dlpack(x)\n"
        "PROTOCOLS = {'dlpack': f}\n"
    )
    assert cross(tmp_path, MAKE, take)["ok"]["observed"]["calls"][-1].startswith("__dlpack__")


REQUESTED = "def devices():\n    {}\ndef make(case, device):\n    {}\n"


def test_a_library_that_raises_when_requested_devices_has_none(tmp_path: Path) -> None:
    make = REQUESTED.format("raise OSError('no driver:\\n  none at all')", "return case.numpy()")
    answer = send_request(tmp_path, plant(tmp_path, "producer", "giver", make))[0]
    assert answer["error"]["outcome"] == "no-device"
    assert answer["error"]["exception"] == "OSError"
    assert answer["error"]["reason"] == "no driver: none at all"


def test_a_library_that_names_no_device_has_none(tmp_path: Path) -> None:
    make = REQUESTED.format("return []", "return case.numpy()")
    answer = send_request(tmp_path, plant(tmp_path, "producer", "giver", make))[0]
    assert answer["error"]["outcome"] == "no-device"
    assert answer["error"]["reason"] == "giver finds no device on this machine"


@pytest.mark.parametrize(("here", "outcome"), [("gpu:0", "no-device"), ("cpu", "unsupported")])
def test_why_there_is_no_array_on_a_device_is_the_librarys_own_word(
    tmp_path: Path, here: str, outcome: str
) -> None:
    make = REQUESTED.format(f"return [{here!r}]", "raise RuntimeError('not like this')")
    error = cross(tmp_path, make, SHARE)["error"]
    assert (error["outcome"], error["exception"]) == (outcome, "RuntimeError")
    assert error["reason"].endswith("RuntimeError: not like this")


def test_a_role_that_was_not_loaded_is_no_crash(tmp_path: Path) -> None:
    answers = send_request(
        tmp_path,
        plant(tmp_path, "consumer", "taker", SHARE),
        prepare(1, "taker", "taker", "dlpack", F32),
    )
    assert answers[1]["error"]["reason"] == "taker was not loaded in this worker"


def test_the_very_object_is_requested_again_through_a_proxy(tmp_path: Path) -> None:
    take = "import numpy as np\nPROTOCOLS = {'buffer': np.asarray}\n"
    ok = cross(tmp_path, MAKE, take, protocol="buffer")["ok"]
    assert (ok["outcome"], ok["observed"]["used"], ok["observed"]["via"]) == (
        "zero-copy",
        "buffer",
        "proxy",
    )


BOXED = (
    "import numpy as np\n"
    "class Box:\n    def __init__(self, a): self.a = a\n"
    "def address(b): return b.a.ctypes.data if isinstance(b, Box) else None\n"
    "def values(b): return b.a if isinstance(b, Box) else b\n"
)


@pytest.mark.parametrize(("copy", "outcome"), [("", "zero-copy"), (".copy()", "copy")])
def test_an_address_and_values_place_what_no_protocol_reads(
    tmp_path: Path, copy: str, outcome: str
) -> None:
    take = f"{BOXED}PROTOCOLS = {{'dlpack': lambda x: Box(np.from_dlpack(x){copy})}}"
    assert cross(tmp_path, MAKE, take)["ok"]["outcome"] == outcome


#: Its memory is `own`. Its export copies it, or gives wrong numbers, or describes it wrongly.
MINE = """
import numpy as np

class Mine:
    def __init__(self, own): self.own = own
    def __dlpack__(self, **words): return EXPORT.__dlpack__(**words)
    def __dlpack_device__(self): return (1, 0)
    def tolist(self): return self.own.tolist()
"""
GIVES = "def make(case, device): return Mine(case.numpy())\n"
TAKES = (
    "PROTOCOLS = {'dlpack': lambda x: Mine(np.from_dlpack(x)),\n"
    "             'convert': lambda x: x}\n"
)


def mine(export: str, *more: str) -> str:
    return MINE.replace("EXPORT", export) + "".join(more)


@pytest.mark.parametrize(
    ("way", "known", "outcome", "is_named"),
    [
        ("from", False, "copy", False),
        ("from", True, "copy", False),
        ("to", False, "zero-copy", False),
        ("to", True, "zero-copy", False),
        ("read-only to", False, "unproven", True),
    ],
)
def test_an_export_that_copies_proves_nothing_of_the_memory(
    tmp_path: Path, way: str, known: bool, outcome: str, is_named: bool
) -> None:
    address = "def address(x): return x.own.ctypes.data\n" if known else ""
    of_mine = mine("self.own.copy()", GIVES if way == "from" else TAKES, address)
    case = _core.case("f32-readonly") if way == "read-only to" else F32
    two = (of_mine, SHARE) if way == "from" else (MAKE, of_mine)
    ok = cross(tmp_path, *two, case=case)["ok"]
    assert ok["outcome"] == outcome
    found = [warning["text"] for warning in ok["warnings"]]
    assert any("add `address(array)` to the adapter" in text for text in found) == is_named


def test_a_result_that_copies_when_it_is_read_is_not_shared(tmp_path: Path) -> None:
    take = (
        f"{NUMPY}class Lazy:\n    own = None\n"
        "    def __init__(self, x): self.source = np.asarray(x)\n"
        "def values(x):\n    if x.own is None: x.own = x.source.copy()\n    return x.own\n"
        "PROTOCOLS = {'convert': Lazy}\n"
    )
    assert cross(tmp_path, MAKE, take, "convert")["ok"]["outcome"] == "unproven"


@pytest.mark.parametrize(
    ("address", "outcome"),
    [("", "unproven"), ("def address(x): return x.own.ctypes.data\n", "copy")],
)
def test_nothing_is_written_into_pages_that_are_read_only(
    tmp_path: Path, address: str, outcome: str
) -> None:
    """The export does not mark them."""
    make = (
        f"{NUMPY}import mmap, tempfile\n"
        "class Mapped:\n"
        "    def __init__(self, a):\n"
        "        file = tempfile.TemporaryFile()\n"
        "        file.write(a)\n"
        "        file.flush()\n"
        "        pages = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)\n"
        "        self.a = np.frombuffer(pages, 'f4')\n"
        "    @property\n"
        "    def __array_interface__(self):\n"
        "        return self.a.__array_interface__ | {'data': (self.a.ctypes.data, False)}\n"
        "def make(case, device): return Mapped(case.numpy())\n"
    )
    take = (
        f"{NUMPY}class Own:\n    def __init__(self, x): self.own = np.array(x)\n"
        f"def values(x): return x.own.copy()\nPROTOCOLS = {{'convert': Own}}\n{address}"
    )
    assert cross(tmp_path, make, take, "convert")["ok"]["outcome"] == outcome


@pytest.mark.parametrize(("listed", "outcome"), [(True, "unproven"), (False, "wrong")])
@pytest.mark.parametrize(
    "export", ["(self.own + 1)", "self.__dict__.setdefault('a', self.own + 1)"]
)
def test_a_wrong_export_of_a_right_result_is_not_the_consumers_fault(
    tmp_path: Path, export: str, listed: bool, outcome: str
) -> None:
    taker = mine(export, TAKES if listed else TAKES + "del Mine.tolist\n")
    answer = cross(tmp_path, MAKE, taker)
    assert answer.get("ok", answer.get("error"))["outcome"] == outcome
    if listed:
        assert "values-not-checked" in warning_codes(answer["ok"])


def test_the_array_itself_is_not_wrong_because_of_its_export(tmp_path: Path) -> None:
    both = mine("(self.own + 1)", GIVES), mine("(self.own + 1)", TAKES)
    assert cross(tmp_path, *both, protocol="convert")["ok"]["outcome"] == "zero-copy"


def test_a_description_that_is_not_used_decides_nothing(tmp_path: Path) -> None:
    """Its DLPack is no capsule; NumPy imports the interface."""
    make = (
        f"{NUMPY}class Odd:\n    def __init__(self, a): self.a = a\n"
        "    def __dlpack__(self, **words): return 7\n"
        "    @property\n    def __array_interface__(self): return self.a.__array_interface__\n"
        "def make(case, device): return Odd(case.numpy())\n"
    )
    assert cross(tmp_path, make, SHARE, protocol="convert")["ok"]["outcome"] == "zero-copy"


@pytest.mark.parametrize(
    ("take", "expected"),
    [
        ("memoryview", "zero-copy []"),
        ("lambda x: np.frombuffer(x, np.uint8)", "zero-copy []"),
        ("lambda x: list(x) and np.array(list(x))", "copy ['dtype']"),
        ("lambda x: np.frombuffer(x, np.uint8)[::-1]", "wrong"),
    ],
)
def test_the_values_of_a_bytearray_are_its_bytes(tmp_path: Path, take: str, expected: str) -> None:
    make = "def make(case, device): return bytearray(case.numpy())\n"
    answer = cross(tmp_path, make, f"{NUMPY}PROTOCOLS = {{'convert': {take}}}\n", "convert")
    assert found(answer) == expected


@pytest.mark.parametrize("case", ["f32-0xn", "u8-0xn", "u8-2d"])
def test_a_bytearray_has_no_shape(tmp_path: Path, case: str) -> None:
    make = "def make(case, device): return bytearray(case.numpy())\n"
    take = f"{NUMPY}PROTOCOLS = {{'convert': np.asarray}}\n"
    answer = cross(tmp_path, make, take, "convert", _core.case(case))
    assert found(answer) == "zero-copy []"


@pytest.mark.parametrize(
    ("take", "expected"),
    [
        ("lambda x: bytearray(x)", "copy ['dtype', 'layout']"),
        ("lambda x: bytearray(x.T)", "copy ['dtype']"),
        ("lambda x: bytearray(x[::-1])", "wrong"),
        ("lambda x: np.frombuffer(bytearray(x), np.uint8)", "wrong"),
    ],
)
def test_bytes_without_a_dtype_may_be_as_they_lie(tmp_path: Path, take: str, expected: str) -> None:
    case = _core.case("f32-fortran")
    answer = cross(tmp_path, MAKE, f"{NUMPY}PROTOCOLS = {{'convert': {take}}}\n", "convert", case)
    assert found(answer) == expected


@pytest.mark.libraries
@pytest.mark.parametrize("name", ["f8e4m3fn", "bf16"])
def test_integers_with_the_bits_of_narrow_floats_are_other_values(
    tmp_path: Path, name: str
) -> None:
    bits = "int8" if name == "f8e4m3fn" else "int16"
    take = f"{NUMPY}PROTOCOLS = {{'convert': lambda x: np.asarray(x).view(np.{bits})}}\n"
    assert found(cross(tmp_path, MAKE, take, "convert", _core.case(name))) == "wrong"


@pytest.mark.libraries
@pytest.mark.parametrize("name", ["i4-0xn", "f4e2m1fn"])
def test_elements_that_share_a_byte_are_not_judged(tmp_path: Path, name: str) -> None:
    pytest.importorskip("jax")
    take = "import jax.numpy\nPROTOCOLS = {'convert': jax.numpy.asarray}\n"
    assert found(cross(tmp_path, MAKE, take, "convert", _core.case(name))) == "unproven []"


@pytest.mark.libraries
def test_a_format_that_is_not_known_is_compared_by_its_bytes(tmp_path: Path) -> None:
    pytest.importorskip("mlx.core")
    make = (
        "import mlx.core as mx\n"
        "def make(case, device): return mx.array(case.numpy(), dtype=mx.bfloat16)\n"
    )
    take = "PROTOCOLS = {'buffer': memoryview}\n"
    case = _core.case("bf16")
    assert found(cross(tmp_path, make, take, "buffer", case)) == "zero-copy ['dtype']"


@pytest.mark.parametrize(
    ("take", "outcome"),
    [("np.asarray(x)", "zero-copy"), ("np.asarray(x).copy()", "unproven")],
)
def test_arrays_without_elements_share_if_their_addresses_are_equal(
    tmp_path: Path, take: str, outcome: str
) -> None:
    taker = f"{NUMPY}PROTOCOLS = {{'convert': lambda x: {take}}}\n"
    empty = _core.case("f32-empty")
    assert found(cross(tmp_path, MAKE, taker, "convert", empty, 0)) == f"{outcome} []"
    one_place = f"{NUMPY}NONE = np.empty(1, 'f4')[:0]\ndef make(case, device): return NONE[:]\n"
    answer = cross(tmp_path, one_place, taker, "convert", empty, 0)
    assert found(answer) == "unproven []"
    reason = "the addresses of arrays without elements show neither sharing nor a copy"
    assert [w["text"] for w in answer["ok"]["warnings"]] == [f"addresses not compared: {reason}"]


def test_a_refusal_of_another_protocol_is_not_one_of_the_requested(tmp_path: Path) -> None:
    array = "    def __array__(self, *_, **__): return self.own\n    def tolist"
    make = mine("(1 / 0)", GIVES).replace("    def tolist", array)
    take = (
        f"{NUMPY}def take(x):\n"
        "    return np.from_dlpack(x) if hasattr(x, '__dlpack__') else np.asarray(x)\n"
        "PROTOCOLS = {'array': take, 'dlpack': take, 'convert': take}\n"
    )
    address = "def address(x): return x.own.ctypes.data\ndef values(x): return x.own\n"
    for protocol, expected in (
        ("array", "zero-copy"),
        ("dlpack", "refused"),
        ("convert", "refused"),
    ):
        answer = cross(tmp_path, make + address, take, protocol)
        assert answer.get("ok", answer.get("error"))["outcome"] == expected, answer


def test_interface_data_may_be_a_buffer(tmp_path: Path) -> None:
    make = (
        "class Image:\n    def __init__(self, a): self.a = a\n    @property\n"
        "    def __array_interface__(self):\n"
        "        return self.a.__array_interface__ | {'data': self.a.tobytes()}\n"
        "def make(case, device): return Image(case.numpy())\n"
    )
    ok = cross(tmp_path, make, SHARE, protocol="convert")["ok"]
    assert (ok["outcome"], ok["warnings"]) == ("copy", [])


@pytest.mark.parametrize(
    ("make", "multiply", "concatenate"),
    [
        ("return case.numpy()", "kept", "kept"),
        ("return list(case.numpy()[:4])", "numpy.ndarray", "numpy.ndarray"),
        ("return Boxed(case.numpy())", "kept, drops unit", "numpy.ndarray, drops unit"),
        ("return Refusing()", "TypeError: not me", "TypeError: not me"),
    ],
)
def test_what_numpys_functions_make_of_an_array_is_reported(
    tmp_path: Path, make: str, multiply: str, concatenate: str
) -> None:
    source = (
        "import numpy as np\n"
        "class Boxed(np.ndarray):\n"
        "    unit = 'm'\n"
        "    def __new__(cls, a): return a.view(cls)\n"
        "    def __array_finalize__(self, other): self.unit = getattr(other, 'unit', 'm')\n"
        "    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):\n"
        "        found = getattr(ufunc, method)(*[np.asarray(i) for i in inputs]).view(Boxed)\n"
        "        found.unit = ''\n"
        "        return found\n"
        "class Refusing(list):\n"
        "    def __array__(self, *a, **k): raise TypeError('not me')\n"
        f"def make(case, device): {make}\n"
        "def values(x): return np.asarray(x) if isinstance(x, np.ndarray) else np.arange(4.)\n"
        "def extras(x): return {'unit': x.unit} if getattr(x, 'unit', '') else {}\n"
    )
    requested = {"do": "offers", "library": "giver", "device": "cpu", "case": F32}
    ok = send_request(tmp_path, plant(tmp_path, "producer", "giver", source), requested)[-1]["ok"]
    assert ok["dispatch"] == {"multiply": multiply, "concatenate": concatenate}


def start_with(folder: Path, monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    """Let each interpreter run this first."""
    (folder / "sitecustomize.py").write_text(code)
    paths = filter(None, (str(folder), os.environ.get("PYTHONPATH")))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))


@pytest.mark.parametrize(("enables", "codes"), [(True, ["gil-enabled"]), (False, [])])
def test_a_library_that_enables_the_gil_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, enables: bool, codes: list[str]
) -> None:
    """An interpreter that says of itself that it is free-threaded, until a library is imported."""
    start_with(tmp_path, monkeypatch, "import sys\nsys._is_gil_enabled = lambda: False\n")
    take = SHARE + f"import sys\nsys._is_gil_enabled = lambda: {enables}\n"
    assert warning_codes(cross(tmp_path, MAKE, take)["ok"]) == codes


def test_a_worker_without_the_adapter_module_reports_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To report the failure the worker imported that module again, without end."""
    start_with(tmp_path, monkeypatch, "import sys\nsys.modules['dlbench.adapter'] = None\n")
    error = cross(tmp_path, MAKE, SHARE)["error"]
    assert error["outcome"] == "refused"
    assert "import of dlbench.adapter halted" in error["reason"]
