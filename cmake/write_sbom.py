"""Writes an SBOM (CycloneDX) and the licenses of the bundled software of a build.

    python write_sbom.py FOLDER DLBENCH_VERSION [NAME=VERSION=SPDX=FILE...] [calls]

Writes `sboms` and `licenses` into FOLDER. Each NAME is a component that CMake found; FILE contains
its license, in the first comment if FILE is a header. Components from Python packages are looked up
here; with `calls` those of prebuild_calls.py, too. The output is reproducible: it contains no time
and no random number.
"""

from __future__ import annotations

import importlib.metadata
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

#: Python packages with headers or sources that become part of the modules: component, license.
PACKAGES = {
    "nanobind": ("nanobind", "BSD-3-Clause"),
    "nlohmann-json": ("nlohmann-json", "MIT"),
    "nvidia-nvtx": ("nvtx", "Apache-2.0"),
    "pybind11": ("pybind11", "BSD-3-Clause"),
}
#: Cython's license does not cover what it generates.
OF_CALLS = {
    "apache-tvm-ffi": ("tvm-ffi", "Apache-2.0"),
    "cffi": ("cffi", "MIT"),
    "jaxlib": ("jaxlib", "Apache-2.0"),
    "numpy": ("numpy", "BSD-3-Clause"),
}


@dataclass(frozen=True)
class Component:
    """A bundled component."""

    name: str
    version: str
    spdx: str
    text: str  #: of its license

    def to_json(self) -> dict[str, object]:
        return {
            "type": "library",
            "bom-ref": self.name,
            "name": self.name,
            "version": self.version,
            "licenses": [{"license": {"id": self.spdx}}],
        }


def of_packages(packages: Mapping[str, tuple[str, str]], without: set[str]) -> Iterator[Component]:
    """The components of these packages that are installed for this Python."""
    for package, (name, spdx) in packages.items():
        if name in without:
            continue
        try:
            found = importlib.metadata.distribution(package)
        except importlib.metadata.PackageNotFoundError:
            continue
        files = [
            file
            for file in found.files or ()
            if ".dist-info" in str(file) and file.stem.lower() in ("license", "notice")
        ]
        texts = [Path(str(file.locate())).read_text(encoding="utf-8") for file in sorted(files)]
        yield Component(name, found.version, spdx, "\n".join(texts))


def of_word(word: str) -> Component:
    """A component that CMake found."""
    name, version, spdx, path = word.split("=", 3)
    text = Path(path).read_text(encoding="utf-8", errors="replace") if path else ""
    if path.endswith(".h"):
        text = text.partition("/*")[2].partition("*/")[0]
    return Component(name, version, spdx, text)


def document(version: str, components: list[Component]) -> dict[str, object]:
    """The SBOM in the format CycloneDX 1.6."""
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": "dlbench",
                "name": "dlbench",
                "version": version,
                "purl": f"pkg:pypi/dlbench@{version}",
                "licenses": [{"license": {"id": "Apache-2.0"}}],
            }
        },
        "components": [component.to_json() for component in components],
        "dependencies": [
            {"ref": "dlbench", "dependsOn": [component.name for component in components]}
        ],
    }


def main() -> None:
    folder, version = Path(sys.argv[1]), sys.argv[2]
    found = [of_word(word) for word in sys.argv[3:] if "=" in word]
    packages = PACKAGES | (OF_CALLS if "calls" in sys.argv[3:] else {})
    found += of_packages(packages, {component.name for component in found})
    found.sort(key=lambda component: component.name)
    for part in ("sboms", "licenses"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    text = json.dumps(document(version, found), indent=2)
    (folder / "sboms/dlbench.cdx.json").write_text(f"{text}\n", encoding="utf-8")
    for component in found:
        if component.text.strip():
            file = folder / f"licenses/{component.name}.txt"
            file.write_text(component.text, encoding="utf-8")


if __name__ == "__main__":
    main()
