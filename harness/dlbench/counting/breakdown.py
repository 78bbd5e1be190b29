"""The instruction breakdown of one exchange, by function. Each table sums to the total."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from dlbench.counting import code_owner
from dlbench.counting.exchange import Count, Frame, Share

_FRAME = re.compile(r"\bdlbench_frame<(\d+)>")
_AGAIN = re.compile(r"'\d+$")  # valgrind's mark of a function that is its own caller


@dataclass(frozen=True)
class Line:
    """`own` instructions of one exchange. `whole`: with the Python functions that it calls."""

    library: str
    name: str
    own: float
    calls: float = 0
    whole: float = 0


@dataclass
class Breakdown:
    """`python` splits the total by Python function, with one line for code without a Python caller;
    empty if no Python function runs. `native` splits it by function of machine code."""

    total: float
    python: list[Line] = field(default_factory=list)
    native: list[Line] = field(default_factory=list)
    added: float = 0  #: share of instructions added to separate Python functions
    missing: str = ""  #: why `python` could not be made
    phases: dict[str, float] = field(default_factory=dict)  #: instructions of each
    no_phases: str = ""  #: why `phases` is empty

    def libraries(self) -> list[Line]:
        """`native` by library, largest share first."""
        own: dict[str, float] = defaultdict(float)
        for line in self.native:
            own[line.library] += line.own
        return _ordered(Line(library, "", cost) for library, cost in own.items())


#: The line for code that C code called directly, without a Python function.
NO_PYTHON = "called from C"


def _ordered(lines: Iterable[Line]) -> list[Line]:
    return sorted(lines, key=lambda line: (-line.own, line.library, line.name))


def native_lines(count: Count) -> list[Line]:
    """Each function's own instructions. The interpreter is one line, and so is dlbench."""
    own: dict[tuple[str, str], float] = defaultdict(float)
    for function, cost in count.own.items():
        library = code_owner.of_object(function.library)
        together = library in (code_owner.PYTHON, code_owner.OWN)
        name = "the timed loop" if library == code_owner.OWN else "the interpreter"
        own[library, name if together else _AGAIN.sub("", function.name)] += cost
    return _ordered(Line(*key, cost) for key, cost in own.items() if cost)


def _shares(count: Count) -> dict[int, Share]:
    shares: dict[int, Share] = {}
    for function, share in count.entered.items():
        found = _FRAME.search(function.name)
        if found is None:
            continue
        before = shares.get(int(found[1]), Share(0, 0))
        shares[int(found[1])] = Share(before.calls + share.calls, before.cost + share.cost)
    return shares


def python_lines(plain: Count, named: Count, frames: Sequence[Frame]) -> list[Line]:
    """Instructions of each Python function without its callees, and the rest; they sum to the plain
    count.

    The cost of naming the functions is subtracted by number of calls.
    """
    shares = {i: share for i, share in _shares(named).items() if i < len(frames) and share.calls}
    calls = sum(share.calls for share in shares.values())
    if not calls:
        return []
    added = (named.total - plain.total) / calls
    inside = _calls_inside(shares, frames)
    own = {i: share.cost for i, share in shares.items()}
    rest = named.total
    for i, share in shares.items():
        parent = frames[i].parent
        if parent in own:
            own[parent] -= share.cost
        else:
            rest -= share.cost
    lines: dict[tuple[str, str], Line] = {}
    for i, share in shares.items():
        frame = frames[i]
        key = code_owner.of_python(frame.file), frame.function
        before = lines.get(key, Line(*key, 0))
        again = _is_inside_itself(i, frames)
        lines[key] = Line(
            *key,
            before.own + own[i] - added * share.calls,
            before.calls + share.calls,
            before.whole + (0 if again else share.cost - added * inside[i]),
        )
    return _ordered([*lines.values(), Line("", NO_PYTHON, rest)])


def _calls_inside(shares: dict[int, Share], frames: Sequence[Frame]) -> dict[int, float]:
    """The calls of each frame, and of the frames below it."""
    calls: dict[int, float] = defaultdict(float)
    for i, share in shares.items():
        at = i
        while at >= 0:
            calls[at] += share.calls
            at = frames[at].parent
    return calls


def _is_inside_itself(index: int, frames: Sequence[Frame]) -> bool:
    one = frames[index]
    parent = one.parent
    while parent >= 0:
        above = frames[parent]
        if (above.function, above.file) == (one.function, one.file):
            return True
        parent = above.parent
    return False


def breakdown(plain: Count, named: Count, frames: Sequence[Frame]) -> Breakdown:
    """`plain` as the timed loop runs, `named` with the Python functions separated."""
    lines = python_lines(plain, named, frames)
    added = named.total / plain.total - 1 if lines else 0.0
    return Breakdown(plain.total, lines, native_lines(plain), added)
