"""Rules of the code: which modules start processes, import each other, and are shipped."""

from __future__ import annotations

import ast
import io
import re
import subprocess
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PRODUCT = ("harness", "producers", "consumers", "plots", "results")
STARTING = re.compile(
    r"\b(import|from) (subprocess|multiprocessing|pty)\b"
    r"|\basyncio\.create_subprocess_\w+\("
    r"|\bos\.(fork|system|popen|spawn\w+|posix_spawn\w*)\("
)
#: Called by Python, pytest, ast and click, by their names.
BY_NAME = re.compile(
    r"_repr_html_|__\w+__|pytest_\w+|visit_\w+|format_(usage|epilog)|runtest|reportinfo"
)
#: Compiled names that the product's Python does not call, and their callers.
BOUND_FOR = {
    "process_intervals": "benchmarks/interval_coverage.py",
    "timing_after_import_s": "benchmarks/run_cost.py",
    "library_after_import_s": "benchmarks/run_cost.py",
    "last_import_s": "benchmarks/run_cost.py",
    "comparison_schema": "docs/site/generate.py",
    "timer_steps": "tests/gpu/device_steps.py",
    "empty_events": "tests/gpu/device_steps.py",
    "stream_order": "tests/gpu/device_steps.py",
    "make_api": "tests/python/rulebreaker/exchange_api.py",
    "had_gil": "tests/python/check/test_check_reader.py",
    "DiskError": "harness/bindings/bind_results.cpp",  # raised, and caught as an OSError
    "Observer": "harness/dlbench/_core.pyi",  # a type only
}


def files() -> Iterator[tuple[str, str]]:
    """The product's Python files with their texts; what carries out tests of others is not ours."""
    for folder in PRODUCT:
        for path in sorted((ROOT / folder).rglob("*.py")):
            name = str(path.relative_to(ROOT))
            if "/machines/checks/" not in name:
                yield name, path.read_text(encoding="utf-8")


def starts_processes(text: str) -> bool:
    """Outside of texts: a script that is printed may fork."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    code = " ".join(token.string for token in tokens if token.type in (tokenize.NAME, tokenize.OP))
    return STARTING.search(code.replace(" . ", ".").replace(" (", "(")) is not None


@pytest.mark.parametrize(
    "text",
    [
        "import subprocess",
        "from subprocess import Popen",
        "pid = os.fork()",
        "from x import y\nimport multiprocessing",
    ],
)
def test_a_process_that_is_started_is_found(text: str) -> None:
    assert starts_processes(text)
    assert not starts_processes(f"'''{text}'''")


def test_one_supervisor_starts_all_processes() -> None:
    """Compilers too are started by a script of a binding, where nothing of dlbench supervises."""
    starting = {name for name, text in files() if starts_processes(text)}
    starting.discard("consumers/call/cython_views.py")  # which a compilation runs
    starting.discard("harness/dlbench/scripts/call_build.py")  # which scripts of repro run
    assert starting == {"harness/dlbench/libraries/compiled.py"}


def test_figures_and_exporters_are_imported_by_no_name() -> None:
    """Foreign libraries and the files of rules are imported by name; rooms of ours are not."""
    named = {name for name, text in files() if "import_module(" in text}
    assert named == {
        "harness/check/rules/__init__.py",
        "harness/dlbench/command/api.py",
        "results/exporters/arrow.py",
    }


def package_of(name: str) -> str:
    """The package of a file, or its own name if it is a top file."""
    folders = name.split("/")[:-1]
    if folders[0] in ("harness", "results") and len(folders) > 1:
        folders = folders[2:] if folders[1] == "dlbench" else folders[1:]
    return folders[0] if folders else name.rpartition("/")[2]


def imports(texts: dict[str, str]) -> Iterator[tuple[str, str]]:
    """The packages of each import: importing and imported. Top files have no package."""
    packages = {package_of(name) for name in texts}
    for name, text in texts.items():
        own = package_of(name)
        is_below = not name.startswith("harness/dlbench/") or name.count("/") > 2
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and node.module and is_below:
                module = node.module
                found = [module.split(".")[1]] if module.startswith("dlbench.") else []
                found += [each.name for each in node.names] if module == "dlbench" else []
                yield from ((own, other) for other in found if other in packages and other != own)


def circles(texts: dict[str, str]) -> list[str]:
    """The packages that import each other, also by way of others."""
    reached: dict[str, set[str]] = {}
    for own, other in imports(texts):
        reached.setdefault(own, set()).add(other)
    for between in reached:
        for others in reached.values():
            others |= reached[between] if between in others else set()
    return sorted(own for own, others in reached.items() if own in others)


def test_packages_that_import_each_other_are_found() -> None:
    texts = {
        "harness/dlbench/a/x.py": "from dlbench.b import y",
        "harness/dlbench/b/y.py": "def later():\n    from dlbench import c",
        "harness/dlbench/c/z.py": "from dlbench.a.x import name",
    }
    assert circles(texts) == ["a", "b", "c"]
    assert circles({**texts, "harness/dlbench/c/z.py": ""}) == []


def test_no_packages_import_each_other() -> None:
    assert circles(dict(files())) == []


def test_only_the_command_line_imports_the_terminal() -> None:
    """What decides, exports or draws takes facts and texts from the rooms of results."""
    imported = re.compile(r"from dlbench(\.| import .*\b)terminal\b")
    found = {name for name, text in files() if imported.search(text)}
    lines = {name for name in found if package_of(name) in ("command", "running", "terminal")}
    assert lines
    assert {name for name in found - lines if not name.endswith("/verb.py")} == set()


def names_read(text: str) -> Counter[str]:
    """How often each name occurs, also in f-strings and in the texts of scripts."""
    return Counter(re.findall(r"[A-Za-z_]\w*", text))


def unused(texts: dict[str, str]) -> set[str]:
    """The functions and classes that the product names once: where they are defined."""
    often = sum((names_read(text) for text in texts.values()), Counter[str]())
    found = set()
    for name, text in texts.items():
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, ast.FunctionDef | ast.ClassDef) or often[node.name] > 1:
                continue
            # Those of Python, of frameworks, and of what decorates them: click, a rule, a fixture.
            if not (BY_NAME.fullmatch(node.name) or node.decorator_list):
                found.add(f"{name}: {node.name}")
    return found


def test_a_function_without_a_caller_is_found() -> None:
    assert unused({"a": "def lost(): pass\ndef used(): pass", "b": "used()"}) == {"a: lost"}


def test_the_product_ships_no_function_that_it_does_not_use() -> None:
    texts = dict(files())
    # C++ calls some by their names, and a contract's names are read with getattr.
    texts["names"] = (ROOT / "cmake" / "prebuild_calls.py").read_text()  # in a build of a wheel
    for path in (ROOT / "harness").rglob("*.cpp"):
        texts["names"] += "\n".join(
            f"# {text}" for text in re.findall(r'"(\w+)"', path.read_text())
        )
    for path in (ROOT / "plots").rglob("*.j2"):
        texts["names"] += "\n".join(
            f"# {text}" for text in re.findall(r"\.(\w+)\(", path.read_text())
        )
    assert unused(texts) == set()


def bound(stub: str) -> set[str]:
    """The names that a stub declares, and those of its classes."""
    found = set()
    for node in ast.walk(ast.parse(stub)):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
    return {name for name in found if not BY_NAME.fullmatch(name)}


def test_each_compiled_name_has_a_caller() -> None:
    assert bound("x: int\nclass A:\n    y: int\n    def f(self) -> int: ...") == {*"xAyf"}
    called = set().union(*(names_read(text) for _, text in files()))
    stubs = [path.read_text() for path in (ROOT / "harness/dlbench").glob("*.pyi")]
    assert set().union(*map(bound, stubs)) - called == BOUND_FOR.keys()
    for name, user in BOUND_FOR.items():
        assert name in (ROOT / user).read_text()


def test_no_two_test_files_have_the_same_name() -> None:
    # pytest imports a file by its name alone, and fails on the second one of that name.
    counts = Counter(path.name for path in (ROOT / "tests").rglob("test_*.py"))
    assert [name for name, count in counts.items() if count > 1] == []


@pytest.mark.process
def test_a_folder_has_at_most_25_files() -> None:
    # The adapters' folders have a file for each library.
    listed = subprocess.run(
        ["git", "ls-files", *PRODUCT, "tests", "benchmarks"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    counts = Counter(str(Path(name).parent) for name in listed.stdout.splitlines())
    large = {folder for folder, count in counts.items() if count > 25}
    assert large == {"producers", "consumers"}
