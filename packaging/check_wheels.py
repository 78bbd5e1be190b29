#!/usr/bin/env python3
"""Checks the wheels in a folder: their files, their modules and their size.

    python packaging/check_wheels.py FOLDER

Prints a line for each wheel. The exit status is 1 if a wheel has a fault.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from share_workers import SHARED, Wheel, digest

MOST_BYTES = 8_000_000
#: Files that each wheel must contain, besides modules.
FILES = ("dlbench/cli.py", "dlbench/schema.json", "dlbench/compare.schema.json",
         "dlbench/producers/numpy.py", "dlbench/consumers/numpy.py",
         "dlbench/libdlbench_call.so", "dlbench/consumers/call/body.h",
         "dlbench/consumers/call/numbers.h", "dlbench/consumers/call/torch_tensor.h",
         "dlbench/consumers/call/torch_op.cc",
         "dlbench/consumers/call/cython_views.py")  # fmt: skip
#: The modules for the wheel's own Python.
MODULES = ("_core", "_check", "_worker", "_device", "_native_producer", "_native_consumer",
           "_faulty_producer", "_faulty_consumer", "_pybind11_producer", "_pybind11_consumer",
           "_nanobind_producer", "_nanobind_consumer")  # fmt: skip
MODULE = re.compile(r"dlbench/(?P<name>\w+)\.cpython-(?P<python>\d+t?)-[\w-]+\.so")


def faults(wheel: Wheel, pythons: set[str]) -> Iterator[str]:
    """The faults of a wheel. `pythons`: the Pythons of all wheels, such as `311` or `313t`."""
    size = wheel.path.stat().st_size
    if size > MOST_BYTES:
        yield f"has {size} bytes, more than {MOST_BYTES}"
    if "linux_" in wheel.platform and "manylinux" not in wheel.platform:
        yield f"is of platform {wheel.platform}: auditwheel did not repair it"
    for name in FILES:
        if name not in wheel.files:
            yield f"lacks {name}"
    own = wheel.abi.removeprefix("cp")
    found = {
        (match["python"], match["name"]) for match in map(MODULE.fullmatch, wheel.files) if match
    }
    wanted = {(own, name) for name in MODULES}
    wanted |= {(python, name) for python in pythons for name in SHARED}
    for python, name in sorted(wanted - found):
        yield f"lacks the module {name} for Python {python}"
    for python, name in sorted(found - wanted):
        yield f"has the module {name} for Python {python}"
    yield from missing_licenses(wheel)
    for name in wheel.files:
        if ".libs/" in name:
            yield f"bundles {name}"
        if name not in FILES and name.endswith((".cpp", ".hpp", ".a", ".cmake", ".h")):
            yield f"holds {name}"
    yield from wrong_records(wheel)


def missing_licenses(wheel: Wheel) -> Iterator[str]:
    """Components of the SBOM whose license is not in the wheel."""
    folder = f"{wheel.name}-{wheel.version}.dist-info"
    content, _ = wheel.files.get(f"{folder}/sboms/dlbench.cdx.json", (b"{}", 0))
    components = json.loads(content).get("components", ())
    if not components:
        yield "lacks an SBOM"
    for component in components:
        if f"{folder}/licenses/{component['name']}.txt" not in wheel.files:
            yield f"lacks the license of {component['name']}"


def wrong_records(wheel: Wheel) -> Iterator[str]:
    """Differences between RECORD and the files."""
    record = f"{wheel.name}-{wheel.version}.dist-info/RECORD"
    lines = dict(line.split(",", 1) for line in wheel.files[record][0].decode().splitlines())
    for name in sorted(lines.keys() ^ wheel.files.keys()):
        yield f"{name} is in {'RECORD' if name in lines else 'the wheel'} alone"
    for name in sorted(lines.keys() & wheel.files.keys() - {record}):
        if lines[name] != digest(wheel.files[name][0]):
            yield f"{name} differs from RECORD"


def main() -> int:
    if len(sys.argv) != 2:
        raise SystemExit("usage: check_wheels.py FOLDER")
    wheels = [Wheel(path) for path in sorted(Path(sys.argv[1]).glob("*.whl"))]
    if not wheels:
        raise SystemExit(f"check_wheels: no wheel in {sys.argv[1]}")
    pythons = {wheel.abi.removeprefix("cp") for wheel in wheels}
    status = 0
    for wheel in wheels:
        print(f"{wheel.path.name}  {wheel.path.stat().st_size / 1e6:.1f} MB")
        for fault in faults(wheel, pythons):
            print(f"  {fault}", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
