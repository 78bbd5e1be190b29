"""Run as a script by drivers.py: what one kind of device tells of itself, as one line of JSON.

Usage: device_facts.py EXTENSION KIND [FOLDER...]. It loads the extension by its file and nothing
else of dlbench, so that a driver that takes its process along takes no run along. Each folder may
hold a package with a HIP runtime.
"""

from __future__ import annotations

import json
import sys
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader

MARK = "dlbench device facts: "


def main(extension: str, kind: str, *folders: str) -> None:
    sys.path.extend(folders)  # where the extension looks for such a package
    loader = ExtensionFileLoader("_device", extension)
    spec = spec_from_loader("_device", loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    state, said, count = module.backend(kind)
    library, version, units = module.about(kind)
    told = {"state": state, "message": said, "count": count, "library": library, "version": version}
    # Drivers print what they like; the line is found by its mark.
    print(f"\n{MARK}{json.dumps({**told, 'units': units})}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
