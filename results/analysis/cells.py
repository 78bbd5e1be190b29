"""CELL on the command line: a cell's full name, or words that choose one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dlbench import _core, values
from dlbench.document import Document, Entry
from dlbench.document.facts import DULL
from dlbench.environments.environment import DEFAULT
from dlbench.errors import BadInput

WORD_AXES = ("protocol", "device", "case", "clock", "environment", "machine", "phase")
MOST_CANDIDATES = 12
ARRAYS = "arrays:"  #: begins the word of a number of arrays, as in a cell's name


def matching(document: Document, words: Sequence[str]) -> list[Entry]:
    """The recorded cells that all words match: PRODUCER CONSUMER, then values of any axis. Raises
    BadInput if none matches; an unknown word gets the nearest name as a hint.
    """
    entries = document.entries
    if len(words) == 1 and "/" in words[0]:
        return [_by_name(entries, words[0])]
    if len(words) < 2:
        raise BadInput("a cell is its full name, or PRODUCER CONSUMER [PROTOCOL] [BYTES] ...")
    for axis, word in zip(("producer", "consumer"), words, strict=False):
        known = {str(entry.axis(axis)) for entry in entries}
        if word not in known:
            raise BadInput(f"no {axis} {word!r} in this run{_hint(word, known)}")
        entries = [entry for entry in entries if entry.axis(axis) == word]
        if not entries:
            raise BadInput(f"no cell {words[0]} -> {words[1]} in this run")
    return _narrowed(entries, words[2:])


def single(document: Document, words: Sequence[str]) -> Entry:
    """The cell that the words choose. Defaults for what they leave open: the protocol `dlpack`, the
    clock `call`, the default environment, the smallest size, the fewest arrays. Raises BadInput
    with the candidates if several remain."""
    entries = usual(matching(document, words))
    if len(entries) > 1:
        names = [entry.name for entry in entries[:MOST_CANDIDATES]]
        more = f" and {len(entries) - len(names)} more" if len(entries) > len(names) else ""
        raise BadInput(f"{len(entries)} cells match: {', '.join(names)}{more}")
    return entries[0]


def words_for(entry: Entry, pair: Sequence[Entry]) -> list[str]:
    """The shortest arguments by which `single` finds the entry. `pair`: all cells of that pair."""
    last = [] if entry.environment == DEFAULT else [entry.environment]
    last += [entry.machine] if entry.machine else []
    words = [] if entry.protocol == "dlpack" else [entry.protocol]
    for axis in ("device", "case", "bytes", "arrays", "clock", "environment"):
        fitting = _narrowed(list(pair), [*words, *last])
        if usual(fitting) == [entry]:
            break
        if any(other.axis(axis) != entry.axis(axis) for other in fitting):
            words.append(f"{ARRAYS * (axis == 'arrays')}{entry.axis(axis)}")
    return [*words, *last]


def _narrowed(entries: list[Entry], words: Sequence[str]) -> list[Entry]:
    """The cells of one pair that match each word; only whole exchanges, unless a word is a
    phase."""
    if not set(words) & set(_core.phases):
        whole = [entry for entry in entries if entry.is_exchange]
        entries = whole or entries
    for word in words:
        entries = _narrow(entries, word)
    return entries


def usual(entries: list[Entry]) -> list[Entry]:
    """The cells among them that are meant by default."""
    entries = [entry for entry in entries if entry.outcome not in DULL] or entries
    for axis, word in (("protocol", "dlpack"), ("clock", "call"), ("environment", DEFAULT)):
        if any(entry.axis(axis) == word for entry in entries):
            entries = [entry for entry in entries if entry.axis(axis) == word]
    smallest = min((entry.bytes, entry.arrays) for entry in entries)
    return [entry for entry in entries if (entry.bytes, entry.arrays) == smallest]


def _by_name(entries: list[Entry], name: str) -> Entry:
    names = {entry.name: entry for entry in entries}
    if name not in names:
        raise BadInput(f"no cell {name!r} in this run{_hint(name, names)}")
    return names[name]


def _narrow(entries: list[Entry], word: str) -> list[Entry]:
    if _core.is_case(word):  # its words may have another order
        word = _core.case(word)["name"]
    if word.startswith(ARRAYS):
        return [entry for entry in entries if f"{ARRAYS}{entry.arrays}" == word]
    for axis in WORD_AXES:
        if any(entry.axis(axis) == word for entry in entries):
            return [entry for entry in entries if entry.axis(axis) == word]
    try:
        count = _core.parse_bytes(word)
    except _core.UsageError:
        known = {str(entry.axis(axis)) for entry in entries for axis in WORD_AXES} - {""}
        raise BadInput(f"no cell here has {word!r}{_hint(word, known)}") from None
    chosen = [entry for entry in entries if entry.bytes == count]
    if not chosen:
        sizes = ", ".join(values.size(size) for size in sorted({e.bytes for e in entries}))
        raise BadInput(f"no cell here has {word} ({sizes} were requested)")
    return chosen


def _hint(word: str, known: Iterable[str]) -> str:
    return _core.did_you_mean(word, sorted(known))
