"""The table of libraries and rules as Markdown."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from dlbench import _core, writing
from dlbench.check.rules import RULES
from dlbench.check.verdict import BROKEN, HOLDS, NOT_APPLICABLE, UNCLEAR
from dlbench.document import Check, Document
from dlbench.text.escaping import code_names, markdown, markdown_code

WORDS = {HOLDS: "yes", BROKEN: "**no**", UNCLEAR: "?", NOT_APPLICABLE: ""}
#: Characters that a link needs no escape for.
LINK = re.compile(r"https?://[\w%+=:,./?&#~@-]+", re.ASCII)
GROUPS = {
    "export": "DLPack: `__dlpack__` and the lifetime of what it exports",
    "import": "DLPack: `from_dlpack`",
    "c-api": "DLPack's C exchange API",
    "buffer": "Buffer protocol: the exporter",
    "import-buffer": "Buffer protocol: the consumer",
    "interface": "`__array_interface__`: the exporter",
    "struct": "`__array_struct__`: the exporter",
    "import-interface": "`__array_interface__`: the consumer",
    "import-struct": "`__array_struct__`: the consumer",
    "array": "`__array__`: the exporter",
    "cuda": "`__cuda_array_interface__`",
    "dispatch": "NumPy's dispatch: `__array_ufunc__` and `__array_function__`",
}


def write(path: Path, document: Document) -> None:
    """Raises BadInput where the file cannot be written."""
    writing.write_requested(path, lambda out: out.write(text(document).encode()))


def text(document: Document) -> str:
    """The page. A rule that applies to none of the libraries has no line."""
    checks = document.checks
    libraries = list(dict.fromkeys(entry.library for entry in checks))
    of = {(entry.library, entry.rule): entry for entry in checks}
    lines = [*_head(document, libraries), *_summary(checks, libraries)]
    for group, title in GROUPS.items():
        lines += _group(group, title, libraries, of)
    lines += [*_broken(checks), "", *_unclear(checks)]
    return "\n".join(lines) + "\n"


def _head(document: Document, libraries: Sequence[str]) -> list[str]:
    (place,) = document.environments
    versions = document.versions(place)
    python = document.environment(place).python
    devices = dict.fromkeys(entry.device for entry in document.checks)
    where = ", ".join("the CPU" if device == "cpu" else device for device in devices)
    return [
        "# Which library keeps which rule",
        "",
        f"Written on {markdown(document.context.date[:10])} by "
        f"{markdown_code(_command(document))} with dlbench "
        f"{_core.version} and Python {markdown(python)}, on {markdown(where)}.",
        "`dlbench check --explain RULE LIBRARY` prints a rule's text, where it is written, and a "
        "script that shows it.",
        "",
        "yes: kept. **no**: broken, see [below](#broken); plain no: broken, and the text says "
        '"should". ?: [unclear](#unclear). Empty: it does not apply.',
        "All libraries are checked against the newest texts. Some do not claim to follow the array "
        "API standard, which defines the keywords, the types of exceptions and the streams.",
        "",
        "| library | version |",
        "|---|---|",
        *(f"| {markdown(name)} | {markdown(versions.get(name) or '-')} |" for name in libraries),
        "",
    ]


def _command(document: Document) -> str:
    """The command as it was typed, with each absolute path reduced to its last name."""
    words = document.run.command[1:]
    return shlex.join(
        ["dlbench", *(re.sub(r"(^|=)/(.*/)?(?=[^/])", r"\1", word) for word in words)]
    )


def _summary(checks: Sequence[Check], libraries: Sequence[str]) -> list[str]:
    lines = ["| library | holds | broken | unclear | does not apply |", "|---|--:|--:|--:|--:|"]
    for name in libraries:
        mine = [entry.outcome for entry in checks if entry.library == name]
        counts = [str(mine.count(word)) for word in (HOLDS, BROKEN, UNCLEAR, NOT_APPLICABLE)]
        lines.append(f"| {markdown(name)} | {' | '.join(counts)} |")
    return [*lines, ""]


def _group(
    group: str, title: str, libraries: Sequence[str], of: dict[tuple[str, str], Check]
) -> list[str]:
    rows = []
    for rule in RULES.by_name.values():
        if rule.group != group:
            continue
        words = [_word(of[name, rule.name]) if (name, rule.name) in of else ""
                 for name in libraries]  # fmt: skip
        if any(words):
            name = rule.name.partition(".")[2]
            rows.append(f"| `{name}` {code_names(rule.sentence)} | {' | '.join(words)} |")
    if not rows:
        return []
    head = f"| `{group}.` | {' | '.join(map(markdown, libraries))} |"
    return [f"## {title}", "", head, "|---" + "|:-:" * len(libraries) + "|", *rows, ""]


def _word(entry: Check) -> str:
    """A cell."""
    if entry.outcome == BROKEN and entry.level == "should":
        return "no"
    return WORDS[entry.outcome]


def _observed(entry: Check) -> str:
    """A line for each result of that kind: the observation, and the link to its discussion."""
    observed = markdown(entry.observed)
    link = entry.issue
    if LINK.fullmatch(link):
        return f"{observed} ([discussed]({link}))"
    return f"{observed} ({markdown(link)})" if link else observed


def _broken(checks: Sequence[Check]) -> list[str]:
    lines = ["## Broken", ""]
    for entry in checks:
        if entry.outcome != BROKEN:
            continue
        level = " (a should)" if entry.level == "should" else ""
        lines.append(f"- {markdown(entry.library)} `{entry.rule}`{level}: {_observed(entry)}")
    return lines


def _unclear(checks: Sequence[Check]) -> list[str]:
    """One line for all libraries with the same observation."""
    observed: dict[tuple[str, str], list[str]] = {}
    for entry in checks:
        if entry.outcome == UNCLEAR:
            line = re.sub(r"^data is \d+ bytes off", "data is some bytes off", _observed(entry))
            observed.setdefault((entry.rule, line), []).append(entry.library)
    lines = ["## Unclear", ""]
    for (rule, line), names in sorted(observed.items()):
        lines.append(f"- {', '.join(map(markdown, names))} `{rule}`: {line}")
    return lines
