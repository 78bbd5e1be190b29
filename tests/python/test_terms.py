"""The project uses one word for each concept: old words must not come back."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXT = {".cpp", ".hpp", ".py", ".pyi", ".md", ".json", ".toml", ".cmake", ".in", ".js", ".html",
        ".css", ".yml", ".txt", ""}  # fmt: skip
FOLDERS = ("harness", "producers", "consumers", "results", "plots", "benchmarks", "cmake", "docs",
           "tests", ".github", ".ci")  # fmt: skip

#: The old word, as a part of an identifier or a word of a sentence, and the term for it.
OLD = {
    "saboteur": "fault-injecting adapter, faulty:FAULT",
    "couple": "pair",
    "relay": "proxy",
    "relayed": "proxied",
    "tap": "recorder, recording proxy",
    "tapped": "recorded",
    "tape": "recording",
    "rung": "case of a sweep",
    "ladder": "case sweep",
    "crew": "workers",
    "bill": "instruction breakdown",
    "loan": "borrowed tensor",
    "lent": "exported",
    "crossing": "exchange",
    "handover": "exchange, ordering",
    "handoff": "transfer",
    "anchor": "reference exchange",
    "peeked": "few-pages-read",
    "owed": "required",
}
OLD_PHRASES = {
    "stand-in": "replaying proxy",
    "in turns": "interleaved",
    "who waits": "synchronization",
    "could_see": "minimum_detectable_change",
    "at_hand": "current",
}
#: Words for people: a library, a stream or a process is named instead. Each has its plain form.
PEOPLE = {
    "nobody": "nothing, no library, not read by anything",
    "somebody": "another library, other code",
    "who": "which library, a worker that",
    "whoever": "a library that, a process that",
    "whom": "which library",
    "told": "reported, shown, known, distinguished",
    "said": "reported, the message of",
    "lender": "producer, exporter",
    "lend": "export",
    "lends": "exports",
    "lending": "exporting",
}
#: Where sentences may still have such words; identifiers may not.
NOT_PLAIN = ("tests/", "LICENSE", "docs/site/sample/")
#: Parts of no identifier of a Python file, tests included.
IDENTIFIERS = {*PEOPLE, "asked"}
#: Where a word has another meaning, and which.
ALLOWED = {
    "anchor": {
        "mkdocs.yml": "mkdocs checks the anchors of links",
        "plots/fallbacks.py": "matplotlib's rotation_mode",
        "plots/matrix.py": "matplotlib's rotation_mode",
        "plots/scaling_panel.py": "matplotlib's rotation_mode",
        "tests/python/browser.py": "the anchor of an address",
        "tests/python/conftest.py": "the anchor of an address",
        "tests/python/test_docs.py": "the anchor of an address",
        "tests/python/test_report.py": "the anchor of an address",
        "tests/python/test_report_cells.py": "the anchor of an address",
        "tests/python/test_report_state.py": "the anchor of an address",
    },
}
#: Parts of no name of a class or function outside the tests: libraries and data are not people.
VERBS = {"ask", "asks", "complaint", "conduct", "give", "gives", "giver", "hand", "handed", "know",
         "knows", "look", "looks", "misdeed", "say", "says", "see", "sees", "seen", "saw",
         "suspicion", "take", "takes", "taker", "tell", "tells", "trouble", "want", "wants",
         "witness"}  # fmt: skip
#: A class, or a function with its parameters, in C++ without comments and strings.
CPP_NAME = re.compile(r"\b(?:struct|class)\s+(\w+)|^[\w:<>,&*\s\[\]]*?[\s&*](\w+)\(", re.MULTILINE)
PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def sources() -> list[Path]:
    """The text files of the project's own folders, and those beside them."""
    paths = [path for path in ROOT.iterdir() if path.is_file()]
    for name in FOLDERS:
        paths += (ROOT / name).rglob("*")
    return sorted(
        path
        for path in paths
        if path.suffix in TEXT and path.is_file() and "__pycache__" not in path.parts
    )


def old_words(name: str, text: str) -> Iterator[str]:
    """ "NAME:LINE: 'old'; say 'term'" for each old word."""
    for number, line in enumerate(text.splitlines(), 1):
        words = {part.lower() for part in PARTS.findall(line)}
        found = [
            old
            for old in OLD
            if not words.isdisjoint({old, f"{old}s"}) and name not in ALLOWED.get(old, {})
        ]
        found += [old for old in OLD_PHRASES if re.search(rf"\b{old}\b", line.lower())]
        found += [old for old in PEOPLE if old in words and not name.startswith(NOT_PLAIN)]
        for old in found:
            yield f"{name}:{number}: {old!r}; say {({**OLD, **OLD_PHRASES, **PEOPLE})[old]!r}"


def identifiers(text: str) -> Iterator[tuple[int, str]]:
    """Line and name of each identifier of a Python file."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NAME:
            yield token.start[0], token.string


def words_for_people(name: str, text: str) -> Iterator[str]:
    """ "NAME:LINE: 'who_copies'" for each identifier with such a part."""
    for line, identifier in identifiers(text):
        if not IDENTIFIERS.isdisjoint(part.lower() for part in PARTS.findall(identifier)):
            yield f"{name}:{line}: {identifier!r}"


def test_no_identifier_is_a_word_for_people() -> None:
    found = []
    for path in sources():
        if path.suffix in (".py", ".pyi"):
            found += words_for_people(str(path.relative_to(ROOT)), path.read_text())
    assert found == []


@pytest.mark.parametrize("line", ["told = 1", "def who_copies(): pass", "class AskedTwice: pass"])
def test_a_word_for_people_is_found_in_an_identifier(line: str) -> None:
    assert list(words_for_people("tests/x.py", line))
    assert not list(words_for_people("tests/x.py", '"told"  # who asked'))


def names(text: str, is_python: bool) -> Iterator[str]:
    """The classes and functions that a file defines, and functions that a statement calls first."""
    if is_python:
        kinds = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        yield from (node.name for node in ast.walk(ast.parse(text)) if isinstance(node, kinds))
    else:
        code = re.sub(r'//[^\n]*|"(?:\\.|[^"\\])*"', "", text)
        yield from (found[1] or found[2] for found in CPP_NAME.finditer(code))


def verbs_for_people(text: str, is_python: bool) -> list[str]:
    return [
        name
        for name in names(text, is_python)
        if not VERBS.isdisjoint(part.lower() for part in PARTS.findall(name))
    ]


def test_no_function_is_named_as_if_a_library_were_a_person() -> None:
    folders = ("tests/", "benchmarks/", "docs/")
    found = {}
    for path in sources():
        name = str(path.relative_to(ROOT))
        if path.suffix in (".py", ".cpp", ".hpp") and not name.startswith(folders):
            found[name] = verbs_for_people(path.read_text(), path.suffix == ".py")
    assert len(found) > 300
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


@pytest.mark.parametrize(
    ("text", "is_python"),
    [
        ("def ask_library(): pass", True),
        ("class KnowsAll: pass", True),
        ("  PyObject* give(PyObject* name);", False),
        ("struct Witness {", False),
        ("void look_at(int x) {", False),
    ],
)
def test_a_name_for_people_is_found(text: str, is_python: bool) -> None:
    assert verbs_for_people(text, is_python)
    assert not verbs_for_people(f"# {text}" if is_python else f"// {text}", is_python)


def test_no_old_word_is_used() -> None:
    found = []
    assert len(sources()) > 500
    for path in sources():
        name = str(path.relative_to(ROOT))
        if name != "tests/python/test_terms.py":
            found += old_words(name, path.read_text(encoding="utf-8", errors="replace"))
    assert found == []


@pytest.mark.parametrize(
    "line",
    [
        "class CoupleRun:",
        "RELAYED = 1",
        "the saboteur's fault",
        "with two anchors",
        "recordTape(x)",
        "both sides are measured in turns",
        '"could_see": 1',
        "a page that nobody reads",
        "class Lender:",
        "a library that told nothing",
        "whoever is last",
    ],
)
def test_an_old_word_is_found(line: str) -> None:
    assert list(old_words("docs/x.md", line))


@pytest.mark.parametrize(
    "line", ["std::tuple_element", "silent", "an allowed word", "a billion", "borrowed", "staple"]
)
def test_a_part_of_another_word_is_none(line: str) -> None:
    assert not list(old_words("docs/x.md", line))
