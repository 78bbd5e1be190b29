"""What a child writes is held within bounds, and what is no message is found."""

from __future__ import annotations

import os
import signal
import sys

import pytest

from dlbench import child_output
from dlbench.check.rule import HOLDS
from dlbench.check.wire import Wire
from dlbench.child_output import LONGEST_LINE, Garbage, Lines, Tail, message

HONEST = [
    b'{"loaded": "1"}',
    b'{"begin": "a"}',
    b'{"rule": "a", "outcome": "holds", "seen": "", "struct": "legacy"}',
    b'{"begin": "b"}',
    b'{"rule": "b", "outcome": "broken", "seen": "so"}',
    b'{"end": true}',
]


def test_a_tail_keeps_the_end_whatever_goes_through_it() -> None:
    tail = Tail(8)
    for number in range(1000):
        tail.add(b"%d " % number)
        assert len(tail._kept) <= 16
    assert tail.text() == "998 999 "


def test_lines_are_whole_however_they_come() -> None:
    text = b"\n".join(HONEST) + b"\n"
    for size in (1, 7, 50, len(text)):
        lines = Lines()
        chunks = [text[at : at + size] for at in range(0, len(text), size)]
        assert [line for chunk in chunks for line in lines.add(chunk)] == HONEST
    lines = Lines()
    assert not list(lines.add(b"x" * LONGEST_LINE))
    with pytest.raises(Garbage):
        list(lines.add(b"x"))


@pytest.mark.parametrize(
    "line",
    [
        b"", b"garbage", b"[]", b"null", b"NaN", b"3", b'"text"', b"\0", b"\xff", b"1" * 5000,
        b"[" * 100_000, b'{"a":' * 100_000,
    ],
)  # fmt: skip
def test_what_is_no_object_is_garbage(line: bytes) -> None:
    with pytest.raises(Garbage):
        message(line)


def test_half_a_surrogate_pair_is_spelled_out() -> None:
    found = message(rb'{"a": "x \ud83d y", "b": [{"\udc00": "caf\u00e9 \ud83d\ude00"}]}')
    assert found == {"a": r"x \ud83d y", "b": [{r"\udc00": "café 😀"}]}


def read(lines: list[bytes]) -> Wire:
    wire = Wire(["a", "b"])
    wire.add(b"".join(line + b"\n" for line in lines))
    return wire


def test_a_wire_takes_the_messages_of_an_honest_child() -> None:
    wire = read(HONEST)
    assert (wire.version, wire.failed, wire.begun, wire.ended) == ("1", "", False, True)
    assert [line["rule"] for line in wire.results] == ["a", "b"]
    assert wire.results[0]["outcome"] == HOLDS
    assert read([b'{"failed": "no"}']).failed == "no"
    assert not wire.add(b"")


@pytest.mark.parametrize(
    "line",
    [
        b"{}",
        b'{"loaded": 3}',
        b'{"loaded": "1", "more": 1}',
        b'{"failed": ["no"]}',
        b'{"begin": "c"}',
        b'{"begin": ["a"]}',
        b'{"rule": "c", "outcome": "holds", "seen": ""}',
        b'{"rule": "b", "outcome": "holds", "seen": "", "more": ""}',
        b'{"rule": "b", "outcome": "fine", "seen": ""}',
        b'{"rule": "b", "outcome": [], "seen": ""}',
        b'{"rule": "b", "outcome": "holds", "seen": NaN}',
        b'{"rule": "b", "outcome": "holds", "seen": "", "struct": "new"}',
        b'{"rule": "b", "outcome": "holds"}',
        b'{"end": false}',
    ],
)
@pytest.mark.parametrize("at", range(len(HONEST) + 1))
def test_a_wire_takes_no_other_message_at_any_time(line: bytes, at: int) -> None:
    wire = read(HONEST[:at])
    before = (wire.version, list(wire.results), wire.begun, wire.ended)
    with pytest.raises(Garbage):
        wire.add(line + b"\n")
    assert (wire.version, wire.results, wire.begun, wire.ended) == before


def test_a_message_out_of_turn_is_garbage() -> None:
    for at in range(len(HONEST)):
        for line in HONEST:
            if line != HONEST[at]:
                with pytest.raises(Garbage):
                    read([*HONEST[:at], line])


FLOOD = "import os\nwhile True:\n    os.write(1, b'y' * 65536)\n    os.write(2, b'n' * 65536)\n"


def test_a_flood_is_cut_and_ended() -> None:
    ended = child_output.run([sys.executable, "-S", "-c", FLOOD], 0.5)
    assert ended.status is None
    assert len(ended.out) <= LONGEST_LINE
    assert set(ended.out) <= {"y"}
    assert set(ended.err) <= {"n"}


# A grandchild in a session of its own keeps the streams open.
LEFT = """\
import subprocess, sys
left = subprocess.Popen(["sleep", "600"], start_new_session=True)
print(left.pid, flush=True)
sys.exit(3)
"""


def test_a_stream_that_stays_open_is_not_waited_for() -> None:
    ended = child_output.run([sys.executable, "-S", "-c", LEFT], 60.0)
    os.kill(int(ended.out), signal.SIGKILL)
    assert ended.status == 3
