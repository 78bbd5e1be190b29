"""A broken rule of `dlbench check` as a script: it ends with status 1 while the rule is broken."""

from __future__ import annotations

import ast
import functools
import re
import textwrap
from dataclasses import replace
from pathlib import Path

from dlbench.case import Case
from dlbench.check.rule import Rule
from dlbench.check.situation import DERIVED, Variant, case_of, spelled
from dlbench.check.verdict import NO_ANSWER
from dlbench.errors import BadInput
from dlbench.libraries import arguments
from dlbench.libraries.facts import bound_names, read_adapter
from dlbench.scripts import source as content
from dlbench.scripts.side import Side, child
from dlbench.scripts.side import script as whole

PROTOCOLS = {
    "memoryview": "buffer",
    "bytearray": "buffer",
    "__array_interface__": "array_interface",
    "__array_struct__": "array_struct",
}
#: The name of a capsule, the bytes before its tensor, and the offset of its deleter, by the struct
#: that a consumer got; it is unknown before the consumer was called.
STRUCTS = {
    "": ("b'dltensor' + b'_versioned' * is_new", " + 32 * is_new", "(16 if is_new else 56)"),
    "legacy": ("b'dltensor'", "", "56"),
    "versioned": ("b'dltensor_versioned'", " + 32", "16"),
}
#: Statements before a producer's rule, by `Rule.given`.
GIVEN = {
    "capsule": ["capsule = {capsule}"],
    "tensor": ["capsule = {capsule}", "tensor = tensor_of(capsule)"],
    "versioned": [
        "capsule = {capsule}",
        "if 'versioned' not in repr(capsule):",
        "    raise SystemExit  # no versioned struct is exported",
        "struct = point(capsule, b'dltensor_versioned')",
    ],
    "table": [
        "table = point(type(array).__dlpack_c_exchange_api__, b'dlpack_exchange_api')",
        "function = lambda at: ctypes.c_void_p.from_address(table + at).value",
    ],
}
#: Statements that count the calls of deleters.
DELETER = ["deleted = []", "deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(deleted.append)"]
COUNT = """\
ctypes.c_void_p.from_address(struct + {deleter}).value = \
ctypes.cast(deleter, ctypes.c_void_p).value"""
#: A callback of ctypes does not outlive the interpreter, and a deleter may be called late. A
#: library may crash at exit whatever the rule.
LEAVE = "os._exit(0)  # how the process ends is not this rule's"
#: The result is the known array.
SAME = """\
result = {values}
assert result.dtype == source.dtype and np.array_equal(result, source), result"""
HOLDS = "print('actual: the rule holds', flush=True)"
ACCEPTED = "raise AssertionError('nothing is raised')"
REFUSED = "    print('{}refused, which is {}:', repr(error), flush=True)"
BROKEN = "    raise SystemExit(f'actual: the rule is broken: {error!r}')"
#: Bytes of an array of the word "large": pages of its own, so that a read after it is freed is
#: seen, as in the rules.
LARGE = 1 << 20
#: The alignment of the known producer's memory, on which it may depend whether a consumer copies.
PAGE = 4096
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
    title = [f"{rule.name}: {rule.section}"]
    title += [f"observed: {observed}"] if observed else []
    title += [f"with {name} {version}"] if version else []
    files = [read_adapter(rule.role, name, path)]
    if other is not None and rule.role == "consumer":  # it may show how a result is read
        files.append(read_adapter("producer", name, other))
    side = Side(files, library)
    word, variant = situation(rule, source)
    make = _producer if rule.role == "producer" else _consumer
    facts = device if rule.role == "producer" else struct
    before, lines = make(rule, side, facts, word, variant, is_known=bool(source))
    packages = tuple(dict.fromkeys(each for each in ("numpy", side.package) if each))
    head = [
        "from importlib.metadata import version as version_of",
        f"print('versions:', {{name: version_of(name) for name in {packages!r}}})",
        f"print('expected:', {rule.sentence!r}, flush=True)",
    ]
    # A read of freed memory may end the process here, where it gave other values before.
    may_end = rule.at_exit or rule.risky or rule.source == "large"
    is_apart = may_end or signal or observed.startswith(NO_ANSWER)
    if is_apart:  # whether the rule holds shows when that process has ended
        head += child(
            "end = f'killed by {signal.Signals(-status).name}' if status < 0 else 'the rule holds'",
            "if status <= 0:",
            "    print('actual:', end)",
        )
        head.append("signal.alarm(60)  # ends a deadlock")
    own = [*side.lines, *before]
    if rule.at_exit:
        own += lines
    else:
        lines += [ACCEPTED] if rule.raises else [] if is_apart else [HOLDS]
        inner = textwrap.indent("\n".join(lines), "    ").splitlines()
        refusal = rule.raises.replace("{error}", str(variant.get("error"))) or rule.refusal
        own += ["try:", *inner, *_judged(rule, refusal, "" if is_apart else "actual: ")]
        # A fault of a `large` rule shows where memory is read, not at the end.
        may_die_at_exit = is_apart and (rule.risky or rule.source != "large")
        own += [LEAVE] if rule.counts or not may_die_at_exit else []
    return whole(title, [*tools("\n".join(own)), *head, *own])


def _judged(rule: Rule, refusal: str, label: str) -> list[str]:
    """What ends the script: a refusal may be allowed, other errors are the fault."""
    if not rule.call and rule.given in ("capsule", "tensor"):
        refusal = "BufferError"
    refused = REFUSED.format(label, "required" if rule.raises else "allowed")
    parts = [("Exception", BROKEN)]
    if refusal == "Exception":
        parts = [("AssertionError", BROKEN), (refusal, refused)]
    elif refusal:
        parts = [(refusal, refused), *parts]
    return [line for errors, end in parts for line in (f"except {errors} as error:", end)]


@functools.cache
def _tools() -> dict[str, ast.stmt]:
    """What scripts have in common, by the name that a statement binds."""
    own = ast.parse(Path(__file__).with_name("tools.py").read_text("utf-8")).body
    return {name: node for node in own for name in bound_names(node)}


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


def _producer(
    rule: Rule, side: Side, device: str, word: str, variant: Variant, is_known: bool
) -> Parts:
    prefix = "readonly-" if "readonly-" in word else ""
    own = word.partition("own-")[2].removeprefix(prefix)
    layout, times, step = DERIVED.get(own, (word, 1, ""))
    size = LARGE if rule.source == "large" else 256
    usual = case_of(f"{prefix}{layout}" if own else word, size)
    case = Case("f32", usual.dtype, times * usual.bytes) if times > 1 else usual
    made = side.make(case, device)
    is_loaded = made[0].startswith("case = ")
    if case.own and not is_loaded:  # its lines bind `source` to what the view is cut from
        made = ["content = source", *made, "source = content"]
    alone = rule.source == "large"  # its lines free the memory
    lines = content.lines(case, side.reads_bits(), alone)
    before = ["source = case.numpy()"] if is_loaded else lines
    made = [*made[:is_loaded], *before, *made[is_loaded:]]
    if step:
        made.append(f"array, source = array{step}, source{step}")
    if not rule.risky or is_known or len(rule.variants) == 1:
        return made, _exported(rule, side, spelled(variant), variant)
    # The call in which a process died is unknown, so the script tries all of them.
    loop = f"for words in {[dict(each) for each in rule.variants]}:"
    lines = [*made, *_exported(rule, side, "**words", {})]
    return [], [loop, *(f"    {line}" for line in lines)]


def _exported(rule: Rule, side: Side, call: str, variant: Variant) -> list[str]:
    """What a script does with `array`, in a call with these keywords."""
    capsule = rule.call.replace("{call}", call) or "array.__dlpack__()"
    before = [line.replace("{capsule}", capsule) for line in GIVEN.get(rule.given, ())]
    text = rule.lines.replace("{call}", call).replace("{dtype}", str(variant.get("dtype")))
    if rule.reads_extras:
        extras = side.own("extras") if side.has("extras") else "(lambda array: ())"
        text = text.replace("{extras}", extras)
    return [*before, *text.splitlines()]


def situation(rule: Rule, source: str) -> tuple[str, Variant]:
    """The array and the keywords at fault, where they are not the rule's usual ones."""
    first = source.split(" ", 1)[0]
    word = "" if "=" in first or first == "plain" else first
    call = source.removeprefix(word).strip()
    call = "" if call == "plain" else call
    usual = rule.variants[0] if not source.removeprefix(word).strip() else {}
    return word or rule.source, next((v for v in rule.variants if spelled(v) == call), usual)


def _consumer(
    rule: Rule, side: Side, struct: str, word: str, variant: Variant, is_known: bool
) -> Parts:
    plain = side.call(PROTOCOLS.get(rule.struct, "dlpack"), "cpu", "cpu")[0]
    function = plain.partition("(array")[0]
    call = spelled(variant)
    request = rule.call.format(function=function, array="array", call=call) or plain
    lines = content.lines(case_of(word))
    if rule.struct not in (*PROTOCOLS, "none"):
        lines = content.lines(replace(case_of(word), align=PAGE), place=0)
    patch = rule.patch.replace("{dtype}", str(variant.get("dtype"))).splitlines()
    if rule.counts:
        patch.append(COUNT)
        lines += DELETER
    lines += _exporter(rule, struct, patch, variant)
    inner = []
    if rule.imports:
        inner.append(f"result = {request}")
    again = re.sub(r"\barray\b", "result", request)
    text = rule.lines.replace("{same}", SAME)
    if "{values}" in text:
        text = text.replace("{values}", side.values("result", case_of(word)))
    inner += text.replace("{call}", request).replace("{again}", again).splitlines()
    return lines, [line for line in inner if line != "result = result"]


def _exporter(rule: Rule, struct: str, patch: list[str], variant: Variant) -> list[str]:
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
    body += ["if capsules:", "    return capsules[0]"] if kind == "twice" else []
    export = f"source.__dlpack__({', '.join(words)})"
    body.append(f"capsule = {export}")
    if kind == "name":
        body.append("rename = ctypes.PyDLL(None).PyCapsule_SetName")
        body.append("rename(ctypes.py_object(capsule), b'dltensor_without_owner')")
    if patch:
        name, header, deleter = STRUCTS[exported]
        body += ["is_new = 'versioned' in repr(capsule)"] * ("is_new" in name)
        body.append(f"struct = point(capsule, {name})")
        body += [f"tensor = struct{header}"] * ("tensor" in rule.patch)
        body += [line.replace("{deleter}", deleter) for line in patch]
    body += ["capsules.append(capsule)"] if rule.records else []
    body.append("return capsule")
    if len(body) == 2:
        body = [f"return {export}"]
    if kind == "raises":
        body = [f"raise {variant['error']}('not today')"]
    method = variant.get("method", "__dlpack__")
    return [
        *(["calls, capsules = [], []"] if rule.records else []),
        "class Producer:",
        "    __dlpack_device__ = lambda self: (1, 0)",
        f"    def {method}(self, {'stream=None' if kind == 'bare' else '**keywords'}):",
        *(f"        {line}" for line in body),
        "array = Producer()",
    ]
