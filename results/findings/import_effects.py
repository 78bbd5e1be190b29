"""Libraries whose import changes the state of the whole process."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from dlbench.document import Document, Entry, codes
from dlbench.environments.environment import DEFAULT
from dlbench.findings.finding import Finding
from dlbench.text.layout import listing

#: A verb for each kind of effect, the most important first.
WORDS = {
    "arithmetic": "changes arithmetic:",
    "functions": "replaces",
    "allocators": "replaces the allocator of",
    "signals": "handles",
    "interpreter": "changes",
    "processors": "limits the process's processors to",
    "environment": "sets",
    "threads": "starts the threads",
    "thread-pools": "loads",
}
#: Effects of every library with threads: in the document and the report, but not a finding.
QUIET = ("threads", "thread-pools")
MOST_NAMES = 3


def import_effects(document: Document) -> Iterator[Finding]:
    """A line for each environment where a library has such an effect."""
    for name, facts in document.environments.items():
        found = []
        for library, effects in sorted(facts.import_effects.items()):
            loud = {kind: names for kind, names in effects.items() if kind not in QUIET}
            if loud:
                found.append(f"{library} {in_words(loud, MOST_NAMES)}")
        if found:
            where = "" if name == DEFAULT else f" in {name}"
            yield Finding("imports" + where, "; ".join(found))


def foreign_types(entries: Iterable[Entry]) -> Iterator[Finding]:
    """A line for each producer with arrays of another library's type."""
    types = {
        (entry.producer, warning.data["type"])
        for entry in entries
        for warning in entry.warnings
        if warning.code == codes.FOREIGN_TYPE
    }
    for producer, name in sorted(types):
        library = name.partition(".")[0]
        yield Finding("imports", f"{producer}: its arrays are {name} beside {library}")


def in_words(effects: Mapping[str, Sequence[str]], most: int) -> str:
    """ "handles SIGINT, sets OMP_NUM_THREADS", with at most so many names of each kind."""
    return ", ".join(
        f"{words} {listing(effects[kind], most)}"
        for kind, words in WORDS.items()
        if kind in effects
    )
