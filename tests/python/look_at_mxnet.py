"""Runs in a Python that has MXNet but not dlbench: uses MXNet's two adapter files.

Usage: look_at_mxnet.py PACKAGE, the folder of dlbench.
"""

from __future__ import annotations

import ctypes
import sys
import types
from pathlib import Path

import numpy as np

package = Path(sys.argv[1])
source = types.ModuleType("dlbench")
source.__path__ = [str(package)]
sys.modules["dlbench"] = source
from dlbench import adapter, loading  # noqa: E402
from dlbench.case import Case  # noqa: E402

for word in ("Call", "Capsule", "Unsupported", "X"):
    setattr(source, word, getattr(adapter, word))

producer, consumer = (
    loading.load_adapter(role, "mxnet", str(package / f"{role}s" / "mxnet.py"))
    for role in ("producer", "consumer")
)
case = Case("f32", "float32", 4096)
made = producer.make(case, "cpu")
producer.ready(made)
assert np.array_equal(producer.values(made), case.numpy())
print("made")

source = case.numpy()
crossed = consumer.PROTOCOLS["dlpack"].function(source.__dlpack__())
assert producer.address(crossed) == source.ctypes.data
assert producer.address(made) != source.ctypes.data
print("addressed")

source[0] = 77
assert producer.values(crossed)[0] == 77
print("crossed")

converted = consumer.PROTOCOLS["convert"](source)
assert producer.address(converted) != source.ctypes.data
assert np.array_equal(producer.values(converted), source)
print("converted")

for seconds in (0.02, 0.04):
    coming, place = producer.busy(case, "cpu", seconds)
    words = (ctypes.c_float * 1024).from_address(place)
    assert words[1023] == 0 != case.numpy()[1023], "it is there already"
    producer.EXPORTS["dlpack_legacy"](coming)
    assert words[1023] == case.numpy()[1023], "the export does not wait"
    assert np.array_equal(producer.values(coming), case.numpy())
    assert producer.address(coming) == place
print("waited")
