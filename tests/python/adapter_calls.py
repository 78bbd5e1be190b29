"""Holds what an adapter calls against the library's real names and signatures; calls nothing.

Usage: adapter_calls.py ROLE LIBRARY [FILE], in a process of its own. Prints JSON: `wrong`, each
with its line; `unchecked`, what is done with values of the library whose type or signature is not
known. Without a FILE also `planted` and `missed`: mistakes that were put into copies of the
adapter, one in each place where one can be seen.

Much of what an adapter does is reached on a GPU alone. So its syntax tree is walked with types in
place of values: an attribute has to exist, and a call has to bind.

The tests use what `./bootstrap` installs. PyTorch's build for CUDA has some GB, so it is checked
by hand:

    python3 -m venv /tmp/torch && /tmp/torch/bin/pip install torch .
    /tmp/torch/bin/python tests/python/adapter_calls.py producer torch
"""

from __future__ import annotations

import ast
import copy
import functools
import inspect
import json
import re
import sys
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from dlbench import Call, Capsule, loading
from dlbench.case import Case

ROOT = Path(__file__).resolve().parents[2]

#: What `make` returns, for the functions that take it: address, extras, ready and memory.
ARRAYS = {
    "cuda_core": "cuda.core.utils.StridedMemoryView",
    "cupy": "cupy.ndarray",
    "jax": "jaxlib._jax.ArrayImpl",
    "numba": "numba.cuda.devicearray.DeviceNDArray",
    "paddle": "paddle.Tensor",
    "tensorflow": "tensorflow.Tensor",
    "torch": "torch.Tensor",
    "tvm_ffi": "tvm_ffi.Tensor",
    "warp": "warp.array",
}
#: What functions return and attributes are, where the library does not say so.
TYPES = {
    "cuda.core.Stream.device": "cuda.core.Device",
    "cupy.asarray": "cupy.ndarray",
    "cupy.cuda.get_current_stream": "cupy.cuda.Stream",
    "cupy.ndarray.data": "cupy.cuda.MemoryPointer",
    "cupy.ndarray.device": "cupy.cuda.Device",
    "jax.numpy.array": "jaxlib._jax.ArrayImpl",
    "jax.numpy.asarray": "jaxlib._jax.ArrayImpl",
    "jax.numpy.ones": "jaxlib._jax.ArrayImpl",
    "jax.numpy.zeros_like": "jaxlib._jax.ArrayImpl",
    "numba.cuda.to_device": "numba.cuda.devicearray.DeviceNDArray",
    "numba.cuda.external_stream": "numba.cuda.cudadrv.driver.Stream",
    "paddle.to_tensor": "paddle.Tensor",
    "paddle.from_dlpack": "paddle.Tensor",
    "tensorflow.constant": "tensorflow.__internal__.EagerTensor",
    "tensorflow.Variable": "tensorflow.Variable",
    "warp.array": "warp.array",
}
#: The arguments of an adapter's own functions.
OWN = {"case": Case, "device": str, "handle": int, "source": str, "target": str}
ARRAY_NAMES = ("array", "view")


class Known:
    """A value that is there without a device: a module, a class, a function."""

    def __init__(self, value: Any, name: str = "") -> None:
        self.value, self.name = value, name


class Instance:
    """Some value of a type."""

    def __init__(self, cls: type) -> None:
        self.cls = cls


class Method(Known):
    """A function of a type, whose first argument is there."""


class Foreign:
    """Something of the library whose type is not known; what is done with it is unchecked."""


FOREIGN = Foreign()
#: None: nothing of the library.
Value = Known | Instance | Foreign | None


def find(path: str) -> Any:
    """What a dotted path names, modules on the way imported; None where that is not installed."""
    first, *rest = path.split(".")
    found: Any = __import__(first)
    for part in rest:
        if not hasattr(found, part):
            __import__(f"{found.__name__}.{part}")
        found = getattr(found, part)
    return found


def from_docstring(function: Any) -> tuple[inspect.Signature | None, str]:
    """The signature that extension modules write into the first line of a docstring, its result."""
    lines = (getattr(function, "__doc__", None) or "").strip().splitlines()
    name = getattr(function, "__name__", "")
    form = rf"(?:[\w.]*\.)?{re.escape(name)}\((.*?)\)\s*(?:->\s*([\w.]+))?\s*$"
    match = re.match(form, lines[0]) if lines else None
    if match is None:
        return None, ""
    # torch documents arguments that may be left out without a default.
    text = re.sub(r"(: Optional\[\w+\])(?=[,)]|$)", r"\1 = None", match[1])
    # Cython writes `size_t size`, which is no Python.
    text = re.sub(r"\b[A-Za-z_][\w.]* +(?=[A-Za-z_]\w*\s*(?:[,=]|$))", "", text)
    try:
        arguments = ast.parse(f"def f({text}): pass").body[0]
    except SyntaxError:
        return None, ""
    assert isinstance(arguments, ast.FunctionDef)
    empty = ast.Constant(None)
    for part in (arguments.args.defaults, arguments.args.kw_defaults):
        part[:] = [None if value is None else empty for value in part]  # type: ignore[misc]
    space: dict[str, Any] = {}
    exec(compile(ast.fix_missing_locations(ast.Module([arguments], [])), name, "exec"), space)
    return inspect.signature(space["f"]), match[2] or ""


def without_self(signature: inspect.Signature) -> inspect.Signature:
    return signature.replace(parameters=list(signature.parameters.values())[1:])


def accepts_all(signature: inspect.Signature) -> bool:
    kinds = {parameter.kind for parameter in signature.parameters.values()}
    return kinds >= {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}


def signatures(function: Any, bound: bool) -> list[inspect.Signature]:
    """All that a call has to bind to; none if nothing is known."""
    if inspect.isclass(function):
        found = []
        for name in ("__new__", "__init__"):
            made = getattr(function, name)
            if made not in (object.__new__, object.__init__) and inspect.isfunction(made):
                found.append(without_self(inspect.signature(made)))
        found = found or signatures_of(function) or signatures_of(function.__init__)
        if found and first_name(found[0]) == "self":
            found = [without_self(found[0])]
    else:
        found = signatures_of(function)
        # Some docstrings of methods have `self`, others begin behind it.
        if bound and found and (inspect.isfunction(function) or first_name(found[0]) == "self"):
            found = [without_self(found[0])]
    return [signature for signature in found if not accepts_all(signature)]


def signatures_of(function: Any) -> list[inspect.Signature]:
    try:
        return [inspect.signature(function)]
    except (TypeError, ValueError):
        reported, _ = from_docstring(function)
        return [] if reported is None else [reported]


def first_name(signature: inspect.Signature) -> str:
    return next(iter(signature.parameters), "")


class Walk:
    """One walk over an adapter's tree, with what its module has where it was really loaded."""

    def __init__(self, library: str, module: ModuleType, tree: ast.Module) -> None:
        self.module, self.tree = module, tree
        self.array = ARRAYS.get(library)
        self.wrong: list[str] = []
        self.unchecked: set[str] = set()
        #: Where a mistake can be planted: those whose owner and whose signature are known.
        self.attributes: list[ast.Attribute] = []
        self.calls: list[ast.Call] = []
        #: What a call takes without end, where no mistake shows: keywords, positional arguments.
        self.accepts: dict[int, set[inspect._ParameterKind]] = {}
        self.functions = {
            node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)
        }
        self.results: dict[str, Value] = {}
        self.returns = {}
        for name, result in TYPES.items():
            # `cuda` alone is also a package of numba-cuda's.
            package = "cuda.core" if name.startswith("cuda.") else name.partition(".")[0]
            if package in sys.modules:
                self.returns[id(find(name))] = find(result)

    def run(self) -> Walk:
        self.block(self.tree.body, {})
        for function in self.functions.values():
            self.function(function)
        return self

    # ---- statements

    def function(self, node: ast.FunctionDef) -> Value:
        """Walks its body once; what it returns."""
        if node.name in self.results:
            return self.results[node.name]
        self.results[node.name] = None
        names = {}
        for argument in (*node.args.args, *node.args.kwonlyargs):
            names[argument.arg] = self.argument(argument.arg)
        for decorator in node.decorator_list:
            self.value(decorator, {})
        returned: list[Value] = []
        self.block(node.body, names, returned)
        self.results[node.name] = next((value for value in returned if value is not None), None)
        return self.results[node.name]

    def argument(self, name: str) -> Value:
        if name in ARRAY_NAMES and self.array:
            return Instance(find(self.array))
        return Instance(OWN[name]) if name in OWN else None

    def block(
        self, body: list[ast.stmt], names: dict[str, Value], returned: list[Value] | None = None
    ) -> None:
        for node in body:
            self.statement(node, names, returned if returned is not None else [])

    def statement(self, node: ast.stmt, names: dict[str, Value], returned: list[Value]) -> None:
        if isinstance(node, (ast.Import, ast.ImportFrom, ast.ClassDef)):
            return
        if isinstance(node, ast.FunctionDef):
            if node.name not in self.functions:
                self.functions[node.name] = node
            return
        if isinstance(node, ast.Assign):
            value = self.value(node.value, names)
            for target in node.targets:
                self.target(target, names, value)
            return
        if isinstance(node, ast.Return):
            returned.append(self.value(node.value, names) if node.value else None)
            return
        if isinstance(node, (ast.For, ast.With)):
            if isinstance(node, ast.For):
                self.target(node.target, names, self.element(node.iter, names))
            else:
                for item in node.items:
                    self.value(item.context_expr, names)
        if isinstance(node, ast.If) and (narrowed := self.narrowed(node.test, names)):
            name, value = narrowed
            before = names.get(name)
            names[name] = value
            self.block(node.body, names, returned)
            names[name] = before
            self.block(node.orelse, names, returned)
            return
        for field, part in ast.iter_fields(node):
            if field in ("iter", "target", "items"):
                continue
            for child in part if isinstance(part, list) else [part]:
                if isinstance(child, ast.stmt):
                    self.statement(child, names, returned)
                elif isinstance(child, ast.expr):
                    self.value(child, names)

    def narrowed(self, test: ast.expr, names: dict[str, Value]) -> tuple[str, Value] | None:
        """What a name is below `if isinstance(name, type)`."""
        match test:
            case ast.Call(ast.Name("isinstance"), [ast.Name(name), kind]):
                known = self.value(kind, names)
                is_class = isinstance(known, Known) and inspect.isclass(known.value)
                return (name, Instance(known.value)) if is_class else None
        return None

    def target(self, node: ast.expr, names: dict[str, Value], value: Value = None) -> None:
        if isinstance(node, ast.Name):
            names[node.id] = value
        elif isinstance(node, ast.Attribute):
            self.attribute(node, self.value(node.value, names))
        elif isinstance(node, ast.Subscript):
            self.value(node.value, names)
        else:
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    self.target(child, names, value)

    # ---- expressions

    def value(self, node: ast.expr, names: dict[str, Value]) -> Value:
        if isinstance(node, ast.Name):
            if node.id in names:
                return names[node.id]
            there = hasattr(self.module, node.id)
            return Known(getattr(self.module, node.id), node.id) if there else None
        if isinstance(node, ast.Attribute):
            return self.attribute(node, self.value(node.value, names))
        if isinstance(node, ast.Call):
            return self.call(node, names)
        if isinstance(node, ast.Subscript):
            self.value(node.slice, names)
            return self.derived(self.value(node.value, names))
        if isinstance(node, ast.IfExp):
            self.value(node.test, names)
            return self.value(node.body, names) or self.value(node.orelse, names)
        if isinstance(node, ast.Lambda):
            inner = {argument.arg: None for argument in node.args.args}
            self.value(node.body, {**names, **inner})
            return None
        if isinstance(node, (ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp)):
            inner = dict(names)
            for loop in node.generators:
                self.target(loop.target, inner, self.element(loop.iter, inner))
                for test in loop.ifs:
                    self.value(test, inner)
            for part in ("elt", "key", "value"):
                if isinstance(getattr(node, part, None), ast.expr):
                    self.value(getattr(node, part), inner)
            return None
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.value(child, names)
            elif isinstance(child, ast.keyword):
                self.value(child.value, names)
        return None

    def element(self, node: ast.expr, names: dict[str, Value]) -> Value:
        """What a loop over it finds."""
        value = self.value(node, names)
        if isinstance(value, Known):
            return FOREIGN if self.is_foreign(value.value) else None
        return self.derived(value)

    def derived(self, value: Value) -> Value:
        """An attribute of a value with an unknown type."""
        if isinstance(value, Instance):
            return FOREIGN if self.is_foreign(value.cls) else None
        return value if isinstance(value, Foreign) else None

    def attribute(self, node: ast.Attribute, owner: Value) -> Value:
        if owner is None:
            return None
        if isinstance(owner, Foreign):
            self.unchecked.add(ast.unparse(node))
            return FOREIGN
        if isinstance(owner, Instance):
            return self.member(node, owner.cls)
        if isinstance(owner.value, ModuleType) or inspect.isclass(owner.value):
            self.attributes.append(node)
            try:
                return Known(getattr(owner.value, node.attr), f"{owner.name}.{node.attr}")
            except AttributeError as error:
                self.report(node, str(error))
                return None
        if owner.value is None or (callable(owner.value) and not hasattr(owner.value, node.attr)):
            return None
        return self.member(node, type(owner.value), owner.value)

    def member(self, node: ast.Attribute, cls: type, value: Any = None) -> Value:
        """Of an instance, whose properties are not asked: they may need a device."""
        self.attributes.append(node)
        try:
            found = inspect.getattr_static(cls if value is None else value, node.attr)
        except AttributeError:
            if not is_assigned(cls, node.attr):
                self.report(node, f"{cls.__module__}.{cls.__qualname__} has no {node.attr}")
            return self.derived(Instance(cls))
        name = f"{cls.__name__}.{node.attr}"
        if isinstance(found, (classmethod, staticmethod)):
            return Known(getattr(cls, node.attr), name)
        if id(found) in self.returns:
            return Instance(self.returns[id(found)])
        if isinstance(found, property):
            return self.instance_of(hint(found.fget)) or self.derived(Instance(cls))
        if inspect.isdatadescriptor(found):
            return self.derived(Instance(cls))
        return Method(found, name) if callable(found) else None

    def call(self, node: ast.Call, names: dict[str, Value]) -> Value:
        function = self.value(node.func, names)
        for argument in node.args:
            self.value(argument.value if isinstance(argument, ast.Starred) else argument, names)
        for keyword in node.keywords:
            self.value(keyword.value, names)
        if isinstance(function, Known) and function.value is Call and node.args:
            # A spelling of a call: the function is the first argument.
            spelled = ast.Call(node.args[0], node.args[1:], node.keywords)
            self.bind(node, self.value(node.args[0], names), spelled)
            return None
        if isinstance(function, Known) and function.value is Capsule and node.args:
            taken = ast.Call(node.args[0], [ast.Constant(None)], [])
            self.bind(node, self.value(node.args[0], names), taken)
            return None
        self.bind(node, function, node)
        if isinstance(function, Known) and function.value is Case.sliced:
            return self.value(node.args[0], names)  # a slice is of the array's own type
        return self.returned(function, node)

    def returned(self, function: Value, node: ast.Call) -> Value:
        if not isinstance(function, Known):
            return self.derived(function)
        if id(function.value) in self.returns:
            return Instance(self.returns[id(function.value)])
        if inspect.isclass(function.value):
            return Instance(function.value)
        own = isinstance(node.func, ast.Name) and self.functions.get(node.func.id)
        if own:
            return self.function(own)
        reported = hint(function.value) or documented(function.value)
        if reported is None and self.is_foreign(function.value):
            return FOREIGN
        return self.instance_of(reported)

    def bind(self, site: ast.Call, function: Value, call: ast.Call) -> None:
        starred = any(isinstance(argument, ast.Starred) for argument in call.args)
        if starred or any(keyword.arg is None for keyword in call.keywords):
            return
        text = ast.unparse(call.func)
        if not isinstance(function, Known):
            if isinstance(function, Foreign):
                self.unchecked.add(text)
            return
        if not self.is_foreign(function.value):
            return
        wanted = signatures(function.value, isinstance(function, Method))
        if not wanted:
            self.unchecked.add(text)
            return
        self.calls.append(site)
        kinds = [{p.kind for p in signature.parameters.values()} for signature in wanted]
        self.accepts[id(site)] = set.intersection(*kinds)
        for signature in wanted:
            try:
                signature.bind(
                    *call.args, **{keyword.arg: keyword for keyword in call.keywords if keyword.arg}
                )
            except TypeError as error:
                self.report(site, f"{text}{signature}: {error}")

    def is_foreign(self, value: Any) -> bool:
        """Whether it is of a library that this adapter is for."""
        owner = home(value)
        return owner != self.module.__name__ and owner.partition(".")[0] not in (
            "dlbench", "builtins", "functools", "contextlib", "os", "time", "ctypes", "numpy",
        )  # fmt: skip

    def instance_of(self, cls: Any) -> Value:
        known = inspect.isclass(cls) and cls not in (type(None), Any)
        return Instance(cls) if known else None

    def report(self, node: ast.expr, text: str) -> None:
        self.wrong.append(f"line {node.lineno}: {text}")


def hint(function: Any) -> Any:
    """The class that an annotation says a function returns."""
    try:
        return typing.get_type_hints(function).get("return")
    except Exception:  # annotations may name what a running program does not have
        return named(function, str(getattr(function, "__annotations__", {}).get("return", "")))


def documented(function: Any) -> Any:
    return named(function, from_docstring(function)[1])


def home(value: Any) -> str:
    """The module that a function, a method or a value belongs to; empty where it does not tell."""
    if isinstance(value, ModuleType):
        return value.__name__
    owners = [value, getattr(value, "__objclass__", None)]
    bound = getattr(value, "__self__", None)
    if bound is not None and not isinstance(bound, ModuleType):
        owners.append(bound if inspect.isclass(bound) else type(bound))
    modules = (getattr(owner, "__module__", None) for owner in owners if owner is not None)
    return next((module for module in modules if isinstance(module, str)), "")


def named(function: Any, name: str) -> Any:
    """A class of that name where the function is at home, or in a package around that."""
    module = home(function)
    while name and module:
        found = getattr(sys.modules.get(module), name.strip("'\"").rpartition(".")[2], None)
        if inspect.isclass(found):
            return found
        module = module.rpartition(".")[0]
    return None


def is_assigned(cls: type, name: str) -> bool:
    """Whether instances have an attribute that the class itself does not show: by an assignment in
    its methods, else by a stub, else by its documentation."""
    for base in cls.__mro__:
        if name in getattr(base, "__annotations__", {}):
            return True
        try:
            if re.search(rf"\bself\.{name}(\s*:[^=\n]+)?\s*=", _source(base)):
                return True
        except (OSError, TypeError):
            pass
        if name in stubbed(base):
            return True
        documented = rf"^\s*~?([\w.]+\.)?{name} \("
        if re.search(documented, base.__doc__ or "", re.MULTILINE):
            return True
    return False


_source = functools.cache(inspect.getsource)  # parses the whole file


@functools.cache
def stubbed(cls: type) -> set[str]:
    """Annotated names of a class in its module's stub, or in that of torch's C part: a build for
    the CPU has empty classes in place of CUDA's."""
    files = []
    for module in (cls.__module__, cls.__module__.partition(".")[0]):
        file = getattr(sys.modules.get(module), "__file__", None)
        if file is not None:
            stem = Path(file).name.partition(".")[0]
            files += [Path(file).with_name(f"{stem}.pyi"), Path(file).parent / "_C/__init__.pyi"]
    for stub in files:
        if not stub.exists():
            continue
        for node in ast.parse(stub.read_text()).body:
            if isinstance(node, ast.ClassDef) and node.name == cls.__name__:
                names = (part.target for part in node.body if isinstance(part, ast.AnnAssign))
                return {name.id for name in names if isinstance(name, ast.Name)}
    return set()


# ---- planted mistakes


def mutations(walk: Walk) -> Iterator[tuple[str, int, Callable[[Any], None]]]:
    """What to change: its kind, the place of its node in ast.walk's order, and the change."""
    places = {id(node): number for number, node in enumerate(ast.walk(walk.tree))}

    def misspell(node: ast.Attribute) -> None:
        node.attr += "x"

    def add_keyword(node: ast.Call) -> None:
        node.keywords.append(ast.keyword("unheard_of", ast.Constant(0)))

    def add_positionals(node: ast.Call) -> None:
        node.args += [ast.Constant(0)] * 40

    for attribute in walk.attributes:
        yield "attribute", places[id(attribute)], misspell
    for call in walk.calls:
        spelled = ast.unparse(call.func)
        if spelled == "Capsule":
            continue
        accepted = walk.accepts[id(call)]
        if inspect.Parameter.VAR_KEYWORD not in accepted:
            yield "keyword", places[id(call)], add_keyword
        if inspect.Parameter.VAR_POSITIONAL not in accepted:
            yield "positional", places[id(call)], add_positionals


def plant(library: str, module: ModuleType, walk: Walk) -> tuple[dict[str, int], list[str]]:
    planted = {"attribute": 0, "keyword": 0, "positional": 0}
    missed = []
    for kind, place, change in mutations(walk):
        tree = copy.deepcopy(walk.tree)
        node = list(ast.walk(tree))[place]
        change(node)
        planted[kind] += 1
        if len(Walk(library, module, tree).run().wrong) <= len(walk.wrong):
            missed.append(f"{kind} at line {getattr(node, 'lineno', 0)}: {ast.unparse(node)[:80]}")
    return planted, missed


def observe(role: str, library: str, file: Path | None = None) -> dict[str, Any]:
    own = ROOT / f"{role}s/{library}.py"
    module = loading.load_adapter(role, library, str(own))
    walk = Walk(library, module, ast.parse((file or own).read_text())).run()
    for protocol, function in getattr(module, "PROTOCOLS", {}).items():
        if isinstance(function, (Call, Capsule)):
            continue  # seen where it is written
        for signature in signatures(function, False):
            try:
                signature.bind(None)
            except TypeError as error:
                walk.wrong.append(f"{protocol}: {error}")
    observed = {"wrong": walk.wrong, "unchecked": sorted(walk.unchecked)}
    if file is not None:
        return observed
    planted, missed = plant(library, module, walk)
    return {**observed, "planted": planted, "missed": missed}


if __name__ == "__main__":
    print(json.dumps(observe(*sys.argv[1:3], *map(Path, sys.argv[3:4]))))
