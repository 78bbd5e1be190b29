"""Makes foreign text safe for its destination: text of a library, a document, or the system.

Such text may hold anything. Invisible characters are spelled out (`\x1b`, `\u202e`), and what the
reader of a format would interpret is escaped. All terminal output goes through `output`.
"""

from __future__ import annotations

import json
import re
import shlex
from typing import Any

#: Characters of one text that are kept when it is read: a version, the text of an exception.
LONGEST_TEXT = 1000
#: Characters of one line on the terminal, of one comment, and of one text of a figure.
LONGEST_LINE = 8000
#: Invisible although str.isprintable() is true: fillers, joiners, selectors.
HIDDEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
                    "\U000e0100-\U000e01ef]")  # fmt: skip
#: Text that a CI's log interprets as a command, anywhere in a line or at its beginning.
CI_MARK = re.compile(r"(?<=#)#(?=\w*\[)")
CI_COMMAND = re.compile(rf"{CI_MARK.pattern}|^(\s*):(?=:)")
#: At the beginning of a cell a spreadsheet interprets these as a formula.
FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
#: GitHub turns @NAME into a mention and #1 into a link wherever the rendered text has them.
MARKDOWN = re.compile(
    r"[&<\\|`*_\[~$]|@(?=\w)|#(?=\d)"  # HTML, tables, code, emphasis, links, formulas, mentions
    r"|(?<=:)/(?=/)|(?<=\bwww)\."  # addresses that become links by themselves
    r"|^\s*(?:[#>+=-](?=\s|[#>+=-])|\d+[.)](?=\s))"  # headings, quotes, lists, rules
)
ENTITIES = {"&": "&amp;", "<": "&lt;", "$": "&#36;", "@": "@&#8203;", "#": "#&#8203;"}
ENTITIES |= {"/": "&#8203;/", ".": "&#8203;."}

#: In JSON: an escape, of which group 1 is an invisible one, or a character beyond ASCII's.
JSON_LETTER = re.compile(r"\\(?:([rtbf]|u[0-9a-f]{4})|.)|[^\x20-\x7e\n]")


def is_printable(text: str) -> bool:
    """Is every character visible?"""
    return text.isprintable() and (text.isascii() or HIDDEN.search(text) is None)


def printable(text: str, longest: int = LONGEST_LINE) -> str:
    """One line of visible characters, cut to the given length."""
    text = shortened(text, longest)
    if is_printable(text):
        return text
    return "".join(c if is_printable(c) else ascii(c)[1:-1] for c in text)


def printable_lines(text: str, longest: int = LONGEST_LINE) -> str:
    """The same for a text of several lines; its line feeds are kept."""
    return "\n".join(printable(line, longest) for line in text.split("\n"))


def shortened(text: str, longest: int = LONGEST_TEXT) -> str:
    """The text, cut with an ellipsis if it has more characters than that."""
    return text if len(text) <= longest else text[: longest - 3] + "..."


def log_line(text: str) -> str:
    """printable(), and no command to a CI that reads its jobs' output: `::error::`, `##[group]`."""
    line = printable(text)
    return CI_COMMAND.sub(lambda found: (found[1] or "") + ascii_code(found[0][-1]), line)


def ascii_code(letter: str) -> str:
    """ ":" -> "\\x3a"."""
    return f"\\x{ord(letter):02x}"


def comment(text: str) -> str:
    """One comment line of a Python script: the text cannot end it."""
    return f"# {log_line(text)}"


def dlbench_command(*words: object) -> str:
    """A command line of dlbench that a shell splits into these words again."""
    return shell_words("dlbench", *words)


def shell_words(*words: object) -> str:
    """The words as a shell reads them."""
    return shlex.join(map(str, words))


def csv_cell(text: str) -> str:
    """A text that no spreadsheet interprets as a formula; its line feeds stay."""
    cell = "\n".join(map(log_line, text.split("\n")))
    return f"'{cell}" if cell.lstrip().startswith(FORMULA) else cell


def markdown(text: str) -> str:
    """One line that Markdown shows literally: no link, image, mention, formula, HTML or table."""
    return MARKDOWN.sub(_escaped_in_markdown, log_line(text))


def _escaped_in_markdown(found: re.Match[str]) -> str:
    mark = found[0]
    if found.start() == 0 and (len(mark.strip()) > 1 or mark.strip() in "#>+=-"):
        return f"{mark[:-1]}\\{mark[-1]}"
    return ENTITIES.get(mark, f"\\{mark}")


def code_names(text: str) -> str:
    """Text of the program's own as Markdown: names with underscores are code spans."""
    return re.sub(r"(?<![`\w])(\w*__?\w+(?:\(\))?)(?![`\w])", r"`\1`", " ".join(text.split()))


def markdown_code(text: str) -> str:
    """The same as a code span, in which nothing but its end and a table's is special."""
    return "`" + log_line(text).replace("`", "'").replace("|", "\\|") + "`"


def json_text(value: Any, **options: Any) -> str:
    """JSON whose texts hold no hidden character: control characters are JSON's own escapes, the
    others are spelled as printable() spells them."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, **options)
    return CI_MARK.sub(r"\\u0023", JSON_LETTER.sub(_escape_for_json, text))


def _escape_for_json(found: re.Match[str]) -> str:
    letter = found[0]
    if letter.startswith("\\"):
        return f"\\{letter}" if found[1] else letter
    return letter if is_printable(letter) else f"\\{ascii(letter)[1:-1]}"
