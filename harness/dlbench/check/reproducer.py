"""For a broken rule, about ten lines of Python that show it without dlbench."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path

from dlbench import snippets
from dlbench.case import FOREIGN, Case
from dlbench.check.rule import Rule
from dlbench.check.showing import ADDRESS, BYTES, allowed
from dlbench.check.subject import DERIVED
from dlbench.escaping import comment

#: NumPy arrays, each with the words of the case that it is.
SOURCES: dict[str, tuple[str, dict[str, object]]] = {
    "line": ("source = np.arange(8, dtype=np.float32)", {}),
    "aligned": (
        "import mmap\nsource = np.frombuffer(mmap.mmap(-1, 32), np.float32)\nsource[:] = range(8)",
        {},
    ),
    "grid": ("source = np.arange(64, dtype=np.float32).reshape(4, 16)", {"layout": "grid"}),
    "fortran": ("source = np.arange(64, dtype=np.float32).reshape(8, 8).T", {"layout": "fortran"}),
    "strided": ("source = np.arange(128, dtype=np.float32)[::2]", {"layout": "strided"}),
    "reversed": ("source = np.arange(64, dtype=np.float32)[::-1]", {"layout": "reversed"}),
    "broadcast": (
        "source = np.arange(16, dtype=np.float32)\n"
        "source = np.lib.stride_tricks.as_strided(source, (4, 16), (0, 4))",
        {"layout": "broadcast"},
    ),
    "ones": (
        "source = np.arange(64, dtype=np.float32)\n"
        "source = np.lib.stride_tricks.as_strided(source, (1, 64, 1), (12, 4, 20))",
        {"layout": "ones"},
    ),
    "scalar": ("source = np.array(1, dtype=np.float32)", {"layout": "scalar"}),
    "empty": ("source = np.empty(0, dtype=np.float32)", {"layout": "empty"}),
    "offset": ("source = np.arange(9, dtype=np.float32)[1:]", {"offset": 4}),
    "odd": (
        "source = np.zeros(34, np.uint8)[2:].view(np.float32)\nsource[:] = range(8)",
        {"offset": 2},
    ),
    "wide": ("", {}),
    "readonly": (
        "source = np.arange(8, dtype=np.float32)\nsource.flags.writeable = False",
        {"readonly": True},
    ),
    "swapped": ("source = np.arange(8, dtype=np.float32).astype('>f4')", {"special": "swapped"}),
    "unexportable": ("source = np.array([1, np.nan], np.float32)", {"special": "nulls"}),
}
POINT = """\
point = ctypes.PyDLL(None).PyCapsule_GetPointer
point.restype, point.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)"""
ASKED = """\
try:
    capsule = array.__dlpack__(max_version=(1, 0))
except TypeError:
    capsule = array.__dlpack__()
except BufferError as error:
    print('refused, as it may be:', repr(error))
    raise SystemExit(0)"""
COUNT = """\
ctypes.c_void_p.from_address(struct + deleter_at).value = \
ctypes.cast(deleter, ctypes.c_void_p).value"""
DELETER = """\
deleted = []
deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(deleted.append)"""
#: A callback of ctypes does not outlive the interpreter, and a deleter may be called late.
LEAVE = "sys.stdout.flush(); os._exit(0)"
VERSIONED = ("dltensor_versioned", 32, 16)
LEGACY = ("dltensor", 0, 56)


def script(
    rule: Rule,
    seen: str,
    path: Path,
    library: str,
    version: str,
    struct: str = "",
    device: str = "cpu",
    source: str = "",
) -> str:
    """The script. `path` is the adapter of the rule's side, `struct` what the consumer was lent,
    `device` where the producer's arrays lie, `source` which array of them is at fault."""
    title = [f"{rule.name}: {rule.sentence}", rule.section]
    if seen:
        title.append(f"seen: {seen}")
    if version:
        title.append(f"with {library.partition(':')[0]} {version}")
    if rule.role == "producer":
        body = _producer(rule, path, library, device, source)
    else:
        body = _consumer(rule, path, library, struct)
    return "\n".join([*map(comment, title), *body]) + "\n"


def _unparsed(nodes: list[ast.stmt]) -> list[str]:
    return [ast.unparse(ast.fix_missing_locations(node)) for node in nodes]


def _producer(rule: Rule, path: Path, library: str, device: str, source: str) -> list[str]:
    """`source` names the array at fault, where it is not the rule's usual one."""
    shown = rule.shown
    word, _, own = (source or shown.source).partition("own-")
    layout, _, step = DERIVED.get(own, (word, 1, ""))
    making_of = _doubled(layout) if step == "[::2]" else _source(layout)
    before, making = snippets.making(path, making_of.case.attributes(), device, library)
    lines = [*_unparsed(before), *making_of.text.splitlines(), *_unparsed(making)]
    if step:
        lines.append(f"array, source = array{step}, source{step}")
    if "extras(" in shown.lines:
        lines += _extras(path, library)
    lines += _reading(shown.call, shown.lines)
    lines += shown.lines.splitlines()
    return _with_imports(lines)


@dataclass(frozen=True)
class Source:
    """The line that makes a NumPy array, and the case that it is."""

    text: str
    case: Case


def _source(word: str) -> Source:
    dtype = word.removeprefix("dtype-")
    if dtype != word:
        foreign = "import ml_dtypes\n" if dtype in FOREIGN else ""
        kind = f"ml_dtypes.{dtype}" if foreign else repr(dtype)
        case = Case("f32", dtype, 8 * Case("", dtype, 0).itemsize)
        return Source(f"{foreign}source = np.arange(8).astype({kind})", case)
    text, changes = SOURCES.get(word, SOURCES["line"])
    case = Case("f32", "float32", _size(word), **changes)  # type: ignore[arg-type]
    return Source(text, case)


def _doubled(word: str) -> Source:
    """A line of twice the size, of which every second element is taken."""
    text = SOURCES[word][0].replace("arange(8", "arange(16")
    return Source(text, Case("f32", "float32", 2 * _size(word)))


def _extras(path: Path, library: str) -> list[str]:
    """The adapter's word of what an array carries; none carries nothing."""
    tree = snippets.tree(path, library)
    if "extras" not in snippets.defined(tree):
        return ["def extras(array):", "    return ()"]
    return _unparsed([snippets.function(tree, "extras", path)])


def _reading(call: str, used: str) -> list[str]:
    """Lines that leave what the rest uses of a table, a capsule and its struct."""
    if "table" in used or "function(" in used:
        return _table()
    # What a function of ours reads is its own matter.
    rest = used.replace(ADDRESS, "")
    if call or re.search(r"\b(struct|tensor|capsule|deleter_at|name)\b", rest):
        return _capsule(call, rest)
    return POINT.splitlines() if "point(" in used or ADDRESS in used else []


def _capsule(call: str, used: str) -> list[str]:
    """Lines that leave what is used of capsule, name, struct, tensor and deleter_at. What exports
    nothing, or no struct that has the field, breaks no such rule."""
    lines = [
        *POINT.splitlines(),
        *([f"capsule = {call}"] if call else ASKED.splitlines()),
        "versioned = 'versioned' in repr(capsule)",
        "name = b'dltensor_versioned' if versioned else b'dltensor'",
        "struct = point(capsule, name)",
    ]
    if "struct + 24" in used:
        lines += ["if not versioned:", "    raise SystemExit(0)"]
    if "tensor" in used:
        lines.append("tensor = struct + 32 if versioned else struct")
    if "deleter_at" in used:
        lines.append("deleter_at = 16 if versioned else 56")
    return lines


def _table() -> list[str]:
    """Lines that leave the table's address and `function(at)`."""
    return [
        *POINT.splitlines(),
        "table = point(type(array).__dlpack_c_exchange_api__, b'dlpack_exchange_api')",
        "def function(at):",
        "    return ctypes.c_void_p.from_address(table + at).value",
    ]


def _size(source: str) -> int:
    small = ("line", "aligned", "offset", "odd", "readonly", "swapped", "unexportable")
    return {"empty": 0, "scalar": 4}.get(source, 32 if source in small else 256)


def _with_imports(lines: list[str]) -> list[str]:
    text = "\n".join(lines)
    needed = [name for name in ("ctypes", "gc", "os", "sys", "weakref") if f"{name}." in text]
    imports = [f"import {', '.join(needed)}"] if needed else []
    if "np." in text and "import numpy as np" not in text:
        imports.append("import numpy as np")
    needless = {"array = array", *(f"import {name}" for name in needed)}
    return [*imports, *(line for line in lines if line not in needless)]


def _consumer(rule: Rule, path: Path, library: str, struct: str) -> list[str]:
    shown = rule.shown
    protocol = {
        "memoryview": "buffer",
        "bytearray": "buffer",
        "__array_interface__": "array_interface",
        "__array_struct__": "array_struct",
    }.get(shown.struct, "dlpack")
    before, call, _ = snippets.calling(path, protocol, library)
    function = ast.unparse(ast.fix_missing_locations(call)).partition("(array")[0]
    plain = ast.unparse(ast.fix_missing_locations(call))
    spelled = shown.call.format(function=function, array="array") if shown.call else plain
    # What is not aligned is refused by some, which is another rule's matter.
    word = "aligned" if shown.source == "line" else shown.source
    lines = [*_unparsed(before), *SOURCES[word][0].splitlines()]
    lent = shown.struct if shown.struct in ("legacy", "versioned") else struct
    name, base, deleter_at = LEGACY if lent == "legacy" else VERSIONED
    patch = shown.patch.replace("{count}", COUNT)
    counts = "{count}" in shown.patch
    if counts:
        lines += DELETER.splitlines()
    if patch:
        lines += POINT.splitlines()
    made = _object(shown.struct or struct, name, base, deleter_at, patch, shown.lines)
    if "copy=True" in shown.call:
        # Whoever is asked for a copy may be the one who makes it.
        made = [line.replace("__dlpack__(max", "__dlpack__(copy=keywords.get('copy'), max")
                .replace("source.__dlpack__()", "source.__dlpack__(copy=keywords.get('copy'))")
                for line in made]  # fmt: skip
    lines += made
    if "values(" in shown.lines:
        lines += BYTES.splitlines()
    if "result = {call}" not in shown.lines.partition("del result")[0]:
        wanted = (
            allowed(spelled, shown.refusal, "result") if shown.refusal else f"result = {spelled}"
        )
        lines += (wanted.replace("raise SystemExit(0)", LEAVE) if counts else wanted).splitlines()
    again = re.sub(r"\barray\b", "result", spelled)
    lines += shown.lines.replace("{call}", spelled).replace("{again}", again).splitlines()
    if counts:
        lines.append(LEAVE)
    return _with_imports([line for line in lines if line])


def _object(kind: str, name: str, base: int, deleter_at: int, patch: str, after: str) -> list[str]:
    """Lines that leave the known producer in `array`; `after`: what reads of it is kept for."""
    if kind == "memoryview":
        return ["array = memoryview(source)"]
    if kind == "bytearray":
        return ["source = bytearray(source)", "array = source"]
    if kind == "none":
        return ["array = object()"]
    if kind in ("__array_interface__", "__array_struct__"):
        return [
            "class Producer:",
            f"    {kind} = property(lambda self: source.{kind})",
            "array = Producer()",
        ]
    version = "" if name == "dltensor" else "max_version=(1, 0)"
    if kind in ("", "asks"):
        version = "max_version=keywords.get('max_version')"
    keeps = kind == "twice" or "capsules" in after
    lines = ["capsules = []"] if keeps else []
    lines += ["calls = []"] if kind == "asks" else []
    parameters = "stream=None" if kind == "bare" else "**keywords"
    lines += [
        "class Producer:",
        "    def __dlpack_device__(self):",
        "        return (1, 0)",
        f"    def __dlpack__(self, {parameters}):",
    ]
    if kind == "bare":
        version = ""
    if kind == "asks":
        lines.append("        calls.append(keywords)")
    if kind == "raises":
        return [*lines, "        raise BufferError('not today')", "array = Producer()"]
    if kind == "twice":
        lines += ["        if capsules:", "            return capsules[0]"]
    if not (keeps or patch or kind == "name"):
        return [*lines, f"        return source.__dlpack__({version})", "array = Producer()"]
    lines.append(f"        capsule = source.__dlpack__({version})")
    if kind == "name":
        lines.append("        set_name = ctypes.PyDLL(None).PyCapsule_SetName")
        lines.append("        set_name.argtypes = (ctypes.py_object, ctypes.c_char_p)")
        lines.append("        set_name(capsule, NAME)")
        lines.insert(0, "NAME = b'dltensor_of_nobody'")
    if patch:
        known = _patched(kind, name, base, deleter_at, patch)
        lines += [f"        {line}" for line in [*known, *patch.splitlines()]]
    if keeps:
        lines.append("        capsules.append(capsule)")
    return [*lines, "        return capsule", "array = Producer()"]


def _patched(kind: str, name: str, base: int, deleter_at: int, patch: str) -> list[str]:
    """Lines that leave what a patch uses of struct, tensor and deleter_at."""
    if kind:
        lines = [f"struct = point(capsule, b'{name}')"]
        tensor, deleter = f"struct + {base}" if base else "struct", str(deleter_at)
    else:
        lines = [
            "versioned = 'versioned' in repr(capsule)",
            "struct = point(capsule, b'dltensor_versioned' if versioned else b'dltensor')",
        ]
        tensor, deleter = "struct + 32 if versioned else struct", "16 if versioned else 56"
    if "tensor" in patch:
        lines.append(f"tensor = {tensor}")
    if "deleter_at" in patch:
        lines.append(f"deleter_at = {deleter}")
    return lines
