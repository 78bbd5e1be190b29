"""`dlbench repro`: one cell's exchange, refusal or crash as a script that needs no dlbench."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from dlbench import _core, arguments, folding, racing, racing_streams, snippets, standing, values
from dlbench import document as documents
from dlbench.case import FOREIGN, Case
from dlbench.discover import Catalogue, adapter
from dlbench.environments.environment import DEFAULT
from dlbench.escaping import comment
from dlbench.facts import bound_names, parse
from dlbench.values import Entry

TIMED_CALLS = 100
Half = TypeVar("Half", ast.expr, ast.Module)


def attributes(name: str, count: int) -> dict[str, Any]:
    """The attributes of a case with `count` bytes, as an adapter's `make` reads them."""
    return Case(**_core.case(name), bytes=count).attributes()


def source(case: Mapping[str, Any], as_bits: bool = False) -> list[str]:
    """Lines that leave the case's content in `source`, aligned and laid out as the case wants."""
    layout, shape, align = case["layout"], case["shape"], case["align"]
    count = math.prod(shape)
    item = case["bytes"] // count if count else 1
    span = count * item * (2 if layout == "strided" else 1)
    start = f"-memory.ctypes.data % {align}" + (f" + {case['offset']}" if case["offset"] else "")
    dtype, special = repr(case["dtype"]), []
    if case["foreign"]:
        dtype, special = f"ml_dtypes.{case['dtype']}", ["import ml_dtypes"]
    if case["special"] == "swapped":
        dtype = f"np.dtype({dtype}).newbyteorder()"
    line = f"source = memory[start : start + {span}].view({dtype})"
    line += {"strided": "[::2]", "reversed": "[::-1]"}.get(layout, "")
    if layout == "broadcast":
        line += f"[: {shape[1]}]"
    pattern = "(np.arange(source.size) * 7 + 3) % 101"
    pattern += " % 2" * (case["dtype"] == "bool") + " % 8" * case["dtype"].startswith("float8")
    lines = [
        *special,
        f"memory = np.zeros({span + align + case['offset']}, np.uint8)",
        f"start = {start}",
        line,
        f"source[:] = {pattern}",
    ]
    if case["dtype"].startswith("complex"):
        lines.append("source.imag = source.real % 13")
    if case["special"] == "nulls":
        lines.append("source[1::101] = np.nan")
    lines += _arranged(layout, shape, item)
    if case["readonly"]:
        lines.append("source.flags.writeable = False")
    if case["foreign"] and as_bits:
        lines.append(f"source = source.view({FOREIGN[case['dtype']]!r})")
    return lines


def _arranged(layout: str, shape: tuple[int, ...], item: int) -> list[str]:
    strided = "source = np.lib.stride_tricks.as_strided(source, {}, {})"
    if layout in ("grid", "scalar"):
        return [f"source = source.reshape({shape})"]
    if layout == "fortran":
        return [f"source = source.reshape({shape[::-1]}).T"]
    if layout == "broadcast":
        return [strided.format(shape, (0, item))]
    if layout == "ones":
        return [strided.format(shape, (3 * item, item, 5 * item))]
    return []


def script(entry: Entry, found: Catalogue, versions: Mapping[str, str]) -> str:
    """About ten lines of Python. `entry` is the settled cell, `versions` those of the run."""
    producer, consumer = entry["producer"], entry["consumer"]
    case = attributes(entry["case"], entry["bytes"])
    maker = adapter(found, "producer", producer)
    made_by, taken_by = maker.path, adapter(found, "consumer", consumer).path
    source_device = entry["device"].partition("+")[0]
    before, making = snippets.making(made_by, case, source_device, producer)
    calling = snippets.calling(taken_by, entry["protocol"], consumer, entry["device"])
    further, call = calling.before, calling.call
    races = entry["outcome"] == "race"
    if races and racing.is_possible(made_by, producer):
        return _race(entry, (made_by, taken_by), further, call, versions)
    if races and racing_streams.is_possible(source_device, snippets.tree(made_by, producer)):
        return _race_on_streams(entry, found, further, call, versions)
    waits = entry.get("clock") == "ready"
    ready = _ready(found, consumer) if waits else []
    further += ready
    stand_in = standing.standing(entry, maker, calling.is_anothers)
    before += stand_in.before
    further, call = _apart(before, further, call)
    body = [ast.unparse(ast.fix_missing_locations(node)) for node in making]
    if "case" in snippets.names_read(making):
        body = [*_namespace(case), *body]
    made = ast.walk(parse(made_by))
    as_bits = any(folding.is_case_content(node, "bits") for node in made)
    if any("source" in line for line in body):
        body = [*source(case, as_bits), *body]
    # As in the worker: some pairs can be imported in one order only.
    is_first = values.import_order(entry)[0] == producer
    ordered = [*before, *further] if is_first else [*further, *before]
    imports = _unique(ordered)
    if any("np." in line for line in body) and "import numpy as np" not in imports:
        imports.insert(0, "import numpy as np")
    if values.is_measured(entry):
        imports.insert(0, "import timeit")
    exchange = ast.unparse(ast.fix_missing_locations(call))
    body += stand_in.lines
    if ready:
        body += ["def exchange():", f"    result = {exchange}", "    ready(result)"]
        body += ["    return result"]
        exchange = "exchange()"
    lines = [
        *_title(entry, versions),
        *([comment(racing.EXCHANGE_ALONE)] if races else []),
        *_own_modules(imports),
        *imports,
        "",
        *body,
        f"result = {exchange}",
    ]
    lines.append("print(type(result), result)")
    if values.is_measured(entry):
        lines.append(f"seconds = timeit.repeat(lambda: {exchange}, number={TIMED_CALLS}, repeat=5)")
        lines.append(f'print(f"{{min(seconds) / {TIMED_CALLS} * 1e9:.0f}} ns")')
    return "\n".join(lines) + "\n"


def _race(
    entry: Entry,
    paths: tuple[Path, Path],
    further: list[ast.stmt],
    call: ast.expr,
    versions: Mapping[str, str],
) -> str:
    """With a producer that is busy, in place of the cell's own array."""
    names = (entry["producer"], entry["consumer"])
    case = attributes(entry["case"], entry["bytes"])
    imports = _unique([*racing.preparation(*paths, names), *further])
    exchange = ast.unparse(ast.fix_missing_locations(call))
    body = [*source(case), *_namespace(case)]
    body += racing.lines(*paths, names, entry["device"], exchange)
    before = [line for line in ("import numpy as np",) if line not in imports]
    lines = [*_title(entry, versions), *_own_modules(imports), *before, *imports, "", *body]
    return "\n".join(lines) + "\n"


def _race_on_streams(
    entry: Entry,
    found: Catalogue,
    further: list[ast.stmt],
    call: ast.expr,
    versions: Mapping[str, str],
) -> str:
    """With the cell's own array, whose stream the driver keeps busy."""
    device, producer, consumer = entry["device"], entry["producer"], entry["consumer"]
    made_by = adapter(found, "producer", producer).path
    trees = [snippets.tree(file.path, consumer) for file in found.roles(consumer).values()]
    own = snippets.tree(adapter(found, "consumer", consumer).path, consumer)
    names = [snippets.defined(tree) for tree in (own, *trees)]
    taking = racing_streams.taking(device, names[0], set().union(*names[1:]), call)
    case = attributes(entry["case"], entry["bytes"])
    before, making = snippets.making(made_by, case, device, producer)
    before += snippets.needed(snippets.tree(made_by, producer), racing_streams.CALLED)
    further += snippets.needed(own, racing_streams.CALLED & names[0])
    for tree in trees:
        # What its own file does not define stands in its producer's.
        further += snippets.needed(tree, racing_streams.CALLED - names[0])
    further, _ = _apart(before, further, taking)
    imports = _unique([*before, *further])
    heads = [line for line in ("import contextlib", "import numpy as np") if line not in imports]
    body = [ast.unparse(ast.fix_missing_locations(node)) for node in making]
    body = [*source(case), *_namespace(case), *racing_streams.lines(device, body, taking)]
    lines = [*_title(entry, versions), *_own_modules(imports), *heads, *imports]
    return "\n".join([*lines, *racing_streams.driving(device), "", *body]) + "\n"


def _title(entry: Entry, versions: Mapping[str, str]) -> list[str]:
    what = f"{entry['protocol']}, {entry['case']}, {entry['bytes']} bytes on {entry['device']}"
    if values.is_measured(entry):
        came = f"{entry['outcome']}, {values.duration(entry['real_time'])}"
    else:
        came = f"{entry['outcome']}: {values.reason(entry)}"
    pair = dict.fromkeys((entry["producer"], entry["consumer"]))
    named = ", ".join(f"{name} {versions[name]}" for name in pair if versions.get(name))
    lines = [f"{entry['producer']} -> {entry['consumer']}, {what}", f"seen: {came}"]
    where = "" if entry["environment"] == DEFAULT else f" in environment {entry['environment']}"
    lines += [f"with {named}{where}"] if named or where else []
    return list(map(comment, lines))


def _own_modules(imports: list[str]) -> list[str]:
    """Says where dlbench is needed after all: its own halves are extensions of its."""
    prefix = "from dlbench import "
    own = [line.removeprefix(prefix) for line in imports if line.startswith(prefix)]
    return [comment(f"needs dlbench's own {' and '.join(own)}")] if own else []


def _unique(nodes: list[ast.stmt]) -> list[str]:
    return list(dict.fromkeys(ast.unparse(ast.fix_missing_locations(node)) for node in nodes))


def _namespace(case: Mapping[str, Any]) -> list[str]:
    """For a `make` that hands its case on to a function of its own."""
    given = ", ".join(f"{name}={value!r}" for name, value in case.items())
    return [
        "import types",
        f"case = types.SimpleNamespace({given}, numpy=lambda: source, bits=lambda: source)",
    ]


def _ready(found: Catalogue, library: str) -> list[ast.stmt]:
    _, argument = arguments.split(library)
    for file in found.roles(library).values():
        if file.is_asynchronous(argument):
            return snippets.needed(snippets.tree(file.path, library), {"ready"})
    return []


def _apart(
    before: list[ast.stmt], further: list[ast.stmt], call: Half
) -> tuple[list[ast.stmt], Half]:
    """Renames the consumer's own names where the producer's file uses them for something else."""
    known = {name: ast.unparse(node) for node in before for name in bound_names(node)}
    clash = {
        name
        for node in further
        if isinstance(node, ast.FunctionDef | ast.Assign)
        for name in bound_names(node)
        if name in known and known[name] != ast.unparse(node)
    }
    for node in [part for top in [*further, call] for part in ast.walk(top)]:
        if isinstance(node, ast.Name) and node.id in clash:
            node.id += "_of_consumer"
        elif isinstance(node, ast.FunctionDef) and node.name in clash:
            node.name += "_of_consumer"
    return further, call


def of_run(document: dict[str, Any], entry: Entry, found: Catalogue) -> str:
    return script(entry, found, documents.versions(document, entry["environment"]))
