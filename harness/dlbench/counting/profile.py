"""Reads a profile of callgrind, in version 1 of its format.

Names have two forms: `fn=(7) name` gives a name a number, `fn=(7)` uses it. The line after `calls=`
holds the callee's cost, not the caller's.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path


class BadProfile(ValueError):  # noqa: N818  (it is the file that is bad, not the program)
    """An incomplete or invalid profile: names the file, the line and the expected text."""


@dataclass(frozen=True)
class Function:
    """A function of machine code. `library` is the file that holds it, as valgrind names it."""

    library: str
    name: str


@dataclass
class Profile:
    """Costs in instructions. `own` holds each function's own instructions; `entered` the number
    of its calls and their cost with callees."""

    total: int = 0
    own: dict[Function, int] = field(default_factory=lambda: defaultdict(int))
    entered: dict[Function, tuple[int, int]] = field(default_factory=dict)

    def enter(self, function: Function, calls: int, cost: int) -> None:
        before = self.entered.get(function, (0, 0))
        self.entered[function] = (before[0] + calls, before[1] + cost)


_NAMED = re.compile(r"\((\d+)\)(?: (.*))?")
_NUMBER = re.compile(r"0x[0-9a-fA-F]+|\d+")
_PLACE = re.compile(r"(?:[+-]?(?:0x[0-9a-fA-F]+|\d+)|\*)")
_HEADER = re.compile(r"[A-Za-z0-9_]+:")
#: Specifications whose names are read; the others name source files or jumps.
_FILES = ("fl", "fi", "fe", "cfi", "cfl")


class _Reader:
    def __init__(self, place: str) -> None:
        self.place, self.line = place, 0
        self.profile = Profile()
        self.names: dict[str, dict[str, str]] = defaultdict(dict)
        self.positions, self.events = 1, ["Ir"]
        self.library = self.callee_library = ""
        self.function: Function | None = None
        self.callee: str | None = None
        self.calls: int | None = None
        self.totals: int | None = None
        self.known = False

    def fail(self, expected: str) -> BadProfile:
        return BadProfile(f"{self.place}:{self.line}: expected {expected}")

    def name(self, kind: str, text: str) -> str:
        found = _NAMED.fullmatch(text)
        if found is None:
            return text
        number, given = found.groups()
        names = self.names[kind]
        if given is not None:
            return names.setdefault(number, given)
        if number not in names:
            raise self.fail(f"a name that was given before, not ({number})")
        return names[number]

    def number(self, text: str) -> int:
        if _NUMBER.fullmatch(text) is None:
            raise self.fail(f"a number, not {text[:40]!r}")
        return int(text, 0) if text[:2].lower() == "0x" else int(text)

    def add_line(self, text: str) -> None:
        self.line += 1
        if not text or text.startswith("#"):
            return
        if text[0].isdigit() or text[0] in "+-*":
            self.cost(text.split())
        elif (key_end := text.find("=")) > 0 and text[:key_end].isalpha():
            self.specification(text[:key_end], text[key_end + 1 :])
        elif _HEADER.match(text):
            self.header(*text.split(":", 1))
        else:
            raise self.fail(f"a line of a profile, not {text[:40]!r}")

    def header(self, key: str, value: str) -> None:
        if key == "version":
            self.known = value.strip() == "1"
            if not self.known:
                raise self.fail("version 1 of the format")
        elif key == "positions":
            self.positions = len(value.split())
        elif key == "events":
            self.events = value.split()
            if "Ir" not in self.events:
                raise self.fail("the event Ir (instructions)")
        elif key == "totals":
            self.totals = self.event(value.split())

    def event(self, counts: list[str]) -> int:
        # Trailing zeros may be left out.
        if len(counts) > len(self.events):
            raise self.fail(f"at most {len(self.events)} costs")
        index = self.events.index("Ir")
        numbers = [self.number(each) for each in counts]
        return numbers[index] if index < len(numbers) else 0

    def specification(self, key: str, value: str) -> None:
        if key == "ob":
            self.library = self.name("ob", value)
        elif key == "fn":
            self.function = Function(self.library, self.name("fn", value))
        elif key == "cob":
            self.callee_library = self.name("ob", value)
        elif key == "cfn":
            self.callee = self.name("fn", value)
        elif key == "calls":
            if self.callee is None:
                raise self.fail("cfn= before calls=")
            self.calls = self.number(value.split()[0] if value.split() else "")
        elif key in _FILES:
            self.name("fl", value)
        elif key not in ("jump", "jcnd", "frfn", "rec"):
            raise self.fail(f"a known specification, not {key[:40]}=")

    def cost(self, words: list[str]) -> None:
        if self.function is None:
            raise self.fail("fn= before its costs")
        places, counts = words[: self.positions], words[self.positions :]
        if len(places) < self.positions or not all(_PLACE.fullmatch(word) for word in places):
            raise self.fail(f"{self.positions} positions and a cost")
        cost = self.event(counts)
        if self.calls is None:
            self.profile.own[self.function] += cost
            return
        assert self.callee is not None
        callee = Function(self.callee_library or self.library, self.callee)
        self.profile.enter(callee, self.calls, cost)
        self.callee, self.calls, self.callee_library = None, None, ""

    def end(self) -> Profile:
        self.line += 1
        if not self.known:
            raise self.fail("version: 1 (is this a callgrind file?)")
        if self.totals is None:
            raise self.fail("totals: (the file was cut off)")
        own = sum(self.profile.own.values())
        if own != self.totals:
            raise self.fail(f"functions that sum to the total of {self.totals}, not to {own}")
        self.profile.total = self.totals
        return self.profile


def read(path: Path) -> Profile:
    """The profile in a file. Raises BadProfile, whatever the file holds."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise BadProfile(f"{path}: {error.strerror}") from error
    return parse(text, str(path))


def parse(text: str, place: str = "profile") -> Profile:
    """The profile in a text; `place` is its name in errors."""
    reader = _Reader(place)
    for line in text.split("\n"):
        reader.add_line(line.rstrip("\r"))
    return reader.end()
