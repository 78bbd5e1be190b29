"""`--known FILE`: accepted deviations, a line each: LIBRARY RULE LINK.

Text after a `#` at a line's start or after a blank is a comment. The table has public issues.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from dlbench import _core
from dlbench.check.rules import RULES
from dlbench.check.verdict import BROKEN
from dlbench.errors import BadInput, os_reason, read_file
from dlbench.libraries import arguments

LARGEST = 1 << 20  #: bytes of the file
#: (library, rule) -> link
Known = dict[tuple[str, str], str]
GITHUB = "https://github.com/"
#: Public issues. One link may explain several rules.
PUBLIC: Known = {
    ("torch", "import.reversed"): f"{GITHUB}pytorch/pytorch/issues/188023",
    ("jax", "import.requests-version"): f"{GITHUB}jax-ml/jax/issues/40789",
    ("warp", "import.byte-offset"): f"{GITHUB}NVIDIA/warp/pull/1573",
    ("cupy", "export.copy-true"): f"{GITHUB}cupy/cupy/issues/9842",
    ("torch", "import.empty-deleted"): f"{GITHUB}pytorch/pytorch/issues/117058",
    ("torch", "import.null-deleter"): f"{GITHUB}pytorch/pytorch/issues/43266",
    ("torch", "import.null-strides"): f"{GITHUB}pytorch/pytorch/issues/18510",
    ("torch", "import.byte-offset"): f"{GITHUB}pytorch/pytorch/issues/168177",
    ("numpy", "import.writable"): f"{GITHUB}numpy/numpy/issues/28599",
    ("numpy", "import.ones"): f"{GITHUB}numpy/numpy/issues/20336",
    ("cupy", "import.null-strides"): f"{GITHUB}cupy/cupy/issues/2095",
    ("cupy", "import.consumed-twice"): f"{GITHUB}cupy/cupy/issues/3611",
    ("onnxruntime", "import.empty-strides"): f"{GITHUB}microsoft/onnxruntime/issues/27450",
    ("tensorflow", "import.ones"): f"{GITHUB}tensorflow/tensorflow/issues/61184",
    ("numpy", "export.deleter-without-gil"): f"{GITHUB}numpy/numpy/issues/22507",
}
#: Rules that are discussed for all libraries.
OF_ALL: dict[str, str] = {
    "export.alignment": f"{GITHUB}data-apis/array-api/issues/293",
    "export.empty-data": f"{GITHUB}apache/arrow/pull/38472",
    "c-api.capsule": f"{GITHUB}dmlc/dlpack/issues/179",
}


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


def link(library: str, rule: str) -> str:
    """The link to the public discussion, or an empty text."""
    return PUBLIC.get((arguments.split(library)[0], rule), OF_ALL.get(rule, ""))
