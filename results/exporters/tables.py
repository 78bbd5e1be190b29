"""Tables in GitHub's Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dlbench.text.escaping import markdown


def table(head: Sequence[str], rows: Iterable[Sequence[str]], numbers: Iterable[int] = ()) -> str:
    """A table whose columns `numbers` are right-aligned."""
    right = set(numbers)
    rule = ["---:" if i in right else "---" for i in range(len(head))]
    lines = [head, rule, *([markdown(text) for text in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
