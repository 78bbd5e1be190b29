"""Parses `NAME:ARGUMENT`, one of several libraries of an adapter, such as `faulty:slow-export=5us`.

The adapter's literal ARGUMENTS lists them: name -> what follows its `=`. That is `TIME`, `COUNT` or
`VERSION`, which are read and checked here, another word for any text, or nothing. The keys of a
consumer's CALLS are arguments too, without a value: `numpy:array`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

UNITS_NS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
#: Characters that a cell's name cannot hold, or that separate names on the command line.
UNFIT = re.compile(r"[/,\s]")
#: A key of CALLS, and the word for all of them.
CALL = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
ALL = "all"


def split(name: str) -> tuple[str, str]:
    """The adapter's name and its argument: ("faulty", "slow-export=5us")."""
    base, _, argument = name.partition(":")
    return base, argument


def spelled(arguments: Mapping[str, str]) -> list[str]:
    """["slow-export=TIME", "silent-copy"]."""
    return [f"{name}={value}" if value else name for name, value in arguments.items()]


def read(argument: str, arguments: Mapping[str, str]) -> tuple[str, Any]:
    """ARGUMENT as the adapter reads it: its name, and nanoseconds for a TIME, an int for a COUNT,
    two ints for a VERSION, the text for other values, None without a value. Raises KeyError for an
    unknown name, ValueError for a bad value.
    """
    name, equals, value = argument.partition("=")
    kind = arguments[name]
    if bool(equals) != bool(kind) or bool(value) != bool(kind):
        wanted = f"is written {name}={kind}" if kind else "accepts no value"
        raise ValueError(f"{name} {wanted}")
    if UNFIT.search(value):
        raise ValueError(f"{value!r} holds a '/', a comma or a space")
    return name, _value(kind, value) if kind else None


def _value(kind: str, text: str) -> Any:
    if kind == "TIME":
        return nanoseconds(text)
    if kind == "COUNT":
        if re.fullmatch(r"\d{1,12}", text) is None:
            raise ValueError(f"{text!r} is not a count; allowed: a whole number, as 40")
        return int(text)
    if kind == "VERSION":
        numbers = re.fullmatch(r"(\d{1,9})\.(\d{1,9})", text)
        if numbers is None:
            raise ValueError(f"{text!r} is not a version; allowed: two numbers, as 2.0")
        return int(numbers[1]), int(numbers[2])
    return text


def nanoseconds(text: str) -> float:
    """ "5us" -> 5000.0. Raises ValueError."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(ns|us|ms|s)", text)
    if match is None or not (ns := float(match[1]) * UNITS_NS[match[2]]) < 3.6e12:
        raise ValueError(
            f"{text!r} is not a time; allowed: below an hour, as 200ns, 5us, 1.5ms or 1s"
        )
    return ns
