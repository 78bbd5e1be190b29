"""The two generated pages about libraries, compared with the installed ones."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from dlbench.check import conformance
from dlbench.command import listing
from dlbench.document import read_document
from dlbench.environments.environment import here
from dlbench.exporters import support
from dlbench.libraries import discover
from typed import doc
from whole import run

pytestmark = [pytest.mark.libraries, pytest.mark.process, pytest.mark.timing]
DOCS = Path(__file__).parents[2] / "docs/reference"
#: Quick to import, and between them: a mask, a read-only library, the C exchange API, a refusal.
TRIED = ("native", "numpy", "numpy_ma", "pyarrow", "tvm_ffi")
CHECKED = ("numpy", "pyarrow")
Cells = dict[tuple[str, str, str], str]


def tables(page: str) -> dict[str, list[list[str]]]:
    """The rows of each table, its head first, under the heading above it."""
    found: dict[str, list[list[str]]] = {}
    heading = ""
    for line in page.replace("\\_", "_").splitlines():
        if line.startswith("#"):
            heading = line.strip("# ")
        elif line.startswith("| ") or (line.startswith("|") and heading in found):
            found.setdefault(heading, []).append([word.strip() for word in line.split("|")[1:-1]])
    return {heading: [rows[0], *rows[2:]] for heading, rows in found.items()}


def cells_of(page: str) -> Cells:
    """The marks of a support page by protocol and device, producer and consumer."""
    return {
        (heading, row[0], consumer): mark
        for heading, (head, *rows) in tables(page).items()
        if head[0] == "from, to"
        for row in rows
        for consumer, mark in zip(head[1:], row[1:], strict=True)
    }


def libraries_of(page: str) -> dict[str, dict[str, str]]:
    """The rows of a support page's first table by library."""
    head, *rows = next(table for table in tables(page).values() if table[0][0] == "library")
    return {row[0]: dict(zip(head, row, strict=True)) for row in rows}


def test_the_support_page_is_what_a_run_and_the_list_say(tmp_path: Path) -> None:
    page = (DOCS / "support.md").read_text()
    [line] = re.findall(
        r"^(dlbench --matrix .*) && dlbench export RUN --format support$", page, re.M
    )
    words = shlex.split(line)[1:]
    for role in ("--producers", "--consumers"):
        words[words.index(role) + 1] = ",".join(TRIED)
    status, _, err = run(tmp_path, *words, "--no-plots", "--quiet")
    assert status == 0, err
    exported = support.export(read_document(tmp_path / "RUN" / "results.json"))

    stated, versions, now = cells_of(page), libraries_of(page), libraries_of(exported)
    same = {name for name in TRIED if versions[name]["version"] == now[name]["version"]}
    assert {"native"} <= same
    found = {key: mark for key, mark in cells_of(exported).items() if same.issuperset(key[1:])}
    assert len(found) > 20
    assert {key: stated.get(key, "") for key in found} == found

    libraries = {one.name: one for one in discover.libraries(discover.catalogue(None))}
    protocols = {heading.split("`")[1] for heading, _, _ in stated if "on cpu" in heading}
    for name, row in versions.items():
        if name not in libraries or row["why not"]:
            continue
        # What a general conversion was seen to import through is not in the list.
        tried = {heading.split("`")[1] for heading, _, consumer in stated
                 if consumer == name and "on cpu" in heading}  # fmt: skip
        assert set(libraries[name].protocols) & protocols <= tried, name
    for name in same:
        offer = listing.offers(libraries[name], here())
        # The list names the method alone, whichever structs it exports.
        exports = {re.sub(r"^dlpack_(legacy|versioned)$", "dlpack", word)
                   for word in versions[name]["exports through"].split(", ")}  # fmt: skip
        assert exports - {"convert"} == {*offer.protocols.split(), *offer.exports} & protocols, name


def test_the_conformance_page_is_what_a_check_says(tmp_path: Path) -> None:
    page = tables((DOCS / "conformance.md").read_text())
    status, _, err = run(tmp_path, "check", *CHECKED, "--out", "out")
    assert status in (0, 1), err
    document = json.loads((tmp_path / "out" / "results.json").read_text())
    checked = tables(conformance.text(doc(document)))
    stated, now = (
        {row[0]: row[1] for row in found["Which library keeps which rule"] if len(row) == 2}
        for found in (page, checked)
    )
    same = [name for name in CHECKED if stated[name] == now[name]]
    compared = 0
    for group, (head, *rows) in checked.items():
        if head[0] not in {f"`{name}.`" for name in conformance.GROUPS}:
            continue
        columns, *others = page[group]
        words = {row[0]: dict(zip(columns, row, strict=True)) for row in others}
        for row in rows:
            for name, word in zip(head[1:], row[1:], strict=True):
                if name in same:
                    assert words[row[0]][name] == word, (row[0], name)
                    compared += 1
    assert compared > 100 * len(same)
