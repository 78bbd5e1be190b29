"""Text in columns of a terminal, where an East Asian letter takes two."""

from __future__ import annotations

from rich.cells import cell_len

from dlbench.text import layout

WIDE = "配列"


def test_wide_letters_do_not_shift_the_columns() -> None:
    lines = layout.columns([["library", "time"], [WIDE, "7 ns"], ["numpy", "31 ns"]], right=[1])
    assert [cell_len(line) for line in lines] == [14, 14, 14]
    assert lines[1] == f"{WIDE}      7 ns"


def test_a_line_is_cut_to_the_columns_that_there_are() -> None:
    assert layout.shorten(WIDE * 3, 8) == f"{WIDE}配…"
    assert layout.shorten(WIDE, 4) == WIDE
    assert max(map(cell_len, layout.fold([WIDE, WIDE, WIDE], 10))) <= 10


def test_spare_columns_leave_until_the_lines_fit() -> None:
    rows = [{"name": WIDE, "reason": "long enough", "n": "1", "empty": ""}]
    heads = ("name", "reason", "n", "empty")
    shown, _ = layout.fitting(heads, rows, 40, right={"n"}, spare=["reason"])
    assert shown == ["name", "reason", "n"]
    shown, lines = layout.fitting(heads, rows, 10, right={"n"}, spare=["reason"])
    assert shown == ["name", "n"]
    assert lines == ["name  n", f"{WIDE}  1"]


def test_text_is_wrapped_by_columns() -> None:
    assert layout.wrap(f"a {WIDE} {WIDE} b", 6) == [f"a {WIDE}", f"{WIDE} b"]
    assert layout.wrap("", 6) == []
    assert layout.wrap(f"see {WIDE * 2}", 6) == ["see", f"{WIDE}配", "列"]


def test_a_command_is_not_cut() -> None:
    command = "--isolation=full"
    assert layout.wrap(f"run it with {command}", 8, whole=True) == ["run it", "with", command]
    assert layout.wrap(f"with {command}", 8) == ["with", "--isolat", "ion=full"]
