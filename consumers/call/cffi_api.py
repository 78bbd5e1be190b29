"""Prints the C++ code that cffi makes of functions of N pointers, in its API mode."""

import contextlib
import sys
from pathlib import Path

import cffi

NUMBERS = [int(word) for word in sys.argv[1:]]
TYPE = "void call_{}({})"


def defined(arrays):
    """The function, which packs its pointers."""
    parameters = ", ".join(f"void *a{i}" for i in range(arrays))
    addresses = ", ".join([*(f"a{i}" for i in range(arrays)), "0"])
    head = TYPE.format(arrays, parameters or "void")
    return f"static {head} {{ void *p[] = {{{addresses}}}; dlbench_call({arrays}, p); }}"


ffi = cffi.FFI()
ffi.cdef("".join(TYPE.format(n, ", ".join(["void *"] * n) or "void") + ";" for n in NUMBERS))
text = "\n".join(['#include "call/body.h"', *map(defined, NUMBERS)])
ffi.set_source("cffi_api", text, source_extension=".cpp")
with contextlib.redirect_stdout(sys.stderr):  # it prints what it does
    ffi.emit_c_code("cffi_made.cpp")
sys.stdout.write(Path("cffi_made.cpp").read_text())
