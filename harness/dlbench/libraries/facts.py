"""The literals of an adapter file, read without running it."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dlbench.errors import BadInput, os_reason, read_file
from dlbench.libraries import alone, arguments

#: Limits of an adapter file: bytes, levels of its tree, bits of an integer.
LARGEST, DEEPEST, WIDEST = 1 << 18, 100, 4096
#: The names of a library's calls by protocol.
TABLES = {"PROTOCOLS", "EXPORTS"}


@dataclass(frozen=True)
class AdapterFile:
    """One role of one library. None: the file does not define it."""

    role: str
    name: str
    path: Path
    distributions: tuple[str, ...] | None  #: empty: it needs no package
    extension: str | None  #: the module of dlbench's own that it needs, which may not be built
    devices: tuple[str, ...] | None
    default: bool
    protocols: tuple[str, ...]  #: of a consumer, in the order of its PROTOCOLS
    has_ready: bool
    exports: tuple[str, ...] = ()  #: of a producer, the keys of its EXPORTS
    crosses: bool = False  #: of a consumer: it defines `calls`, for devices
    arguments: Mapping[str, str] = field(default_factory=dict)  #: of NAME:ARGUMENT
    #: of a consumer's NAME:CALL, with the protocols that each call imports through
    calls: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    #: of a consumer's NAME:CALL, or of "" for PROTOCOLS: a source to compile for its functions
    builds: Mapping[str, str] = field(default_factory=dict)
    #: the same, for functions that launch a kernel: the kind of device
    launches: Mapping[str, str] = field(default_factory=dict)
    imports_first: bool = False  #: its import takes longer after those of other libraries
    hidden: bool = False  #: a library used only where it is named
    ready_with: tuple[str, ...] | None = None  #: the arguments with which `ready` counts
    has_busy: bool = False  #: it can fill a queue of its library's
    #: what scripts show of it, by `make`, `address`, ...: see docs/how-to/add-a-library.md
    script: Mapping[str, str] = field(default_factory=dict)

    def importing_by(self, call: str) -> AdapterFile:
        """As the file of NAME:CALL, which is measured only where it is named."""
        if call not in self.calls:
            return self
        return replace(self, protocols=self.calls[call], crosses=False, hidden=True)

    def is_asynchronous(self, argument: str) -> bool:
        """Does `ready` count with this argument?"""
        name = argument.partition("=")[0]
        return self.has_ready and (self.ready_with is None or name in self.ready_with)


def parse(path: Path) -> ast.Module:
    """The file's syntax tree.

    Raises BadInput if it cannot be read or parsed, or is too large or too deep.
    """
    tree = _parsed(path)
    _require_small(tree, path)
    return tree


def _parsed(path: Path) -> ast.Module:
    try:
        return ast.parse(read_file(path, LARGEST), str(path))
    except OSError as error:
        raise BadInput(f"adapter {path}: {os_reason(error)}") from error
    except SyntaxError as error:
        line = f" in line {error.lineno}" if error.lineno else ""
        raise BadInput(f"adapter {path} does not parse: {error.msg}{line}") from error
    except ValueError as error:
        raise BadInput(f"adapter {path} does not parse: {error}") from error
    except (RecursionError, MemoryError) as error:
        raise BadInput(f"adapter {path} does not parse: it is nested too deeply") from error


def _require_small(tree: ast.AST, path: Path) -> None:
    level: list[ast.AST] = [tree]
    depth = 0
    while level:
        depth += 1
        if depth > DEEPEST:
            raise BadInput(f"adapter {path}: is nested deeper than {DEEPEST} levels")
        for node in level:
            value = node.value if isinstance(node, ast.Constant) else None
            if isinstance(value, int) and value.bit_length() > WIDEST:
                line = getattr(node, "lineno", 0)
                raise BadInput(f"adapter {path}: an integer of over {WIDEST} bits in line {line}")
        level = [child for node in level for child in ast.iter_child_nodes(node)]


def bound_names(node: ast.stmt) -> list[str]:
    """The names that a top-level statement binds."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [alias.asname or alias.name.partition(".")[0] for alias in node.names]
    if isinstance(node, ast.If | ast.Try | ast.With | ast.For):
        children = [child for child in ast.walk(node) if isinstance(child, ast.stmt)]
        inner = [
            c for c in children if isinstance(c, ast.Import | ast.ImportFrom | ast.FunctionDef)
        ]
        return [name for child in inner for name in bound_names(child)] + _stored(node)
    if isinstance(node, ast.Assign):  # most statements: their values are large
        return [name for target in node.targets for name in _stored(target)]
    return _stored(node)


def _stored(node: ast.AST) -> list[str]:
    return [
        name.id
        for name in ast.walk(node)
        if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
    ]


def assigned(tree: ast.Module, name: str) -> ast.expr | None:
    """The value last given to a name at the top level."""
    value = None
    for node in tree.body:
        targets: list[ast.expr] = []
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, ast.AnnAssign):
            targets = [node.target]
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            value = getattr(node, "value", None)
    return value


def read_adapter(role: str, name: str, path: Path) -> AdapterFile:
    """Raises BadInput for a file that does not parse or lacks what its role must define."""
    tree = _parsed(path)  # of all files at each start: only literals are looked at
    names = {bound for node in tree.body for bound in bound_names(node)}
    needed = "make" if role == "producer" else "PROTOCOLS"
    if needed not in names:
        raise BadInput(f"adapter {path} defines no {needed}, which a {role} must have")
    if "devices" in names and assigned(tree, "DEVICES") is None:
        # The plan would have no device but the CPU.
        raise BadInput(f"adapter {path} defines `devices`, and no literal DEVICES for the plan")
    return AdapterFile(
        role=role,
        name=name,
        path=path,
        distributions=_distributions(tree, path, names),
        extension=_extension(tree, path),
        devices=_words(tree, path, "DEVICES"),
        default=_switch(tree, path, "DEFAULT", True),
        protocols=_keys(tree, path, "PROTOCOLS") if role == "consumer" else (),
        exports=_exports(tree, path) if role == "producer" else (),
        has_ready="ready" in names,
        crosses=role == "consumer" and "calls" in names,
        arguments=read_arguments(tree, path),
        calls=read_calls(tree, path) if role == "consumer" else {},
        builds=_texts(tree, path, "BUILDS"),
        launches=_texts(tree, path, "LAUNCHES"),
        imports_first=_switch(tree, path, "IMPORT_FIRST", False),
        hidden=_switch(tree, path, "HIDDEN", False),
        ready_with=_words(tree, path, "READY"),
        has_busy="busy" in names,
        script=_texts(tree, path, "SCRIPT"),
    )


def read_arguments(tree: ast.Module, path: Path) -> dict[str, str]:
    """The literal ARGUMENTS; empty if undefined. Raises BadInput if it is invalid."""
    return _texts(tree, path, "ARGUMENTS")


def read_calls(tree: ast.Module, path: Path) -> dict[str, tuple[str, ...]]:
    """The keys of CALLS, with the protocols of each. Raises BadInput for an invalid key."""
    if assigned(tree, "CALLS") is None:
        return {}
    names = _keys(tree, path, "CALLS")
    for name in names:
        if not arguments.CALL.fullmatch(name) or name == arguments.ALL:
            raise BadInput(f"adapter {path}: {name!r} in CALLS cannot be a part of a name")
    return {name: _keys(with_call(tree, name), path, "PROTOCOLS") for name in names}


def with_call(tree: ast.Module, call: str) -> ast.Module:
    """The file without CALLS. If `call` is one of its keys, that entry replaces PROTOCOLS and
    `calls`: a dict is the table itself, another value is the entry of `convert`."""
    entry = entries(assigned(tree, "CALLS")).get(call)
    dropped = {"CALLS"} if entry is None else {"PROTOCOLS", "calls"}
    body = [node for node in tree.body if not dropped & {*bound_names(node)}]
    if entry is not None:
        if not isinstance(entry, ast.Dict):
            entry = ast.Dict([ast.Constant("convert")], [entry])
        at = next(i for i, node in enumerate(body) if "CALLS" in bound_names(node))
        chosen = ast.Assign([ast.Name("PROTOCOLS", ast.Store())], entry)
        body[at] = ast.copy_location(chosen, body[at])
    return ast.Module(body, tree.type_ignores)


def entries(table: ast.expr | None) -> dict[str, ast.expr]:
    """The values of a dict display by their keys."""
    pairs = zip(table.keys, table.values, strict=True) if isinstance(table, ast.Dict) else ()
    return {str(key.value): value for key, value in pairs if isinstance(key, ast.Constant)}


def _texts(tree: ast.Module, path: Path, name: str) -> dict[str, str]:
    value = _literal(tree, path, name, {})
    words = [*value, *value.values()] if isinstance(value, dict) else [None]
    if not all(isinstance(word, str) for word in words):
        raise BadInput(f"adapter {path}: {name} must be a dict of strings")
    return dict(value)


def _switch(tree: ast.Module, path: Path, name: str, absent: bool) -> bool:
    value = _literal(tree, path, name, absent)
    if not isinstance(value, bool):
        raise BadInput(f"adapter {path}: {name} must be True or False")
    return value


def _literal(tree: ast.Module, path: Path, name: str, absent: Any) -> Any:
    value = assigned(tree, name)
    if value is None:
        return absent
    _require_small(value, path)
    try:
        found = ast.literal_eval(value)
    except (ValueError, TypeError):
        raise BadInput(f"adapter {path}: {name} must be a literal") from None
    _require_utf8(value, path, name)
    return found


def _require_utf8(value: ast.expr, path: Path, name: str) -> None:
    """Raises BadInput for a text that no document can hold."""
    for part in ast.walk(value):
        text = part.value if isinstance(part, ast.Constant) else ""
        if isinstance(text, str) and any("\ud800" <= letter <= "\udfff" for letter in text):
            raise BadInput(f"adapter {path}: {name} has a text that is not Unicode: {text!r}")


def _words(tree: ast.Module, path: Path, name: str) -> tuple[str, ...] | None:
    value = _literal(tree, path, name, None)
    if value is None:
        return None
    words = (value,) if isinstance(value, str) else value
    if not isinstance(words, tuple | list) or not all(isinstance(word, str) for word in words):
        raise BadInput(f"adapter {path}: {name} must be a string or a tuple of strings")
    return tuple(word for word in words if word)


def requirement_name(requirement: str) -> str:
    """ "mlx[cpu]>=0.3" -> "mlx"."""
    return re.split(r"[\s\[<>=!~;]", requirement, maxsplit=1)[0]


def _distributions(tree: ast.Module, path: Path, names: set[str]) -> tuple[str, ...] | None:
    words = _words(tree, path, "DISTRIBUTION")
    # DISTRIBUTION = None means that the library has no package; a missing line means unknown.
    return () if words is None and "DISTRIBUTION" in names else words


def _extension(tree: ast.Module, path: Path) -> str | None:
    value = _literal(tree, path, "EXTENSION", None)
    if value is not None and not isinstance(value, str):
        raise BadInput(f"adapter {path}: EXTENSION must be a string")
    return value


#: What a library can export by its own call: the entry must name the struct of DLPack.
EXPORTABLE = sorted({*alone.PROPERTIES, *alone.METHODS, "buffer"} - {"dlpack"})


def _exports(tree: ast.Module, path: Path) -> tuple[str, ...]:
    if assigned(tree, "EXPORTS") is None:
        return ()
    keys = _keys(tree, path, "EXPORTS")
    for key in keys:
        if key not in EXPORTABLE:
            allowed = ", ".join(EXPORTABLE)
            raise BadInput(f"adapter {path}: EXPORTS cannot name {key!r}; allowed: {allowed}")
    return keys


def _keys(tree: ast.Module, path: Path, name: str) -> tuple[str, ...]:
    value = assigned(tree, name)
    if not isinstance(value, ast.Dict):
        raise BadInput(f"adapter {path}: {name} must be written as a dict")
    for key in value.keys:
        if key is not None:
            _require_utf8(key, path, name)
    keys = [key.value if isinstance(key, ast.Constant) else None for key in value.keys]
    if not all(isinstance(key, str) for key in keys):
        raise BadInput(f"adapter {path}: the keys of {name} must be literal strings")
    return tuple(str(key) for key in keys)
