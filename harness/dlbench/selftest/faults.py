"""Every fault that a measuring run can find, and as many runs without a fault."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from dlbench.document import Entry, NotMeasured
from dlbench.selftest import runs
from dlbench.selftest.row import Row, Setting

#: Each size judges each fault separately.
SIZES = ("64KiB", "128KiB", "256KiB", "512KiB", "1MiB")


@dataclass(frozen=True)
class Fault:
    """The expected result of a fault: an outcome, and a code, a warning, a signal or an
    exception."""

    role: str
    argument: str
    outcome: str
    code: str = ""
    copied_by: str = ""
    late: bool = False
    case: str = "f32"
    or_wrong: str = ""  #: `wrong` with this code is correct too: another check ran first

    @property
    def library(self) -> str:
        return f"faulty:{self.argument}"

    def fits(self, entry: Entry) -> bool:
        """Does the cell report the fault?"""
        codes = {entry.code, *(warning.code for warning in entry.warnings)}
        if isinstance(entry, NotMeasured):
            codes |= {entry.signal, entry.exception}
            if self.or_wrong and entry.outcome == "wrong":
                return self.or_wrong == entry.code
        return (
            entry.outcome == self.outcome
            and entry.copied_by == self.copied_by
            and entry.late_read == self.late
            and (not self.code or self.code in codes)
        )


_producer = partial(Fault, "producer")
FAULTS = (
    _producer("silent-copy", "copy", "copy-without-flag", copied_by="producer"),
    _producer("hiding-is-copied", "copy", "copy-without-flag", copied_by="producer"),
    _producer("copy-back", "copy", "source-written", copied_by="producer"),
    _producer("lazy-copy", "zero-copy", "copy-on-write"),
    _producer("double-map", "zero-copy", "disagreement"),
    _producer("lying-is-copied", "zero-copy", "flag-without-copy"),
    _producer("values-changed", "wrong", "values-differ"),
    _producer("wrong-byte-offset", "wrong", "values-differ"),
    _producer("wrong-strides", "wrong", "values-differ"),
    _producer("wrong-shape", "wrong", "values-differ"),
    _producer("wrong-dtype", "wrong", "values-differ"),
    _producer("wrong-device", "refused", "BufferError"),
    _producer("wrong-name", "refused", "BufferError"),
    _producer("stale-version=2.0", "refused", "BufferError"),
    _producer("read-only-missing", "zero-copy", "read-only-hidden", case="f32-readonly"),
    _producer("early-free", "wrong"),
    _producer("double-free", "crashed", "SIGABRT"),
    _producer("null-deleter", "zero-copy", "deleter-null"),
    _producer("never-free", "zero-copy", "memory-grows"),
    Fault("consumer", "silent-copy", "copy", copied_by="consumer"),
    Fault("consumer", "late-read=20us", "copy", copied_by="consumer", late=True),
    Fault("consumer", "lazy-copy", "copy", "copied-lazily", copied_by="consumer", late=True),
    Fault("consumer", "copy-back", "copy", "source-written", copied_by="consumer"),
    Fault("consumer", "values-changed", "wrong", "values-differ"),
    Fault("consumer", "read-only-ignored", "wrong", "values-differ", case="f32-readonly"),
    Fault("consumer", "keeps-capsule-name", "wrong", "deleter-twice"),
    Fault(
        "consumer",
        "early-free",
        "zero-copy",
        "deleter-early",
        or_wrong="differs-after-drop",
    ),
    Fault("consumer", "double-free", "wrong", "deleter-twice"),
    Fault("consumer", "never-free", "zero-copy", "deleter-never"),
)
HONEST = "faulty:honest"


def trial(setting: Setting) -> list[Row]:
    """Two rows: faults that were reported, and runs without a fault that have no warning."""
    trials = dict.fromkeys(FAULTS, 0)
    missed: list[str] = []
    honest, alarms = 0, []
    rounds = 1 if setting.short else max(1, -(-setting.times // len(SIZES)))
    for number in range(rounds):
        for entry in _cells(setting, number):
            if HONEST in (entry.producer, entry.consumer):
                honest += 1
                if entry.outcome != "zero-copy" or runs.verdicts(entry):
                    alarms.append(_describe(entry))
            elif fault := _fault_of(entry):
                trials[fault] += 1
                if not fault.fits(entry):
                    missed.append(_describe(entry))
    unseen = [f"{fault.role} {fault.argument}: no cell" for fault, n in trials.items() if n == 0]
    total, right = sum(trials.values()), sum(trials.values()) - len(missed)
    each = min(trials.values())
    return [
        Row(
            f"{len(FAULTS)} faults, at least {each} times each",
            f"{right} of {total} reported correctly",
            not missed and not unseen,
            (*missed[:20], *unseen),
        ),
        Row(
            f"no fault planted, {honest} times",
            f"{len(alarms)} false alarms",
            not alarms and honest > 0,
            tuple(alarms[:20]),
        ),
    ]


def _cells(setting: Setting, number: int) -> Iterable[Entry]:
    sizes = ["--sizes", ",".join(SIZES), "--protocols", "dlpack", "--cases", "f32,f32-readonly"]
    for role, other in (("producer", "consumer"), ("consumer", "producer")):
        named = [fault.library for fault in FAULTS if fault.role == role]
        # As many cells without a fault as with one, of both cases.
        words = [f"--{role}s", ",".join([*named, HONEST]), f"--{other}s", "native", *sizes]
        yield from runs.run(setting.folder, f"{role}s-{number}", words, setting.seed + number)


def _fault_of(entry: Entry) -> Fault | None:
    """The fault planted in this cell; None in cells of the other case."""
    for fault in FAULTS:
        if entry.axis(fault.role) == fault.library and entry.case == fault.case:
            return fault
    return None


def _describe(entry: Entry) -> str:
    words = [entry.outcome, entry.copied_by]
    words += [entry.reason] if isinstance(entry, NotMeasured) else []
    words += ["late"] * entry.late_read + [warning.text for warning in runs.verdicts(entry)]
    pair = f"{entry.producer} -> {entry.consumer}, {entry.bytes} bytes, {entry.clock}"
    return f"{pair}: " + "; ".join(filter(None, words))
