"""What a child of `check` writes, message by message; see `child`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dlbench.check.rule import OUTCOMES
from dlbench.check.subject import LOOKED_AT
from dlbench.child_output import Garbage, Lines, message, shown
from dlbench.escaping import shortened

#: What a result may say besides: what a consumer was lent, and which array was looked at.
WORDS = {"struct": ("legacy", "versioned"), "source": LOOKED_AT}


class Wire:
    """Takes the messages in the order in which a child has to send them, for rules by name."""

    def __init__(self, rules: Sequence[str]) -> None:
        self.version: str | None = None  #: of the library, once it is loaded
        self.failed = ""  #: why it was not
        self.results: list[dict[str, str]] = []
        self.begun = False  #: the rule behind the results
        self.ended = False
        self._rules = rules
        self._lines = Lines()

    def add(self, chunk: bytes) -> bool:
        """Whether it completed a message. Raises Garbage for what is none, or not the next one."""
        complete = False
        for line in self._lines.add(chunk):
            if not self._take(message(line)):
                raise Garbage(f"not the next message: {shown(line)}")
            complete = True
        return complete

    def _take(self, found: dict[str, Any]) -> bool:
        if self.failed or self.ended:
            return False
        if self.version is None:
            return self._take_start(found)
        if len(self.results) == len(self._rules):
            self.ended = found == {"end": True}
            return self.ended
        name = self._rules[len(self.results)]
        if self.begun:
            return self._take_result(found, name)
        self.begun = found == {"begin": name}
        return self.begun

    def _take_start(self, found: dict[str, Any]) -> bool:
        match found:
            case {"loaded": str(version), **rest} if not rest:
                self.version = shortened(version)
            case {"failed": str(why), **rest} if why and not rest:
                self.failed = why
            case _:
                return False
        return True

    def _take_result(self, found: dict[str, Any], name: str) -> bool:
        match found:
            case {"rule": str(rule), "outcome": str(outcome), "seen": str(), **rest}:
                known = rule == name and outcome in OUTCOMES
            case _:
                return False
        if not known or rest.keys() - WORDS.keys():
            return False
        if not all(rest.get(key, words[0]) in words for key, words in WORDS.items()):
            return False
        self.results.append(found)
        self.begun = False
        return True
