"""`dlbench site`: its files, the steps it finds, and input that it refuses."""

from __future__ import annotations

import ast
import html
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import histories
import jsonschema
import pytest

import samples
import synthetic
import terms
from dlbench import cli
from dlbench.analysis.archive import Archive
from dlbench.document import run_record
from dlbench.errors import BadInput
from dlbench.plots.site import known_reports
from dlbench.plots.site.shown import STATES
from typed import doc

ROWS = re.compile(r'<table class="rows">.*?</table>', re.S)


def built(tmp_path: Path, *documents: dict[str, Any], **options: str) -> Path:
    """The site of these runs."""
    out = tmp_path / "site"
    words = [word for name, value in options.items() for word in (f"--{name}", value)]
    runs = histories.write(tmp_path / "runs", *documents)
    assert cli.main(["site", *runs, "--out", str(out), *words]) == 0
    return out


class Links(HTMLParser):
    """Of one page: the links and the names that links may lead to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.names: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for key, value in attributes:
            if key in ("href", "src"):
                self.links.append(value or "")
            elif key == "id":
                self.names.append(value or "")


def test_every_link_leads_to_a_file_of_the_site(tmp_path: Path) -> None:
    out = built(tmp_path, histories.pair(1, False, "2.12.0"), histories.pair(2, True, "2.13.0"))
    pages = {path: Links(path.read_text()) for path in out.rglob("*.html")}
    assert len(pages) > 10
    for path, page in pages.items():
        assert len(page.names) == len(set(page.names)), path
        for link in page.links:
            if link.startswith(("data:", "https://creativecommons.org/", "https://github.com/")):
                continue
            file, _, anchor = link.partition("#")
            target = (path.parent / file).resolve() if file else path.resolve()
            assert target.is_file(), (path, link)
            assert target.is_relative_to(out), (path, link)
            if anchor and target.suffix == ".html":
                assert anchor in pages[out / target.relative_to(out)].names, (path, link)


def test_a_cell_has_its_facts_its_evidence_and_its_script(tmp_path: Path) -> None:
    out = built(tmp_path, histories.pair(1, True, "2.13.0"))
    front = (out / "index.html").read_text()
    assert re.search(
        r'class="copied"><a href="pair/numpy--torch.html#dlpack">900 ns\s*<small>copy by torch<',
        front,
    )
    assert "refused<small>BufferError<" in front
    page = (out / "pair/numpy--torch.html").read_text()
    for text in ("890 .. 920 ns", "5,000", "versioned 1.0", "torch 2.13.0", "2026-01-01"):
        assert text in page, text
    (script,) = re.findall(r"<pre>(.*?)</pre>", page, re.S)
    compiled = ast.parse(html.unescape(script))
    assert any(isinstance(line, ast.Import) for line in compiled.body)
    assert "torch.from_dlpack(" in script
    assert "needs &lt;grad&gt;" in (out / "pair/torch--torch.html").read_text()


def test_calls_have_a_table_of_their_lines(tmp_path: Path) -> None:
    run = histories.pair(1, False, "2.13.0")
    run["benchmarks"] += [synthetic.call("nanobind", n, 50 + 10 * n + 10 * max(n - 4, 0))
                          for n in (0, 1, 2, 4, 8, 14, 20)]  # fmt: skip
    text = (built(tmp_path, run) / "calls.html").read_text()
    heads = ["binding", "f(0)", "f(1)", "f(8)", "f(20)", "an array", "bends at"]
    assert re.findall(r'<th scope="col">(.*?)</th>', text) == heads
    assert re.findall(r'data-label="(?:f.8.|bends at)" class="number">(.*?)<', text) == [
        "170 ns", "4 arrays"]  # fmt: skip


def test_each_head_and_each_state_is_a_term(tmp_path: Path) -> None:
    documents = [histories.pair(1, False, "2.12.0"), histories.pair(2, True, "2.13.0")]
    pages = list(built(tmp_path, *documents).rglob("*.html"))
    tables = [table for page in pages for table in ROWS.findall(page.read_text())]
    heads = {head for table in tables for head in re.findall(r'<th scope="col">(.*?)<', table)}
    assert len(heads) > 10
    assert terms.unknown([*heads, *STATES]) == []


def test_a_planted_copy_is_a_step_with_its_report(tmp_path: Path) -> None:
    report = tmp_path / "reports.toml"
    report.write_text('[[report]]\nlibrary = "torch"\nversion = "2.12.5"\nrole = "consumer"\n'
                      'text = "from_dlpack copies"\nurl = "https://example.org/1"\n')  # fmt: skip
    runs = [histories.pair(1, False, "2.12.0"), histories.pair(2, True, "2.13.0")]
    out = built(tmp_path, *runs, reports=str(report))
    for page in ("library/torch.html", "pair/numpy--torch.html"):
        text = (out / page).read_text()
        assert "torch 2.12.0 → 2.13.0" in text
        assert "zero-copy → copy" in text
        assert 'href="https://example.org/1"' in text
    assert "zero-copy → copy" not in (out / "library/numpy.html").read_text()


def test_runs_that_are_alike_have_no_step(tmp_path: Path) -> None:
    """Also if the time differs by a fifth: it is of another run."""
    runs = [histories.pair(1, False, "2.12.0"), histories.pair(2, False, "2.13.0", ns=1100.0)]
    out = built(tmp_path, *runs)
    assert "No step in what was measured" in (out / "pair/numpy--torch.html").read_text()
    assert "No step between" in (out / "library/torch.html").read_text()


@pytest.mark.parametrize(("slow_from", "steps"), [(4, ["2.3.0 -> 2.4.0"]), (8, [])])
def test_versions_of_one_run_are_compared_in_time(slow_from: int, steps: list[str]) -> None:
    archive = Archive(run_record.as_record(doc(histories.over_versions(slow_from)), "run"))
    found = [change for change in archive.changes() if change.libraries == ["numpy"]]
    assert [" -> ".join(change.of("numpy")) for change in found] == steps
    assert [change.kind for change in found] == ["code"] * len(steps)
    assert all("+30.0 %" in change.what for change in found)


def test_a_time_is_compared_with_that_of_its_own_run() -> None:
    """An earlier run of the same version, in which all was faster, lies between."""
    other = histories.run(1, histories.timed("native", "numpy", 60.0), numpy="2.4.0")
    runs = [histories.over_versions(4, is_counted=False), other]
    archive = Archive(document for run in runs for document in run_record.as_record(doc(run), ""))
    [series] = archive.series.values()
    assert len(series.points) == 9
    [change] = series.changes
    assert (change.kind, change.of("numpy")) == ("time", ("2.3.0", "2.4.0"))
    assert change.before.run is change.after.run


def test_an_environment_with_the_same_two_versions_is_no_point() -> None:
    """A run over versions of a third library."""
    made = histories.over_versions(8)
    for facts in made["context"]["dlbench"]["environments"].values():
        facts["libraries"] = {"numpy": "2.4.6"}
    archive = Archive(run_record.as_record(doc(made), "run"))
    assert [len(series.points) for series in archive.series.values()] == [1]


def test_machines_and_pythons_are_kept_apart() -> None:
    runs = [histories.pair(1, False, "2.12.0"), histories.pair(2, True, "2.13.0", host="other")]
    runs.append(histories.pair(3, True, "2.13.0"))
    runs[2]["context"]["dlbench"]["environments"]["default"]["python"] = "3.14.0"
    archive = Archive(document for run in runs for document in run_record.as_record(doc(run), ""))
    assert not list(archive.changes())
    assert len({series.place for series in archive.series.values()}) == 3
    assert len({machine for machine, _, _ in archive.matrices()}) == 2


def test_the_newest_versions_are_in_the_matrix() -> None:
    """Not those of the newest run."""
    runs = [histories.pair(1, False, "2.13.0"), histories.pair(2, True, "2.9.0")]
    archive = Archive(document for run in runs for document in run_record.as_record(doc(run), ""))
    [cells] = archive.matrices().values()
    assert cells["numpy", "torch"].versions == ("2.4.6", "2.13.0")
    assert cells["numpy", "torch"].run.date == "2026-01-01"


def test_a_later_run_of_larger_arrays_leaves_the_matrix_alone() -> None:
    small = histories.timed("numpy", "torch", 90.0, bytes=4096)
    large = histories.timed("numpy", "torch", 95.0, bytes=65536)
    runs = [histories.run(1, small), histories.run(2, large)]
    archive = Archive(document for run in runs for document in run_record.as_record(doc(run), ""))
    [cells] = archive.matrices().values()
    assert cells["numpy", "torch"].entry.bytes == 4096


def test_a_step_names_both_points_of_one_run() -> None:
    """An earlier run of the later version does not replace that of the run."""
    early = histories.pair(1, True, "2.13.0")
    both = histories.pair(2, False, "2.12.0")
    [after] = [each for each in histories.pair(2, True, "2.13.0")["benchmarks"]
               if each["outcome"] == "copy"]  # fmt: skip
    environments = both["context"]["dlbench"]["environments"]
    libraries = {"numpy": "2.4.6", "torch": "2.13.0"}
    environments["new"] = {**environments["default"], "libraries": libraries}
    both["benchmarks"].append(after | {"environment": "new", "name": f"{after['name']}/new"})
    documents = [each for run in (early, both) for each in run_record.as_record(doc(run), "")]
    [change] = [one for one in Archive(documents).changes() if one.kind == "outcome"]
    assert change.before.run is change.after.run


def test_a_step_between_two_runs_of_one_version_has_both() -> None:
    runs = [histories.pair(1, False, "2.13.0"), histories.pair(2, True, "2.13.0")]
    documents = [each for run in runs for each in run_record.as_record(doc(run), "")]
    [change] = [one for one in Archive(documents).changes() if one.kind == "outcome"]
    assert [change.before.run.date, change.after.run.date] == ["2026-01-01", "2026-02-01"]


def test_a_step_across_an_unproven_release_is_between_the_known_ones() -> None:
    """The release between may have it, too; one that is proven has it not."""
    for outcome, versions in (("unproven", ("2.11.0", "2.13.0")), (None, ("2.12.0", "2.13.0"))):
        runs = [histories.pair(1, False, "2.11.0"), histories.pair(2, False, "2.12.0")]
        runs.append(histories.pair(3, True, "2.13.0"))
        runs[1]["benchmarks"][0] |= {"outcome": outcome} if outcome else {}
        documents = [each for run in runs for each in run_record.as_record(doc(run), "")]
        [change] = [one for one in Archive(documents).changes() if one.kind == "outcome"]
        assert change.of("torch") == versions


@pytest.mark.parametrize(
    ("ns", "host", "rows"),
    [
        (130.0, "host", ["f32, f64"]),
        (80.0, "host", ["f32", "f64"]),
        (130.0, "other", ["f32", "f64"]),
    ],
)
def test_steps_that_differ_have_rows_of_their_own(
    tmp_path: Path, ns: float, host: str, rows: list[str]
) -> None:
    """Two kinds of arrays; of one machine they are one row, unless one became faster."""
    first, second = (histories.over_versions(4) for _ in range(2))
    second["context"] |= {"host_name": host, "date": "2026-07-01T00:00:00+00:00"}
    second["benchmarks"] = []
    for one in first["benchmarks"]:
        now = ns if one["real_time"] > 100 else 100.0
        given: dict[str, Any] = {"case": "f64", "environment": one["environment"]}
        entry = histories.timed("native", "numpy", now, instructions=now * 20, **given)
        second["benchmarks"].append(entry)
    page = (built(tmp_path, first, second) / "library/numpy.html").read_text()
    found = re.findall(r'<td data-label="arrays">([^<]*), 4 KiB</td>', page)
    assert sorted(found) == rows


def test_a_pair_that_lost_its_exchange_keeps_its_page(tmp_path: Path) -> None:
    lost = samples.missing("numpy", "torch", "no-protocol", "has none")
    runs = [histories.pair(1, False, "2.12.0"), histories.run(2, lost, torch="2.13.0")]
    out = built(tmp_path, *runs)
    assert 'href="../pair/numpy--torch.html#history"' in (out / "library/torch.html").read_text()
    assert "has none" in (out / "pair/numpy--torch.html").read_text()


def test_a_site_is_continued_from_its_own_records(tmp_path: Path) -> None:
    out = built(tmp_path, histories.pair(1, False, "2.12.0"), histories.pair(2, True, "2.13.0"))
    again = tmp_path / "again"
    assert cli.main(["site", str(out / "data/runs"), "--out", str(again)]) == 0
    for path in out.rglob("*"):
        if path.is_file() and path.suffix != ".parquet":
            assert path.read_bytes() == (again / path.relative_to(out)).read_bytes(), path
    package = json.loads((out / "data/datapackage.json").read_text())
    assert [(out / "data" / each["path"]).is_file() for each in package["resources"]] == [True] * 2
    line = jsonschema.Draft202012Validator(
        json.loads((out / "data" / package["dlbench:record_schema"]).read_text())
    )
    for each in package["resources"]:
        for text in (out / "data" / each["path"]).read_text().splitlines():
            line.validate(json.loads(text))


def test_a_site_is_replaced_and_nothing_else(tmp_path: Path) -> None:
    out = built(tmp_path, histories.pair(1, False, "2.12.0"))
    own = out / "CNAME"
    own.write_text("example.org\n")
    runs = histories.write(tmp_path / "more", histories.run(2, samples.measured("jax", "jax", 5.0)))
    [record] = (out / "data/runs").iterdir()
    record.unlink()
    assert cli.main(["site", *runs, "--out", str(out)]) == 0
    assert own.read_text() == "example.org\n"
    assert (out / "pair/jax--jax.html").is_file()
    assert not (out / "pair/numpy--torch.html").exists()


def test_the_only_record_of_a_run_is_not_removed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = built(tmp_path, histories.pair(1, False, "2.12.0"))
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    words = ["site", *histories.write(tmp_path / "more", histories.pair(2, True, "2.13.0"))]
    capsys.readouterr()
    assert cli.main([*words, "--out", str(out)]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert f"name {out / 'data/runs'} as a RUN too, or delete that file" in line
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before
    assert cli.main([*words, str(out / "data/runs"), "--out", str(out)]) == 0
    assert len(list((out / "data/runs").iterdir())) == 2


def test_names_from_a_record_stay_in_the_folder(tmp_path: Path) -> None:
    names = ["../../x", "<b>", "..", "a/b", "a:b"]
    entries = [samples.measured(name, "numpy", 90.0) for name in names]
    record = tmp_path / "run.jsonl"
    record.write_text(run_record.text(doc(histories.run(1, *entries, host="<i>"))))
    out = tmp_path / "site"
    assert cli.main(["site", str(record), "--out", str(out)]) == 0
    assert {path.parent.name for path in out.rglob("*.html")} == {"site", "pair", "library"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.jsonl", "site"]
    assert len(list((out / "pair").iterdir())) == len(names)
    assert all("<b>" not in path.read_text() for path in out.rglob("*.html"))


@pytest.mark.parametrize(
    ("made", "why"),
    [
        ("foreign", "holds files that 'dlbench site' did not make"),
        ("file", "is a file; allowed: a folder"),
        ("own", "'dlbench site' did not make its index.html"),
        ("below a file", "Not a directory"),
    ],
)
def test_a_folder_of_others_is_not_touched(
    tmp_path: Path, made: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = histories.write(tmp_path / "runs", histories.pair(1, False, "2.12.0"))
    out = tmp_path / "out"
    if made in ("file", "below a file"):
        out.write_text("mine")
    else:
        out.mkdir()
        (out / "index.html").write_text("mine")
    if made == "own":
        (out / ".dlbench-site").write_text("made\n")
    before = sorted(out.iterdir()) if out.is_dir() else []
    place = out / "site" if made == "below a file" else out
    assert cli.main(["site", *runs, "--out", str(place)]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert why in line
    assert (out if out.is_file() else out / "index.html").read_text() == "mine"
    assert (sorted(out.iterdir()) if out.is_dir() else []) == before


def of_schema(document: dict[str, Any], number: int) -> dict[str, Any]:
    document["context"]["dlbench"]["schema"] = number
    return document


@pytest.mark.parametrize(
    ("document", "why"),
    [
        (of_schema(histories.pair(1, False, "2.12.0"), 99), "99"),
        (samples.document(), "has no cells"),
        ({"context": {}}, "context"),
    ],
)
def test_a_document_that_cannot_be_shown_is_named(
    tmp_path: Path, document: dict[str, Any], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = histories.write(tmp_path / "runs", document)
    assert cli.main(["site", *runs, "--out", str(tmp_path / "site")]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert "results.json" in line
    assert why in line
    assert not (tmp_path / "site").exists()


def test_a_folder_without_records_is_no_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    words = ["site", str(tmp_path / "empty"), "--out", str(tmp_path / "site")]
    assert cli.main(words) == 2
    assert "holds neither results.json nor journal.jsonl" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[report]\nx = 1", "expected tables"),
        ("[[reports]]\nx = 1", "unknown 'reports'; allowed: tables [[report]]"),
        ('[[report]]\nlibrary = "a"', "report 1: no 'version'"),
        ('[[report]]\nlibrary = 1', "report 1: expected a table of texts"),
        ('[[report]]\nlink = "a"', "unknown key 'link'; allowed: library, version"),
        ('[[report]]\nlibrary = "a"\nversion = "1"\ntext = "t"\nurl = "javascript:x"', "https://"),
        ('[[report]]\nlibrary = "a"\nversion = "1"\ntext = "t"\nurl = "https://a"\nrole = "x"',
         "allowed: producer, consumer"),
        ("[[report", "cannot read"),
    ],
)  # fmt: skip
def test_a_file_of_reports_that_is_none_is_refused(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "reports.toml"
    path.write_text(text)
    with pytest.raises(BadInput, match=re.escape(why)):
        known_reports.of(str(path))


def test_the_rules_of_a_checked_library_are_on_its_page(tmp_path: Path) -> None:
    made = histories.pair(1, False, "2.12.0")
    rule = {
        "library": "numpy",
        "version": "2.4.6",
        "role": "producer",
        "level": "must",
        "reproducer": "",
        "accepted": False,
    }
    made["checks"] = [
        {**rule, "rule": "export.copy", "section": "copy", "outcome": "broken",
         "observed": "a view", "issue": "https://example.org/7"},
        {**rule, "rule": "export.stream", "section": "stream", "outcome": "holds", "observed": ""},
    ]  # fmt: skip
    out = built(tmp_path, made)
    page = (out / "library/numpy.html").read_text()
    assert "1 broken, 1 kept, 0 without a verdict" in page
    assert 'href="https://example.org/7"' in page
    assert "Not checked" in (out / "library/torch.html").read_text()
