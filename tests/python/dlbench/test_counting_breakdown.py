"""Breakdowns of counts written by hand: each instruction belongs to one line, none is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlbench.counting import breakdown_text, code_owner
from dlbench.counting.breakdown import NO_PYTHON, breakdown
from dlbench.counting.exchange import Count, Frame, Share
from dlbench.counting.profile import Function
from typed import entries_of, entry_of

SITE = "/env/lib/python3.11/site-packages"
EVAL = Function("/usr/lib/libpython3.11.so.1.0", "_PyEval_EvalFrameDefault")
AGAIN = Function(EVAL.library, EVAL.name + "'2")
CODE = Function(f"{SITE}/maker/_core.cpython-311-x86_64-linux-gnu.so", "hand_over")
LOOP = Function(f"{SITE}/dlbench/_worker.cpython-311-x86_64-linux-gnu.so", "dlbench_counted")
ENTRY = {
    "producer": "maker",
    "consumer": "taker",
    "protocol": "dlpack",
    "case": "f32",
    "bytes": 4096,
    "outcome": "zero-copy",
    "real_time": 1000.0,
}
PLAIN = Count(1000.0, {EVAL: 400.0, AGAIN: 200.0, CODE: 350.0, LOOP: 50.0})
FRAMES = [
    Frame(-1, "take", f"{SITE}/taker/__init__.py"),
    Frame(0, "Array.__dlpack__", f"{SITE}/maker/array.py"),
    Frame(1, "check", f"{SITE}/maker/array.py"),
    Frame(-1, "never entered", "x.py"),
]


def _named(*costs: float) -> Count:
    entered = {
        Function(LOOP.library, f"_object* dlbench::worker::dlbench_frame<{i}>(_ts*)"): Share(
            1, cost
        )
        for i, cost in enumerate(costs)
    }
    return Count(1030.0, PLAIN.own, entered)


@pytest.mark.parametrize(
    ("path", "library"),
    [
        (f"{SITE}/numpy/_core/_multiarray_umath.cpython-311-x86_64-linux-gnu.so", "numpy"),
        (f"{SITE}/numpy.libs/libscipy_openblas64_-56d6093b.so", "numpy"),
        (f"{SITE}/_cffi_backend.cpython-311-x86_64-linux-gnu.so", "_cffi_backend"),
        (f"{SITE}/dlbench/_worker.cpython-311-x86_64-linux-gnu.so", "dlbench"),
        (f"{SITE}/dlbench/_native_producer.cpython-311-x86_64-linux-gnu.so", "native"),
        ("/usr/bin/python3.11", "CPython"),
        ("/opt/lib/libpython3.12.so.1.0", "CPython"),
        ("/usr/lib/python3.11/lib-dynload/_ctypes.cpython-311-x86_64-linux-gnu.so", "CPython"),
        ("/usr/lib/x86_64-linux-gnu/libc.so.6", "libc"),
        ("/lib64/ld-linux-x86-64.so.2", "libc"),
        ("/usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.30", "libstdc++"),
        ("/usr/lib/x86_64-linux-gnu/libgcc_s.so.1", "libgcc_s"),  # C++ exceptions
        ("???", "unknown"),
        ("", "unknown"),
    ],
)
def test_machine_code_is_named_by_its_package(path: str, library: str) -> None:
    assert code_owner.of_object(path) == library


@pytest.mark.parametrize(
    ("path", "library"),
    [
        (f"{SITE}/torch/_tensor.py", "torch"),
        (f"{SITE}/six.py", "six"),
        (f"{SITE}/dlbench/producers/warp.py", "warp"),
        ("/opt/more/consumers/mine.py", "mine"),
        ("/usr/lib/python3.11/functools.py", "CPython"),
        ("/usr/lib/python311.zip/functools.py", "CPython"),
        ("/opt/python/lib/python3.13t/collections/abc.py", "CPython"),
        ("<frozen abc>", "CPython"),
        ("<string>", "generated code"),  # a dataclass's __init__
        ("/home/me/src/mylib/array.py", "mylib"),
        ("mine.py", "mine"),
        ("", "unknown"),
    ],
)
def test_python_code_is_named_by_its_package(path: str, library: str) -> None:
    assert code_owner.of_python(path) == library


def test_what_is_not_installed_is_named_by_its_topmost_package(tmp_path: Path) -> None:
    inside = tmp_path / "lib" / "mylib" / "arrays"
    inside.mkdir(parents=True)
    for folder in (inside, inside.parent):
        (folder / "__init__.py").touch()
    assert code_owner.of_python(str(inside / "array.py")) == "mylib"


def test_code_with_a_name_for_a_file_ends_at_the_top(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "__init__.py").touch()
    monkeypatch.chdir(tmp_path)
    assert code_owner.of_python("kernel.py") == "kernel"
    assert code_owner.of_python("made/kernel.py") == "made"


def test_each_table_sums_to_the_total() -> None:
    made = breakdown(PLAIN, _named(900, 600, 100), FRAMES)
    for table in (made.python, made.native, made.libraries()):
        assert sum(line.own for line in table) == pytest.approx(made.total)
    assert made.added == pytest.approx(0.03)


def test_a_function_is_charged_without_the_python_functions_that_it_calls() -> None:
    made = breakdown(PLAIN, _named(900, 600, 100), FRAMES)
    own = {(line.library, line.name): line.own for line in made.python}
    # 30 instructions separated the three calls: ten each are subtracted.
    assert own == {
        ("taker", "take"): 900 - 600 - 10,
        ("maker", "Array.__dlpack__"): 600 - 100 - 10,
        ("maker", "check"): 100 - 10,
        ("", NO_PYTHON): 1030 - 900,
    }
    whole = {line.name: line.whole for line in made.python if line.calls}
    assert whole == {"take": 900 - 30, "Array.__dlpack__": 600 - 20, "check": 100 - 10}
    reported = breakdown_text.sentence(entry_of(ENTRY), made)
    assert reported == "49 % of maker -> taker is Array.__dlpack__, a Python function of maker"


def test_recursion_is_not_counted_twice() -> None:
    frames = [Frame(-1, "take", "x.py"), Frame(0, "take", "x.py")]
    line = next(
        each for each in breakdown(PLAIN, _named(900, 300), frames).python if each.name == "take"
    )
    assert (line.whole, line.calls, line.own) == (900 - 30, 2, 900 - 30)


def test_no_function_costs_more_with_its_callees_than_the_exchange() -> None:
    named = Count(1300.0, PLAIN.own, _named(1300, 900, 600).entered)
    lines = {line.name: line for line in breakdown(PLAIN, named, FRAMES).python}
    assert lines["check"].whole == lines["check"].own == 500
    assert lines["take"].whole == PLAIN.total


def test_without_python_functions_the_largest_library_is_named() -> None:
    plain = Count(1000.0, {EVAL: 300.0, CODE: 650.0, LOOP: 50.0})
    made = breakdown(plain, plain, [])
    assert made.python == []
    reported = breakdown_text.sentence(entry_of(ENTRY), made)
    assert (
        reported
        == "65 % of maker -> taker is maker's C code; its largest function, hand_over, is 65 %"
    )


def test_the_interpreter_is_one_line_whatever_its_functions() -> None:
    lines = {line.name: line for line in breakdown(PLAIN, PLAIN, []).native}
    assert lines["the interpreter"].own == 600
    assert lines["the timed loop"].own == 50


def phase_table(exchange_ns: float, unexplained_ns: float, **times: float) -> str:
    own = {"exchange_ns": exchange_ns}
    entry = ENTRY | {"unexplained_ns": unexplained_ns, "phases": own}
    phases = [ENTRY | {"phase": phase, "real_time": ns} for phase, ns in times.items()]
    return "\n".join(
        line.plain for line in breakdown_text.phase_table(entry_of(entry), entries_of(phases), 80)
    )


def test_the_run_s_phases_stand_beside_the_breakdown() -> None:
    text = phase_table(1000, -20, export=600.0, query=1000.0)
    assert "60.0 %    600 ns  export" in text
    assert "-20.0 ns  unexplained" in text
    assert text.index("query") < text.index("export") < text.index("exchange")


def test_phases_are_shares_of_the_exchange_in_their_own_rounds() -> None:
    text = phase_table(1250, 50, export=1200.0)
    assert "96.0 %  1.20 us  export" in text
    assert "4.0 %  50.0 ns  unexplained" in text
    assert "100.0 %  1.25 us  exchange, in the same rounds" in text
    assert text.splitlines()[-1].strip() == "1.00 us  exchange, in rounds of its own"
