"""Cython imports: functions of typed memoryviews, `float[::1]` or `const float[::1]`, not None."""

import functools

from dlbench.adapter import compiled_module, function_of, keywords

DEFAULT = False

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
