"""Changes that the import of a library makes to the whole process. A worker compares its process
before and after it runs an adapter file. An effect need not be a fault; check it first if a cell's
time differs when that library is imported.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

#: A comparable value by kind and name.
State = dict[str, dict[str, str]]
#: The changed names by kind of effect.
Effects = dict[str, list[str]]

#: A class with one of these is an array class, whose special methods other libraries call.
ARRAY_METHODS = ("__dlpack__", "__array__", "__array_interface__", "__cuda_array_interface__")


def observe(process_state: Callable[[], State]) -> State:
    """The process's state. The worker reads `process_state`, because Python cannot."""
    state = process_state()
    state["threads"] = dict(_threads())
    state["interpreter"] = dict(_interpreter())
    state["functions"] = dict(_functions())
    state["allocators"].update(_numpy_allocator())
    state["processors"] = {"processors": str(len(os.sched_getaffinity(0)))}
    return state


def _threads() -> Iterator[tuple[str, str]]:
    """The name of each thread, by its number."""
    with contextlib.suppress(OSError):
        for task in Path("/proc/self/task").iterdir():
            with contextlib.suppress(OSError):
                yield task.name, (task / "comm").read_text(errors="replace").strip()


def _interpreter() -> Iterator[tuple[str, str]]:
    """Settings and hooks that exist once in a process."""
    yield "gc.get_threshold()", str(gc.get_threshold())
    yield "gc.isenabled()", str(gc.isenabled())
    yield "gc.get_freeze_count()", str(gc.get_freeze_count() > 0)
    yield "gc.callbacks", str(list(map(id, gc.callbacks)))
    yield "sys.getswitchinterval()", f"{sys.getswitchinterval():.4g}"
    yield "sys.getrecursionlimit()", str(sys.getrecursionlimit())
    yield "sys.getprofile()", str(id(sys.getprofile()))
    yield "sys.gettrace()", str(id(sys.gettrace()))
    yield "sys.excepthook", str(id(sys.excepthook))
    yield "sys.meta_path", str(list(map(id, sys.meta_path)))
    yield "sys.path_hooks", str(list(map(id, sys.path_hooks)))
    yield "threading.excepthook", str(id(threading.excepthook))


def _functions() -> Iterator[tuple[str, str]]:
    """The functions and classes of all packages, and the special methods of arrays."""
    for name, module in list(sys.modules.items()):
        if not issubclass(type(module), ModuleType) or not _is_watched(name):
            continue
        # Not isinstance(), which calls into the value: a lazy module would be loaded, or raise.
        for attribute, value in list(vars(module).items()):
            if attribute.startswith("__") or not callable(value):
                continue
            yield f"{name}.{attribute}", str(id(value))
            if issubclass(type(value), type) and not _ARRAYS.isdisjoint(vars(value)):
                for method, own in list(vars(value).items()):
                    if method.startswith("__") and callable(own):
                        yield f"{name}.{attribute}.{method}", str(id(own))


_ARRAYS = frozenset(ARRAY_METHODS)


def _is_watched(name: str) -> bool:
    """The modules of packages, and `builtins`."""
    if name == "builtins":
        return True
    return not ("." in name or name.startswith("_") or name == "dlbench") and (
        name not in sys.stdlib_module_names
    )


def _numpy_allocator() -> Iterator[tuple[str, str]]:
    for name in ("numpy._core.multiarray", "numpy.core.multiarray"):
        module = sys.modules.get(name)
        if module is not None and hasattr(module, "get_handler_name"):
            yield "NumPy's arrays", str(module.get_handler_name())
            return


def compare(before: State, after: State) -> Effects:
    """The names that were added, removed or replaced. A new function, allocator, setting or handler
    replaces nothing and does not count."""
    effects: Effects = {}
    for kind, now in after.items():
        was = before[kind]
        if kind in ("functions", "allocators", "interpreter", "signals"):
            changed = [name for name, value in now.items() if was.get(name, value) != value]
        else:
            changed = [name for name, value in now.items() if was.get(name) != value]
        if kind in ("functions", "environment"):
            changed += was.keys() - now.keys()
        if names := _names(kind, changed, now):
            effects[kind] = names
    return effects


def _names(kind: str, changed: list[str], now: dict[str, str]) -> list[str]:
    if kind == "threads":
        return [f"{count} {name}" for name, count in sorted(Counter(map(now.get, changed)).items())]
    if kind == "signals":
        return [_signal_name(int(number)) for number in changed]
    if kind == "arithmetic":
        return [f"{name} {now[name]}" for name in changed]
    if kind == "processors":
        return [now[name] for name in changed]
    if kind == "thread-pools":
        return sorted(Path(path).name for path in changed)
    return sorted(changed)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
