"""The conda recipe requires what pyproject.toml requires, and rattler-build renders it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

tomllib = pytest.importorskip("tomllib")
yaml = pytest.importorskip("yaml")
ROOT = Path(__file__).resolve().parents[3]
FILE = ROOT / "packaging/conda/recipe.yaml"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
#: Packages of headers with another name or version in conda, and what CMake needs of the system.
HEADERS = {
    "apache-tvm-ffi": "dlpack >=1.3",
    "nlohmann-json": "nlohmann_json >=3.10",
    "nvidia-nvtx": "nvtx-c >=3",
}
SYSTEM = {"python", "pip", "benchmark >=1.7.1", "valgrind"}


def in_conda(requirement: str) -> str | dict[str, str]:
    """The same requirement in a recipe."""
    plain, _, marker = (part.strip() for part in requirement.partition(";"))
    made = re.sub(r"(?<=\w)(?=>=)", " ", plain)
    below = re.fullmatch(r"python_version < '([\d.]+)'", marker)
    return {"if": f'match(python, "<{below[1]}")', "then": made} if below else made


def differences(recipe: dict[str, Any], project: dict[str, Any]) -> list[str]:
    """Where a recipe is not as pyproject.toml."""
    host = SYSTEM | {
        HEADERS.get(re.split(r"[>;]", line)[0], in_conda(line))
        for line in project["build-system"]["requires"]
    }
    of = project["project"]
    run = ["python", *map(in_conda, of["dependencies"])]
    needs = recipe["requirements"]
    pairs = {
        "host": (set(needs["host"]), host),
        "run": (needs["run"], run),
        "version": (recipe["context"]["version"], of["version"]),
        "summary": (recipe["about"]["summary"], of["description"]),
        "license": (recipe["about"]["license"], of["license"]),
    }
    return [name for name, (have, want) in pairs.items() if have != want]


def test_the_recipe_requires_what_pyproject_requires() -> None:
    recipe = yaml.safe_load(FILE.read_text())
    assert differences(recipe, PROJECT) == []
    recipe["requirements"]["run"].remove("rich >=13")
    recipe["requirements"]["host"].remove("pybind11 >=3.0")
    recipe["context"]["version"] = "0.0.9"
    assert differences(recipe, PROJECT) == ["host", "run", "version"]


@pytest.mark.parametrize("python", ["3.10", "3.13"])
def test_the_recipe_renders(python: str) -> None:
    rattler = pytest.importorskip("rattler_build")
    config = {"python": [python], "c_stdlib": ["sysroot"], "cxx_compiler": ["gxx"]}
    (rendered,) = rattler.Stage0Recipe.from_file(FILE).render(rattler.VariantConfig(config))
    needs = rendered.recipe.requirements.to_dict()
    assert ("tomli" in needs["run"]) == (python == "3.10")
    assert "dlpack >=1.3" in needs["host"]
