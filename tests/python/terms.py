"""Which words `dlbench help` does not know."""

from __future__ import annotations

from collections.abc import Iterable

from dlbench import cli


def unknown(words: Iterable[str]) -> list[str]:
    return [word for word in sorted({*words} - {""}) if cli.main(["help", "--", word]) != 0]
