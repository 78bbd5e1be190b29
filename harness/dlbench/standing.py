"""What a script gives the consumer in the array's place, as a worker's relay or EXPORTS do."""

from __future__ import annotations

import ast
from typing import NamedTuple

from dlbench import alone, snippets, values
from dlbench.check.reading import DEVICE_TYPES
from dlbench.errors import BadInput
from dlbench.facts import AdapterFile, assigned
from dlbench.values import Entry


class Standing(NamedTuple):
    """What goes before the making, and the lines behind it that leave it in `array`."""

    before: list[ast.stmt]
    lines: list[str]


def standing(entry: Entry, made_by: AdapterFile, is_anothers: bool) -> Standing:
    """Both empty where the consumer is given the array itself. `is_anothers`: the consumer's call
    is an entry for another protocol. Of a cell that failed nothing may be known but the files."""
    if entry.get("code") == "proxy-refused":
        return Standing([], [])  # the consumer takes the array itself
    via = entry["seen"].get("via", "") if "seen" in entry else None
    protocol = str(entry["protocol"])
    if via == "exports" or (via is None and export_for(protocol, made_by.exports)):
        before, call, name = _exporting(made_by, protocol, entry["producer"])
        return Standing(before, alone.lines(name, call, _numbers(entry["device"])))
    is_told = "shown that alone" in values.reason(entry)
    if via == "relay" or (via is None and (is_anothers or is_told)):
        return Standing([], alone.lines(protocol))
    return Standing([], [])


def export_for(protocol: str, exports: tuple[str, ...]) -> str:
    """The key of EXPORTS that a worker takes for the protocol; empty where there is none."""
    wanted = ("dlpack_versioned", "dlpack_legacy") if protocol == "dlpack" else (protocol,)
    return next((name for name in wanted if name in exports), "")


def _exporting(
    made_by: AdapterFile, protocol: str, library: str
) -> tuple[list[ast.stmt], str, str]:
    """What a producer's own call rests on, that call, and its key in EXPORTS."""
    name = export_for(protocol, made_by.exports)
    if not name:
        raise BadInput(f"adapter {made_by.path} exports no {protocol} any more")
    parsed = snippets.tree(made_by.path, library)
    call = snippets.entries(assigned(parsed, "EXPORTS"))[name]
    return snippets.needed(parsed, snippets.names_read([call])), ast.unparse(call), name


def _numbers(device: str) -> tuple[int, int]:
    """What `__dlpack_device__` answers for an array on the device, in our words."""
    kind, _, number = device.partition("+")[0].partition(":")
    if kind not in DEVICE_TYPES or not (number or "0").isdecimal():
        raise BadInput(
            f"the cell's device is {device!r}; allowed: {', '.join(DEVICE_TYPES)}:NUMBER"
        )
    return DEVICE_TYPES[kind], int(number or 0)
