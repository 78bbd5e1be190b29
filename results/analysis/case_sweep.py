"""The case sweep of `--cases all`: the outcome of every kind of array for each pair."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from dlbench.document import Document, Entry, Measured, NotMeasured, codes
from dlbench.document.facts import COPIED, DULL, is_untimed
from dlbench.text.grouping import grouped

BASELINE = "f32"  #: the plain array that the other cases are compared with
NOT_MADE = "not made"
NOT_RUN = "not-run"
CHANGES = "changes"
#: A word of cases stands for at least so many; more names than that are counted.
LEAST_OF_A_WORD, MOST_NAMES = 3, 8
#: Kinds of fallbacks in the order of their rows; the others follow.
KINDS = (*COPIED, "zero-copy", CHANGES, "wrong", "crashed", "timed-out")
Axes = tuple[str, str, str, str, str]
#: Outcomes by case: kind, words, consumer, cases, environment, device.
CaseKey = tuple[str, str, str, tuple[str, ...], str, str]


@dataclass
class CaseSweep:
    """All cases of one pair and protocol, on the clock `call` and at one size. A case with a fixed
    size is at that size."""

    producer: str
    consumer: str
    protocol: str
    device: str
    environment: str
    sweep_cases: dict[str, Entry] = field(default_factory=dict)

    def rate(self, case: str) -> float:
        """GB/s if the array was copied and timed, else 0."""
        entry = self.sweep_cases[case]
        return entry.gb_per_s if isinstance(entry, Measured) else 0.0

    def kind(self, case: str) -> str:
        """An outcome, CHANGES or NOT_MADE; empty if the outcome is that of the baseline."""
        entry, baseline = self.sweep_cases[case], self.sweep_cases.get(BASELINE)
        if is_untimed(entry) or entry is baseline:
            return ""
        # A run that was interrupted has no outcome to compare.
        if NOT_RUN in (
            entry.observed_outcome,
            baseline.observed_outcome if baseline is not None else "",
        ):
            return ""
        if self.changed(case):
            return CHANGES
        if (
            isinstance(entry, NotMeasured)
            and entry.observed_outcome == "unsupported"
            and (not entry.exception or entry.code == codes.MAKE_FAILED)
        ):
            return NOT_MADE
        return (
            ""
            if baseline is not None and entry.observed_outcome == baseline.observed_outcome
            else entry.observed_outcome
        )

    def changed(self, case: str) -> list[str]:
        """The changed properties of the array that the baseline keeps."""
        baseline = self.sweep_cases.get(BASELINE)
        plain = baseline.changed if baseline is not None else ()
        return [word for word in self.sweep_cases[case].changed if word not in plain]

    def becomes(self, case: str) -> str:
        """The kind in words: "copy by torch", "changes dtype", "refused"."""
        kind = self.kind(case)
        if kind == CHANGES:
            return f"{kind} {', '.join(self.changed(case))}"
        owner = self.sweep_cases[case].copying_library if kind in COPIED else ""
        return f"{kind} by {owner}" if owner else kind


def _shows_nothing(entry: Entry) -> bool:
    return entry.bytes == 0 and entry.observed_outcome == "unproven"


def untimed_words(untimed: Iterable[Entry]) -> list[str]:
    """["41 same as f32, not timed", "1 without elements"]: the outcomes of the untimed cases,
    counted."""
    cells = list(untimed)
    empty = sum(map(_shows_nothing, cells))
    words = [f"{len(cells) - empty} same as {BASELINE}, not timed"] if len(cells) > empty else []
    return [*words, f"{empty} without elements"] if empty else words


def outcome_words(entries: Iterable[Entry]) -> list[str]:
    """["864 measured", "41 same as f32, not timed", "594 no-protocol", "162 refused"]: the cells by
    what became of them. The numbers sum to the number of cells."""
    cells = list(entries)
    without = [entry for entry in cells if isinstance(entry, NotMeasured)]
    untimed = [entry for entry in without if entry.is_untimed]
    below = sum(entry.is_below for entry in without)
    others = Counter(e.observed_outcome for e in without if not (e.is_untimed or e.is_below))
    words = [f"{len(cells) - len(without)} measured", *untimed_words(untimed)]
    words += [f"{below} with an upper bound only"] if below else []
    return words + [f"{number} {outcome}" for outcome, number in others.most_common()]


def case_sweeps(entries: Iterable[Entry]) -> list[CaseSweep]:
    """The sweeps, by name: one for each pair and protocol."""
    found: dict[Axes, list[Entry]] = defaultdict(list)
    for entry in entries:
        if not entry.is_exchange or entry.clock != "call":
            continue
        # A library without that role was not tried, so none of its arrays failed to be made.
        if entry.outcome in DULL or entry.code == codes.NO_ADAPTER:
            continue
        axes = (*entry.pair, entry.protocol, entry.device, entry.environment)
        found[axes].append(entry)
    return [CaseSweep(*axes, _at_one_size(found[axes])) for axes in sorted(found)]


def _at_one_size(entries: Iterable[Entry]) -> dict[str, Entry]:
    """The entries by case, at the baseline's smallest size, or at the size of the case if it has
    only that."""
    cases = grouped(entries, lambda entry: entry.case)
    size = min((entry.bytes for entry in cases.get(BASELINE, [])), default=0)
    return {
        case: min(of, key=lambda entry: (entry.bytes != size, entry.bytes))
        for case, of in cases.items()
    }


def has_case_sweep(document: Document) -> bool:
    """Were all cases requested?"""
    if "all" in document.run.request.cases:
        return True
    return any(entry.is_untimed for entry in document.not_measured)


@dataclass(frozen=True)
class Fallback:
    """Cases whose outcome differs from the baseline's, for all pairs with the same result.

    `pairs` is empty where the result depends on the producer alone. `among`: the cases that those
    producers made. `rates`: GB/s of those copies that have one.
    """

    producer: str
    pairs: tuple[tuple[str, str], ...]
    protocols: tuple[str, ...]
    kind: str
    becomes: str
    cases: tuple[str, ...]
    among: frozenset[str]
    environment: str
    device: str
    rates: tuple[float, ...] = ()

    @property
    def spelled(self) -> str:
        """The cases in words: "all bf16, all readonly, f32-align4 and 3 more"."""
        left, words = dict.fromkeys(self.cases), []
        by_word: dict[str, set[str]] = defaultdict(set)
        for case in self.among:
            for word in set(case.split("-")):
                by_word[word].add(case)
        wholes = {word: of for word, of in by_word.items() if of <= left.keys()}
        while left and wholes:
            word = max(wholes, key=lambda one: (len(wholes[one] & left.keys()), one))
            if len(wholes[word] & left.keys()) < LEAST_OF_A_WORD:
                break
            words.append(f"all {word}")
            left = {case: None for case in left if case not in wholes[word]}
        shown = [*left][:MOST_NAMES]
        rest = f" and {len(left) - len(shown)} more" if len(left) > len(shown) else ""
        return ", ".join([*words, *shown]) + rest


def fallbacks(sweeps: Sequence[CaseSweep]) -> Iterator[Fallback]:
    """Copies first, then what is changed, then what fails, then what producers cannot make."""
    alike: dict[tuple[CaseKey, str], list[CaseSweep]] = defaultdict(list)
    not_made: dict[tuple[str, str, str], dict[str, None]] = defaultdict(dict)
    for one in sweeps:
        cases: dict[tuple[str, str], list[str]] = defaultdict(list)
        for case in one.sweep_cases:
            kind = one.kind(case)
            if kind == NOT_MADE:
                not_made[one.producer, one.environment, one.device][case] = None
            elif kind:
                cases[kind, one.becomes(case)].append(case)
        for (kind, word), those in cases.items():
            key = (kind, word, one.consumer, tuple(those), one.environment, one.device)
            alike[key, one.producer].append(one)
    # A row names its protocols for each of its producers.
    together: dict[tuple[CaseKey, tuple[str, ...]], list[CaseSweep]] = defaultdict(list)
    for (key, _), members in alike.items():
        together[key, tuple(one.protocol for one in members)] += members
    ordered = sorted(together.items(), key=lambda item: (_rank(*item[0][0][:2]), item[0]))
    for ((kind, word, _, same, environment, device), protocols), members in ordered:
        rates = [one.rate(case) for one in members for case in same]
        made = {case for one in members for case in one.sweep_cases if one.kind(case) != NOT_MADE}
        yield Fallback("", tuple(sorted({(one.producer, one.consumer) for one in members})),
                       protocols, kind, word, same, frozenset(made), environment, device,
                       tuple(rate for rate in rates if rate))  # fmt: skip
    for (producer, environment, device), missing in sorted(not_made.items()):
        tried = {case for one in sweeps if one.producer == producer for case in one.sweep_cases}
        words = (NOT_MADE, NOT_MADE)
        missed = tuple(missing)
        yield Fallback(producer, (), (), *words, missed, frozenset(tried), environment, device)


def _rank(kind: str, word: str) -> tuple[int, str]:
    return KINDS.index(kind) if kind in KINDS else len(KINDS), word
