"""Lines of a script of `call` that compile a function in C++, which calls the script's body."""

import ctypes
import importlib.util
import os
import subprocess
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from dlbench.scripts.call_body import body

BODY = """
#include <cstddef>
#include <initializer_list>
extern "C" __attribute__((visibility("default"))) void (*called)(const void* const*, std::size_t);
void (*called)(const void* const*, std::size_t);
static void body(std::initializer_list<const void*> places) {
  called(places.begin(), places.size());
}
"""


FOLDER = tempfile.TemporaryDirectory()  # until the script ends


def receive(places: Any, arrays: int) -> None:
    body(*places[:arrays])


called = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_void_p), ctypes.c_size_t)(receive)


def folder_of(package: str) -> str:
    spec: Any = importlib.util.find_spec(package)
    return str(spec.submodule_search_locations[0])


def built(source: str, *flags: str, is_module: bool = True) -> Any:
    path = f"{FOLDER.name}/binding"
    Path(f"{path}.cpp").write_text(BODY + source)
    command = [os.environ.get("CXX", "c++"), "-std=c++20", "-O2", "-fPIC", "-shared"]
    command += ["-fvisibility=hidden", "-w", f"-I{sysconfig.get_path('include')}"]
    command += [f"{path}.cpp", "-o", f"{path}.so", *flags]
    print(*command)  # noqa: T201
    subprocess.run(command, check=True)
    library = ctypes.CDLL(f"{path}.so")
    ctypes.c_void_p.in_dll(library, "called").value = ctypes.cast(called, ctypes.c_void_p).value
    if not is_module:
        return library
    spec: Any = importlib.util.spec_from_file_location("binding", f"{path}.so")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
