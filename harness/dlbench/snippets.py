"""Cuts what one exchange needs out of adapter files, for a script that needs no dlbench."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard

from dlbench import _core, arguments, folding
from dlbench.errors import BadInput
from dlbench.facts import assigned, bound_names, parse, read_arguments

#: Names that speak to dlbench, not to the library.
CONTRACT = {
    *("DISTRIBUTION", "DEVICES", "DEFAULT", "HIDDEN", "READY", "ARGUMENTS", "ARGUMENT"),
    *("PROTOCOLS", "EXPORTS", "EXTENSION", "SPECIAL", "VERSION"),
}
HELPERS = Path(__file__).with_name("adapter.py")


def tree(path: Path, library: str) -> ast.Module:
    """An adapter file's tree, with the value of ARGUMENT in its place."""
    parsed = parse(path)
    _, argument = arguments.split(library)
    chosen = arguments.read(argument, read_arguments(parsed, path)) if argument else ("", None)
    value = ast.parse(repr(chosen), mode="eval").body
    folding.Folder({"ARGUMENT": value}, {}).visit(parsed)
    return parsed


def names_read(nodes: list[Any]) -> set[str]:
    return {
        part.id
        for node in nodes
        for part in ast.walk(node)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)
    }


def defined(tree: ast.Module) -> set[str]:
    """The names that the file binds at its top level."""
    return {name for node in tree.body for name in bound_names(node)}


def needed(tree: ast.Module, roots: set[str]) -> list[ast.stmt]:
    """The top-level statements that the names in `roots` rest on, and those run for their effect
    (a variable of the environment set before an import, an `init()`), in the file's order."""
    candidates = [node for node in tree.body if not _is_ours(node)]
    wanted, kept = set(roots), set[int]()
    grown = True
    while grown:
        grown = False
        for index, node in enumerate(candidates):
            if index in kept or not (_has_effect(node) or wanted & set(bound_names(node))):
                continue
            kept.add(index)
            wanted |= names_read([node])
            grown = True
    found: list[ast.stmt] = []
    for index in sorted(kept):
        found += _spelled_out(candidates[index], wanted)
    return found


def _spelled_out(node: ast.stmt, wanted: set[str]) -> list[ast.stmt]:
    """An import of wanted names only; of our own helpers, what they are instead."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [_without_words(node)]
    if not isinstance(node, ast.ImportFrom):
        return [node]
    names = [alias for alias in node.names if (alias.asname or alias.name) in wanted]
    if (node.module or "").partition(".")[0] == "dlbench":
        helpers = parse(HELPERS)
        defined = {name for each in helpers.body for name in bound_names(each)}
        inlined = {alias.name for alias in names} & defined
        names = [alias for alias in names if alias.name not in defined]
        found = needed(helpers, inlined) if inlined else []
        return [*found, ast.ImportFrom(node.module, names, node.level)] if names else found
    return [ast.ImportFrom(node.module, names, node.level)]


def _without_words(node: ast.FunctionDef | ast.ClassDef) -> ast.stmt:
    """Docstring and annotations say nothing to who runs a script once."""
    if ast.get_docstring(node) is not None:
        node.body = node.body[1:] or [ast.Pass()]
    if isinstance(node, ast.FunctionDef):
        node.returns = None
        for argument in ast.walk(node.args):
            if isinstance(argument, ast.arg):
                argument.annotation = None
    return node


def _is_ours(node: ast.stmt) -> bool:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return True
    if isinstance(node, ast.ImportFrom):
        return node.module == "__future__"
    return (
        isinstance(node, ast.Assign | ast.AnnAssign)
        and set(bound_names(node)) <= CONTRACT
        and (bool(bound_names(node)))
    )


def _has_effect(node: ast.stmt) -> bool:
    if isinstance(node, ast.Expr | ast.If | ast.Try | ast.With | ast.For | ast.AugAssign):
        return True
    # os.environ["NAME"] = "value"
    return isinstance(node, ast.Assign) and not bound_names(node)


def function(tree: ast.Module, name: str, path: Path) -> ast.FunctionDef:
    found = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == name]
    if not found:
        raise BadInput(f"adapter {path} defines no function {name}")
    return found[-1]


def making(
    path: Path, case: Mapping[str, Any], device: str, library: str = ""
) -> tuple[list[ast.stmt], list[ast.stmt]]:
    """A producer's preparation, and the statements that leave `array`; they may read `source`,
    the case's expected content as a NumPy array."""
    parsed = tree(path, library)
    make = function(parsed, "make", path)
    parameters = [argument.arg for argument in make.args.args]
    # What the file calls them does not matter; here they are `case` and a known device.
    names: dict[str, ast.expr] = {"Unsupported": ast.Name("NotImplementedError", ast.Load())}
    if parameters and parameters[0] != "case":
        names[parameters[0]] = ast.Name("case", ast.Load())
    if len(parameters) > 1:
        names[parameters[1]] = ast.Constant(device)
    names |= _helpers_values()
    renamed = ast.fix_missing_locations(folding.Folder(names, {}).visit(make))
    body = [node for node in folding.Folder({}, case).visit(renamed).body if not _is_ours(node)]
    body = folding.settled(_assign_result(body))
    # A call of `make` in the body is of what it has become there.
    before = needed(parsed, names_read(body) - {"make"})
    return before, body


def _helpers_values() -> dict[str, ast.expr]:
    """What our own helpers give a name: the layouts of who places arrays itself."""
    return {
        name: node.value
        for node in parse(HELPERS).body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple)
        for name in bound_names(node)
    }


def _assign_result(body: list[ast.stmt]) -> list[ast.stmt]:
    """Straight-line statements that end in `array = ...`, or a function and its call."""
    for index, node in enumerate(body):
        if isinstance(node, ast.Raise | ast.Return):
            body = body[: index + 1]
            break
    returns = [part for node in body for part in ast.walk(node) if isinstance(part, ast.Return)]
    array = ast.Name("array", ast.Store())
    if len(returns) == 1 and body[-1] is returns[0] and returns[0].value is not None:
        if isinstance(returns[0].value, ast.Name) and returns[0].value.id == "array":
            return body[:-1]
        return [*body[:-1], ast.Assign([array], returns[0].value, lineno=0)]
    if not returns:
        return body
    make = ast.parse("def make(): pass").body[0]
    assert isinstance(make, ast.FunctionDef)
    make.body = body
    return [make, *ast.parse("array = make()").body]


class Calling(NamedTuple):
    """A consumer's preparation, and its call on `array`."""

    before: list[ast.stmt]
    call: ast.expr
    is_anothers: bool  #: the entry is for another protocol, and is shown the wanted one alone


def calling(path: Path, protocol: str, library: str = "", device: str = "cpu") -> Calling:
    """The call of a consumer's entry for the protocol. On a device what the file's `calls` returns
    goes before its PROTOCOLS."""
    parsed = tree(path, library)
    before, on_device = _calls_on(parsed, device)
    calls = {**entries(assigned(parsed, "PROTOCOLS")), **entries(on_device)}
    name = _core.call_for(protocol, list(calls))
    if not name:
        raise BadInput(f"adapter {path} has no {protocol} any more")
    call = _call(calls[name])
    before = [*needed(parsed, names_read([*before, call])), *before]
    # Whoever is handed a capsule asks nothing, and is shown nothing.
    return Calling(before, call, name != protocol and not _is_spelled(calls[name], "Capsule"))


def entries(table: ast.expr | None) -> dict[str, ast.expr]:
    """The values of a dict display by their keys."""
    pairs = zip(table.keys, table.values, strict=True) if isinstance(table, ast.Dict) else ()
    return {str(key.value): value for key, value in pairs if isinstance(key, ast.Constant)}


def _calls_on(parsed: ast.Module, device: str) -> tuple[list[ast.stmt], ast.expr | None]:
    """What `calls(source, target)` comes to: the statements before its answer, and that."""
    found = [n for n in parsed.body if isinstance(n, ast.FunctionDef) and n.name == "calls"]
    if device == "cpu" or not found:
        return [], None
    source, _, target = device.partition("+")
    words = (source, target or source)
    names: dict[str, ast.expr] = {
        argument.arg: ast.Constant(word)
        for argument, word in zip(found[-1].args.args, words, strict=False)
    }
    body = folding.Folder(names, {}).visit(found[-1]).body
    for index, node in enumerate(body):
        if isinstance(node, ast.Return):
            return body[:index], node.value
    return [], None


def _is_spelled(value: ast.expr, word: str) -> TypeGuard[ast.Call]:
    named = value.func if isinstance(value, ast.Call) else None
    return isinstance(named, ast.Name) and named.id == word


def _call(value: ast.expr) -> ast.expr:
    array: ast.expr = ast.Name("array", ast.Load())
    if _is_spelled(value, "Call"):
        spelled = ast.Call(value.args[0], value.args[1:], value.keywords)
        folded: ast.expr = folding.Folder({"X": array}, {}).visit(spelled)
        return folded
    if _is_spelled(value, "Capsule"):
        capsule = ast.parse("array.__dlpack__()", mode="eval").body
        return ast.Call(value.args[0], [capsule], [])
    if isinstance(value, ast.Lambda) and len(value.args.args) == 1:
        inlined: ast.expr = folding.Folder({value.args.args[0].arg: array}, {}).visit(value.body)
        return inlined
    return ast.Call(value, [array], [])
