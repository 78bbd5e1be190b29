"""`dlbench list`: the libraries, their exports and imports, and how to install the absent ones."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.cells import cell_len
from rich.text import Text

from dlbench import _core, worker_requests
from dlbench.environments.environment import Environment
from dlbench.libraries import arguments, cache, discover
from dlbench.libraries.facts import read_adapter
from dlbench.supervisor import RequestFailed, Worker, worker_command
from dlbench.text.escaping import dlbench_command
from dlbench.text.layout import columns, fold, listing, pad, shorten, wrap

HEAD = ("library", "version", "devices")
LIMIT_S = 60
OFFERS = "offers"  #: in the cache
NOTHING = "nothing"
NAME = len("exports  ")  #: width of the label of an answer
LEAST_ROOM = 40  #: least columns for an answer, also on a narrower terminal
#: Failures that another import most likely repeats. They are cached for RETRY_S only, because a new
#: driver or system library may repair them.
NOT_IMPORTED = "import-failed"
LASTING = (NOT_IMPORTED, "no-device")
RETRY_S = 3600.0


def by_argument(found: discover.Catalogue, width: int) -> list[Text]:
    """The libraries that need an argument, and their arguments."""
    lines: list[str] = []
    for name, roles in sorted(found.files.items()):
        if not any(file.hidden for file in roles.values()):
            continue
        for role, file in roles.items():
            words = [f"{word}," for word in arguments.spelled(file.arguments)]
            head = f"{role} {name}:ARGUMENT, one of"
            lines += fold([head, *words[:-1], words[-1].rstrip(",")], width, gap=" ")
    return [Text(line) for line in ["", *lines]] if lines else []


def further_calls(library: _core.Library) -> list[str]:
    """The keys of its consumer's CALLS; none for a library that is one of them."""
    base, argument = arguments.split(library.name)
    if argument or not library.consumer_path:
        return []
    return list(read_adapter("consumer", base, Path(library.consumer_path)).calls)


def title(place: Environment, width: int) -> list[Text]:
    """The heading of an environment."""
    parts = [place.name, *([f"Python {place.version}"] if place.version else []), place.python]
    parts += [f"{place.failure.outcome}: {place.failure.reason}"] if place.failure else []
    gap = [] if place.is_default else [Text()]
    return gap + [Text(line, style="bold") for line in fold(parts, width, gap="   ")]


@dataclass(frozen=True)
class Offer:
    """The exports of a library's array, or the reason why it has none; by NumPy function, "kept" or
    the result's type and the lost attributes.
    """

    protocols: str  #: of its attributes
    version: str = ""  #: as the adapter reads it where no distribution has one
    exports: tuple[str, ...] = ()  #: by calls of the library's own
    imports: tuple[str, ...] | None = None  #: by calls that this version has; None: not known
    devices: tuple[str, ...] | None = None  #: found by a worker; None: not known
    is_imported: bool = True  #: False: the import failed, so that nothing else is known
    is_old_failure: bool = False  #: cached, not tried by this call
    dispatch: Mapping[str, str] = field(default_factory=dict)

    def describe(self) -> str:
        """The protocols of the array's attributes, and those that only a call of the library
        exports.
        """
        if not self.exports:
            return self.protocols
        own = f"own call: {' '.join(self.exports)}"
        return own if self.protocols == NOTHING else f"{self.protocols}; {own}"

    def under_numpy(self) -> str:
        """The results by function; functions with equal results share a line."""
        if len(set(self.dispatch.values())) == 1:
            names = " and ".join(f"np.{name}" for name in self.dispatch)
            return f"{names}: {next(iter(self.dispatch.values()))}"
        return "; ".join(f"np.{name}: {found}" for name, found in self.dispatch.items())


def offers(library: _core.Library, place: Environment) -> Offer:
    """Reads the exports from an array in a new process."""
    if not library.producer_path:
        return Offer(NOTHING)
    where = library.devices[0]
    if where != "cpu" and ":" not in where:
        where += ":0"
    case = _core.case("f32")
    request = {"do": "offers", "library": library.name, "device": where, "case": case}
    try:
        version = ""
        with Worker(worker_command(place), LIMIT_S) as worker:
            for role, path in (
                ("producer", library.producer_path),
                ("consumer", library.consumer_path),
            ):
                if path:
                    loaded = worker.send_request(worker_requests.load(role, library.name, path))
                    version = loaded.get("version") or version
            answer = worker.send_request(request) | {"version": version}
        offer = _offer(answer)
        cache.write(answer, OFFERS, cache.identity(library, place))
        return offer
    except RequestFailed as failure:
        text = f"{failure.outcome}: {failure}" if failure.outcome else str(failure)
        if failure.outcome == NOT_IMPORTED and "No module named" in text:
            paths = filter(None, (library.producer_path, library.consumer_path))
            text += f"; to install it: {discover.install_command(library.name, paths, place)}"
        if failure.outcome in LASTING:
            failed = {"failure": text, "outcome": failure.outcome, "observed": time.time()}
            cache.write(failed, OFFERS, cache.identity(library, place))
        return Offer(text, is_imported=failure.outcome != NOT_IMPORTED)


def _offer(answer: dict[str, Any]) -> Offer:
    match answer:
        case {"protocols": list(protocols), "exports": list(exports), "dispatch": dict(dispatch),
              "imports": list(imports), "devices": list(devices),
              "version": str(version)}:  # fmt: skip
            own = " ".join(map(str, protocols)) or NOTHING
            kept = {str(name): str(found) for name, found in dispatch.items()}
            calls, where = tuple(map(str, imports)), tuple(map(str, devices))
            return Offer(own, version, tuple(map(str, exports)), calls, where, dispatch=kept)
    raise RequestFailed("an incomplete answer", "crashed")


def known(library: _core.Library, place: Environment, retry: bool = False) -> Offer | None:
    """The cached answer for these versions, or None. With `retry` no failure is returned."""
    if not library.producer_path:
        return Offer(NOTHING)
    kept = cache.read(OFFERS, cache.identity(library, place))
    match kept:
        case {"failure": str(text), "outcome": str(outcome), "observed": float(observed)}:
            if retry or not 0 <= time.time() - observed < RETRY_S:
                return None
            return Offer(text, is_imported=outcome != NOT_IMPORTED, is_old_failure=True)
    try:
        return None if kept is None else _offer(kept)
    except RequestFailed:
        return None


def table(
    libraries: list[_core.Library],
    place: Environment,
    width: int,
    start: Callable[[list[_core.Library]], object] = lambda requested: None,
    progress: Callable[[int, int, str], object] = lambda done, total, name: None,
    retry: bool = False,
) -> Iterator[Text]:
    """The cached libraries, then the others as soon as each is imported, then the absent ones with
    the command that installs them. `start` is called with the libraries that must be imported,
    `progress` before each of them is awaited. With `retry` a cached failure is tried again."""
    if place.failure is not None:
        return
    installed = sorted((one for one in libraries if one.installed), key=lambda one: one.name)
    absent = sorted((one for one in libraries if not one.installed), key=lambda one: one.name)
    rows = [HEAD]
    rows += [(one.name, one.version or "-", " ".join(one.devices)) for one in installed]
    rows += [(one.name, "absent", "") for one in absent]
    heads = columns(rows)
    widest = max(map(cell_len, heads))
    yield Text(shorten(heads[0], width), style="bold")
    named = [row[0] for row in rows]
    found = {one.name: offer for one in installed if (offer := known(one, place, retry))}
    requested = [one for one in installed if one.name not in found]
    failed = [name for name, offer in found.items() if offer.is_old_failure]
    if requested:
        start(requested)
    # One thread waits for each worker; requests that are no longer needed are dropped.
    pool = ThreadPoolExecutor(os.cpu_count())
    try:
        coming = {one.name: pool.submit(offers, one, place) for one in requested}
        for one in sorted(installed, key=lambda one: one in requested):
            if one.name in coming:
                progress(sum(each.done() for each in coming.values()), len(coming), one.name)
                found[one.name] = coming[one.name].result()
            offer = found[one.name]
            # The last column is never cut.
            labeled = [f"exports  {offer.describe()}"]
            imports = one.protocols if offer.imports is None else offer.imports
            labeled += [f"imports  {' '.join(imports) or 'nothing'}"] if offer.is_imported else []
            calls = ", ".join(further_calls(one)) if offer.is_imported else ""
            labeled += [f"calls    {calls}"] if calls else []
            labeled += [f"NumPy    {numpy}"] if (numpy := offer.under_numpy()) else []
            # Of the devices that the library may have, those that it has here.
            devices = () if not offer.is_imported else offer.devices or one.devices
            version = one.version or offer.version or "-"
            rows[named.index(one.name)] = (one.name, version, " ".join(devices) or "-")
            head, room = columns(rows)[named.index(one.name)], max(width - widest - 2, LEAST_ROOM)
            for line in labeled:
                name, answer = line[:NAME], line[NAME:]
                for part in wrap(answer, room - NAME, whole=True) or [""]:
                    yield Text(f"{pad(head, widest)}  {name}{part}".rstrip())
                    head, name = "", " " * NAME
    finally:
        pool.shutdown(cancel_futures=True)
    for one in absent:
        yield Text(f"{pad(heads[named.index(one.name)], widest)}  {one.why_not}")
    if failed:
        text = "failed within the last hour and were not imported again; to try:"
        yield from map(Text, fold([f"{listing(failed, len(failed))} {text}",
                                   dlbench_command("list", *failed)], width, gap=" "))  # fmt: skip
