"""Planted wheels of a small consumer as the only index, and an adapter for it."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

BODY = {
    "1.0": "load = np.from_dlpack",
    "1.1": "load = np.from_dlpack",
    "1.2": "def load(array):\n    for _ in range(3000): pass\n    return np.from_dlpack(array)",
    "1.3": "def load(array): return np.from_dlpack(array).copy()",
    "1.4": "def load(array): raise BufferError(f'not today: {id(array)}')",
    "1.5": "import os\nos.abort()",
}
IMPORT = "import numpy as np\n"
ADAPTER = """\
import planted

DISTRIBUTION = "planted"
PROTOCOLS = {"dlpack": planted.load}
"""


def wheel(folder: Path, name: str, version: str, files: dict[str, str], more: str = "") -> None:
    info = f"{name}-{version}.dist-info"
    about = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{more}"
    tag = "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    made = {**files, f"{info}/METADATA": about, f"{info}/WHEEL": tag, f"{info}/RECORD": ""}
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        for path, text in made.items():
            archive.writestr(path, text)


def plant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bodies: Mapping[str, str]) -> None:
    """A folder of wheels by version as the only index, an adapter, and an empty cache."""
    (tmp_path / "wheels").mkdir()
    for version, body in bodies.items():
        wheel(
            tmp_path / "wheels", "planted", version, {"planted.py": f"import numpy as np\n{body}\n"}
        )
    wheel(tmp_path / "wheels", "planted", "1.6", {"planted.py": ""}, "Requires-Python: >=9.1\n")
    here = str(Path(np.__file__).parents[1])
    wheel(tmp_path / "wheels", "numpy", np.__version__, {"numpy_here.pth": f"{here}\n"})
    (tmp_path / "adapters/consumers").mkdir(parents=True)
    (tmp_path / "adapters/consumers/planted.py").write_text(ADAPTER)
    (tmp_path / "uv.toml").write_text("no-index = true\n")
    for name, value in {
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(tmp_path / "wheels"),
        "UV_CONFIG_FILE": str(tmp_path / "uv.toml"),
        "UV_FIND_LINKS": str(tmp_path / "wheels"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)


def hide(monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    which = shutil.which
    monkeypatch.setattr(shutil, "which", lambda name: None if name == program else which(name))
