"""A script of `repro` shows the consumer the same object as the worker, also for failed
exchanges."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_exports import TAKE_CAPSULE, exporting
from test_repro import ran

import samples
import whole
from dlbench.libraries import discover
from dlbench.scripts import exchange as repro
from typed import entry_of

pytestmark = pytest.mark.process

#: Arrays that NumPy takes by a protocol that it prefers to `__array__`.
SHY = """
DISTRIBUTION = None


class Shy:
    def __init__(self, source):
        self.source = source

    @property
    def __array_interface__(self):
        return self.source.__array_interface__

    def __array__(self, dtype=None, copy=None):
        raise BufferError("not that way")


def make(case, device):
    return Shy(case.numpy())
"""
CONVERT = 'DISTRIBUTION = None\nimport numpy as np\nPROTOCOLS = {"convert": np.asarray}\n'


def planted(folder: Path, make: str, take: str = whole.GOOD_TAKE) -> discover.Catalogue:
    whole.plant(folder / "more", "mine", make, take)
    return discover.catalogue(folder / "more")


def test_a_refusal_before_the_old_struct_is_raised_again(tmp_path: Path) -> None:
    given = {"protocol": "dlpack_legacy", "case": "f32-readonly", "exception": "BufferError"}
    entry = samples.missing("numpy", "numpy", "refused", "Cannot export readonly array", **given)
    done = ran(repro.script(entry_of(entry), discover.catalogue(), {}), tmp_path)
    assert done.returncode == 0
    assert "Cannot export readonly array" in done.stdout


def test_a_conversion_is_shown_what_it_refused_alone(tmp_path: Path) -> None:
    given = {"protocol": "array", "exception": "BufferError"}
    entry = samples.missing("mine", "mine", "refused", "not that way", **given)
    done = ran(repro.script(entry_of(entry), planted(tmp_path, SHY, CONVERT), {}), tmp_path)
    assert done.returncode == 1
    assert "actual: BufferError: not that way" in done.stdout


@pytest.mark.parametrize("protocol", ["dlpack", "dlpack_legacy"])
def test_an_export_that_raised_is_called_again(tmp_path: Path, protocol: str) -> None:
    found = planted(tmp_path, exporting(dlpack_legacy="failing"))
    given = {"protocol": protocol, "exception": "BufferError"}
    entry = samples.missing("mine", "mine", "refused", "not today", **given)
    done = ran(repro.script(entry_of(entry), found, {}), tmp_path)
    assert done.returncode == 0
    assert "actual: BufferError: not today" in done.stdout


@pytest.mark.parametrize(
    ("device", "numbers"),
    [("cpu", "(1, 0)"), ("cuda:1", "(2, 1)"), ("rocm:0", "(10, 0)"), ("cuda:0+cpu", "(2, 0)")],
)
def test_what_stands_for_an_export_lies_where_the_array_does(
    tmp_path: Path, device: str, numbers: str
) -> None:
    entry = samples.missing("mine", "mine", "refused", "not today", device=device)
    script = repro.script(
        entry_of(entry), planted(tmp_path, exporting(dlpack_legacy="failing")), {}
    )
    assert (
        f"__dlpack_device__ = staticmethod(lambda *args, x=array, **kwargs: {numbers})\n" in script
    )


def test_a_library_that_is_handed_a_capsule_is_shown_nothing(tmp_path: Path) -> None:
    found = planted(tmp_path, whole.GOOD_MAKE, TAKE_CAPSULE)
    entry = samples.missing("mine", "mine", "refused", "why", protocol="dlpack_legacy")
    assert "class Alone" not in repro.script(entry_of(entry), found, {})


def test_a_call_for_the_protocol_itself_is_given_the_array(tmp_path: Path) -> None:
    entry = samples.missing("mine", "mine", "refused", "why")
    script = repro.script(entry_of(entry), planted(tmp_path, whole.GOOD_MAKE), {})
    assert "class Alone" not in script


#: As SciPy, which takes a memoryview for a number.
NO_VIEW = """
DISTRIBUTION = None
import numpy as np
def take(x):
    assert not isinstance(x, memoryview)
    return {}(x)
PROTOCOLS = {{"buffer": take}}
"""


@pytest.mark.parametrize(("function", "status"), [("np.asarray", 0), ("np.array", 1)])
def test_a_buffer_alone_is_no_memoryview(function: str, status: int, tmp_path: Path) -> None:
    found = planted(tmp_path, whole.GOOD_MAKE, NO_VIEW.format(function))
    observed = {**samples.OWN, "used": "buffer", "via": "proxy"}
    proved = {"evidence": dict.fromkeys(("address", "guard", "write", "slope"), "yes")}
    entry = samples.measured("mine", "mine", 1.0, protocol="buffer", observed=observed, **proved)
    done = ran(repro.script(entry_of(entry), found, {}), tmp_path)
    assert done.returncode == status, done.stdout + done.stderr


#: As MLX, which raises an error of its own where a buffer cannot be had.
HIDES = """
DISTRIBUTION = None
def take(x):
    try:
        memoryview(x)
    except Exception:
        raise RuntimeError from None
PROTOCOLS = {"buffer": take}
"""


@pytest.mark.parametrize(("case", "status"), [("dt64", 1), ("f32", 0)])
def test_a_consumer_meets_the_refusal_of_a_buffer_itself(
    case: str, status: int, tmp_path: Path
) -> None:
    found = planted(tmp_path, "def make(case, device):\n    return case.numpy()\n", HIDES)
    words = {"protocol": "buffer", "case": case, "exception": "RuntimeError", "via": "proxy"}
    entry = samples.missing("mine", "mine", "refused", "why", **words)
    done = ran(repro.script(entry_of(entry), found, {}), tmp_path)
    assert done.returncode == status, done.stdout + done.stderr
    assert ("actual: RuntimeError" in done.stdout) == bool(status), done.stdout
