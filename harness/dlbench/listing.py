"""`dlbench list`: the libraries, what each takes and gives, and how to get the absent ones."""

from __future__ import annotations

from dlbench import _core
from dlbench.layout import columns, shorten
from rich.text import Text


def table(libraries: list[_core.Library], width: int) -> list[Text]:
    """The installed libraries first, the absent ones with how to get them."""
    rows = [("library", "version", "produces", "devices", "takes")]
    ordered = sorted(libraries, key=lambda one: (not one.installed, one.name))
    for one in ordered:
        if one.installed:
            made = "yes" if one.producer_path else "no"
            taken = " ".join(one.protocols) or "nothing"
            rows.append((one.name, one.version or "-", made, " ".join(one.devices), taken))
        else:
            rows.append((one.name, "absent", "", "", one.why_not))
    lines = columns(rows)
    shown = [Text(shorten(lines[0], width), style="bold")]
    for one, line in zip(ordered, lines[1:], strict=True):
        # The last column is to be read or typed whole.
        shown.append(Text(line, style="" if one.installed else "dim"))
    return shown
