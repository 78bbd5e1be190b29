"""Cython imports: functions of typed memoryviews, `float[::1]` or `const float[::1]`, not None."""

import functools

from dlbench.adapter import compiled_module, function_of, keywords

DEFAULT = False

SCRIPT = {
    "call |const": """
import os
import sys
folder = FOLDER.name
with open(f"{folder}/binding.pyx", "w") as file:
    file.write('''
cdef extern from *:
    void take(...)
def call([[[[|const ]]float[::1] _ not None]]):
    take([[<void *>&_[0]]])
''')
command = [sys.executable, "-m", "cython", "-3", "--cplus", "binding.pyx"]
print(*command)
subprocess.run(command, cwd=folder, check=True)
take = "template <typename... T> void take(T... places) { body({places...}); }"
function = built(take + chr(10) + open(f"{folder}/binding.cpp").read()).call
""",
}

BUILDS = {
    "": "call/cython_views.py",
    "const": "call/cython_views.py",
    "keywords": "call/cython_views.py",
}


@functools.cache
def module():
    return compiled_module(__file__, BUILDS[""])


PROTOCOLS = {"call": function_of(module, "view")}
CALLS = {
    "const": {"call": function_of(module, "const")},
    "keywords": {"call": function_of(module, "view", keywords)},
}


def extras(array):
    return {}
