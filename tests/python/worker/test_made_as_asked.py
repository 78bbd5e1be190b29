"""Arrays that are not the case, protection that an exchange removes, and calls that a version
lacks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import kiwisolver
import numpy as np
import pytest
from kiwisolver import _cext
from numpy._core import _multiarray_umath as multiarray

import whole
from dlbench import _core, loading
from dlbench.libraries import discover
from judging import GIVE, NUMPY, READONLY, SHARE, found
from wire import F32, cross, plant, prepare, send_request

pytestmark = pytest.mark.process

STRIDED = F32 | {"name": "f32-strided", "layout": "strided"}
FORTRAN = F32 | {"name": "f32-fortran", "dims": "2d", "layout": "fortran"}
SCALAR = F32 | {"name": "f32-0d", "dims": "0d"}
ONES = F32 | {"name": "f32-ones", "dims": "ones"}
OFFSET = F32 | {"name": "f32-align4", "offset": 4}
# Allocate their arrays, as most libraries do.
CONTIGUOUS = (
    NUMPY + "def make(case, device):\n    return np.array(case.numpy(), order='C', ndmin=1)\n"
)
SLICED = """\
import numpy as np
def make(case, device):
    return case.sliced(case.unsliced(case.numpy()).copy(), np.broadcast_to)
"""


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        (STRIDED, "the producer's array has strides (4,), not (8,)"),
        (FORTRAN, "the producer's array has strides (1024, 4), not (4, 16)"),
        (ONES, "the producer's array has strides (4096, 4, 4), not (12, 4, 20)"),
        (SCALAR, "the producer's array has shape (1,), not ()"),
        (OFFSET, "bytes; the case is a multiple of 4 and no larger one"),
        (READONLY, "the producer's array may be written to"),
    ],
)
def test_an_array_that_is_not_the_case_is_unsupported(
    tmp_path: Path, case: dict[str, Any], reason: str
) -> None:
    error = cross(tmp_path, CONTIGUOUS, SHARE, "dlpack", case)["error"]
    assert error["outcome"] == "unsupported"
    assert error["reason"].endswith(reason)


#: As of NumPy up to 2.2 and PyTorch up to 2.8, its export has other strides along dimensions of one
#: element.
RESTATING = """\
import numpy as np
class Array:
    def __init__(self, array):
        self.array, self.export = array, np.ndarray(array.shape, array.dtype, array)
        self.itemsize = array.itemsize
    def __dlpack_device__(self):
        return self.export.__dlpack_device__()
    def __dlpack__(self, **keywords):
        return self.export.__dlpack__(**keywords)
def make(case, device):
    return Array(case.numpy())
"""
BYTES = "Array.strides = property(lambda self: self.array.strides)\n"
ELEMENTS = "Array.stride = lambda self: tuple(s // self.itemsize for s in self.array.strides)\n"


@pytest.mark.parametrize("own", [BYTES, ELEMENTS])
def test_the_own_strides_of_an_array_count_along_dimensions_of_one_element(
    tmp_path: Path, own: str
) -> None:
    stated = cross(tmp_path, RESTATING + own, SHARE, "dlpack", ONES)
    assert stated["ok"]["outcome"] == "zero-copy"
    unknown = cross(tmp_path, RESTATING, SHARE, "dlpack", ONES)["error"]
    assert unknown["reason"].endswith("has strides (4096, 4, 4), not (12, 4, 20)")


def test_the_bytes_of_an_array_have_no_strides(tmp_path: Path) -> None:
    make = "def make(case, device):\n    return bytearray(case.numpy())\n"
    take = f"{NUMPY}PROTOCOLS = {{'buffer': np.asarray}}\n"
    error = cross(tmp_path, make, take, "buffer", STRIDED)["error"]
    assert error["outcome"] == "unsupported"
    assert error["reason"] == "the producer's array has no memory with strides (8,)"
    assert cross(tmp_path, make, take, "buffer", F32)["ok"]["outcome"] == "zero-copy"


TABLE = F32 | {"name": "f32-2d", "dims": "2d"}
NULLS = F32 | {"name": "f32-nulls", "special": "nulls"}
I4 = _core.case("i4")
#: Has no shape, so its array is a line.
LINE = """\
import array
def make(case, device):
    return array.array("f", case.numpy().tobytes())
"""
#: Cannot say where its array lies, which has an unknown layout.
SILENT = f"""{NUMPY}
class Silent:
    def __init__(self, array):
        self.array = array
def make(case, device):
    return Silent(case.numpy())
def memory(array):
    raise ValueError("its memory would be a copy")
def values(array):
    return array.array
"""
#: States two elements in a byte, as DLPack without a flag does.
PACKED = f"""{NUMPY}
import ctypes
from dlbench.adapter import capsule_pointer
class Packed:
    def __init__(self, array):
        self.array = array
    def __dlpack_device__(self):
        return (1, 0)
    def __dlpack__(self, **words):
        capsule = self.array.__dlpack__()
        stated = (ctypes.c_uint8 * 2).from_address(capsule_pointer(capsule, b"dltensor") + 20)
        stated[:] = 0, 4
        return capsule
def make(case, device):
    return Packed(case.bits())
"""
#: Takes no array at all.
REFUSING = """\
def refuse(array):
    raise TypeError("no array of this library")
PROTOCOLS = {"convert": refuse}
"""
NULLED = f"{GIVE}SPECIAL = ('nulls',)\n"
MARKED = f"{NULLED}def extras(array):\n    return {{'nulls': array != array}}\n"


@pytest.mark.parametrize(
    ("make", "case", "reason"),
    [
        (LINE, TABLE, "has shape (1024,), not (4, 256)"),
        (PACKED, I4, "cannot be located, so its layout is unknown: dlbench cannot read it: dty"),
        (f"{NULLED}def extras(array):\n    return {{}}\n", NULLS, "has no nulls"),
    ],
)
def test_another_array_is_found_before_a_consumer_refuses_it(
    tmp_path: Path, make: str, case: dict[str, Any], reason: str
) -> None:
    error = cross(tmp_path, make, REFUSING, "convert", case)["error"]
    assert error["outcome"] == "unsupported"
    assert error["reason"].startswith(f"the producer's array {reason}")


@pytest.mark.parametrize(
    ("make", "case"),
    [
        (LINE, F32),
        # What is not known of an array hides no refusal.
        *((SILENT, case) for case in (F32, STRIDED, I4)),
        (NULLED, NULLS),
        (GIVE, I4),
        (MARKED, NULLS),
        (GIVE, TABLE),
    ],
)
def test_an_array_that_is_the_case_is_refused(
    tmp_path: Path, make: str, case: dict[str, Any]
) -> None:
    error = cross(tmp_path, make, REFUSING, "convert", case)["error"]
    assert (error["outcome"], error["reason"]) == ("refused", "no array of this library")


#: A library that makes only so many arrays.
COUNTED = f"""{NUMPY}
made = []
def make(case, device):
    made.append(case.numpy())
    if len(made) > 40:
        raise MemoryError("too many")
    return made[-1]
"""


def test_an_alignment_is_looked_at_once_for_all_consumers(tmp_path: Path) -> None:
    names = [f"taker{i}" for i in range(3)]
    answers = send_request(
        tmp_path,
        plant(tmp_path, "producer", "giver", COUNTED),
        *(plant(tmp_path, "consumer", name, SHARE) for name in names),
        *(prepare(i, "giver", name, "dlpack", OFFSET) for i, name in enumerate(names)),
    )
    assert [answer["ok"]["outcome"] for answer in answers[-3:]] == ["zero-copy"] * 3


@pytest.mark.parametrize("case", [STRIDED, FORTRAN, OFFSET])
def test_a_librarys_own_slice_is_the_case(tmp_path: Path, case: dict[str, Any]) -> None:
    assert cross(tmp_path, SLICED, SHARE, "dlpack", case)["ok"]["outcome"] == "zero-copy"


OWN = F32 | {"name": "f32-own", "storage": "own"}
VIEW = F32 | {"name": "f32-view", "storage": "view"}
VIEWED = NUMPY + "def make(case, device):\n    return np.asarray(case.numpy()).view()\n"
BUILT = NUMPY + "def make(case, device):\n    return case.build(np.asarray, np.copy)\n"
#: Slices NumPy's memory, which the adapter only wraps.
WRAPPED = SLICED.replace(".copy()", "")
#: A library that copies each slice.
SLICE_COPIED = SLICED.replace("np.broadcast_to)", "np.broadcast_to).copy()")
#: Each export copies, so the address of the array is unknown.
HIDDEN = """\
import numpy as np
class Hidden:
    def __init__(self, array):
        self.array = array
    def __array__(self, dtype=None, copy=None):
        return self.array.copy()
    @property
    def __array_interface__(self):
        return self.array.copy().__array_interface__
def memory(array):
    return array.array.copy() if isinstance(array, Hidden) else array
def make(case, device):
    return Hidden(case.numpy().copy())
"""
#: A library that chooses the addresses of its arrays: the tenth lies elsewhere.
CHANCE = """\
import numpy as np
made = []
def make(case, device):
    made.append(case.numpy())
    at = np.zeros(case.bytes // 4 + 64, case.dtype)
    at = at[-at.ctypes.data // 4 % 64 + (2 if len(made) == 10 else 1) :][: case.bytes // 4]
    at[:] = made[-1]
    return at
"""


@pytest.mark.parametrize(
    ("make", "case", "reason"),
    [
        (VIEWED, OWN, "lies in NumPy's memory"),
        (VIEWED, VIEW, "lies in NumPy's memory"),
        (WRAPPED, VIEW, "lies in NumPy's memory"),
        (SLICE_COPIED, VIEW, "is a copy of the slice"),
        (CONTIGUOUS, VIEW, "is no slice of an array of its library"),
        (HIDDEN, OWN, "cannot be located, so it is unknown if its memory is its library's: "),
        (HIDDEN, OFFSET, "cannot be located, so its alignment is unknown: "),
        (HIDDEN, STRIDED, "cannot be located, so its layout is unknown: "),
        (CHANCE, OFFSET, "lies at a multiple of 8 bytes; the case is a multiple of 4 and no"),
    ],
)
def test_memory_that_is_not_the_librarys_own_is_unsupported(
    tmp_path: Path, make: str, case: dict[str, Any], reason: str
) -> None:
    error = cross(tmp_path, make, ASARRAY, "convert", case)["error"]
    assert error["outcome"] == "unsupported"
    assert error["reason"].startswith(f"the producer's array {reason}")


@pytest.mark.parametrize(
    ("make", "case"), [(GIVE, OWN), (GIVE, VIEW), (CONTIGUOUS, OWN), (SLICED, VIEW), (BUILT, VIEW)]
)
def test_a_librarys_own_memory_is_measured(tmp_path: Path, make: str, case: dict[str, Any]) -> None:
    assert cross(tmp_path, make, ASARRAY, "convert", case)["ok"]["outcome"] == "zero-copy"


#: Changes the last element.
OTHER = """\
import numpy as np
def convert(array):
    other = np.array(array)
    other[-1:] = other[:1]
    return other
PROTOCOLS = {"convert": convert}
"""


@pytest.mark.parametrize("name", ["dt64", "td64", "bytes", "str", "record", "object", "vstr"])
def test_elements_without_numbers_are_compared(tmp_path: Path, name: str) -> None:
    case = _core.case(name)
    assert cross(tmp_path, GIVE, ASARRAY, "convert", case)["ok"]["outcome"] == "zero-copy"
    error = cross(tmp_path, GIVE, OTHER, "convert", case)["error"]
    assert (error["outcome"], error["code"]) == ("wrong", "values-differ")


@pytest.mark.parametrize(
    ("other", "outcome"),
    [("'i8'", "copy"), ("'f4'", "copy"), ("'i8') + np.int64(1", "wrong"), ("'S4'", "copy")],
)
def test_numbers_made_of_objects_are_compared(tmp_path: Path, other: str, outcome: str) -> None:
    convert = f"def convert(array):\n    return array.astype({other})\n"
    take = f'{NUMPY}{convert}PROTOCOLS = {{"convert": convert}}\n'
    case = _core.case("object-strided")
    answer = cross(tmp_path, GIVE, take, "convert", case)
    if outcome == "wrong":
        assert answer["error"]["code"] == "values-differ"
    else:
        assert (answer["ok"]["outcome"], answer["ok"]["changed"][0]) == (outcome, "dtype")
        is_compared = not answer["ok"].get("warnings")
        assert is_compared == (other != "'S4'"), answer


def test_pointers_of_objects_are_compared_as_they_are(tmp_path: Path) -> None:
    take = "from dlbench import _native_consumer\n"
    take += "PROTOCOLS = {'buffer': _native_consumer.from_buffer}\n"
    answer = cross(tmp_path, GIVE, take, "buffer", _core.case("object"))
    assert (answer["ok"]["outcome"], answer["ok"]["changed"]) == ("zero-copy", ["dtype"])


#: Reads the array when it is read itself, and shows no address.
LAZY = """\
import numpy as np
class Lazy:
    def __init__(self, array):
        self.array = array
    def __array__(self, dtype=None, copy=None):
        return np.array(self.array)
def values(array):
    return np.array(array)
PROTOCOLS = {"convert": Lazy}
"""


@pytest.mark.parametrize(("name", "outcome"), [("f32", "zero-copy"), ("object", "unproven")])
def test_no_object_is_overwritten_that_a_library_reads(
    tmp_path: Path, name: str, outcome: str
) -> None:
    *_, answer = send_request(
        tmp_path,
        plant(tmp_path, "producer", "giver", GIVE),
        plant(tmp_path, "consumer", "taker", LAZY),
        prepare(1, "giver", "taker", "convert", _core.case(name)),
        {"do": "judge", "id": 1},
    )
    assert answer["ok"]["outcome"] == outcome, answer


@pytest.mark.parametrize("make", [SLICED, BUILT])
def test_a_scalar_is_a_view_too(tmp_path: Path, make: str) -> None:
    case = _core.case("f32-0d-view")
    assert cross(tmp_path, make, ASARRAY, "convert", case)["ok"]["outcome"] == "zero-copy"


#: Is what is written into the array seen in the result? It lies as large arrays of NumPy do.
PLAIN = """\
import numpy as np
{}
kept = []
while True:
    x = {}
    if not isinstance(x, np.ndarray) or x.ctypes.data % 64 == 16:
        break
    kept.append(x)
y = {}
before = float(np.from_dlpack(y)[3])
x[3] = 77
print(before, float(np.from_dlpack(y)[3]) == 77)
"""
ARANGE = "np.arange(1024, dtype=np.float32)"
TORCHS = "torch.arange(1024, dtype=torch.float32)"


@pytest.mark.libraries
@pytest.mark.parametrize(
    ("producer", "consumer", "protocol", "imports", "array", "call"),
    [
        ("numpy", "jax", "dlpack", "import jax", ARANGE, "jax.dlpack.from_dlpack(x)"),
        ("numpy", "mlx", "convert", "import mlx.core", ARANGE, "mlx.core.array(x)"),
    ]
    + [
        pytest.param(*words, marks=pytest.mark.thorough)
        for words in (
            ("numpy", "jax", "convert", "import jax", ARANGE, "jax.numpy.asarray(x)"),
            ("numpy", "torch", "dlpack", "import torch", ARANGE, "torch.from_dlpack(x)"),
            ("numpy", "paddle", "dlpack", "import paddle", ARANGE, "paddle.from_dlpack(x)"),
            ("numpy", "tvm_ffi", "dlpack", "import tvm_ffi", ARANGE, "tvm_ffi.from_dlpack(x)"),
            (
                "numpy",
                "tensorflow",
                "convert",
                "import tensorflow",
                ARANGE,
                "tensorflow.constant(x)",
            ),
            ("torch", "jax", "dlpack", "import torch, jax", TORCHS, "jax.dlpack.from_dlpack(x)"),
            ("torch", "numpy", "dlpack", "import torch", TORCHS, "np.from_dlpack(x)"),
        )
    ],
)
def test_the_default_case_does_as_a_plain_script(
    tmp_path: Path, producer: str, consumer: str, protocol: str, imports: str, array: str, call: str
) -> None:
    files = discover.catalogue().files
    answer = send_request(
        tmp_path,
        *(
            {"do": "load", "role": role, "library": name, "path": str(files[name][role].path)}
            for name in (producer, consumer)
            for role in files[name]
        ),
        prepare(1, producer, consumer, protocol, F32),
    )[-1]
    done = subprocess.run(
        [sys.executable, "-c", PLAIN.format(imports, array, call)],
        check=True, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    shared = answer["ok"]["outcome"] == "zero-copy"
    assert done.stdout.split() == ["3.0", str(shared)]


@pytest.mark.libraries
def test_the_strides_of_size_1_are_seen_in_integers_with_the_bits(tmp_path: Path) -> None:
    case = _core.case("bf16-ones")
    made = "def make(case, device):\n    return case.numpy()\n"
    assert cross(tmp_path, made, ASARRAY, "convert", case)["ok"]["outcome"] == "zero-copy"


COLUMN = "def make(case, device):\n    return case.numpy().reshape(-1, 1)\n"


@pytest.mark.parametrize(("result", "changed"), [("x", []), ("np.ravel(x)", ["shape"])])
def test_a_vector_that_is_made_as_a_column_is_kept_as_one(
    tmp_path: Path, result: str, changed: list[str]
) -> None:
    take = f"{NUMPY}PROTOCOLS = {{'convert': lambda x: {result}}}\n"
    assert cross(tmp_path, COLUMN, take, "convert")["ok"]["changed"] == changed


FALSE_STRIDES = """\
class Giver:
    def __init__(self, array):
        self.__array_interface__ = array.__array_interface__ | {"strides": (4,)}
        self.array = array
def make(case, device):
    return Giver(case.numpy())
"""
ASARRAY = NUMPY + "PROTOCOLS = {'convert': np.asarray, 'array_interface': np.asarray}\n"


def test_a_false_description_is_still_a_fault(tmp_path: Path) -> None:
    answer = cross(tmp_path, FALSE_STRIDES, ASARRAY, "array_interface", STRIDED)
    assert answer["error"]["outcome"] == "wrong"


# Writes nothing, but its result may be written to.
UNPROTECTED = """\
import ctypes
import numpy as np
class Kept(np.ndarray):
    pass
def unprotected(x):
    x = np.from_dlpack(x)
    floats = (ctypes.c_float * x.size).from_address(x.__array_interface__["data"][0])
    result = np.ctypeslib.as_array(floats).view(Kept)
    result.source = x
    return result
PROTOCOLS = {"convert": unprotected, "dlpack": unprotected}
"""


PROTECTED = f"{NUMPY}PROTOCOLS = {{'convert': lambda x: np.asarray(memoryview(x).toreadonly())}}\n"


@pytest.mark.parametrize(
    ("take", "case", "changed", "writable"),
    [
        (UNPROTECTED, READONLY, ["protection"], "result"),
        (UNPROTECTED, F32, [], "both"),
        (ASARRAY, READONLY, [], "neither"),
        (ASARRAY, F32, [], "both"),
        (PROTECTED, F32, ["read-only"], "source"),
        (PROTECTED, READONLY, [], "neither"),
        (NUMPY + "PROTOCOLS = {'convert': np.array}\n", READONLY, [], ""),
    ],
    ids=["removed", "never there", "kept", "plain", "added", "there before", "of a copy"],
)
def test_protection_that_an_exchange_removes_or_adds_is_named(
    tmp_path: Path, take: str, case: dict[str, Any], changed: list[str], writable: str
) -> None:
    ok = cross(tmp_path, GIVE, take, "convert", case)["ok"]
    assert (ok["changed"], ok["writable"]) == (changed, writable)


def test_the_judgment_under_the_guard_names_it_too(tmp_path: Path) -> None:

    assert found(tmp_path, GIVE, UNPROTECTED, case=READONLY)["changed"] == ["protection"]


OLD = """\
import types
import numpy as np
library = types.SimpleNamespace(asarray=np.asarray)
PROTOCOLS = {"dlpack": library.from_dlpack, "convert": library.asarray}
"""


def test_an_absent_call_costs_its_own_cells(tmp_path: Path) -> None:
    path = tmp_path / "old.py"
    path.write_text(OLD)
    module = loading.load_adapter("consumer", "old", str(path))
    assert list(module.PROTOCOLS) == ["convert"]
    lacking = "'types.SimpleNamespace' object has no attribute 'from_dlpack'"
    assert {"dlpack": lacking} == module.ABSENT
    assert cross(tmp_path, GIVE, OLD, "convert", F32)["ok"]["outcome"] == "zero-copy"
    assert cross(tmp_path, GIVE, OLD, "buffer", F32)["ok"]["outcome"] == "zero-copy"
    fail = cross(tmp_path, GIVE, OLD, "dlpack_c", F32)["error"]
    assert (fail["outcome"], fail["reason"]) == ("no-protocol", "taker has no call for dlpack_c")


def adapter_of(role: str, name: str, **names: Any) -> ModuleType:
    module = ModuleType(f"_dlbench_{role}_{name}")
    vars(module).update(names)
    return module


@pytest.mark.parametrize(
    ("files", "consumer", "producer", "is_its"),
    [
        (["own"], {"solver": kiwisolver}, {}, True),
        (["own"], {"take": kiwisolver.Variable}, {}, True),
        # The consumer may have called a function of the producer's package.
        (["own"], {"solver": kiwisolver}, {"solver": kiwisolver}, False),
        (["own", "other.so"], {"solver": kiwisolver}, {}, False),
        (["own"], {"pytest": pytest}, {}, False),
        ([], {"solver": kiwisolver}, {}, False),
        # The producer may have called NumPy from anywhere.
        (["numpys"], {"np": np}, {}, False),
    ],
)
def test_the_code_of_a_package_is_the_consumers(
    files: list[str], consumer: dict[str, Any], producer: dict[str, Any], is_its: bool
) -> None:
    names = {"own": Path(_cext.__file__).name, "numpys": Path(multiarray.__file__).name}
    named = [names.get(file, file) for file in files]
    taker, giver = adapter_of("consumer", "a", **consumer), adapter_of("producer", "b", **producer)
    assert loading.is_code_of(named, taker, giver) == is_its


def test_the_code_of_one_library_in_both_roles_is_its_own() -> None:
    both = [adapter_of(role, "a", solver=kiwisolver) for role in ("consumer", "producer")]
    assert loading.is_code_of([Path(_cext.__file__).name], *both)


@pytest.mark.parametrize(
    ("array", "file", "is_its"),
    [
        (bytearray(8), "libpython", True),
        (memoryview(b""), "libpython", True),
        (np.zeros(1), "libpython", False),
        (bytearray(8), Path(multiarray.__file__).name, False),
    ],
)
def test_pythons_own_arrays_copy_nothing_unasked(array: Any, file: str, is_its: bool) -> None:
    paths = [line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines()]
    named = {Path(path).name for path in paths if Path(path).name.startswith(file)}
    python = [*named] or [Path("/proc/self/exe").resolve().name]
    both = [adapter_of(role, role[0], np=np) for role in ("consumer", "producer")]
    assert loading.is_code_of(python[:1], both[0], both[1], array) == is_its


#: A type that an import of "taker" has put in the place of the library's own.
TYPED = (
    NUMPY
    + """
class Array(np.ndarray):
    pass

Array.__module__ = "{}.core"

def make(case, device):
    return case.numpy().view(Array)
"""
)


@pytest.mark.parametrize(("root", "is_foreign"), [("taker", True), ("giver", False)])
def test_an_array_of_another_librarys_type_is_named(
    tmp_path: Path, root: str, is_foreign: bool
) -> None:
    warnings = found(tmp_path, TYPED.format(root), SHARE)["warnings"]
    types = [one["data"]["type"] for one in warnings if one["code"] == "foreign-type"]
    assert types == [f"{root}.core.Array"] * is_foreign


SLOW_ONCE = """
import time
DISTRIBUTION = None
done = []

class Slow:
    def __init__(self, array):
        self.array = array

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, **arguments):
        if not done:
            time.sleep(0.05)
        done.append(1)
        return self.array.__dlpack__(**arguments)


def make(case, device):
    return Slow(case.numpy())
"""


def test_the_first_call_is_the_first_that_exports_an_array(tmp_path: Path) -> None:
    whole.plant(tmp_path / "more", "slow", make=SLOW_ONCE)
    words = ("--producers", "slow", "--consumers", "numpy", "--adapters", "more")
    document = whole.measure(tmp_path, *words, "--protocols", "dlpack", "--sizes", "4KiB")
    (entry,) = document["benchmarks"]
    assert entry["workers"][0]["first_ns"] > 50e6
