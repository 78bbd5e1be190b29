"""Names of cells for tools that limit a name."""

from __future__ import annotations

import hashlib


def hashed(text: str, name: str, longest: int) -> str:
    """The text, of which other names may have the same, made unique by the hash of its name."""
    digest = hashlib.sha256(name.encode("utf-8", "backslashreplace")).hexdigest()[:16]
    return f"{text[: longest - len(digest) - 1]}-{digest}"
