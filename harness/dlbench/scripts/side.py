"""What a script shows of a library: the lines of its adapter's SCRIPT, or the adapter itself,
loaded by its path."""

from __future__ import annotations

import ast
import copy
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import fields
from importlib import metadata

from dlbench import _core
from dlbench.case import FOREIGN, Case
from dlbench.errors import BadInput, first_line
from dlbench.libraries import arguments
from dlbench.libraries.discover import Catalogue, adapter
from dlbench.libraries.facts import (
    AdapterFile,
    assigned,
    bound_names,
    entries,
    parse,
    requirement_name,
    with_call,
)
from dlbench.text.escaping import comment

#: Python reads a comment in the first two lines as the file's encoding; with some encodings the
#: next comment is code. So foreign text begins in line 3.
HEAD = ("# -*- coding: utf-8 -*-", "#")
#: NumPy's view of an array of an adapter that does not show one.
AS_NUMPY = """\
def as_numpy(array):
    try:
        return np.from_dlpack(array)
    except (AttributeError, BufferError, RuntimeError, TypeError):
        view = np.asarray(array)
    assert view.dtype != object, 'NumPy cannot read it'
    return view"""


class Side:
    """One role of a cell: `lines` are the imports of what its expressions read."""

    def __init__(self, files: Sequence[AdapterFile], library: str) -> None:
        """`files`: that of the role itself first."""
        self.files, self.library = files, library
        self.file = files[0]
        _, self.argument = arguments.split(library)
        self.is_call = any(self.argument in file.calls for file in files)
        self.trees = {file.role: with_call(parse(file.path), self.argument) for file in files}
        self.lines: list[str] = []
        for file in self.files:
            if text := file.script.get("before", ""):
                self._import([text], file)
                self._add(text)
                break

    @classmethod
    def of(cls, found: Catalogue, role: str, library: str) -> Side:
        own, files = adapter(found, role, library), found.roles(library).values()
        return cls([own, *(file for file in files if file is not own)], library)

    @property
    def package(self) -> str:
        """The distribution that the library is installed by; empty without one."""
        declared = next((f.distributions for f in self.files if f.distributions is not None), None)
        names = [requirement_name(name) for name in declared or ()]
        known = names if declared is not None else [self.file.name]
        return next((name for name in known if _is_installed(name)), (*names, "")[0])

    def make(self, case: Case, device: str) -> list[str]:
        """Lines that bind `array`, from `source`."""
        kind, _, number = device.partition(":")
        shown = self.file.script
        words = [case.special, *["foreign"] * case.foreign, *["offset"] * bool(case.offset)]
        words += [*["readonly"] * case.readonly, case.storage if case.own else "", case.layout]
        words += [case.dims, case.dtype, *["usual"] * case.is_usual]
        keys = [key for word in words if word and (key := f"make {word}") in shown]
        text = shown.get(keys[0] if keys else "make", "")
        properties = (case.special, case.foreign, case.offset, case.readonly, case.own,
                      case.layout != "c", f"make {case.dims}" in shown,
                      f"make {case.dtype}" in shown)  # fmt: skip
        is_shown = case.special in ("", "swapped") or f"make {case.special}" in shown
        if not is_shown or (keys and sum(map(bool, properties)) > 1):
            text = ""  # lines for one property do not show two
        if self.argument.partition("=")[0] in self.file.arguments:
            text = "" if any(properties) else shown.get(f"make {self.argument}", "")
        if kind != "cpu":  # the lines of a device are those of the usual array
            is_usual = not (case.special or case.foreign or case.readonly or self.argument)
            is_usual = is_usual and case.layout != "broadcast"
            text = shown.get(f"make {kind}", "") if is_usual else ""
        if text and case.own and kind == "cpu" and "own" in shown:
            # A copy may be written to, and no slice repeats a row.
            is_copied = not case.readonly and case.layout != "broadcast"
            text = f"{text}\n{shown['own']}" if is_copied else ""
            if is_copied and (unsliced := _unsliced(case)) != "source":
                text = f"source = {unsliced}\n{text}"
        if case.storage == "view" and "{slice}" not in text:
            text = ""
        if not text:
            words = [
                f"{field.name}={value!r}"
                for field in fields(case)
                if field.init and (value := getattr(case, field.name)) != field.default
            ]
            self._add("from dlbench.case import Case")
            make = self._loaded(self.file, "make")
            return [f"case = Case({', '.join(words)})", f"array = {make}(case, {device!r})"]
        values = {
            "dtype": case.dtype, "shape": str(case.shape), "number": number or "0",
            "readonly": str(case.readonly),
            "slice": _slice(case), "unsliced": _unsliced(case),
        }  # fmt: skip
        lines = _filled(text, values).splitlines()
        self._import(lines, self.file)
        return lines

    def reads_bits(self) -> bool:
        """Does the library know dtypes of ml_dtypes by its own names only?"""
        return any(file.script.get("source") == "bits" for file in self.files)

    def show(self, name: str, array: str, case: Case | None = None) -> str:
        """The adapter's expression `name` of an array; empty where it has none."""
        return self._first((name,), array, case)

    def _first(self, names: Sequence[str], array: str, case: Case | None = None) -> str:
        """The first of these expressions in the own file, else in that of the other role."""
        values = {"array": array}
        if case is not None:
            dtype = FOREIGN.get(case.dtype, case.dtype)
            values |= {"dtype": dtype, "shape": str(case.shape)}
        keys = [key for name in names for key in (f"{name} {self.argument}", name)]
        for file in self.files:
            for key in keys:
                if key in file.script:
                    text = _filled(file.script[key], values)
                    self._import([text], file)
                    return text
            for name in names:
                if name in self._bound(file):
                    text = self._applied(file, name, array)
                    return f"np.asarray({text})" if name in ("values", "memory") else text
        return ""

    def has(self, name: str) -> bool:
        return any(name in file.script or name in self._bound(file) for file in self.files)

    def ready(self, array: str) -> str:
        """The call that waits for an array that may still be computed; empty without one."""
        is_late = any(f.is_asynchronous(self.argument) for f in self.files)
        return self.show("ready", array) if is_late else ""

    def own(self, name: str) -> str:
        """A function of the library's adapters."""
        return self._loaded(next(f for f in self.files if name in self._bound(f)), name)

    def _applied(self, file: AdapterFile, name: str, array: str) -> str:
        """A function of the adapter, called: `array.data_ptr()` where it only returns that."""
        nodes = [node for node in self.trees[file.role].body if name in bound_names(node)]
        node, text = copy.deepcopy(nodes[-1]), ""
        if isinstance(node, ast.Assign):
            text = f"{ast.unparse(node.value)}({array})"
        elif isinstance(node, ast.FunctionDef) and isinstance(node.body[0], ast.Return):
            for part in ast.walk(node.body[0]):
                if isinstance(part, ast.Name) and part.id == node.args.args[0].arg:
                    part.id = array
            text = ast.unparse(node.body[0]).removeprefix("return ")
        if not text or self._read(text, file) is None:
            return f"{self._loaded(file, name)}({array})"
        self._import([text], file)
        return text

    def values(self, array: str, case: Case | None = None) -> str:
        """The array's content, as a NumPy array."""
        return self._first(("values", "memory"), array, case) or self._plain(array)

    @property
    def shows_memory(self) -> bool:
        """Is there a way to the array's memory, or has the adapter lines, so that NumPy is one?"""
        is_known = self.has("memory") or self.has("address")
        return is_known or any(file.script for file in self.files)

    def hides_memory(self, case: Case) -> bool:
        """Has the adapter no way to the memory of such an array?"""
        words = (case.special, case.dtype)
        return any(f.script.get(f"memory {word}") == "" for f in self.files for word in words)

    def memory(self, array: str) -> tuple[str, str]:
        """The address of the array's first byte, after an assignment that keeps its memory."""
        before = self.lines[:]
        shown, address = self._first(("address", "memory"), array), self.show("address", array)
        if shown and shown == address:
            return address, ""
        self.lines = before
        shown = self._first(("memory",), array)
        if not shown:
            shown = f"np.asarray({array})" if self.shows_memory else self._plain(array)
        if shown == array:
            return f"{array}.ctypes.data", ""
        return f"{array}_view.ctypes.data", f"{array}_view = {shown}"

    def call(self, protocol: str, source: str, target: str) -> tuple[str, bool]:
        """The consumer's call on `array` for the protocol. Is it made for another one, which is
        offered this one alone?"""
        table = entries(assigned(self.trees["consumer"], "PROTOCOLS"))
        name = _core.call_for(protocol, list(table))
        kind = target.partition(":")[0]
        word = f"{name} to {kind}" if source != target else f"{name} {kind}"
        is_crossing = target != "cpu" or source != target
        shown = self.file.script.get(word if is_crossing else name, "") if not self.is_call else ""
        if not name:
            raise BadInput(f"adapter {self.file.path} has no {protocol} any more")
        number = target.partition(":")[2] or "0"
        if shown:
            self._import([shown], self.file)
            return _filled(shown, {"number": number}), name != protocol
        is_capsule = _called(table[name]) == "Capsule"
        if is_crossing and self.file.crosses:
            calls = f"{self._loaded(self.file, 'calls')}({source!r}, {target!r})"
            own = self._loaded(self.file, "PROTOCOLS")
            return f"{{**{own}, **{calls}}}[{name!r}](array)", name != protocol and not is_capsule
        text = _spelled(table[name])
        if not text or self._read(text, self.file) is None:
            text = f"{self._loaded(self.file, 'PROTOCOLS')}[{name!r}](array)"
        else:
            self._import([text], self.file)
        return text, name != protocol and not is_capsule

    def function(self, arrays: int) -> list[str]:
        """Lines that bind `function`, the consumer's function of so many arrays, which calls `body`
        with their addresses. An adapter without such lines is loaded."""
        text = self._lines_of_call()
        if not text:
            self._add("from dlbench.call_record import recorded")
            return [f"function = recorded({self.loaded_function(arrays)}, body)"]
        lines = re.sub(r"\[\[(.*?)\]\](?!\])", lambda found: _for_each(found[1], arrays), text)
        read = {node.id for node in ast.walk(parsed(lines)) if isinstance(node, ast.Name)}
        for node in self._imports(self.file):
            if bound_names(node)[0] in read and not _is_own(node):
                self._add(ast.unparse(node))
        return lines.strip().splitlines()

    def loaded_function(self, arrays: int) -> str:
        """The expression of that function, with the adapter's own body."""
        return f"{self._loaded(self.file, 'PROTOCOLS')}['call']({arrays})"

    def _lines_of_call(self) -> str:
        """The lines `call NAME|NAME` of several calls show this one with its text of each
        `[[TEXT|TEXT]]`."""
        for key, text in self.file.script.items():
            word, _, names = key.partition(" ")
            if word == "call" and self.argument in (calls := names.split("|")):
                return _chosen(text, calls.index(self.argument), len(calls), self.file)
        return ""

    def export(self, name: str) -> str:
        """The producer's own function for a protocol."""
        text = ast.unparse(entries(assigned(self.trees["producer"], "EXPORTS"))[name])
        if self._read(text, self.file) is None:
            return f"{self._loaded(self.file, 'EXPORTS')}[{name!r}]"
        self._import([text], self.file)
        return text

    def imports(self) -> list[str]:
        """All imports of the adapter's own libraries."""
        return [ast.unparse(node) for node in self._imports(self.file) if not _is_own(node)]

    def _plain(self, array: str) -> str:
        self._add(AS_NUMPY)
        return f"as_numpy({array})"

    def _add(self, line: str) -> None:
        self.lines += [line] * (line not in self.lines)

    def _loaded(self, file: AdapterFile, name: str) -> str:
        variable = re.sub(r"\W", "_", f"{self.library}_{file.role}")
        words = f"{file.role!r}, {self.library!r}, {str(file.path)!r}"
        self._add("from dlbench.loading import load_adapter")
        self._add(f"{variable} = load_adapter({words})")
        return f"{variable}.{name}"

    def _bound(self, file: AdapterFile) -> set[str]:
        return {name for node in self.trees[file.role].body for name in bound_names(node)}

    def _imports(self, file: AdapterFile) -> Iterator[ast.Import | ast.ImportFrom]:
        for node in self.trees[file.role].body:
            if isinstance(node, ast.Import | ast.ImportFrom):
                for alias in node.names:
                    if isinstance(node, ast.Import):
                        yield ast.Import([alias])
                    else:
                        yield ast.ImportFrom(node.module, [alias], node.level)

    def _read(self, text: str, file: AdapterFile) -> list[str] | None:
        """The imports of the names that the text reads; None where the adapter binds one itself."""
        names = {node.id for node in ast.walk(parsed(text)) if isinstance(node, ast.Name)}
        names -= {"array", "result", "made", "source"}
        by_name = {bound_names(node)[0]: node for node in self._imports(file)}
        if names & (self._bound(file) - by_name.keys()):
            return None
        return [ast.unparse(node) for name, node in by_name.items() if name in names]

    def _import(self, lines: Sequence[str], file: AdapterFile) -> None:
        for line in self._read("\n".join(lines), file) or ():
            self._add(line)


def _chosen(text: str, at: int, calls: int, file: AdapterFile) -> str:
    def one(found: re.Match[str]) -> str:
        texts = found[1].split("|")
        if len(texts) != calls:
            raise BadInput(f"adapter {file.path}: {found[0]} in SCRIPT is not of {calls} calls")
        return texts[at]

    return re.sub(r"\[\[([^][]*\|[^][]*)\]\]", one, text)


def _for_each(text: str, arrays: int) -> str:
    """What is in double brackets in the lines of a call: `n` is the number of arrays; another text
    is repeated for each of them, which is `_`."""
    if text == "n":
        return str(arrays)
    between = "" if text.startswith(",") else ", "
    return between.join(re.sub(r"\b_\b", f"a{i}", text) for i in range(arrays))


def _slice(case: Case) -> str:
    """`Case.sliced`, of a library's own array, but for a layout that needs more than a slice."""
    axes = len(case.shape)
    first = [f"{case.before}:"] * axes if case.before else []
    layout = {
        "strided": [*["..."] * (axes > 1), "::2"],
        "reversed": ["::-1"] * axes,
    }.get(case.layout, [])
    text = "".join(f"[{', '.join(part)}]" for part in (first, layout) if part)
    return text + ".T" * (case.layout == "fortran")


def _unsliced(case: Case) -> str:
    """`Case.unsliced` of `source`."""
    text = {
        "fortran": "source.T", "reversed": "np.flip(source)",
        "strided": "np.repeat(source, 2, axis=-1)",
    }.get(case.layout, "source")  # fmt: skip
    return f"np.pad({text}, ({case.before}, 0))" if case.before else text


def _is_installed(name: str) -> bool:
    try:
        return bool(metadata.version(name))
    except metadata.PackageNotFoundError:
        return False


def _is_own(node: ast.Import | ast.ImportFrom) -> bool:
    name = node.module or "" if isinstance(node, ast.ImportFrom) else node.names[0].name
    return name.partition(".")[0] in ("dlbench", "__future__")


def _filled(text: str, values: dict[str, str]) -> str:
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", value)
    return text


def _called(node: ast.expr) -> str:
    function = node.func if isinstance(node, ast.Call) else None
    return function.id if isinstance(function, ast.Name) else ""


def _spelled(entry: ast.expr) -> str:
    """An entry of PROTOCOLS as a call on `array`; empty for what is none."""
    if isinstance(entry, ast.Call) and entry.args and _called(entry) in ("Call", "Capsule"):
        if _called(entry) == "Capsule":
            return f"{ast.unparse(entry.args[0])}(array.__dlpack__())"
        words = [*entry.args[1:], *(keyword.value for keyword in entry.keywords)]
        for node in (part for word in words for part in ast.walk(word)):
            if isinstance(node, ast.Name) and node.id == "X":
                node.id = "array"
        return ast.unparse(ast.Call(entry.args[0], entry.args[1:], entry.keywords))
    return f"{ast.unparse(entry)}(array)" if isinstance(entry, ast.Name | ast.Attribute) else ""


def parsed(text: str) -> ast.Module:
    """Raises BadInput for what is no Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "script", "exec", dont_inherit=True)
        return ast.parse(text)
    except (SyntaxError, ValueError) as error:
        raise BadInput(f"the adapter's lines make no script: {first_line(error)}") from error


def child(*report: str) -> list[str]:
    """A process of its own runs the rest of the script; this one reports its `status`."""
    return [
        "import os",
        "import signal",
        "import warnings",
        "# From Python 3.12 on, a fork beside the idle threads of an import warns.",
        "warnings.filterwarnings('ignore', 'This process .* is multi-threaded')",
        "if child := os.fork():",
        "    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])",
        *(f"    {line}" for line in report),
        "    raise SystemExit(status != 0)",
    ]


def script(title: Sequence[str], body: Sequence[str]) -> str:
    """The whole script: its title and its lines, each import once. A comment states whether it
    needs dlbench."""
    lines = [line for part in body for line in part.splitlines()]
    parsed("\n".join(lines))
    tops = [line.startswith(("import ", "from ")) for line in lines]
    kept = [line for i, line in enumerate(lines) if not (tops[i] and line in lines[:i])]
    needs = ["needs dlbench"] if any(line.startswith("from dlbench") for line in kept) else []
    return "\n".join([*HEAD, *map(comment, (*title, *needs)), *kept]) + "\n"
