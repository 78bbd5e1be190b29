"""`dlbench list`: the libraries, what each gives and takes, and how to get the absent ones."""

from __future__ import annotations

import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from rich.text import Text

from dlbench import _core, worker_requests
from dlbench.environments.environment import Environment
from dlbench.libraries import arguments, discover
from dlbench.supervisor import RequestFailed, Worker, worker_command
from dlbench.text.layout import columns, fold, shorten

LIMIT_S = 60
NOTHING = "nothing"


def by_argument(found: discover.Catalogue, width: int) -> list[Text]:
    """The hidden libraries: how they are written, and with which arguments."""
    lines: list[str] = []
    for name, roles in sorted(found.files.items()):
        if not any(file.hidden for file in roles.values()):
            continue
        for role, file in roles.items():
            words = [f"{word}," for word in arguments.spelled(file.arguments)]
            head = f"{role} {name}:ARGUMENT, one of"
            lines += fold([head, *words[:-1], words[-1].rstrip(",")], width, gap=" ")
    return [Text(line) for line in ["", *lines]] if lines else []


def title(place: Environment, width: int) -> list[Text]:
    """Which environment the lines below it are of."""
    parts = [place.name, *([f"Python {place.version}"] if place.version else []), place.python]
    parts += [f"{place.failure.outcome}: {place.failure.reason}"] if place.failure else []
    gap = [] if place.is_default else [Text()]
    return gap + [Text(line, style="bold") for line in fold(parts, width, gap="   ")]


@dataclass(frozen=True)
class Offer:
    """What an array of a library gives, or why there is none; and what NumPy's functions make of
    it, by function: "kept", or the type that comes out and what is lost."""

    gives: str
    exports: tuple[str, ...] = ()  #: by calls of the library's own
    dispatch: Mapping[str, str] = field(default_factory=dict)

    def describe(self) -> str:
        """What a consumer may ask for, and what only a call of the library's own gives."""
        if not self.exports:
            return self.gives
        own = f"by a call of its own {' '.join(self.exports)}"
        return own if self.gives == NOTHING else f"{self.gives}; {own}"

    def under_numpy(self) -> str:
        """The same answer once."""
        if len(set(self.dispatch.values())) == 1:
            names = " and ".join(f"np.{name}" for name in self.dispatch)
            return f"{names}: {next(iter(self.dispatch.values()))}"
        return "; ".join(f"np.{name}: {found}" for name, found in self.dispatch.items())


def offers(library: _core.Library, place: Environment) -> Offer:
    """Asked of an array in a process of its own."""
    if not library.producer_path:
        return Offer(NOTHING)
    where = library.devices[0]
    if where != "cpu" and ":" not in where:
        where += ":0"
    case = _core.case("f32")
    request = {"do": "offers", "library": library.name, "device": where, "case": case}
    try:
        with Worker(worker_command(place), LIMIT_S) as worker:
            for role, path in (
                ("producer", library.producer_path),
                ("consumer", library.consumer_path),
            ):
                if path:
                    worker.ask(worker_requests.load(role, library.name, path))
            return _offer(worker.ask(request))
    except RequestFailed as failure:
        return Offer(f"{failure.outcome}: {failure}" if failure.outcome else str(failure))


def _offer(answer: dict[str, Any]) -> Offer:
    match answer:
        case {"protocols": list(protocols), "exports": list(exports), "dispatch": dict(dispatch)}:
            gives = " ".join(map(str, protocols)) or NOTHING
            kept = {str(name): str(found) for name, found in dispatch.items()}
            return Offer(gives, tuple(map(str, exports)), kept)
    return Offer("crashed: an answer without what was asked")


def table(libraries: list[_core.Library], place: Environment, width: int) -> list[Text]:
    """The installed libraries first, the absent ones with how to get them."""
    if place.failure is not None:
        return []
    ordered = sorted(libraries, key=lambda one: (not one.installed, one.name))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        installed = [one for one in ordered if one.installed]
        given = list(pool.map(lambda one: offers(one, place), installed))
    rows = [("library", "version", "devices", "")]
    for one, offer in zip(ordered, given, strict=False):
        rows.append(
            (one.name, one.version or "-", " ".join(one.devices), f"gives  {offer.describe()}")
        )
        rows.append(("", "", "", f"takes  {' '.join(one.protocols) or 'nothing'}"))
        if offer.dispatch:
            rows.append(("", "", "", f"under  {offer.under_numpy()}"))
    rows += [(one.name, "absent", "", one.why_not) for one in ordered[len(given) :]]
    lines = columns(rows)
    shown = [Text(shorten(lines[0], width), style="bold")]
    # The last column is to be read or typed whole.
    return shown + [Text(line) for line in lines[1:]]
