"""A broken rule of `dlbench check` as a script: it ends with status 1 while the rule is broken."""

from __future__ import annotations

import ast
import functools
import re
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dlbench.case import Case
from dlbench.check.rule import Rule
from dlbench.check.situation import DERIVED, case_of, spelled
from dlbench.errors import BadInput
from dlbench.libraries import arguments
from dlbench.libraries.facts import bound_names, read_adapter
from dlbench.scripts import source as content
from dlbench.scripts.side import AS_NUMPY, Side
from dlbench.scripts.side import script as whole

PROTOCOLS = {
    "memoryview": "buffer",
    "bytearray": "buffer",
    "__array_interface__": "array_interface",
    "__array_struct__": "array_struct",
}
DESCRIBED = "versioned, name, struct, tensor, deleter_at = described(capsule)"
#: Statements before a producer's rule, by `Rule.given`.
GIVEN = {
    "capsule": ["capsule = {capsule}"],
    "struct": ["capsule = {capsule}", DESCRIBED],
    # What exports no versioned struct breaks no such rule.
    "versioned": ["capsule = {capsule}", DESCRIBED, "if not versioned:", "    raise SystemExit(0)"],
    "table": [
        "table = point(type(array).__dlpack_c_exchange_api__, b'dlpack_exchange_api')",
        "function = lambda at: ctypes.c_void_p.from_address(table + at).value",
    ],
}
#: Statements that count the calls of deleters.
DELETER = ["deleted = []", "deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(deleted.append)"]
COUNT = """\
ctypes.c_void_p.from_address(struct + deleter_at).value = \
ctypes.cast(deleter, ctypes.c_void_p).value"""
LEAVE = "leave()"
HOLDS = "    print('actual: the rule holds')"
REFUSED = ["except {} as error:", "    print('actual: refused, which is allowed:', repr(error))"]
BROKEN = [
    "except {} as error:",
    "    print('actual: the rule is broken:', repr(error), flush=True)",
    "    raise SystemExit(1) from None",
]
#: A process of its own runs the rest of the script; this one prints how it ended.
CHILD = """\
import os
import signal
if child := os.fork():
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    end = f'killed by {{signal.Signals(-status).name}}' if status < 0 else {!r}
    if end and status <= 0:
        print('actual:', end)
    raise SystemExit(status != 0)"""
#: Bytes of an array of the word "large": pages of its own, so that a read after it is freed is
#: seen, as in the rules.
LARGE = 1 << 20
#: Statements before the rule's, and the rule's.
Parts = tuple[list[str], list[str]]


def script(
    rule: Rule,
    observed: str,
    path: Path,
    library: str,
    version: str,
    struct: str = "",
    device: str = "cpu",
    source: str = "",
    signal: str = "",
    other: Path | None = None,
) -> str:
    """The script. `path` is the adapter of the rule's side, `other` that of the other side,
    `struct` what the consumer got, `device` where the producer's arrays lie, `source` which array
    of them is at fault, `signal` what ended the process. Raises BadInput for a rule that no short
    script shows."""
    if not rule.lines:
        raise BadInput("only dlbench itself shows that rule: it fills the queue of a device")
    name = arguments.split(library)[0]
    title = [f"{rule.name}: {rule.sentence}", rule.section]
    title += [f"observed: {observed}"] if observed else []
    title += [f"with {name} {version}"] if version else []
    files = [read_adapter(rule.role, name, path)]
    if other is not None and rule.role == "consumer":  # it may show how a result is read
        files.append(read_adapter("producer", name, other))
    side = Side(files, library)
    make = _producer if rule.role == "producer" else _consumer
    before, lines = make(rule, side, device if rule.role == "producer" else struct, source)
    packages = tuple(dict.fromkeys(each for each in ("numpy", side.package) if each))
    head = [
        "from importlib.metadata import version as version_of",
        f"print('versions:', {{name: version_of(name) for name in {packages!r}}})",
        f"print('expected:', {rule.sentence!r}, flush=True)",
    ]
    if rule.at_exit or signal:
        head.append(CHILD.format("the rule holds" if rule.at_exit else ""))
    own = [*side.lines, *before]
    if rule.at_exit:
        own += lines
    else:
        end = [LEAVE] if lines[-1] == LEAVE else []
        inner = textwrap.indent("\n".join(lines[: len(lines) - len(end)]), "    ").splitlines()
        own += ["try:", *inner, HOLDS, *_judged(rule), *end]
    return whole(title, [*tools("\n".join(own)), *head, *own])


def _judged(rule: Rule) -> list[str]:
    """What ends the script: a refusal may be allowed, other errors are the fault."""
    refusal = rule.refusal
    if not rule.call and rule.given in ("capsule", "struct", "versioned"):
        refusal = "BufferError"
    parts = [(BROKEN, "Exception")]
    if refusal == "Exception":
        parts = [(BROKEN, "AssertionError"), (REFUSED, refusal)]
    elif refusal:
        parts = [(REFUSED, refusal), *parts]
    return [line.format(errors) for lines, errors in parts for line in lines]


@functools.cache
def _tools() -> dict[str, ast.stmt]:
    """What scripts have in common, by the name that a statement binds."""
    own = ast.parse(Path(__file__).with_name("tools.py").read_text("utf-8")).body
    nodes = [*ast.parse(AS_NUMPY).body, *own]
    nodes.sort(key=lambda node: not isinstance(node, ast.Import | ast.ImportFrom))
    return {name: node for node in nodes for name in bound_names(node)}


def tools(text: str) -> list[str]:
    """The imports and functions that the text reads, before which they are written."""
    wanted, found = [ast.parse(text)], set[str]()
    own = {name for node in wanted[0].body for name in bound_names(node)}
    while wanted:
        names = {node.id for node in ast.walk(wanted.pop()) if isinstance(node, ast.Name)}
        for name in names & _tools().keys() - found - own:
            found.add(name)
            wanted.append(ast.Module([_tools()[name]], []))
    found.add("np")
    return list(
        dict.fromkeys(ast.unparse(node) for name, node in _tools().items() if name in found)
    )


def _producer(rule: Rule, side: Side, device: str, source: str) -> Parts:
    word, variant = situation(rule, source)
    prefix = "readonly-" if "readonly-" in word else ""
    own = word.partition("own-")[2].removeprefix(prefix)
    layout, times, step = DERIVED.get(own, (word, 1, ""))
    size = LARGE if rule.source == "large" else 256
    usual = case_of(f"{prefix}{layout}" if own else word, size)
    case = Case("f32", usual.dtype, times * usual.bytes) if times > 1 else usual
    made = side.make(case, device)
    is_loaded = made[0].startswith("case = ")
    before = (
        ["source = case.numpy()"] if is_loaded else content.lines(case, side.reads_bits(), True)
    )
    made = [*made[:is_loaded], *before, *made[is_loaded:]]
    if step:
        made.append(f"array, source = array{step}, source{step}")
    if not rule.risky or source or len(rule.variants) == 1:
        return made, _exported(rule, side, spelled(variant))
    # The call in which a process died is unknown, so the script tries all of them.
    loop = f"for words in {[dict(each) for each in rule.variants]}:"
    lines = [*made, *_exported(rule, side, "**words")]
    return [], [loop, *(f"    {line}" for line in lines)]


def _exported(rule: Rule, side: Side, call: str) -> list[str]:
    """What a script does with `array`, in a call with these keywords."""
    capsule = rule.call.replace("{call}", call) or "requested(array)"
    before = [line.replace("{capsule}", capsule) for line in GIVEN.get(rule.given, ())]
    text = rule.lines.replace("{call}", call)
    if rule.reads_extras:
        extras = side.own("extras") if side.has("extras") else "(lambda array: ())"
        text = text.replace("{extras}", extras)
    return [*before, *text.splitlines()]


def situation(rule: Rule, source: str) -> tuple[str, Mapping[str, Any]]:
    """The array and the keywords at fault, where they are not the rule's usual ones."""
    first = source.split(" ", 1)[0]
    word = "" if "=" in first or first == "plain" else first
    call = source.removeprefix(word).strip()
    call = "" if call == "plain" else call
    usual = rule.variants[0] if not source.removeprefix(word).strip() else {}
    return word or rule.source, next((v for v in rule.variants if spelled(v) == call), usual)


def _consumer(rule: Rule, side: Side, struct: str, source: str) -> Parts:
    word, variant = situation(rule, source)
    plain = side.call(PROTOCOLS.get(rule.struct, "dlpack"), "cpu", "cpu")[0]
    function = plain.partition("(array")[0]
    call = spelled(variant)
    request = rule.call.format(function=function, array="array", call=call) or plain
    lines = content.lines(case_of(word), alone=True)
    values = side.own_values(case_of(word))
    lines += [f"values = lambda result: {values}"] if values else []
    patch = rule.patch.replace("{call}", call).splitlines()
    if rule.counts:
        patch.append(COUNT)
        lines += DELETER
    lines += _exporter(rule, struct, patch, variant)
    inner = []
    if rule.imports:
        inner.append(f"result = {request}")
    again = re.sub(r"\barray\b", "result", request)
    text = rule.lines.replace("{error}", str(variant.get("error", "")))
    inner += text.replace("{call}", request).replace("{again}", again).splitlines()
    return lines, [*inner, LEAVE] if rule.counts else inner


def _exporter(rule: Rule, struct: str, patch: list[str], variant: Mapping[str, Any]) -> list[str]:
    """Statements that bind the known producer to `array`."""
    kind = "legacy" if variant.get("legacy") else rule.struct or struct
    simple = {"memoryview": "memoryview(source)", "none": "object()", "bytearray": "source"}
    if kind in simple:
        before = ["source = bytearray(source)"] if kind == "bytearray" else []
        return [*before, f"array = {simple[kind]}"]
    if kind in PROTOCOLS:
        member = f"    {kind} = property(lambda self: source.{kind})"
        return ["class Producer:", member, "array = Producer()"]
    if not (rule.struct or patch or rule.records or variant):
        return ["array = source"]
    exported = kind if kind in ("legacy", "versioned") else struct
    words = ["max_version=keywords.get('max_version')"]
    if kind not in ("", "asks"):
        words = [] if exported == "legacy" or kind == "bare" else ["max_version=(1, 0)"]
    body = ["calls.append(keywords)"] if rule.records else []
    raises = f"raise {variant['error']}('not today')" if kind == "raises" else ""
    is_device = variant.get("method") == "__dlpack_device__"
    body += [raises] if raises and not is_device else []
    body += ["if capsules:", "    return capsules[0]"] if kind == "twice" else []
    body += [f"capsule = source.__dlpack__({', '.join(words)})"]
    if kind == "name":
        body.append("rename = ctypes.PyDLL(None).PyCapsule_SetName")
        body.append("rename(ctypes.py_object(capsule), b'dltensor_without_owner')")
    body += [DESCRIBED, *patch] if patch else []
    body += ["capsules.append(capsule)"] if rule.records else []
    return [
        *(["calls, capsules = [], []"] if rule.records else []),
        "class Producer:",
        "    def __dlpack_device__(self):",
        f"        {raises if raises and is_device else 'return (1, 0)'}",
        f"    def __dlpack__(self, {'stream=None' if kind == 'bare' else '**keywords'}):",
        *(f"        {line}" for line in [*body, "return capsule"]),
        "array = Producer()",
    ]
