"""Lines in which rules state how a script shows them; functions without a module are from
`scripts.tools`.

A script ends with status 1 where it shows the fault, by an exception or by SystemExit with a text,
and with 0 where there is none.
"""

from __future__ import annotations

from textwrap import indent


def refused(call: str, errors: str = "Exception", given: str = "given") -> str:
    """Requires that the call raises one of the errors. A result or another error is the fault."""
    return f"{given} = refused(lambda: {call}, {errors})"


def allowed(call: str, errors: str = "Exception", given: str = "given", end: str = "") -> str:
    """Binds the call's result. One of the errors is no fault and ends the script, through `end` if
    that is given."""
    words = [f"lambda: {call}", errors, *([end] if end else [])]
    return f"{given} = allowed({', '.join(words)})"


def indented(lines: str) -> str:
    """The lines, indented as a block."""
    return indent(lines, "    ")


#: The leak of many exchanges.
LEFT = "left(lambda: {}, array)"
#: The tensor's device.
DEVICE = "[ctypes.c_int32.from_address(tensor + at).value for at in (8, 12)]"
#: The result holds the exported values. A consumer of bytes returns them in memory order.
SAME = (
    "given = values(result)\n"
    "assert given.tobytes() in (source.tobytes(), source.tobytes('A')), given"
)
#: An import that is refused and releases everything.
TRIED = (
    "try:\n"
    "    result = {call}\n"
    "except Exception as error:\n"
    "    print('refused, as it may be:', repr(error))\n"
    "gc.collect()\n"
)
#: Without `result` the deleter has been called once.
ONCE = "gc.collect()\nassert len(deleted) == 1, deleted"
