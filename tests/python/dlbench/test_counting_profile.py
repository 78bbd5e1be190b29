"""The reader of callgrind's files: good files, and the messages for bad ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlbench.counting.profile import BadProfile, Function, parse

GOOD = """# callgrind format
version: 1
creator: by hand
pid: 1
positions: line
events: Ir

ob=(1) /lib/a.so
fl=(1) a.c
fn=(1) outer
10 5
+2 7
fi=(2) a.h
* 3
fe=(1)
cob=(2) /lib/b.so
cfi=(3) b.c
cfn=(2) inner
calls=4 20
-1 100
cfn=(3) helper
calls=1 0
11 0x10

ob=(2)
fl=(3)
fn=(2)
20 60
cfn=(2)
calls=2 20
21 40
fn=(4) std::map<int, int>::at(int)
30 25

ob=(1)
fl=(1)
fn=(3)
1 16

totals: 116
"""
A, B = "/lib/a.so", "/lib/b.so"


def test_own_costs_are_apart_from_what_was_called() -> None:
    profile = parse(GOOD)
    assert profile.own == {
        Function(A, "outer"): 15,
        Function(B, "inner"): 60,
        Function(B, "std::map<int, int>::at(int)"): 25,
        Function(A, "helper"): 16,
    }
    assert profile.total == 116


def test_callees_are_in_the_library_that_cob_names_once() -> None:
    entered = parse(GOOD).entered
    assert entered[Function(B, "inner")] == (4 + 2, 100 + 40)
    assert entered[Function(A, "helper")] == (1, 16)


def test_other_events_stand_beside_the_instructions() -> None:
    text = GOOD.replace("events: Ir", "events: Dr Ir").replace("totals: 116", "totals: 0 0")
    assert parse(text).total == 0  # the costs given are those of Dr; Ir was left out as zero


@pytest.mark.parametrize(
    ("old", "new", "reported"),
    [
        ("totals: 116", "", "totals"),
        ("totals: 116", "totals: 117", "sum to the total of 117, not to 116"),
        ("version: 1", "version: 2", "version 1"),
        ("version: 1\n", "", "is this a callgrind file"),
        ("events: Ir", "events: Dr", "the event Ir"),
        ("cfn=(2) inner\n", "", "cfn= before calls="),
        ("calls=4 20", "calls=many 20", "profile:19: expected a number, not 'many'"),
        ("calls=4 20", "calls=", "a number"),
        ("fn=(1) outer\n", "", "fn= before its costs"),
        ("10 5\n", "10 5 6\n", "at most 1 costs"),
        ("10 5\n", "ten 5\n", "profile:11: expected a line of a profile, not 'ten 5'"),
        ("fn=(2)\n", "fn=(9)\n", "a name that was given before, not (9)"),
        ("fl=(1) a.c", "zz=(1) a.c", "a known specification, not zz="),
    ],
)
def test_a_fault_is_reported_with_its_line(old: str, new: str, reported: str) -> None:
    assert old in GOOD
    with pytest.raises(BadProfile) as caught:
        parse(GOOD.replace(old, new, 1))
    assert reported in str(caught.value)


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    with pytest.raises(BadProfile):
        parse(text)


@given(st.data())
def test_a_damaged_file_is_read_or_refused(data: st.DataObject) -> None:
    begin = data.draw(st.integers(0, len(GOOD)))
    end = data.draw(st.integers(begin, min(begin + 40, len(GOOD))))
    filling = data.draw(st.text(alphabet="0123456789+-*=()xfnobcal: \n", max_size=20))
    damaged = GOOD[:begin] + filling + GOOD[end:]
    try:
        profile = parse(damaged)
    except BadProfile:
        return
    assert sum(profile.own.values()) == profile.total
