"""Functions of arrays that copy, swap or skip arguments, and one that does not."""

from __future__ import annotations

from dlbench.document import Entry, NotMeasured
from dlbench.selftest import runs
from dlbench.selftest.row import Row, Setting

ARRAYS = 8
#: The outcome of each fault, and what its warning or reason names.
FAULTS = {
    "honest": ("zero-copy", ""),
    "copies-argument": ("copy", f"call: copied arguments: {ARRAYS}"),
    "swaps-arguments": ("wrong", "call: argument 1 is array 2"),
    "skips-body": ("wrong", "call: the body ran 0 times in 1 call"),
}


def trial(setting: Setting) -> list[Row]:
    """One row."""
    bindings = ",".join(f"faulty:{fault}" for fault in FAULTS)
    words = ["--producers", "native", "--consumers", bindings, "--protocols", "call"]
    words += ["--arrays", str(ARRAYS), "--sizes", "1KiB"]
    entries = runs.run(setting.folder, "calls", words, setting.seed)
    missed = [f"{one.consumer}: {_told(one)}" for one in entries if not _is_right(one)]
    right = len(entries) - len(missed)
    return [
        Row(
            "calls: a copied, a swapped, a skipped argument, and none",
            f"{right} of {len(FAULTS)} reported correctly",
            right == len(FAULTS),
            tuple(missed),
        )
    ]


def _told(entry: Entry) -> tuple[str, str]:
    warnings = "; ".join(warning.text for warning in runs.verdicts(entry))
    return entry.outcome, entry.reason if isinstance(entry, NotMeasured) else warnings


def _is_right(entry: Entry) -> bool:
    return _told(entry) == FAULTS[entry.consumer.partition(":")[2]]
