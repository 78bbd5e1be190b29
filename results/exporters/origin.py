"""Where a cell was measured: its machine's part of the document, its environment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def machine(document: Mapping[str, Any], entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """`context.dlbench` of the entry's machine, also in a document of several."""
    about: Mapping[str, Any] = document["context"]["dlbench"]
    own: Mapping[str, Any] = about.get("machines", {}).get(entry.get("machine"), about)
    return own


def environment(document: Mapping[str, Any], entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """The entry's environment; empty where the document does not tell of it."""
    found: Mapping[str, Any] = machine(document, entry)["environments"].get(
        entry["environment"], {}
    )
    return found
