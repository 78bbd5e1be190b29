"""Run as a script by drivers.py: the facts of one kind of device, as one line of JSON.

Usage: device_facts.py EXTENSION KIND [FOLDER...]. It loads only the extension file of dlbench. It
has a process of its own, so that a crashing driver does not end the run. Each folder may hold a
package with a HIP runtime.
"""

from __future__ import annotations

import json
import sys
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader

MARK = "dlbench device facts: "


def main(extension: str, kind: str, *folders: str) -> None:
    sys.path.extend(folders)  # the extension looks for the package here
    loader = ExtensionFileLoader("_device", extension)
    spec = spec_from_loader("_device", loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    state, message, count = module.backend(kind)
    library, version, units = module.about(kind)
    answer = {
        "state": state,
        "message": message,
        "count": count,
        "library": library,
        "version": version,
    }
    # Drivers may print too, so the line has a prefix.
    print(f"\n{MARK}{json.dumps({**answer, 'units': units})}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
