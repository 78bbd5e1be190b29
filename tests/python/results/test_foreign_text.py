"""Text of a library, a document or the system is shown, and never executed."""

from __future__ import annotations

import ast
import base64
import csv
import gzip
import io
import json
import re
import shlex
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest

import planted
import samples
from dlbench import _core, cli, exporters, findings
from dlbench.check import conformance, pytest_plugin, section
from dlbench.check import script as reproducer
from dlbench.check.rules import RULES
from dlbench.check.runner import Library
from dlbench.errors import BadInput
from dlbench.libraries.discover import catalogue
from dlbench.plots.report import packing
from dlbench.scripts import exchange as repro
from dlbench.terminal import terminal
from dlbench.text import output
from typed import doc, entry_of

pytestmark = pytest.mark.process

#: Live code where a comment ends too early; the rest is what terminals, CI, shells, browsers,
#: spreadsheets, Markdown and figures read as more than text.
LIVE = "import os; os._exit(97)"
MARKS = (
    "=1+1 \u202e\u2066\u200b\u3164\ufe0f\u2028\U000e0041 [red]x[/nothing] :smile: $x_{$ </script>"
    "<img src=x onerror=alert(1)> ##[error] ##vso[task.x] ![x](http://x.example/y)"
    " [y](javascript:alert) @user #1 $(id) `id` 'q' \"d\" | \\ %{x} {0} coding: unicode_escape"
)
NASTY = f"::error::x\n{LIVE}\n::warning::y \x1b[2J\x1b]52;c;aWQ=\x07\x9b8m\x7f\r\t{MARKS}"
#: What a name of a cell's axis may hold.
NAME = MARKS.replace("/", "").replace("[red]", f"[red]{'n' * 3000}")


def hidden(text: str) -> list[str]:
    """The invisible characters of a text, except for line feeds."""
    return [c for c in text if c != "\n" and (
        unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
        or c in "\u3164\ufe0f")]  # fmt: skip


def assert_harmless(text: str) -> None:
    assert not hidden(text), hidden(text)[:9]
    for line in text.splitlines():
        assert not line.lstrip().startswith("::"), line[:200]
        assert not re.search(r"##\w*\[", line), line[:200]


def strings(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places of all texts below a value."""
    if isinstance(value, str):
        yield path
    elif isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, part in list(items):
            yield from strings(part, (*path, key))


def texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from texts(part)
        yield from value if isinstance(value, dict) else ()


def plant(document: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The document with NASTY in each text in which a document may hold it."""
    path, planted_in = folder / "probe.json", 0
    for place in strings(document):
        *above, last = place
        parent: Any = document
        for key in above:
            parent = parent[key]
        was, parent[last] = parent[last], NASTY
        path.write_text(json.dumps(document))
        try:
            _core.validate_document(str(path))
            planted_in += 1
        except _core.UsageError:
            parent[last] = was
    path.unlink()
    assert planted_in > 40
    return document


def clean() -> dict[str, Any]:
    """Each kind of cell, two environments, findings of each kind."""
    # The worker, phases and synchronization have texts of their own.
    phases = {"via": "direct", "exchange_ns": 900.0,
              "parts": [{"phase": "export", "what": "x", "ns": 500.0}]}  # fmt: skip
    reported = {"unexplained_ns": 400.0, "unexplained_lo_ns": 300.0, "unexplained_hi_ns": 500.0}
    document = samples.document(
        samples.measured("numpy", "numpy", 112.4, phases=phases,
                         warnings=[samples.warned("drift", "x")], **reported),
        samples.measured("bytearray", "numpy", 940.0, outcome="copy", copied_by="consumer",
                         gb_per_s=2.2, changed=["x"], protocol="buffer"),
        samples.measured("numpy", NAME, 940.0, changed=["mask"]),
        samples.measured(NAME, "numpy", 50.0, environment=NAME),
        samples.measured("numpy", "numpy", 60.0, environment=NAME),
        samples.missing(NAME, NAME, "refused", "x", exception="X"),
        samples.missing("numpy", "numpy", "crashed", "x", protocol="convert", signal="X",
                        stderr_tail="a\nb"),
        samples.missing("numpy", "numpy", "import-failed", "x", protocol="buffer"),
        not_installed={"cupy": "x"},
    )  # fmt: skip
    about = document["context"]["dlbench"]
    own = about["environments"]["default"]
    about["environments"][NAME] = {**own, "executable": "x", "libraries": {"numpy": "1", NAME: "2"}}
    own["libraries"] |= {NAME: "3"}
    about["request"]["env"] = ["x"]
    return document


BEFORE = "before.json"  #: another run with the same texts


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A run as it was, and the same with NASTY in it; both with `;` and a space in their paths."""
    made = []
    for name in ("clean", "nasty; $(id)"):
        folder = tmp_path_factory.mktemp("runs") / name
        folder.mkdir()
        document = clean() if name == "clean" else plant(clean(), folder)
        (folder / "results.json").write_text(json.dumps(document))
        document["context"]["dlbench"]["wall_s"] += 1.0
        (folder / BEFORE).write_text(json.dumps(document))
        made.append(folder)
    return made[0], made[1]


CELLS = (("numpy", "numpy"), ("bytearray", "numpy"), ("numpy", "numpy", "convert"),
         ("numpy", NAME), (NAME, NAME))  # fmt: skip


@pytest.mark.parametrize(
    "words",
    [
        ("show", "RUN"),
        *(("show", "RUN", *cell) for cell in CELLS),
        ("show", "RUN", "numpy", "numpy", "default"),
        ("compare", "BASE", "RUN", "--all", "--force"),
        ("compare", "BASE", "RUN", "--json", "--force"),
        *(("export", "RUN", "--format", name) for name in exporters.FORMATS),
        ("export", "RUN", "--format", "markdown", "--base", "BEFORE"),
        ("merge", "RUN", "BASE", "--out", "MERGED"),
        ("show", "RUN", "no\x1b[2J\u202e", "numpy"),
        ("show", "no\x1b[2J\u202erun"),
        ("export", "RUN", "--format", "x\x1b[2J"),
    ],
    ids=lambda words: "-".join(word for word in words if word.isascii())[:60],
)
def test_no_verb_lets_it_through(
    words: tuple[str, ...],
    folders: tuple[Path, Path],
    tmp_path: Path,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    before = str(folders[1] / BEFORE)
    places = {
        "BASE": str(folders[0]),
        "BEFORE": before,
        "RUN": str(folders[1]),
        "MERGED": str(tmp_path / "merged"),
    }
    status = cli.main([places.get(word, word) for word in words])
    out, err = (text.decode() for text in capfdbinary.readouterr())
    assert status in range(4)
    assert out or err
    assert status == 0 or words[0] != "export" or "x\x1b[2J" in words
    assert_harmless(out)
    assert_harmless(err)
    if "csv" in words:
        for row in csv.reader(io.StringIO(out)):
            assert not [cell for cell in row if cell.lstrip().startswith(("=", "@", "+"))]
    if words[-1] in ("bmf", "pyperf"):
        assert not hidden("".join(texts(json.loads(out))))
    if "markdown" in words or "support" in words:
        shown = re.sub("```sh\n[^\n]*\n```", "", out).replace("``", "")
        assert "<img" not in shown
        assert not re.search(r"(?<!\\)\[[xy]\]\(", shown)
        assert not re.search(r"@user|(?<![&])#1|(?<!\\)`id", shown)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_what_a_stream_cannot_encode_is_spelled_out(
    encoding: str, folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    streams = [io.TextIOWrapper(io.BytesIO(), encoding=encoding) for _ in range(2)]
    monkeypatch.setattr(sys, "stdout", streams[0])
    monkeypatch.setattr(sys, "stderr", streams[1])
    assert cli.main(["show", str(folders[1])]) == 0
    assert cli.main(["show", "\u03b1\udce9"]) == 2
    streams[0].flush()
    streams[1].flush()
    assert_harmless(streams[0].buffer.getvalue().decode(encoding))  # type: ignore[attr-defined]
    message = streams[1].buffer.getvalue().decode(encoding)  # type: ignore[attr-defined]
    assert "\\u03b1\\udce9" in message


def cells(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Those of libraries whose adapters are here."""
    for entry in [*document["benchmarks"], *document["not_measured"]]:
        if {entry["producer"], entry["consumer"]} <= {"numpy", "bytearray"}:
            yield entry


def code_of(script: str) -> str:
    """What Python runs of the file: its first lines may name an encoding of its bytes."""
    return ast.dump(compile(script.encode(), "script", "exec", ast.PyCF_ONLY_AST))


def test_a_script_runs_what_that_of_a_clean_document_runs(folders: tuple[Path, Path]) -> None:
    documents = [json.loads((folder / "results.json").read_text()) for folder in folders]
    found = catalogue()
    pairs = list(zip(*map(cells, documents), strict=True))
    assert len(pairs) == 5
    for before, after in pairs:
        scripts = [
            repro.of_run(doc(document), entry_of(entry), found)
            for document, entry in zip(documents, (before, after), strict=True)
        ]
        assert_harmless(scripts[1])
        assert LIVE in scripts[1]
        assert code_of(scripts[0]) == code_of(scripts[1])


@pytest.mark.parametrize("device", ["cuda:0); import os; os._exit(97)", "cuda:x"])
def test_a_device_is_no_code(device: str) -> None:
    entry = entry_of(samples.missing("native", "native", "race", "why", device=device))
    with pytest.raises(BadInput, match="the cell's device is"):
        repro.script(entry, catalogue(), {})


def test_a_check_lets_nothing_through(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    path = catalogue().files["numpy"]["producer"].path
    library = Library("numpy", path, path)
    rules = [rule for rule in RULES.by_name.values() if rule.role == "producer" and rule.lines]
    clean_, nasty = (
        [reproducer.script(rule, text, path, "numpy", text) for rule in rules]
        for text in ("x", f"{NASTY}\udce9")
    )
    for before, after in zip(clean_, nasty, strict=True):
        assert_harmless(after)
        assert code_of(before) == code_of(after)

    entry = {"library": "numpy", "version": NASTY, "rule": rules[0].name, "role": "producer",
             "device": NAME, "level": "must", "section": "x", "outcome": "broken",
             "observed": NASTY, "issue": "javascript://x(y)", "accepted": False}  # fmt: skip
    document = section.document(
        [entry, {**entry, "outcome": "unclear"}], ["dlbench", "check", NASTY], 1.0
    )
    page = conformance.text(doc(document))
    assert_harmless(page)
    page = re.sub("by `[^`]*`", "", page)
    assert not re.search(r"(?<!\\)\[[xy]\]\(|discussed\]\(java|@user|<img", page)
    assert library.name in page

    from dlbench.check import table, verb

    console = verb.Console()
    for lines in table.of_document(doc(document), console.width):
        verb.print_lines(lines, console)
    assert_harmless(capfdbinary.readouterr().out.decode())
    checked = SimpleNamespace(hold=lambda _: ("broken", NASTY), script=lambda _, text: text)
    item: Any = SimpleNamespace(rule=rules[0], checked=checked)
    with pytest.raises(pytest_plugin.RuleBroken) as raised:
        pytest_plugin.RuleItem.runtest(item)
    assert_harmless(str(raised.value))


def test_commands_name_what_they_mean(folders: tuple[Path, Path]) -> None:
    document = json.loads((folders[1] / "results.json").read_text())
    run_ = str(folders[1])
    commands = [found.command for found in findings.find(doc(document), run_) if found.command]
    split = [shlex.split(command) for command in commands]
    assert all(words[0] == "dlbench" for words in split)
    named = [words for words in split if words[1] in ("show", "repro", "explain")]
    assert all(words[2] == run_ for words in named)
    assert [words for words in named if NAME in words[3:]]


def test_half_a_surrogate_pair_reaches_no_encoder(folders: tuple[Path, Path]) -> None:
    document = json.loads((folders[1] / "results.json").read_text())
    for place in strings(document):
        *above, last = place
        parent = document
        for key in above:
            parent = parent[key]
        if NASTY in parent[last]:
            parent[last] = "caf\udce9\ud83d"
    for name in exporters.FORMATS:
        assert exporters.export(doc(document), name).encode()
    for line in terminal.render(doc(document), 100):
        str(output.one_line(line)).encode()
    for entry in cells(document):
        repro.of_run(doc(document), entry_of(entry), catalogue()).encode()
    assert packing.packed(document)


def test_figures_and_report(folders: tuple[Path, Path]) -> None:
    pytest.importorskip("jinja2")
    folder = folders[1]
    assert cli.main(["plot", str(folder)]) == 0
    assert cli.main(["plot", str(folder), "--base", str(folder / BEFORE)]) == 0
    figures = list(folder.glob("*.svg"))
    assert len(figures) >= 4
    for path in figures:
        ElementTree.parse(path)
        assert_harmless(path.read_text())
    assert cli.main(["report", str(folder)]) == 0
    page = (folder / "report.html").read_text()
    assert not hidden(page)
    blobs = re.findall(r'<script type="text/plain" id="(index|cells)[^"]*">([^<]*)<', page)
    assert len(blobs) >= 2
    for _, blob in blobs:
        text = gzip.decompress(base64.b64decode(blob)).decode()
        assert not hidden("".join(texts(json.loads(text))))
    visible = re.sub(r"<script.*?</script>|<style.*?</style>", "", page, flags=re.S)
    assert "<img" not in visible


def test_adapters_and_what_they_say(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    adapters = planted.plant(tmp_path / "adapters")
    source = (
        "VERSION = {0!r} + 'v' * 300_000\nDISTRIBUTION = None\n"
        "Odd = type({0!r} + 'n' * 300_000, (Exception,), {{}})\n"
        "def make(case, device):\n    raise Odd({0!r} + '\\udce9' + 'e' * 300_000)\n"
    ).format(NASTY.replace("\0", ""))
    (adapters / "producers" / "odd.py").write_text(source)
    folder = tmp_path / "run"
    status = cli.main(
        ["odd", "numpy", "--adapters", str(adapters), "--out", str(folder), "--budget", "0.2s"]
    )
    out, err = (text.decode() for text in capfdbinary.readouterr())
    assert status in (0, 2), err
    assert_harmless(out)
    assert_harmless(err)
    for name in ("journal.jsonl", "results.json"):
        assert not hidden((folder / name).read_text())
    document = json.loads((folder / "results.json").read_text())
    assert max(map(len, texts(document))) < 5000
    assert cli.main(["check", "odd", "--adapters", str(adapters), "--only", "export.capsule",
                     "--out", str(tmp_path / "check")]) in (0, 1, 2)  # fmt: skip
    assert_harmless("".join(text.decode() for text in capfdbinary.readouterr()))
