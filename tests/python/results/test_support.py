"""The page of which library exchanges with which."""

from __future__ import annotations

import pytest

import samples
import synthetic
from dlbench.errors import BadInput
from dlbench.exporters import support
from typed import doc


def test_support_tells_what_crosses() -> None:
    made = synthetic.with_case_sweep(synthetic.document(("numpy", "jax", "mlx"), failing=0.0))
    made["context"]["dlbench"]["command"] = ["/somewhere/dlbench", "--out", "/elsewhere"]
    requested = {"producers": ["numpy", "jax"], "cases": ["all"], "filter": "a|b", "timeout": "9s"}
    made["context"]["dlbench"]["request"] = requested
    page = support.export(doc(made))
    command = (
        "dlbench --matrix --producers numpy,jax --cases all --filter 'a|b' --timeout 9s --out RUN"
    )
    assert f"{command} && dlbench export RUN --format support\n" in page
    assert "where" not in page
    assert made["context"]["date"][:10] in page
    lines = page.splitlines()
    assert any(line.startswith("| mlx | ") and "dlpack" in line for line in lines)
    at = next(number for number, line in enumerate(lines) if line.startswith("## "))
    assert lines[at - 2 : at + 1] == [support.KEY, "", "## `dlpack` on cpu, 4 KiB"]
    assert lines[at + 2] == "| from, to | jax | mlx | numpy |"
    assert "| numpy | 0 | copy | 0 |" in lines[at:]
    assert any(line.endswith("| refused | f16 |") for line in lines)


def test_a_run_of_calls_alone_is_refused() -> None:
    call, exchange = synthetic.call("nanobind", 2, 60.0), samples.measured("numpy", "jax", 100.0)
    with pytest.raises(BadInput, match="this run has calls alone: export it as csv"):
        support.export(doc(samples.document(call)))
    assert "| numpy | 0 |" in support.export(doc(samples.document(call, exchange)))


def test_support_says_why_a_library_is_not_there() -> None:
    absent = samples.missing("numpy", "torch", "not-installed", "pip install torch")
    [row] = [line for line in support.export(doc(samples.document(absent))).splitlines()
             if line.startswith("| torch |")]  # fmt: skip
    assert row.endswith("| pip install torch |")


def test_support_gives_each_absent_library_its_own_reason() -> None:
    cells = [
        samples.missing("cupy", "torch", "not-installed", "pip install torch"),
        samples.missing("cupy", "numpy", "not-installed", "pip install cupy"),
        samples.missing("numpy", "torch", "not-installed", "pip install torch"),
        samples.measured("numpy", "numpy", 100.0),
    ]
    rows = support.export(doc(samples.document(*cells))).splitlines()
    [cupy] = [row for row in rows if row.startswith("| cupy |")]
    assert cupy.endswith("| pip install cupy |")


def test_support_of_another_environment_tells_what_is_there() -> None:
    cells = [
        samples.measured("numpy", "numpy", 100.0),
        samples.measured("numpy", "numpy", 100.0, environment="old"),
        samples.missing("cupy", "numpy", "not-installed", "python -m pip install cupy",
                        environment="old"),
    ]  # fmt: skip
    made = samples.document(*cells)
    environments = made["context"]["dlbench"]["environments"]
    environments["old"] = environments["default"]
    old = support.export(doc(made)).partition("## old")[2]
    assert "Not installed there: cupy." in old
    assert "pip install" not in old
    assert "| numpy |" in old


@pytest.mark.parametrize(
    ("data", "reported"),
    [
        ({"became": "numpy.ndarray, drops mask"}, "converted: numpy.ndarray, drops mask"),
        ({"became": "pkg: odd"}, "converted: pkg: odd"),
        (
            {"became": "TypeError: no *", "exception": "TypeError"},
            "raises TypeError: no \\*",
        ),
    ],
)
def test_support_tells_what_numpy_makes_of_an_array(data: dict[str, str], reported: str) -> None:
    cell = samples.missing("x", "numpy", "no-protocol", "text", protocol="array_ufunc",
                           code="converted", data=data)  # fmt: skip
    page = support.export(doc(samples.document(cell, samples.measured("numpy", "numpy", 100.0))))
    assert f"| x | {reported} |" in page
