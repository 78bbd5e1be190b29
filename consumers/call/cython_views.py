"""Prints the C++ code that Cython makes of functions of N typed memoryviews."""

import subprocess
import sys
from pathlib import Path

NUMBERS = [int(word) for word in sys.argv[1:]]
HEAD = """# cython: language_level=3, boundscheck=False, wraparound=False
cdef extern from "call/body.h":
    cdef struct dlbench_call_tensor:
        pass
    cdef struct dlbench_call_record:
        dlbench_call_tensor* described
    dlbench_call_record record "dlbench_call_record"
    void dlbench_call(size_t arrays, void** addresses)
    void dlbench_call_describe(size_t, int, const Py_ssize_t*, const Py_ssize_t*, int, int, int)
"""


def function(prefix, kind, arrays):
    parameters = ", ".join(f"{kind} a{i} not None" for i in range(arrays))
    lines = [f"def {prefix}_{arrays}({parameters}):", f"    cdef void* addresses[{arrays + 1}]"]
    lines += [f"    addresses[{i}] = <void*>&a{i}[0]" for i in range(arrays)]
    lines += ["    if record.described != NULL:", "        pass"]
    describe = "        dlbench_call_describe({0}, 1, a{0}.shape, a{0}.strides, 1, 2, 32)"
    lines += [describe.format(i) for i in range(arrays)]
    return "\n".join([*lines, f"    dlbench_call({arrays}, addresses)", ""])


source, made = Path("cython_views.pyx"), Path("cython_made.cpp")
kinds = {"view": "float[::1]", "const": "const float[::1]"}
functions = [function(prefix, kind, n) for prefix, kind in kinds.items() for n in NUMBERS]
source.write_text("\n".join([HEAD, *functions]))
subprocess.run([sys.executable, "-m", "cython", "-3", "--cplus", source, "-o", made], check=True)
sys.stdout.write(made.read_text())
