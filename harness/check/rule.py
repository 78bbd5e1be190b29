"""Rules, by name, and the sections in which they are written."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from dlbench.check.situation import PLAIN, Variant, described, sources, spelled, try_each
from dlbench.check.subject import Subject
from dlbench.check.verdict import BROKEN

ROLES = ("producer", "consumer")

#: Tests a library; returns the observation if the rule holds. With `arrays`: in one situation,
#: given by a word and keywords.
Check = Callable[..., str]


@dataclass(frozen=True)
class Rule:
    """One sentence of a specification that a library keeps or breaks."""

    name: str  #: "export.copy-true"
    role: str
    section: str  #: where it is written
    check: Check
    sentence: str  #: the first paragraph of the check's docstring
    #: The rest of it: lines of the script of a broken rule, see `check.script`. Of a producer: what
    #: is done with `array`. Of a consumer: what is printed after the import.
    lines: str
    level: str = "must"  #: or "should", as the specification says it
    #: consumer: the array that it is given lies on the library's device, not on the CPU
    on_device: bool = False
    risky: bool = False  #: breaking it may crash the process: it runs in a worker
    workers: int = 0  #: workers that it starts: each imports the library and has its own deadline
    at_exit: bool = False  #: it shows only in how the process ends: it runs last
    verdict: str = BROKEN  #: the worst verdict: `unclear` where the text is
    # What the script does before its lines.
    #: consumer: statements that change the struct of a NumPy array, at `struct` and `tensor`
    patch: str = ""
    #: the array: a word of `check.situation.SOURCES`
    source: str = "line"
    #: consumer: the call, if it is not the plain one. Producer: the expression for `capsule`.
    call: str = ""
    #: producer: what is bound before its lines: a key of `check.script.GIVEN`
    given: str = ""
    reads_extras: bool = False  #: producer: its lines read `{extras}` of arrays
    imports: bool = True  #: consumer: `result` is bound before its lines
    counts: bool = False  #: consumer: `deleted` lists the calls of the deleter
    records: bool = False  #: consumer: `calls` and `capsules` list those of `__dlpack__`
    #: the errors by which it may refuse; if empty, a refusal is the fault
    refusal: str = ""
    raises: str = ""  #: the errors of which the last line must raise one
    #: consumer: the export that it must import; see `check.script._exporter`
    struct: str = ""
    #: the situations: each of these arrays with each of these keywords
    arrays: Sequence[str] = ()
    variants: Sequence[Variant] = PLAIN

    @property
    def situations(self) -> tuple[str, str]:
        """The arrays, and the keywords of the calls, in words."""
        calls = [spelled(variant) or "none" for variant in self.variants]
        arrays = described(self.arrays or [self.source])
        return arrays, "; ".join(calls) if calls != ["none"] else ""

    def test(self, subject: Subject) -> str:
        """Tests a library in each situation; returns the observation if the rule holds."""
        if not self.arrays:
            return self.check(subject)
        return try_each(subject, self.arrays, self.variants, self.check)

    @property
    def sources(self) -> set[str]:
        """All values of `Subject.source` that it may leave."""
        return sources([*self.arrays, self.source], self.variants)

    @property
    def group(self) -> str:
        """The protocol's side that it belongs to: "export"."""
        return self.name.partition(".")[0]


class Rules:
    """All rules, in the order in which their files name them."""

    def __init__(self) -> None:
        self.by_name: dict[str, Rule] = {}

    def add(
        self, role: str, name: str, section: str, doc: str = "", **words: Any
    ) -> Callable[[Check], Check]:
        """Decorates the check of a rule; `words` are fields of Rule. `doc`: in place of a
        docstring. With `arrays` or `variants` the check is tried in each situation, with a word and
        keywords."""

        def kept(check: Check) -> Check:
            assert name not in self.by_name, name
            sentence, _, lines = inspect.cleandoc(doc or check.__doc__ or "").partition("\n\n")
            sentence = " ".join(sentence.split())
            if "arrays" in words or "variants" in words:
                arrays = words.setdefault("arrays", (words.get("source", "line"),))
                words.setdefault("source", arrays[0])
            self.by_name[name] = Rule(name, role, section, check, sentence, lines, **words)
            return check

        return kept


#: Filled by the files in `rules`.
RULES = Rules()
producer_rule = partial(RULES.add, "producer")
consumer_rule = partial(RULES.add, "consumer")

ARRAY_API = "array API 2025.12"
METHOD = f"{ARRAY_API}, array.__dlpack__"
DEVICE = f"{ARRAY_API}, array.__dlpack_device__"
FROM_DLPACK = f"{ARRAY_API}, from_dlpack"
HEADER = "dlpack.h 1.3"
SPEC = "DLPack, Python specification"
EXCHANGE_API = f"{HEADER}, DLPackExchangeAPI"
PEP3118 = "PEP 3118 and the C API's buffer protocol"
INTERFACE = "NumPy, the array interface protocol, version 3"
ARRAY_METHOD = "NumPy, Interoperability, The __array__() method; Array classes, __array__"
COPY_KEYWORD = "NumPy 2.0 migration guide, Adapting to changes in the copy keyword"
NEP13 = "NEP 13, __array_ufunc__"
NEP18 = "NEP 18, __array_function__"
CUDA_INTERFACE = "Numba, the CUDA array interface, version 3"
