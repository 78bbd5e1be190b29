"""The lines of an adapter's SCRIPT make the same array as its `make`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import samples
from dlbench import _core, loading
from dlbench.case import Case
from dlbench.libraries import discover
from dlbench.scripts import side as scripts
from dlbench.scripts import source
from dlbench.scripts.side import Side

FOUND = discover.catalogue()
SHOWN = [
    name
    for library, roles in FOUND.files.items()
    if "producer" in roles and roles["producer"].script and library != "cupy"
    for argument in ("", *roles["producer"].arguments)
    if not argument or f"make {argument}" in roles["producer"].script
    for name in [f"{library}:{argument}".removesuffix(":")]
]


def dtype_of(array: Any) -> str:
    try:
        return str(getattr(array, "dtype", ""))
    except ValueError as error:  # a dtype that the library itself does not name
        return str(error)


def facts(side: Side, array: Any, source: Any, scope: dict[str, Any]) -> dict[str, Any]:
    """Type, form, content, and whether the memory is that of the source."""
    scope = {**scope, "array": array}
    exec(scripts.AS_NUMPY, scope)
    try:
        seen = np.asarray(eval(side.values("array"), scope))
    except Exception:  # NumPy does not import the dtype
        seen = np.zeros(0)
    place, before = side.memory("array")
    try:
        exec("\n".join([*side.lines, before]), scope)
        first, end = np.lib.array_utils.byte_bounds(source)
        shares = first <= eval(place, scope) < end
    except Exception:
        shares = False
    shape, strides = (getattr(array, name, None) for name in ("shape", "strides"))
    return {
        "type": type(array).__name__,
        "dtype": dtype_of(array),
        "shape": str(shape() if callable(shape) else shape),
        "strides": str(strides() if callable(strides) else strides),
        "writeable": getattr(getattr(array, "flags", None), "writeable", None),
        "content": (
            str(seen.dtype),
            seen.shape,
            seen.tolist() if seen.dtype == object else seen.tobytes(),
        ),
        "shares": shares,
    }


def keep_made(make: Callable[[Case], Any], kept: list[Any], case: Case) -> Any:
    kept.append(make(case))
    return kept[-1]


@pytest.mark.libraries
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("library", SHOWN)
def test_the_lines_of_a_script_make_the_array_of_make(
    library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not discover.library(library, FOUND.roles(library)).installed:
        pytest.skip(f"{library} is not installed")
    device = "sycl:0" if library == "dpnp" else "cpu"
    file = FOUND.roles(library)["producer"]
    made, module = 0, loading.load_adapter("producer", library, str(file.path))
    # A third of the cases, another one for the next library. Numba compiles each of them twice.
    step = 30 if library == "numba" else 3
    names = _core.case_names()[SHOWN.index(library) % step :: step]
    for name in ("f32", "f32-0d", "f6e2m3fn-0xn", *names, "f32-broadcast-own", "f32-readonly-own"):
        kept: list[Any] = []
        case = Case(**_core.case(name), bytes=samples.own_size(name))
        if case.special and case.special not in getattr(module, "SPECIAL", ()):
            continue
        if library == "tensorflow" and case.dtype[0] in "SUo" and len(case.shape) > 30:
            continue  # tf.constant of texts and objects ends by SIGSEGV
        keep = partial(keep_made, Case.numpy, kept)
        monkeypatch.setattr(Case, "numpy", lambda case, keep=keep: keep(case))
        try:
            expected = module.make(case, device)
        except Exception:  # the library has no such array
            continue
        except BaseException as error:
            if type(error).__name__ != "PanicException":  # of Polars, for elements as objects
                raise
            continue
        finally:
            monkeypatch.undo()
        side = Side.of(FOUND, "producer", library)
        lines = side.make(case, device)
        assert "given=" not in lines[0]
        if lines[0].startswith("case = "):  # the adapter's own `make`
            continue
        before = source.lines(case, side.reads_bits())
        scope: dict[str, Any] = {"np": np}
        exec("\n".join(["import numpy as np", *side.lines, *before, *lines]), scope)
        shown = facts(side, scope["array"], scope["source"], scope)
        # For `own`, NumPy's array is that of the case: it shares no other's memory. The lines write
        # conjugates beside the source, and `make` over it.
        is_apart = case.special in ("conj", "neg") or (case.own and expected is kept[0])
        given = np.empty(0) if is_apart else kept[0]
        assert shown == facts(side, expected, given, scope), name
        made += 1
    assert made
