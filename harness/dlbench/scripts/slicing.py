"""Cuts the statements that a script needs out of adapter files and out of `tools.py`."""

from __future__ import annotations

import ast
import functools
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from dlbench import _core, adapter
from dlbench.case import FOREIGN, Case
from dlbench.errors import BadInput, first_line
from dlbench.libraries import arguments
from dlbench.libraries.facts import assigned, bound_names, parse, read_arguments
from dlbench.text.escaping import comment

#: Names of an adapter file that are for dlbench alone.
CONTRACT = {
    *("DISTRIBUTION", "DEVICES", "DEFAULT", "HIDDEN", "READY", "ARGUMENTS", "ARGUMENT"),
    *("PROTOCOLS", "EXPORTS", "EXTENSION", "SPECIAL", "VERSION", "IMPORT_FIRST"),
}
#: An adapter file may come from anywhere and is not run here. Conditions of these parts alone are
#: evaluated: none of them calls or grows.
DECIDABLE = (ast.Compare, ast.cmpop, ast.BoolOp, ast.boolop, ast.UnaryOp, ast.unaryop,
             ast.Constant, ast.Tuple, ast.expr_context)  # fmt: skip

#: Python reads a comment in the first two lines as the file's encoding; with some encodings the
#: next comment is code. So foreign text begins in line 3.
HEAD = ("# -*- coding: utf-8 -*-", "#")


class Known(ast.NodeTransformer):
    """Writes known values in the place of names and of a case's attributes, and drops branches that
    are never taken.

    `case.numpy()` becomes `source`, `case.sliced(array)` a slice of the array.
    """

    def __init__(self, names: Mapping[str, Any]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.expr:
        value = self.names.get(node.id)
        if isinstance(node.ctx, ast.Store) or value is None or isinstance(value, Case):
            return node
        return value if isinstance(value, ast.expr) else _expression(repr(value))

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        case = self.names.get(node.value.id) if isinstance(node.value, ast.Name) else None
        is_read = isinstance(node.ctx, ast.Load)
        if is_read and isinstance(case, Case) and node.attr in case.attributes():
            return _expression(repr(case.attributes()[node.attr]))
        self.generic_visit(node)
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        owner = node.func.value if isinstance(node.func, ast.Attribute) else None
        is_case = isinstance(owner, ast.Name) and isinstance(self.names.get(owner.id), Case)
        if is_case and method in ("numpy", "bits"):
            return _expression("source")
        if is_case and method in ("unsliced", "sliced"):
            case: Case = self.names[owner.id]  # type: ignore[union-attr]
            return _expression(sliced(case, method, *map(ast.unparse, node.args)))
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        """Drops `array = case.sliced(array)` where that is the array."""
        self.generic_visit(node)
        is_same = list(map(ast.unparse, node.targets)) == [ast.unparse(node.value)]
        return ast.Pass() if is_same else node

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        """Drops checks of what the library can express: the measurement has passed them."""
        if _name(node.value).startswith("require"):
            return ast.Pass()
        self.generic_visit(node)
        return node

    def visit_If(self, node: ast.If | ast.IfExp) -> Any:
        self.generic_visit(node)
        if isinstance(node, ast.If) and _raises_unsupported(node.body[0]):
            return node.orelse  # as with `require`: the measurement has not come here
        if not all(isinstance(part, DECIDABLE) for part in ast.walk(node.test)):
            return node
        try:
            code = compile(ast.fix_missing_locations(ast.Expression(node.test)), "", "eval")
            return node.body if eval(code, {"__builtins__": {}}) else node.orelse
        except TypeError:  # of two types without an order
            return node

    visit_IfExp = visit_If  # noqa: N815


#: The methods `unsliced` and `sliced` of a case as expressions, by layout.
UNSLICED = {"fortran": "{}.T", "strided": "np.repeat({}, 2)", "reversed": "{}[::-1]",
            "broadcast": "{}[:1]"}  # fmt: skip
SLICED = {"fortran": "{}.T", "strided": "{}[::2]", "reversed": "{}[::-1]"}


def sliced(case: Case, method: str, array: str, broadcast_to: str = "") -> str:
    first = case.offset // case.itemsize
    if method == "unsliced":
        array = f"np.pad({array}, ({first}, 0))" if first else array
        return UNSLICED.get(case.layout, "{}").format(array)
    if case.layout == "broadcast":
        return f"{broadcast_to}({array}[0], {case.shape})"
    return SLICED.get(case.layout, "{}").format(array + (f"[{first}:]" if first else ""))


def _expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _name(node: ast.AST | None) -> str:
    """The name that is called."""
    function = node.func if isinstance(node, ast.Call) else None
    return function.id if isinstance(function, ast.Name) else ""


def _raises_unsupported(node: ast.stmt) -> bool:
    return isinstance(node, ast.Raise) and _name(node.exc) == "Unsupported"


def read(path: Path, library: str) -> ast.Module:
    """An adapter file with the value of ARGUMENT in its place."""
    tree = parse(path)
    _, argument = arguments.split(library)
    chosen = arguments.read(argument, read_arguments(tree, path)) if argument else ("", None)
    known: ast.Module = Known({"ARGUMENT": chosen}).visit(tree)
    return known


def names_read(nodes: Sequence[ast.AST]) -> set[str]:
    every = (part for node in nodes for part in ast.walk(node))
    return {part.id for part in every if isinstance(part, ast.Name)}


def defined(tree: ast.Module) -> set[str]:
    """The names that the file binds at its top level."""
    return {name for node in tree.body for name in bound_names(node)}


def needed(tree: ast.Module, wanted: set[str]) -> list[ast.stmt]:
    """The top-level statements that bind the wanted names or what those read, and those with an
    effect (a variable of the environment that is set before an import), in the file's order."""
    wanted, kept, before = wanted - CONTRACT, set[int](), -1
    while before < len(kept):
        before = len(kept)
        for index, node in enumerate(tree.body):
            names = set(bound_names(node))
            if index not in kept and (names & wanted or _has_effect(node, names)):
                kept.add(index)
                wanted |= names_read([node]) - CONTRACT
    return [_shortened(tree.body[index], wanted) for index in sorted(kept)]


def _has_effect(node: ast.stmt, names: set[str]) -> bool:
    if isinstance(node, ast.Assign | ast.AnnAssign):
        return not names  # os.environ["NAME"] = "value"
    binding = ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef
    return not isinstance(node, binding) and not _is_text(node)


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _shortened(node: ast.stmt, wanted: set[str]) -> ast.stmt:
    """Without unused imports, and without annotations."""
    if isinstance(node, ast.ImportFrom):
        names = [alias for alias in node.names if (alias.asname or alias.name) in wanted]
        return ast.ImportFrom(node.module, names, node.level)
    for part in ast.walk(node):
        if isinstance(part, ast.arg):
            part.annotation = None
        elif isinstance(part, ast.FunctionDef):
            part.returns = None
    return node


def function(tree: ast.Module, name: str) -> ast.FunctionDef | None:
    found = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == name]
    return found[-1] if found else None


def making(tree: ast.Module, path: Path, case: Case, device: str) -> list[ast.stmt]:
    """Statements that bind the producer's array to `array`. They may read `source`, the content of
    the case as a NumPy array, and `case`."""
    make = function(tree, "make")
    if make is None:
        raise BadInput(f"adapter {path} defines no function make")
    parameters = [argument.arg for argument in make.args.args]
    known = Known(dict(zip(parameters, (case, device), strict=False)))
    every: list[ast.stmt] = known.visit(make).body
    body = [node for node in every if not isinstance(node, ast.Pass) and not _is_text(node)]
    ends = [i for i, node in enumerate(body) if isinstance(node, ast.Raise | ast.Return)]
    body = body[: (ends or [len(body)])[0] + 1]
    returns = [n for node in body for n in ast.walk(node) if isinstance(n, ast.Return)]
    tail = body
    while tail and isinstance(tail[-1], ast.With):
        tail = tail[-1].body
    if len(returns) == 1 and tail and tail[-1] is returns[0]:
        value = ast.unparse(returns[0].value or ast.Constant(None))
        tail[-1:] = [] if value == "array" else ast.parse(f"array = {value}").body
    elif returns:
        make.body, make.args.args = body, []
        body = [make, *ast.parse("array = make()").body]
    return body


class Calling(NamedTuple):
    """A consumer's preparation, and its call on `array`."""

    before: list[ast.stmt]
    call: ast.expr
    imports_alone: bool  #: the call is made for another protocol, and is shown the wanted one alone


def calling(tree: ast.Module, path: Path, protocol: str, device: str = "cpu") -> Calling:
    """The consumer's call for the protocol. On a device `calls` goes before PROTOCOLS."""
    table = entries(assigned(tree, "PROTOCOLS"))
    before: list[ast.stmt] = []
    calls = function(tree, "calls")
    if device != "cpu" and calls is not None:
        source, _, target = device.partition("+")
        names = [each.arg for each in calls.args.args]
        known = Known(dict(zip(names, (source, target or source), strict=False)))
        body: list[ast.stmt] = known.visit(calls).body
        end = next((i for i, n in enumerate(body) if isinstance(n, ast.Return)), len(body))
        if body[end:]:
            before, table = body[:end], {**table, **entries(body[end].value)}  # type: ignore[attr-defined]
    name = _core.call_for(protocol, list(table))
    if not name:
        raise BadInput(f"adapter {path} has no {protocol} any more")
    call, array = table[name], _expression("array")
    spelled = _name(call) if isinstance(call, ast.Call) and call.args else ""
    if spelled == "Call" and isinstance(call, ast.Call):
        call = Known({"X": array}).visit(ast.Call(call.args[0], call.args[1:], call.keywords))
    elif spelled == "Capsule" and isinstance(call, ast.Call):
        call = ast.Call(call.args[0], [_expression("array.__dlpack__()")], [])
    elif isinstance(call, ast.Lambda) and len(call.args.args) == 1:
        call = Known({call.args.args[0].arg: array}).visit(call.body)
    else:
        call = ast.Call(call, [array], [])
    before = [*needed(tree, names_read([*before, call])), *before]
    return Calling(before, call, name != protocol and spelled != "Capsule")


def entries(table: ast.expr | None) -> dict[str, ast.expr]:
    """The values of a dict display by their keys."""
    pairs = zip(table.keys, table.values, strict=True) if isinstance(table, ast.Dict) else ()
    return {str(key.value): value for key, value in pairs if isinstance(key, ast.Constant)}


def text(nodes: Sequence[ast.AST]) -> list[str]:
    """Source, each top-level statement once."""
    return list(dict.fromkeys(ast.unparse(ast.fix_missing_locations(node)) for node in nodes))


def _parsed(text: str) -> ast.Module:
    """Raises BadInput for what was cut out of an adapter, but is no script by itself: `yield`."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the adapter, when it runs
            compile(text, "script", "exec", dont_inherit=True)
        return ast.parse(text)
    except SyntaxError as error:
        raise BadInput(f"the adapter's statements make no script: {first_line(error)}") from error


def source(case: Case, bits: bool = False) -> list[str]:
    """Lines that bind the content of a case to `source`, a new NumPy array."""
    item, shape, strides = case.itemsize, case.shape, case.strides
    count = case.bytes // item
    first = case.offset + (item * (count - 1) if case.layout == "reversed" else 0)
    dtype = f"ml_dtypes.{case.dtype}" if case.foreign else repr(case.dtype)
    if case.special == "swapped":
        dtype = f"np.dtype({dtype}).newbyteorder()"
    place = f"-raw.ctypes.data % {case.align}" + (f" + {first}" if first else "")
    # A buffer comes before the offset into it, which reads its address.
    words = [repr(shape), dtype, f"raw := np.zeros({case.room}, np.uint8)", place]
    words += [repr(tuple(step * item for step in strides))] if strides else []
    content = f"(np.arange({shape[-1] if case.layout == 'broadcast' else count}) * 7 + 3) % 101"
    content += " % 2" * (case.dtype == "bool") + " % 8" * case.dtype.startswith("float8")
    if case.layout in ("grid", "scalar", "ones", "fortran"):
        back, turn = (shape[::-1], ".T") if case.layout == "fortran" else (shape, "")
        content = f"({content}).reshape({back}){turn}"
    lines = ["import ml_dtypes"] * case.foreign
    lines += [f"source = np.ndarray({', '.join(words)})", f"source[...] = {content}"]
    lines += ["source.imag = source.real % 13"] * case.dtype.startswith("complex")
    lines += ["source[1::101] = np.nan"] * (case.special == "nulls")
    lines += ["source.flags.writeable = False"] * case.readonly
    lines += [f"source = source.view({FOREIGN.get(case.dtype)!r})"] * (case.foreign and bits)
    return [*lines, "del raw"]


def array(
    tree: ast.Module, path: Path, case: Case, device: str, with_source: bool = False
) -> tuple[list[ast.stmt], list[str]]:
    """The statements of the file that make the producer's array; and lines that bind it to `array`,
    after lines that bind `source` and `case` as far as they are read, or `source` in any case."""
    bits = any(isinstance(node, ast.Attribute) and node.attr == "bits" for node in ast.walk(tree))
    body = making(tree, path, case, device)
    return needed(tree, names_read(body)), content(case, text(body), bits, with_source)


def content(case: Case, lines: list[str], bits: bool = False, always: bool = False) -> list[str]:
    """The lines, after those that bind `source` and `case` as far as they are read."""
    read, before = names_read([_parsed("\n".join(lines))]), list[str]()
    if "case" in read:
        words = [f"{name}={value!r}" for name, value in case.attributes().items()]
        words += ["numpy=lambda: source", "bits=lambda: source"]
        before = ["import types", f"case = types.SimpleNamespace({', '.join(words)})"]
    if always or {"source", "case"} & read:
        before = [*source(case, bits), *before]
    return [*before, *lines]


@functools.cache
def _tools() -> ast.Module:
    """What scripts have in common, as functions."""
    return ast.parse(Path(__file__).with_name("tools.py").read_text("utf-8"))


def _shared(imports: Sequence[str]) -> list[str]:
    """The names that these lines import from `dlbench.adapter`."""
    if not imports:
        return []
    # Parsed anew, because needed() removes annotations in place.
    tree = ast.parse(Path(adapter.__file__).read_text("utf-8"))
    return text(needed(tree, defined(ast.parse("\n".join(imports)))))


def script(title: Sequence[str], body: Sequence[str]) -> str:
    """The whole script: after its title the statements of `tools.py` and `adapter.py` that it uses,
    then its own lines.

    A comment states whether it needs dlbench.
    """
    shared = [line for line in body if line.startswith(f"from {adapter.__name__} import ")]
    body = [line for line in body if line not in shared]
    tree = _parsed("\n".join(body))
    tools = text(needed(_tools(), names_read([tree]) - defined(tree))) + _shared(shared)
    lines = [line for part in (*tools, *body) for line in part.splitlines()]
    imports = dict.fromkeys(line for line in lines if line.startswith(("import ", "from ")))
    kept = [line for i, line in enumerate(lines) if line not in imports or line not in lines[:i]]
    own = [line.rpartition(" ")[2] for line in imports if "dlbench" in line]
    needs = [f"needs dlbench's own {' and '.join(own)}"] if own else []
    return "\n".join([*HEAD, *map(comment, (*title, *needs)), *kept]) + "\n"
