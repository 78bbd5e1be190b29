"""Attributes that an exchange drops silently, and results that do not outlive the array."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlbench import _core
from samples import warning_codes, warning_texts
from wire import F32, cross

pytestmark = pytest.mark.process

MAKE = "def make(case, device):\n    return case.numpy()\n"
SHARE = 'import numpy as np\nPROTOCOLS = {"dlpack": np.from_dlpack, "convert": np.asarray}\n'
# An array with a unit, in a class that both halves share.
METRES = """
import numpy as np
class Metres(np.ndarray): pass
def make(case, device): return case.numpy().view(Metres)
def extras(array): return {"unit": "m"}
"""
PLAIN = SHARE + "def extras(array): return {}\n"


def test_a_unit_that_is_dropped_is_named(tmp_path: Path) -> None:
    ok = cross(tmp_path, METRES, PLAIN)["ok"]
    assert (ok["outcome"], ok["changed"]) == ("zero-copy", ["unit"])
    other = SHARE + "def extras(array): return {'unit': 'ft'}\n"
    assert cross(tmp_path, METRES, other)["ok"]["changed"] == ["unit"]


@pytest.mark.parametrize(
    "take",
    [
        # by its own word
        SHARE + "def extras(array): return {'unit': 'm', 'labels': ((1, 2),)}\n",
        # by returning the producer's own type
        "import sys\nPROTOCOLS = {'dlpack': lambda x: sys.modules['_dlbench_producer_giver']"
        ".np.from_dlpack(x).view(sys.modules['_dlbench_producer_giver'].Metres)}\n",
        # by holding the array
        "import numpy as np\nclass Box:\n    def __init__(self, x):\n"
        "        self.held, self.array = x, np.from_dlpack(x)\n"
        "def memory(box): return box.held\nPROTOCOLS = {'dlpack': Box}\n"
        "def extras(box): return {}\n",
    ],
)
def test_a_unit_that_is_kept_is_not(tmp_path: Path, take: str) -> None:
    ok = cross(tmp_path, METRES, take)["ok"]
    assert (ok["outcome"], ok["changed"], ok["warnings"]) == ("zero-copy", [], [])


@pytest.mark.parametrize("take", [SHARE, SHARE + "def extras(array): return None\n"])
def test_a_loss_that_nothing_shows_is_not_stated(tmp_path: Path, take: str) -> None:
    ok = cross(tmp_path, METRES, take)["ok"]
    assert (ok["outcome"], ok["changed"]) == ("zero-copy", [])
    assert warning_codes(ok) == ["extras-not-compared"]


# Every third element is masked; `taken` is what becomes of it.
MASKED = """
import numpy as np
def make(case, device):
    content = case.numpy()
    return np.ma.MaskedArray(content, np.arange(content.size) % 3 == 0, copy=False)
def extras(array): return {"mask": np.ma.getmaskarray(array)} if np.ma.is_masked(array) else {}
"""


@pytest.mark.parametrize(
    ("taken", "reported", "outcome", "changed"),
    [
        ("x", "{'mask': x.mask}", "zero-copy", []),
        ("x.copy()", "{'nulls': x.mask}", "copy", []),
        ("x.data", "{}", "zero-copy", ["mask"]),
        ("x.filled(-1)", "{}", "copy", ["mask"]),
        ("x.filled(np.nan)", "{}", "copy", ["mask -> NaN"]),
        ("np.where(x.mask & (x.data != 3), np.nan, x.data)", "{}", "copy", ["mask"]),
        ("np.ma.MaskedArray(x.data, ~x.mask)", "{'mask': x.mask}", "zero-copy", ["mask"]),
        ("x.astype('f8').filled(np.nan)", "{}", "copy", ["dtype", "mask -> NaN"]),
    ],
)
def test_a_mask_is_kept_converted_or_dropped(
    tmp_path: Path, taken: str, reported: str, outcome: str, changed: list[str]
) -> None:
    take = f"import numpy as np\nPROTOCOLS = {{'convert': lambda x: {taken}}}\n"
    take += f"def extras(x): return {reported}\n"
    ok = cross(tmp_path, MASKED, take, "convert")["ok"]
    assert (ok["outcome"], ok["changed"]) == (outcome, changed)


def test_wrong_is_what_differs_where_nothing_is_masked(tmp_path: Path) -> None:
    take = (
        "import numpy as np\nPROTOCOLS = {'convert': lambda x: np.where(x.mask, 0, x.data + 1)}\n"
    )
    error = cross(tmp_path, MASKED, take, "convert")["error"]
    assert error["outcome"] == "wrong"
    assert error["reason"].startswith("element (1,): ")


def test_labels_are_kept_under_another_name(tmp_path: Path) -> None:
    index = METRES.replace('{"unit": "m"}', "{'index': (np.arange(4),)}")
    for ends, changed in ((4, []), (5, ["index"])):
        take = PLAIN.replace("{}", f"{{'labels': (np.arange({ends}),)}}")
        # In a folder of its own: within a second a file of the same size is not compiled again.
        (folder := tmp_path / str(ends)).mkdir()
        assert cross(folder, index, take)["ok"]["changed"] == changed


@pytest.mark.parametrize("extras", ["return 'unit'", "raise RuntimeError('broken')", "return 3"])
def test_extras_that_are_no_dict_are_a_warning(tmp_path: Path, extras: str) -> None:
    ok = cross(tmp_path, MAKE + f"def extras(array): {extras}\n", PLAIN)["ok"]
    assert ok["changed"] == []
    assert "extras-not-compared" in warning_codes(ok)


def test_an_adapter_that_makes_another_dtype_is_not_judged(tmp_path: Path) -> None:
    make = MAKE.replace("numpy()", "numpy().astype('i4')")
    error = cross(tmp_path, make, PLAIN, case=_core.case("i64"))["error"]
    assert error["outcome"] == "unsupported"
    assert "int32" in error["reason"]


def test_layout_is_of_the_result_and_not_of_a_copy_that_reads_it(tmp_path: Path) -> None:
    copied = PLAIN + "def values(array): return array.copy(order='C')\n"
    case = _core.case("f32-strided")
    assert cross(tmp_path, MAKE, copied, case=case)["ok"]["changed"] == []
    moved = copied.replace("np.from_dlpack", "lambda x: np.from_dlpack(x).copy()")
    assert cross(tmp_path, MAKE, moved, case=case)["ok"]["changed"] == ["layout"]


def test_a_case_needs_an_adapter_that_heeds_it(tmp_path: Path) -> None:
    case = F32 | {"name": "f32-grad", "special": "grad"}
    error = cross(tmp_path, MAKE, SHARE, case=case)["error"]
    assert error["outcome"] == "unsupported"
    assert error["reason"] == "the adapter of giver makes no grad arrays"
    make = 'SPECIAL = ("grad",)\n' + METRES.replace('"unit"', '"grad"')
    assert cross(tmp_path, make, PLAIN, case=case)["ok"]["changed"] == ["grad"]


def test_plain_bytes_lost_their_dtype_only(tmp_path: Path) -> None:
    take = "import numpy as np\nPROTOCOLS = {'buffer': lambda x: memoryview(x).cast('B')}\n"
    ok = cross(tmp_path, MAKE, take, "buffer")["ok"]
    assert (ok["outcome"], ok["changed"]) == ("zero-copy", ["dtype"])
    other = "import numpy as np\nPROTOCOLS = {'buffer': lambda x: np.frombuffer(x, 'u1') ^ 1}\n"
    assert cross(tmp_path, MAKE, other, "buffer")["error"]["outcome"] == "wrong"
    fewer = "import numpy as np\nPROTOCOLS = {'buffer': lambda x: np.frombuffer(x, 'u1')[:-1]}\n"
    assert "shape" in cross(tmp_path, MAKE, fewer, "buffer")["error"]["reason"]


def test_a_librarys_warnings_are_kept_once(tmp_path: Path) -> None:
    take = (
        "import warnings\nimport numpy as np\n"
        "def f(x):\n    for _ in range(2): warnings.warn('mind this\\nmore', DeprecationWarning)\n"
        "    return np.from_dlpack(x)\n"
        "PROTOCOLS = {'dlpack': f}\n"
    )
    assert warning_texts(cross(tmp_path, MAKE, take)["ok"]) == ["DeprecationWarning: mind this"]
    assert cross(tmp_path, MAKE, SHARE)["ok"]["warnings"] == []


# Keeps an address and nothing else.
DANGLING = """
import numpy as np
class Held:
    def __init__(self, x):
        self.__array_interface__ = np.asarray(x).__array_interface__
PROTOCOLS = {"buffer": Held}
"""
HONEST = DANGLING.replace("Held:", "Honest:").replace('{"buffer": Held}', '{"buffer": Honest}')
HONEST = HONEST.replace("def __init__(self, x):", "def __init__(self, x):\n        self.kept = x")


@pytest.mark.parametrize("size", [64, 4096, 65536])
def test_an_address_without_an_owner_is_found(tmp_path: Path, size: int) -> None:
    error = cross(tmp_path, MAKE, DANGLING, "buffer", size=size)["error"]
    assert error["outcome"] == "wrong"
    assert error["reason"].startswith(
        "the values changed after the producer's array was dropped: element"
    )
    assert cross(tmp_path, MAKE, HONEST, "buffer", size=size)["ok"]["outcome"] == "zero-copy"


def test_an_array_in_a_cycle_is_dropped_too(tmp_path: Path) -> None:
    make = (
        "import numpy as np\n"
        "class Ring(np.ndarray): pass\n"
        "def make(case, device):\n"
        "    ring = case.numpy().view(Ring)\n    ring.me = ring\n    return ring\n"
    )
    error = cross(tmp_path, make, DANGLING, "buffer")["error"]
    assert "was dropped" in error["reason"]


def test_a_large_array_is_not_looked_at(tmp_path: Path) -> None:
    assert cross(tmp_path, MAKE, DANGLING, "buffer", size=1 << 20)["ok"]["outcome"] == "zero-copy"
