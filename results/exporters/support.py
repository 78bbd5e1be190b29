"""The page "Which libraries exchange arrays" for a project's documentation, from one run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dlbench import values
from dlbench.analysis import case_sweep
from dlbench.analysis.calls import CALL
from dlbench.document import Document, Entry, Measured, NotMeasured, codes
from dlbench.document.facts import FIRST_PROTOCOLS, is_below, is_untimed
from dlbench.environments.environment import DEFAULT
from dlbench.errors import BadInput, first_line
from dlbench.text.escaping import dlbench_command, log_line, markdown, markdown_code
from dlbench.text.layout import shorten

from .tables import table

#: The text of a cell by outcome; other outcomes are shown by their name.
MARKS = {
    "zero-copy": "0",
    "copy": "copy",
    "device-copy": "copy",
    "unproven": "?",
    "no-protocol": "",
    "not-installed": "",
    "no-device": "",
}
KEY = (
    "0: the consumer shares the memory. copy: bytes were copied. In brackets: data that was "
    "dropped or converted without an error. ?: not proven. Empty: the producer does not export the "
    "protocol, the consumer does not import it, or one has no array here. Any other word: the "
    "outcome."
)
LIBRARIES_KEY = (
    "exports through, imports through: the protocols by which an exchange of the tables above "
    "succeeded."
)
#: NumPy's dispatch is not an exchange, so its results have a table of their own.
DISPATCH = {"array_ufunc": "`np.multiply(x, x)`", "array_function": "`np.concatenate([x, x])`"}
DISPATCH_KEY = (
    "kept: the array overrides NumPy's function (NEP 13, NEP 18), and the result has its type and "
    "all attributes. drops: the lost attributes; `type` means another type. converted: the array "
    "does not override the function, and NumPy's result is named; `kept` there comes from "
    "`__array_wrap__` or the like. raises: the function raises an exception."
)
#: Options that decide the cells and their outcomes; paths are left out.
OPTIONS = ("producers", "consumers", "protocols", "devices", "cases", "sizes", "filter",
           "arrays", "precision", "budget", "timeout")  # fmt: skip
ABSENT = ("not-installed", "no-device", "import-failed")


def export(document: Document) -> str:
    """The page in Markdown, for the smallest size, with a part for each machine and environment.
    Raises BadInput for a run of calls alone."""
    protocols = {entry.protocol for entry in document.exchanges}
    if protocols == {CALL}:
        raise BadInput(
            "--format support shows exchanges, and this run has calls alone: export it as csv, or "
            "run 'dlbench report'"
        )
    lines = ["# Which libraries exchange arrays", ""]
    for machine, part in document.by_machine():
        lines += [f"# {markdown(machine)}", ""] if machine else []
        lines += [_origin(part), "", KEY, ""]
        for environment in part.environments:
            lines += _of_environment(part, environment)
    return "\n".join(lines).rstrip() + "\n"


def _of_environment(document: Document, environment: str) -> list[str]:
    entries = [e for e in document.exchanges
               if e.clock == "call" and e.environment == environment]  # fmt: skip
    several = len(document.environments) > 1
    lines = [f"## {markdown(environment)}", ""] if several else []
    crossed = [entry for entry in entries if entry.protocol not in (*DISPATCH, CALL)]
    absent = _absent(crossed)
    if absent and environment != DEFAULT:
        lines += [f"Not installed there: {markdown(', '.join(absent))}.", ""]
        crossed = [e for e in crossed if not {e.producer, e.consumer} & {*absent}]
    for device in dict.fromkeys(entry.device for entry in entries):
        lines += _matrices([entry for entry in crossed if entry.device == device], device)
    lines += _dispatch(entries)
    lines += ["## Protocols of each library", ""]
    lines += [_libraries(crossed, document.versions(environment), absent)]
    return lines + _fallbacks(entries)


def _origin(document: Document) -> str:
    given = [(name, document.run.request.words(name)) for name in OPTIONS]
    words = [word for name, value in given if value for word in (f"--{name}", value)]
    words += [word for name in document.environments if name != DEFAULT
              for word in ("--env", f"{name}=PYTHON")]  # fmt: skip
    command = log_line(dlbench_command("--matrix", *words, "--out", "RUN"))
    pythons = sorted({e.python for e in document.environments.values()})
    return (
        f"Written on {markdown(document.context.date[:10])} by\n\n```sh\n{command} && "
        "dlbench export RUN --format support\n```\n\n"
        f"with dlbench {markdown(document.run.version)} and Python {markdown(', '.join(pythons))}. "
        "What each word means: "
        "[outcomes](outcomes.md). What libraries' own tests assert: [suites](suites.md)."
    )


def _succeeded(entry: Entry) -> bool:
    return isinstance(entry, Measured) or is_untimed(entry) or is_below(entry)


def _absent(entries: list[Entry]) -> list[str]:
    """The libraries that are installed in none of these cells."""
    observed = {name: False for entry in entries for name in entry.pair}
    for entry in entries:
        if entry.outcome != "not-installed":
            observed[entry.producer] = observed[entry.consumer] = True
    return sorted(name for name, there in observed.items() if not there)


def _libraries(entries: list[Entry], versions: Mapping[str, str], absent: Sequence[str]) -> str:
    """A table of the libraries and the protocols through which they export and import."""
    rows = []
    for name in sorted({name for entry in entries for name in entry.pair}):
        exported = _protocols(e for e in entries if e.producer == name and _succeeded(e))
        imported = _protocols(e for e in entries if e.consumer == name and _succeeded(e))
        why = "" if exported or imported else _why_absent(entries, name, absent)
        rows.append([name, versions.get(name, ""), exported, imported, why])
    head = ["library", "version", "exports through", "imports through", "why not"]
    return f"{table(head, rows)}\n{LIBRARIES_KEY}\n"


def _protocols(entries: Iterable[Entry]) -> str:
    return ", ".join(sorted({entry.protocol for entry in entries}))


def _why_absent(entries: list[Entry], name: str, absent: Sequence[str]) -> str:
    """The most frequent reason of a library without any exchange."""
    related = [e for e in entries if name in (e.producer, e.consumer)]

    def rank(entry: Entry) -> tuple[bool, bool, bool]:
        others = {entry.producer, entry.consumer} - {name}
        outcome = entry.outcome
        return not others.isdisjoint(absent), outcome not in ABSENT, outcome == "no-protocol"

    related.sort(key=rank)
    reasons = [values.reason(entry) for entry in related if isinstance(entry, NotMeasured)]
    return _short(reasons[0]) if reasons else ""


def _short(text: str) -> str:
    return shorten(first_line(text), 90)


def _matrices(entries: list[Entry], device: str) -> list[str]:
    lines: list[str] = []
    found = dict.fromkeys(entry.protocol for entry in entries)
    for protocol in sorted(found, key=lambda each: (each not in FIRST_PROTOCOLS, each != "dlpack")):
        plain = [e for e in entries if (e.protocol, e.case) == (protocol, case_sweep.BASELINE)]
        cells: dict[tuple[str, str], Entry] = {}
        for entry in sorted(plain, key=lambda e: e.bytes):
            cells.setdefault((entry.producer, entry.consumer), entry)
        shown = {pair: _mark(entry) for pair, entry in cells.items()}
        producers = sorted({pair[0] for pair, mark in shown.items() if mark})
        consumers = sorted({pair[1] for pair, mark in shown.items() if mark})
        if not producers:
            continue
        rows = [[p, *(shown.get((p, c), "") for c in consumers)] for p in producers]
        size = values.size(min(entry.bytes for entry in cells.values()))
        lines += [f"## {markdown_code(protocol)} on {markdown(device)}, {size}", ""]
        lines += [table(["from, to", *map(markdown, consumers)], rows)]
    return lines


def _dispatch(entries: list[Entry]) -> list[str]:
    """The results of NumPy's functions on each library's arrays."""
    related: dict[str, dict[str, str]] = {}
    for entry in entries:
        if entry.protocol in DISPATCH and entry.consumer == "numpy":
            related.setdefault(entry.producer, {})[entry.protocol] = _kept(entry)
    if not related:
        return []
    rows = [[name, *(found.get(word, "") for word in DISPATCH)] for name, found in sorted(
        related.items()) if any(found.values())]  # fmt: skip
    head = ["array", *DISPATCH.values()]
    return ["## Under NumPy's own functions", "", table(head, rows), DISPATCH_KEY, ""]


def _kept(entry: Entry) -> str:
    if _succeeded(entry):
        return f"drops {' and '.join(entry.changed)}" if entry.changed else "kept"
    if entry.outcome in ABSENT:
        return ""
    became = entry.data.get("became", "")
    if entry.code != codes.CONVERTED or not became:
        return entry.outcome
    return f"raises {_short(became)}" if "exception" in entry.data else f"converted: {became}"


def _mark(entry: Entry) -> str:
    mark = MARKS.get(entry.observed_outcome, entry.observed_outcome)
    changed = ", ".join(entry.changed)
    return f"{mark} ({changed})" if mark and changed else mark


def _fallbacks(entries: list[Entry]) -> list[str]:
    """The cases whose outcome differs from the plain array's, if all cases were run."""
    if not any(map(is_untimed, entries)):
        return []
    sweeps = case_sweep.case_sweeps(entries)
    several = len({one.device for one in sweeps}) > 1
    rows = []
    for one in case_sweep.fallbacks(sweeps):
        pairs = ", ".join(f"{p} -> {c}" for p, c in one.pairs) or one.producer
        device = [one.device] if several else []
        rows.append([pairs, *device, ", ".join(one.protocols), one.becomes, one.spelled])
    head = ["exchange", *(["device"] if several else []), "protocol", "becomes", "cases"]
    return ["## Kinds of arrays with another outcome than plain ones", "", table(head, rows)]
