"""Lines in which rules state how a script shows them; functions without a module are from
`scripts.tools`.

A script ends with status 1 where it shows the fault, by an exception or by SystemExit with a text,
and with 0 where there is none.
"""

from __future__ import annotations

from textwrap import indent


def refused(call: str, errors: str = "Exception", given: str = "given") -> str:
    """The call must raise one of the errors; any other one is the fault, as is a result."""
    return f"{given} = refused(lambda: {call}, {errors})"


def allowed(call: str, errors: str = "Exception", given: str = "given", end: str = "") -> str:
    """What the call returns; one of the errors is no fault either, and ends the script,
    by a call of `end` where that is given."""
    words = [f"lambda: {call}", errors, *([end] if end else [])]
    return f"{given} = allowed({', '.join(words)})"


def indented(lines: str) -> str:
    """In a block."""
    return indent(lines, "    ")


#: What many of an exchange leave.
LEFT = "left(lambda: {}, array)"
#: Its device.
DEVICE = "[ctypes.c_int32.from_address(tensor + at).value for at in (8, 12)]"
#: What was exported has arrived. A consumer of bytes returns them as they lie.
SAME = (
    "given = values(result)\n"
    "assert given.tobytes() in (source.tobytes(), source.tobytes('A')), given"
)
#: An import that is refused, after which nothing of it is left.
TRIED = (
    "try:\n"
    "    result = {call}\n"
    "except Exception as error:\n"
    "    print('refused, as it may be:', repr(error))\n"
    "gc.collect()\n"
)
#: Without `result` the deleter has been called once.
ONCE = "gc.collect()\nassert len(deleted) == 1, deleted"
