"""`--known FILE`: accepted deviations, a line each: LIBRARY RULE LINK.

Text after a `#` at a line's start or after a blank is a comment.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from dlbench import _core
from dlbench.check.rules import RULES
from dlbench.check.verdict import BROKEN
from dlbench.errors import BadInput, os_reason, read_file

LARGEST = 1 << 20  #: bytes of the file
#: (library, rule) -> link
Known = dict[tuple[str, str], str]


def require_rule(name: str, where: str = "") -> None:
    """Raises BadInput, with the nearest name, for a name that is not a rule."""
    if name in RULES.by_name:
        return
    hint = _core.did_you_mean(name, list(RULES.by_name))
    raise BadInput(f"{where}unknown rule {name!r}{hint}; 'dlbench check --rules' lists them")


def read(path: Path) -> Known:
    """Raises BadInput for a file that cannot be read, and for a line of another form."""
    try:
        text = read_file(path, LARGEST).decode()
    except (OSError, UnicodeDecodeError) as error:
        why = os_reason(error) if isinstance(error, OSError) else "not UTF-8"
        raise BadInput(f"--known {path}: {why}") from error
    known: Known = {}
    for number, line in enumerate(text.splitlines(), 1):
        words = re.sub(r"(^|\s)#.*", "", line).split()
        if not words:
            continue
        where = f"{path}, line {number}: "
        if len(words) != 3 or "://" not in words[2]:
            raise BadInput(f"{where}a line is LIBRARY RULE LINK, as 'torch export.copied-flag URL'")
        require_rule(words[1], where)
        known[words[0], words[1]] = words[2]
    return known


def stale(known: Known, library: str, outcomes: Mapping[str, str]) -> list[str]:
    """Rules that the file lists as broken, and that were tried and hold."""
    return [
        rule
        for (name, rule) in known
        if name == library and rule in outcomes and outcomes[rule] != BROKEN
    ]
