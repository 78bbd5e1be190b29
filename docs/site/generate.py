"""Writes the parts of the reference that the program itself defines.

usage: python docs/site/generate.py

It writes the schemas in `results`, the keys in `results/document/keys.py` (views.py does that
alone), the page of the glossary, and the parts of pages between `<!-- made: NAME -->` and
`<!-- end -->`. Everything else on a page is written by hand. A test compares each with what this
script makes.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import views

from dlbench import _core, cli
from dlbench.check import conformance
from dlbench.check.rule import Rule
from dlbench.check.rules import RULES
from dlbench.libraries import discover
from dlbench.plots import figures
from dlbench.text import glossary
from dlbench.text.escaping import code_names

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs/reference"
PART = re.compile(r"(<!-- made: ([\w-]+) -->\n).*?(<!-- end -->)", re.S)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def paragraph(text: str) -> str:
    return textwrap.fill(code_names(text), 100, break_long_words=False, break_on_hyphens=False)


# The command line


def commands() -> str:
    """Each command with its arguments and options."""
    all_of_them = {"dlbench": cli.dlbench} | {f"dlbench {k}": v for k, v in cli.verbs().items()}
    return "\n".join(_command(name, command) for name, command in all_of_them.items())


def _command(name: str, command: click.Command) -> str:
    context = click.Context(command, info_name=name)
    usage = [f"{name} --matrix [OPTIONS]", f"{name} A B... [OPTIONS]"]
    if command is not cli.dlbench:
        usage = [f"{name} {' '.join(command.collect_usage_pieces(context))}"]
    text = (command.help or "").replace("\b\n", "").split("\f")[0]
    parts = [part.strip() for part in text.split("\n\n")]
    lines = [f"## `{name}`" if name != "dlbench" else "## `dlbench`: measure", ""]
    lines += ["```text", *usage, "```", ""]
    lines += [f"{paragraph(part)}\n" for part in parts if part]
    options = [one for one in command.get_params(context) if isinstance(one, click.Option)]
    records = [one.get_help_record(context) for one in options]
    rows = [(f"`{option}`", code_names(meaning)) for option, meaning in filter(None, records)]
    return "\n".join(lines) + "\n" + (table(("option", "meaning"), rows) if rows else "")


# The keys of results.json


def keys(*names: str) -> str:
    """The keys of these definitions of the schema."""
    schema = json.loads(_core.schema())
    made = []
    for name in names:
        part = schema["$defs"].get(name, schema)
        rows = list(_rows(part, schema["$defs"], ""))
        made.append(f"## `{name}`\n\n{paragraph(part.get('description', ''))}".rstrip() + "\n")
        made.append(table(("key", "type", "meaning"), rows))
    return "\n".join(made)


def _rows(
    part: Mapping[str, Any], definitions: Mapping[str, Any], prefix: str
) -> Iterator[tuple[str, str, str]]:
    shared = part.get("$ref", "").rpartition("/")[2]
    if shared and shared not in CONTEXT + CELLS:  # has no heading of its own
        yield from _rows(definitions[shared], definitions, prefix)
    for key, value in part.get("properties", {}).items():
        if isinstance(value, bool):  # a key that must not be there
            continue
        meaning = code_names(description(value))
        if prefix == "request.":
            meaning = meaning or f"The option `--{key.replace('_', '-')}`."
        yield f"`{prefix}{key}`", _type(value, definitions), meaning
        inside = value.get("items", value)
        if isinstance(inside, dict) and "$ref" not in inside:
            mark = "[]." if "items" in value else "."
            yield from _rows(inside, definitions, f"{prefix}{key}{mark}")


def description(value: Mapping[str, Any]) -> str:
    if "description" in value:
        return str(value["description"])
    inside = value.get("items")
    return (
        str(inside["description"]) if isinstance(inside, dict) and "description" in inside else ""
    )


def _type(value: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    if "$ref" in value:
        name = value["$ref"].rpartition("/")[2]
        linked = definitions[name]
        page = "keys.md" if name in CONTEXT else "keys-of-a-cell.md"
        return f"[{name}]({page}#{name})" if "properties" in linked else _type(linked, definitions)
    if "enum" in value:
        shown = value["enum"] if len(value["enum"]) < 9 else []
        return ", ".join(f"`{json.dumps(word).strip(chr(34))}`" for word in shown) or "a code"
    if "const" in value:
        return f"`{value['const']}`"
    if value.get("type") == "array" and isinstance(value.get("items"), dict):
        return f"array of {_type(value['items'], definitions)}"
    kind = value.get("type", "")
    return " or ".join(kind) if isinstance(kind, list) else str(kind)


# Registries


def codes() -> str:
    rows = ((f"`{code}`", f"`{of}`", text) for code, (of, text) in _core.codes.items())
    return table(("code", "outcome", "meaning"), rows)


def warnings(meanings: Mapping[str, str]) -> str:
    return table(("code", "meaning"), ((f"`{code}`", text) for code, text in meanings.items()))


def rules() -> str:
    made = []
    for group, title in conformance.GROUPS.items():
        found = [rule for rule in RULES.by_name.values() if rule.group == group]
        rows = (
            (f"`{one.name}`", code_names(one.sentence), one.level, one.section, *tried(one))
            for one in found
        )
        head = ("rule", "what it demands", "level", "text", "arrays", "keywords")
        made.append(f"## {title}\n\n" + table(head, rows))
    return "\n".join(made)


def tried(rule: Rule) -> tuple[str, str]:
    """The arrays that a rule is tried with, and the keywords of its calls."""
    arrays, calls = rule.situations
    return arrays, "; ".join(f"`{call}`" for call in calls.split("; ") if call)


def drawn() -> str:
    def shown(draw: Callable[..., Any]) -> str:
        paragraph = (sys.modules[draw.__module__].__doc__ or "").partition("\n\n")[0]
        return re.split(r"(?<=\.)\s", paragraph)[0].replace("\n", " ")

    rows = [
        (f"`{name}`", shown(draw), figures.NEEDS[name][1]) for name, draw in figures.FIGURES.items()
    ]
    rows.append((f"`{figures.CHANGE}`", shown(figures.change.figure), "two runs: `--base RUN`"))
    return table(("figure", "shows", "needs"), rows)


def adapters() -> str:
    found = discover.catalogue(None)
    rows = []
    for name, roles in sorted(found.files.items()):
        consumer, producer = roles.get("consumer"), roles.get("producer")
        devices = next((one.devices for one in roles.values() if one.devices), ("cpu",))
        rows.append((
            f"`{name}`",
            "yes" if producer else "",
            "yes" if consumer else "",
            ", ".join(f"`{word}`" for word in consumer.protocols) if consumer else "",
            ", ".join(f"`{word}`" for word in devices),
            ", ".join(f"`{word}`" for word in consumer.calls) if consumer else "",
            ", ".join(sorted({f"`{word}`" for one in roles.values() for word in one.arguments})),
        ))  # fmt: skip
    head = ("library", "producer", "consumer", "imports through", "devices", "calls", "arguments")
    return table(head, rows)


def cases() -> str:
    """The values of each axis, and the number of cases of the sweep."""
    made = [f"`--cases all` has {len(_core.case_names())} cases.\n"]
    for axis, values in _core.case_axes.items():
        rows = ((f"`{word}`", meaning) for word, meaning in values.items())
        made.append(f"## `{axis}`\n\n" + table(("word", "meaning"), rows))
    kinds = (
        (f"`{word}`", meaning, f"`--producers {producers}`")
        for word, (meaning, producers) in _core.library_kinds.items()
    )
    made.append(
        "## Arrays of single libraries\n\nThese are no values of an axis: adapters make them, "
        "of the cases that they can.\n\n" + table(("word", "meaning", "select it by"), kinds)
    )
    return "\n".join(made)


CONTEXT = ("document", "context", "benchmark_context", "cache", "dlbench", "noise", "machine",
           "environment")  # fmt: skip
CELLS = ("axes", "measured", "not_measured", "evidence", "observed", "guard", "device_timer",
         "ordering", "capture", "api_calls", "api_kinds", "warning", "check")  # fmt: skip
#: What makes each part.
PARTS: dict[str, Callable[[], str]] = {
    "commands": commands,
    "keys-of-a-run": lambda: keys(*CONTEXT),
    "keys-of-a-cell": lambda: keys(*CELLS),
    "codes": codes,
    "warnings": lambda: warnings(_core.warnings),
    "comparison-warnings": lambda: warnings(_core.comparison_warnings),
    "sync-codes": lambda: warnings(_core.sync_codes),
    "rules": rules,
    "figures": drawn,
    "adapters": adapters,
    "cases": cases,
}


def generated(text: str) -> str:
    """The page with each part as the program defines it now. Raises KeyError."""
    return PART.sub(lambda part: f"{part[1]}\n{PARTS[part[2]]()}\n{part[3]}", text)


#: What makes each file that no line is written of by hand.
FILES = {
    "results/schema.json": lambda: f"{_core.schema()}\n",
    "results/compare.schema.json": lambda: f"{_core.comparison_schema()}\n",
    "results/document/keys.py": views.text,
}


def pages() -> list[Path]:
    """The pages that have such a part."""
    return [page for page in sorted(REFERENCE.glob("*.md")) if PART.search(page.read_text())]


if __name__ == "__main__":
    for file, made in FILES.items():
        (ROOT / file).write_text(made(), encoding="utf-8")
    shutil.copyfile(glossary.SOURCE, REFERENCE / "glossary.md")
    for page in pages():
        page.write_text(generated(page.read_text(encoding="utf-8")), encoding="utf-8")
