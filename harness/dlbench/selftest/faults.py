"""Every fault that a measuring run can see, and as many honest runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from dlbench.selftest import runs
from dlbench.selftest.row import Row, Setting
from dlbench.values import Entry

#: Each is a look of its own at each fault.
SIZES = ("64KiB", "128KiB", "256KiB", "512KiB", "1MiB")


@dataclass(frozen=True)
class Fault:
    """What the cells of a saboteur must say: an outcome, and words in a warning or the reason."""

    role: str
    argument: str
    outcome: str
    says: str = ""
    copied_by: str = ""
    late: bool = False
    case: str = "f32"
    or_wrong: str = ""  #: `wrong` with this reason names it as well: another look came first

    @property
    def library(self) -> str:
        return f"saboteur:{self.argument}"

    def fits(self, entry: Entry) -> bool:
        """Does the cell name the fault rightly?"""
        told = [entry.get("reason", ""), entry.get("stderr_tail", ""), *runs.verdicts(entry)]
        if self.or_wrong and entry["outcome"] == "wrong":
            return self.or_wrong in entry["reason"]
        return (
            entry["outcome"] == self.outcome
            and entry.get("copied_by", "") == self.copied_by
            and bool(entry.get("late_read", False)) == self.late
            and any(self.says in text for text in told)
        )


_producer = partial(Fault, "producer")
UNTOLD = "copied without setting IS_COPIED"
FAULTS = (
    _producer("silent-copy", "copy", UNTOLD, copied_by="producer"),
    _producer("hiding-is-copied", "copy", UNTOLD, copied_by="producer"),
    _producer("copy-back", "copy", "the release of the result wrote", copied_by="producer"),
    _producer("lazy-copy", "zero-copy", "copy on write"),
    _producer("double-map", "zero-copy", "write says shared, address says copied"),
    _producer("lying-is-copied", "zero-copy", "IS_COPIED is set"),
    _producer("values-changed", "wrong", "element (0,)"),
    _producer("wrong-byte-offset", "wrong", "element (0,)"),
    _producer("wrong-strides", "wrong", "element (1,)"),
    _producer("wrong-shape", "wrong", "shape"),
    _producer("wrong-dtype", "wrong", "element"),
    _producer("wrong-device", "refused", "device (2, 0)"),
    _producer("wrong-name", "refused", "dltensor_of_saboteur"),
    _producer("stale-version=2.0", "refused", "2.0"),
    _producer("read-only-missing", "zero-copy", "read-only: the export", case="f32-readonly"),
    _producer("early-free", "wrong", "element"),
    _producer("double-free", "crashed", "SIGABRT"),
    _producer("null-deleter", "zero-copy", "deleter: null"),
    _producer("never-free", "zero-copy", "bytes behind"),
    Fault("consumer", "silent-copy", "copy", copied_by="consumer"),
    Fault("consumer", "late-read=20us", "copy", copied_by="consumer", late=True),
    Fault("consumer", "lazy-copy", "copy", "first looked at", copied_by="consumer", late=True),
    Fault("consumer", "copy-back", "copy", "release of the result wrote", copied_by="consumer"),
    Fault("consumer", "values-changed", "wrong", "element (0,)"),
    Fault("consumer", "read-only-ignored", "wrong", "element (0,)", case="f32-readonly"),
    Fault("consumer", "keeps-capsule-name", "wrong", "deleter: called twice"),
    Fault(
        "consumer",
        "early-free",
        "zero-copy",
        "deleter: called while the result was alive",
        or_wrong="after the producer's array was dropped",
    ),
    Fault("consumer", "double-free", "wrong", "deleter: called twice"),
    Fault("consumer", "never-free", "zero-copy", "deleter: never called"),
)
HONEST = "saboteur:honest"


def trial(setting: Setting) -> list[Row]:
    """Two rows: faults named rightly, and honest runs that say nothing."""
    looks = dict.fromkeys(FAULTS, 0)
    missed: list[str] = []
    honest, alarms = 0, []
    rounds = 1 if setting.short else max(1, -(-setting.times // len(SIZES)))
    for number in range(rounds):
        for entry in _cells(setting, number):
            if HONEST in (entry["producer"], entry["consumer"]):
                honest += 1
                if entry["outcome"] != "zero-copy" or runs.verdicts(entry):
                    alarms.append(_told(entry))
            elif fault := _fault_of(entry):
                looks[fault] += 1
                if not fault.fits(entry):
                    missed.append(_told(entry))
    unseen = [f"{fault.role} {fault.argument}: no cell" for fault, n in looks.items() if n == 0]
    total, right = sum(looks.values()), sum(looks.values()) - len(missed)
    each = min(looks.values())
    return [
        Row(
            f"{len(FAULTS)} faults, at least {each} times each",
            f"{right} of {total} named rightly",
            not missed and not unseen,
            (*missed[:20], *unseen),
        ),
        Row(
            f"no fault, {honest} times",
            f"{len(alarms)} false alarms",
            not alarms and honest > 0,
            tuple(alarms[:20]),
        ),
    ]


def _cells(setting: Setting, number: int) -> Iterable[Entry]:
    sizes = ["--sizes", ",".join(SIZES), "--protocols", "dlpack", "--cases", "f32,f32-readonly"]
    for role, other in (("producer", "consumer"), ("consumer", "producer")):
        named = [fault.library for fault in FAULTS if fault.role == role]
        # As many honest cells as there are of one fault, and those of both cases.
        words = [f"--{role}s", ",".join([*named, HONEST]), f"--{other}s", "native", *sizes]
        yield from runs.run(setting.folder, f"{role}s-{number}", words, setting.seed + number)


def _fault_of(entry: Entry) -> Fault | None:
    """The fault whose cell this is; a saboteur's cells of the other case belong to none."""
    for fault in FAULTS:
        if entry[fault.role] == fault.library and entry["case"] == fault.case:
            return fault
    return None


def _told(entry: Entry) -> str:
    words = [entry["outcome"], entry.get("copied_by", ""), entry.get("reason", "")]
    words += ["late"] * bool(entry.get("late_read")) + runs.verdicts(entry)
    pair = f"{entry['producer']} -> {entry['consumer']}, {entry['bytes']} bytes, {entry['clock']}"
    return f"{pair}: " + "; ".join(filter(None, words))
