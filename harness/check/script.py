"""A broken rule of `dlbench check` as a script: it ends with status 1 while the rule is broken."""

from __future__ import annotations

import ast
import re
import textwrap
from pathlib import Path

from dlbench.case import Case
from dlbench.check.rule import Rule
from dlbench.check.situation import DERIVED, case_of, spelled
from dlbench.libraries import arguments
from dlbench.scripts import slicing

PROTOCOLS = {
    "memoryview": "buffer",
    "bytearray": "buffer",
    "__array_interface__": "array_interface",
    "__array_struct__": "array_struct",
}
#: Statements that define the names that a rule's lines read.
TABLE = [
    "table = point(type(array).__dlpack_c_exchange_api__, b'dlpack_exchange_api')",
    "function = lambda at: ctypes.c_void_p.from_address(table + at).value",
]
DESCRIBED = "versioned, name, struct, tensor, deleter_at = described(capsule)"
CAPSULE_NAMES = {"versioned", "name", "struct", "tensor", "deleter_at", "capsule"}
DELETER = ["deleted = []", "deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(deleted.append)"]
COUNT = """\
ctypes.c_void_p.from_address(struct + deleter_at).value = \
ctypes.cast(deleter, ctypes.c_void_p).value"""
#: Statements that count the calls of deleters.
LEAVE = "leave()"
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
#: Lines that read a result.
READS = re.compile(r"\b(values|require_same)\(")
#: After the adapter's own function.
OWN_VALUES = "values = lambda result, own=values: as_numpy(own(result))"


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
) -> str:
    """The script. `path` is the adapter of the rule's side, `struct` what the consumer got,
    `device` where the producer's arrays lie, `source` which array of them is at fault, `signal`
    what ended the process."""
    title = [
        f"{rule.name}: {rule.sentence}",
        rule.section,
        *([f"observed: {observed}"] if observed else []),
    ]
    title += [f"with {arguments.split(library)[0]} {version}"] if version else []
    tree = slicing.read(path, library)
    if rule.role == "producer":
        before, lines = _producer(rule, tree, path, device, source)
    else:
        before, lines = _consumer(rule, tree, path, struct, source)
    head = [f"print('expected:', {rule.sentence!r}, flush=True)"]
    if rule.at_exit:
        head.append(CHILD.format("the rule holds"))
        return slicing.script(title, [*head, *before, *lines])
    if signal:
        head.append(CHILD.format(""))
    end = [LEAVE] if lines[-1] == LEAVE else []
    inner = textwrap.indent("\n".join(lines[: len(lines) - len(end)]), "    ").splitlines()
    return slicing.script(title, [*head, *before, "with judged():", *inner, *end])


#: Statements before the rule's, and the rule's.
Parts = tuple[list[str], list[str]]
#: Bytes of an array of the word "large": pages of its own, so that a read after it is freed is
#: seen, as in the rules.
LARGE = 1 << 20


def _producer(rule: Rule, tree: ast.Module, path: Path, device: str, source: str) -> Parts:
    word, call = situation(rule, source)
    prefix = "readonly-" if "readonly-" in word else ""
    own = word.partition("own-")[2].removeprefix(prefix)
    layout, times, step = DERIVED.get(own, (word, 1, ""))
    size = LARGE if rule.source == "large" else 256
    usual = case_of(f"{prefix}{layout}" if own else word, size)
    case = Case("f32", usual.dtype, times * usual.bytes) if times > 1 else usual
    nodes, made = slicing.array(tree, path, case, device, with_source=True)
    if step:
        made.append(f"array, source = array{step}, source{step}")
    lines = slicing.text(nodes)
    if not rule.risky or source or len(rule.variants) == 1:
        before, done = _export(rule, tree, call)
        return [*lines, *before, *made], done
    # The call in which a process died is unknown, so the script tries all of them.
    before, done = _export(rule, tree, "**words")
    loop = f"for words in {[dict(variant) for variant in rule.variants]}:"
    return [*lines, *before], [loop, *(f"    {line}" for line in (*made, *done))]


def _export(rule: Rule, tree: ast.Module, call: str) -> Parts:
    """What a script does with `array`, in a call with these keywords."""
    lines: list[str] = []
    text = rule.lines.replace("{call}", call)
    names = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)]
    stored = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    read = {node.id for node in names} - stored
    if "on_stream" in read:
        lines += slicing.text(slicing.needed(tree, {"on_stream"}))
    if "extras" in read:
        found = slicing.needed(tree, {"extras"}) if "extras" in slicing.defined(tree) else []
        lines += slicing.text(found) or ["extras = lambda array: ()"]
    inner = []
    if {"table", "function"} & {node.id for node in names}:
        inner += TABLE
    elif rule.call or read & CAPSULE_NAMES:
        inner.append(f"capsule = {rule.call.format(call=call) or 'requested(array)'}")
        inner += [DESCRIBED] * bool(read & CAPSULE_NAMES - {"capsule"})
        # What exports no struct with the field breaks no such rule.
        inner += ["if not versioned:", "    raise SystemExit(0)"] * ("struct + 24" in rule.lines)
    return lines, [*inner, *text.splitlines()]


def situation(rule: Rule, source: str) -> tuple[str, str]:
    """The array and the keywords at fault, where they are not the rule's usual ones."""
    first = source.split(" ", 1)[0]
    word = "" if "=" in first or first == "plain" else first
    call = source.removeprefix(word).strip() or spelled(rule.variants[0])
    return word or rule.source, "" if call == "plain" else call


def _consumer(rule: Rule, tree: ast.Module, path: Path, struct: str, source: str) -> Parts:
    word, call = situation(rule, source)
    calling = slicing.calling(tree, path, PROTOCOLS.get(rule.struct, "dlpack"))
    plain = slicing.text([calling.call])[0]
    function = plain.partition("(array")[0]
    request = rule.call.format(function=function, array="array", call=call) or plain
    lines = [*slicing.text(calling.before), *slicing.source(case_of(word))]
    if READS.search(rule.lines) and "values" in slicing.defined(tree):
        lines += [*slicing.text(slicing.needed(tree, {"values"})), OWN_VALUES]
    counts = "{count}" in rule.patch
    patch = rule.patch.replace("{count}", COUNT).replace("{call}", call).splitlines()
    lines += DELETER if counts else []
    kind = "legacy" if "legacy=True" in call else rule.struct or struct
    lines += _exporter(kind, struct, patch, rule.lines, "copy=True" in request, call)
    inner = []
    if not re.search(r"\bresult = ", rule.lines.partition("del result")[0]):
        end = ", leave" if counts else ""
        allowed = f"allowed(lambda: {request}, {rule.refusal}{end})"
        inner.append(f"result = {allowed if rule.refusal else request}")
    again = re.sub(r"\barray\b", "result", request)
    text = rule.lines.replace("{error}", error_of(call))
    inner += text.replace("{call}", request).replace("{again}", again).splitlines()
    return lines, [*inner, LEAVE] if counts else inner


def error_of(call: str) -> str:
    """The error that the known producer raises in a situation."""
    found = re.search(r"error='(\w+)'", call)
    return found[1] if found else ""


def _exporter(
    kind: str, struct: str, patch: list[str], after: str, copies: bool, call: str
) -> list[str]:
    """Statements that bind the known producer to `array`. `after`: statements that follow it."""
    simple = {"memoryview": "memoryview(source)", "none": "object()", "bytearray": "source"}
    if kind in simple:
        before = ["source = bytearray(source)"] if kind == "bytearray" else []
        return [*before, f"array = {simple[kind]}"]
    if kind in PROTOCOLS:
        member = f"    {kind} = property(lambda self: source.{kind})"
        return ["class Producer:", member, "array = Producer()"]
    exported = kind if kind in ("legacy", "versioned") else struct
    words = ["max_version=keywords.get('max_version')"]
    if kind not in ("", "asks"):
        words = [] if exported == "legacy" or kind == "bare" else ["max_version=(1, 0)"]
    words += ["copy=keywords.get('copy')"] if copies else []
    keeps = kind == "twice" or "capsules" in after
    body = ["calls.append(keywords)"] if "calls" in after else []
    raises = f"raise {error_of(call)}('not today')" if kind == "raises" else ""
    is_device = "__dlpack_device__" in call
    body += [raises] if raises and not is_device else []
    body += ["if capsules:", "    return capsules[0]"] if kind == "twice" else []
    body += [f"capsule = source.__dlpack__({', '.join(words)})"]
    if kind == "name":
        body.append("rename = ctypes.PyDLL(None).PyCapsule_SetName")
        body.append("rename(ctypes.py_object(capsule), b'dltensor_without_owner')")
    body += [DESCRIBED, *patch] if patch else []
    body += ["capsules.append(capsule)"] if keeps else []
    return [
        *(["calls, capsules = [], []"] if keeps or "calls" in after else []),
        "class Producer:",
        "    def __dlpack_device__(self):",
        f"        {raises if raises and is_device else 'return (1, 0)'}",
        f"    def __dlpack__(self, {'stream=None' if kind == 'bare' else '**keywords'}):",
        *(f"        {line}" for line in [*body, "return capsule"]),
        "array = Producer()",
    ]
