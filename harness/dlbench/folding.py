"""Evaluates what is known in a piece of adapter source, and drops the branches not taken."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

#: Functions of dlbench.adapter that say what a library cannot express.
CHECKS = {"require", "require_buffer_dtype", "require_own_layout", "require_packable"}


class Folder(ast.NodeTransformer):
    """Replaces what is known by its value, and drops the branches that are not taken.

    `names` are replaced wherever they are read; `case` gives the attributes of `case`.
    """

    def __init__(self, names: Mapping[str, ast.expr], case: Mapping[str, Any]) -> None:
        self._names, self._case = dict(names), case

    def visit_Name(self, node: ast.Name) -> ast.expr:
        known = isinstance(node.ctx, ast.Load) and node.id in self._names
        return self._names[node.id] if known else node

    def visit_Assign(self, node: ast.Assign) -> ast.stmt | None:
        """`kind, _, number = device.partition(":")` is known once the device is."""
        self.generic_visit(node)
        target = node.targets[0]
        if not (isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple)):
            return node
        pairs = list(zip(target.elts, node.value.elts, strict=False))
        if not all(isinstance(n, ast.Name) and isinstance(v, ast.Constant) for n, v in pairs):
            return node
        self._names |= {n.id: value for n, value in pairs if isinstance(n, ast.Name)}
        return None

    def visit_Expr(self, node: ast.Expr) -> ast.stmt | None:
        call = node.value
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
            # What a library cannot express was told when the cell was settled.
            return None if call.func.id in CHECKS else self._visited(node)
        return self._visited(node)

    def _visited(self, node: ast.Expr) -> ast.stmt:
        self.generic_visit(node)
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if is_case_content(node, "numpy", "bits"):
            return ast.Name("source", ast.Load())
        return self._evaluated(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if isinstance(node.value, ast.Name) and node.value.id == "case" and node.attr in self._case:
            return _literal(self._case[node.attr])
        self.generic_visit(node)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        return self._evaluated(node)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        return self._evaluated(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        return self._evaluated(node)

    def _evaluated(self, node: ast.expr) -> ast.expr:
        self.generic_visit(node)
        known, value = _constant(node)
        return _literal(value) if known else node

    def visit_If(self, node: ast.If) -> Any:
        return self._decided(node)

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        return self._decided(node)

    def _decided(self, node: ast.If | ast.IfExp) -> Any:
        self.generic_visit(node)
        known, taken = _constant(node.test)
        if not known:
            return node
        return node.body if taken else node.orelse

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        self.generic_visit(node)
        decides = isinstance(node.op, ast.Or)
        for index, value in enumerate(node.values):
            known, truth = _constant(value)
            if not known:
                left = node.values[index:]
                return left[0] if len(left) == 1 else ast.BoolOp(node.op, left)
            if bool(truth) is decides:
                return value
        return node.values[-1]


def settled(body: list[ast.stmt]) -> list[ast.stmt]:
    """Statements without `name = constant`, whose value stands where it is read afterwards."""
    kept: list[ast.stmt] = []
    values: dict[str, ast.expr] = {}
    inner = {
        part.id
        for node in body
        for part in ast.walk(node)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
        if not (isinstance(node, ast.Assign) and node.targets == [part])
    }
    for statement in body:
        node = Folder(values, {}).visit(statement)
        if not isinstance(node, ast.stmt):
            kept += node or []
            continue
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            values.pop(name, None)
            if len(node.targets) == 1 and name not in inner and _constant(node.value)[0]:
                values[name] = node.value
                continue
        kept.append(node)
    return kept


def _literal(value: Any) -> ast.expr:
    return ast.parse(repr(value), mode="eval").body


def is_case_content(node: ast.AST, *names: str) -> bool:
    """Is it `case.numpy()`, or another of these methods?"""
    called = node.func if isinstance(node, ast.Call) and not (node.args or node.keywords) else None
    return (
        isinstance(called, ast.Attribute)
        and called.attr in names
        and isinstance(called.value, ast.Name)
        and called.value.id == "case"
    )


#: Adapter source is foreign, and is not run here: what is known of it is found out by these alone,
#: of parts no larger than this, so that neither time nor memory depend on what it says.
COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda value, among: value in among,
    ast.NotIn: lambda value, among: value not in among,
}
UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.Not: operator.not_,
    ast.USub: operator.neg,
}
METHODS = {"partition", "rpartition", "removeprefix", "removesuffix", "startswith", "endswith",
           "lower", "upper", "replace"}  # fmt: skip
MOST_PARTS, LONGEST_TEXT, WIDEST_INTEGER = 64, 200, 64


class _UnknownError(Exception):
    """Not among what is evaluated."""


def _constant(node: ast.expr) -> tuple[bool, Any]:
    """Is its value known, and which?"""
    if sum(1 for _ in zip(ast.walk(node), range(MOST_PARTS + 1), strict=False)) > MOST_PARTS:
        return False, None
    try:
        return True, _value(node)
    except (_UnknownError, TypeError, ValueError, LookupError):
        return False, None


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.Constant):
        return _small(node.value)
    if isinstance(node, ast.Tuple):
        return tuple(map(_value, node.elts))
    if isinstance(node, ast.List):
        return list(map(_value, node.elts))
    if isinstance(node, ast.Set):
        return frozenset(map(_value, node.elts))
    if isinstance(node, ast.UnaryOp) and type(node.op) in UNARY:
        return UNARY[type(node.op)](_value(node.operand))
    if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice):
        return _value(node.value)[_value(node.slice)]
    if isinstance(node, ast.Compare):
        values = [_value(each) for each in (node.left, *node.comparators)]
        pairs = zip(node.ops, values, values[1:], strict=False)
        return all(COMPARISONS[type(op)](left, right) for op, left, right in pairs)
    if not isinstance(node, ast.Call) or node.keywords:
        raise _UnknownError
    if ast.unparse(node.func) == "int" and len(node.args) == 1:
        return _small(int(_value(node.args[0])))
    if isinstance(node.func, ast.Attribute):
        text, arguments = _value(node.func.value), list(map(_value, node.args))
        if isinstance(text, str) and node.func.attr in METHODS:
            return _small(getattr(text, node.func.attr)(*arguments))
    raise _UnknownError


def _small(value: Any) -> Any:
    if isinstance(value, str | bytes) and len(value) > LONGEST_TEXT:
        raise _UnknownError
    if isinstance(value, int) and value.bit_length() > WIDEST_INTEGER:
        raise _UnknownError
    return value
