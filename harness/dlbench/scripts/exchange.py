"""`dlbench repro`: a cell's exchange as a script, with what is expected and what happens."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from pathlib import Path

from dlbench import _core, values
from dlbench.case import Case
from dlbench.device import Device
from dlbench.document import Document, Entry, Measured, NotMeasured, codes
from dlbench.document.facts import import_order
from dlbench.environments.environment import DEFAULT
from dlbench.errors import BadInput
from dlbench.libraries.alone import alone
from dlbench.libraries.discover import Catalogue
from dlbench.scripts import source
from dlbench.scripts.call_body import BYTES
from dlbench.scripts.side import Side, child
from dlbench.scripts.side import script as whole

LIMIT_S = 30
TRIES = 20
#: Protocols whose import shares the exported memory; other calls may copy.
SHARING = ("dlpack", "buffer", "array_interface", "array_struct", "cuda_array_interface")
#: Errors by which a protocol allows an export to be refused.
REFUSALS = {"dlpack": "BufferError", "buffer": "BufferError"}
WRITE = "(result if hasattr(result, '__setitem__') else np.from_dlpack(result))[...] = 0"
VERDICT = [
    "print(f'expected: {expected}\\nactual: {actual}')",
    "raise SystemExit(actual not in expected.split(' or '))",
]
CHILD = [
    *child(
        "actual = signal.Signals(-status).name if status < 0 else f'exit status {status}'",
        "print(f'expected: exit status 0\\nactual: {actual}')",
    ),
    f"signal.alarm({LIMIT_S})  # seconds",
]


class Cell:
    """A cell and its two libraries."""

    def __init__(self, entry: Entry, found: Catalogue) -> None:
        self.entry, self.case = entry, Case(**_core.case(entry.case), bytes=entry.bytes)
        self.producer = Side.of(found, "producer", entry.producer)
        self.consumer = Side.of(found, "consumer", entry.consumer)

    def make(self, keep_source: bool = False) -> list[str]:
        """Lines that bind `source` and the producer's `array`."""
        lines = self.producer.make(self.case, self.entry.source_device)
        before = source.lines(self.case, self.producer.reads_bits(), keep_source)
        if lines[0].startswith("case = "):
            return [lines[0], *["source = case.numpy()"] * keep_source, *lines[1:]]
        if lines == ["array = source"] and not keep_source:
            return [line.replace("source", "array") for line in before]
        return [*before, *lines]

    def call(self) -> list[str]:
        """Lines that show the consumer one protocol of `array`, where the run did, and bind
        `result`."""
        entry, protocol, device = self.entry, self.entry.protocol, self.entry.source_device
        call, imports_alone = self.consumer.call(protocol, device, self._target())
        via = entry.observed.via if entry.observed else entry.data.get("via", "")
        wanted = ("dlpack_versioned", "dlpack_legacy") if protocol == "dlpack" else (protocol,)
        made = self.producer.file
        export = next((name for name in wanted if name in made.exports), "")
        shown: list[str] = []
        refused = entry.code == codes.OTHER_PROTOCOL and "proxy" in entry.data
        if entry.code == codes.PROXY_REFUSED:
            pass  # the consumer imports the array itself
        elif via == "exports" or (not via and export):
            if not export:
                raise BadInput(f"adapter {made.path} exports no {protocol} any more")
            place = Device.parse(entry.source_device).in_dlpack()
            shown = alone(export, self.producer.export(export), place)
        elif via == "proxy" or (not via and (imports_alone or refused)):
            shown = alone(protocol)
        if shown and protocol == "buffer":
            self.consumer.lines.append("from pickle import PickleBuffer")
            raised = entry.exception if isinstance(entry, NotMeasured) else ""
            if raised not in ("", "BufferError", "ValueError"):
                # The consumer hid the error of the export, which it must meet itself.
                hidden = "(array := PickleBuffer(b'')).release()  # its export raises, too"
                shown = ["try:", *_indented(shown), "except Exception:", f"    {hidden}"]
        lines = [*shown, f"result = {call}"]
        # A computation of its own may be going on.
        ready = self.consumer.ready("result")
        return [*lines, ready] if ready else lines

    def _target(self) -> str:
        return self.entry.device.partition("+")[2] or self.entry.source_device

    def head(self) -> list[str]:
        """The imports, in the order of the worker: some pairs can be imported in one order only."""
        first, second = self.producer, self.consumer
        if import_order(self.entry)[0] != self.entry.producer:
            first, second = second, first
        lines = dict.fromkeys([*first.lines, *second.lines])
        return ["import numpy as np", *lines, *self._versions()]

    def _versions(self) -> list[str]:
        names = dict.fromkeys(("numpy", self.producer.package, self.consumer.package))
        named = tuple(name for name in names if name)
        return [
            "from importlib.metadata import version",
            f"print('versions:', {{name: version(name) for name in {named!r}}})",
        ]


def of_imports(document: Document, entry: Entry, found: Catalogue) -> str:
    """The imports of a pair in the order that failed. Raises BadInput where no order failed."""
    warning = next((one for one in entry.warnings if one.code == codes.IMPORT_ORDER), None)
    if warning is None:
        raise BadInput("no order of imports failed in this cell: leave out --imports")
    names = (warning.data.get("first", ""), warning.data.get("library", ""))
    if not set(names) <= found.files.keys():
        raise BadInput("the document does not name the two libraries whose imports fail")
    parts = {
        name: dict.fromkeys(
            line
            for role in ("producer", "consumer")
            if role in found.roles(name)
            for line in Side.of(found, role, name).imports()
        )
        for name in names
    }
    for name, lines in parts.items():
        if not lines:
            raise BadInput(f"the adapter of {name} imports no library that a script could import")
    versions = document.versions(entry.environment)
    named = ", ".join(f"{name} {versions.get(name, '')}".strip() for name in names)
    title = [f"imports of {named}, in the order that fails", f"observed: {warning.text}"]
    title += ["without what the adapters do beside their imports"]
    return whole(title, [*CHILD, *parts[names[0]], *parts[names[1]], "print('imported')"])


def of_run(document: Document, entry: Entry, found: Catalogue) -> str:
    return script(entry, found, document.versions(entry.environment))


def script(entry: Entry, found: Catalogue, versions: Mapping[str, str]) -> str:
    """`entry` is the cell, `versions` those of the run."""
    cell = Cell(entry, found)
    died = entry.outcome in ("crashed", "timed-out", "import-failed", "out-of-memory")
    if entry.protocol == "call":
        called = _called(cell)
        lines = [*CHILD * died, *cell.head(), *called]
    elif died:
        body = [*cell.make(), *cell.call(), "print(type(result), result)"]
        lines = [*CHILD, *cell.head(), *body]
    else:
        lines = _compared(cell)
        lines = [*cell.head(), *lines]
    return whole(_title(entry, versions), lines)


def observed(entry: Entry) -> str:
    """What the script prints as `actual` where it sees what the run saw; empty where that is
    anything but what is expected."""
    if entry.outcome == "timed-out":
        return "SIGALRM"
    if entry.outcome in ("crashed", "import-failed", "out-of-memory"):
        name = str(getattr(entry, "signal", ""))
        return name if name in signal.Signals.__members__ else ""
    if entry.outcome in ("wrong", "race"):
        return ""
    if _is_protection_lost(entry):
        return "changed"
    if _shows_memory(entry):
        return "zero-copy" if entry.observed_outcome == "zero-copy" else "copy"
    if isinstance(entry, NotMeasured) and entry.code != codes.PROXY_REFUSED:
        # Python raises SystemError for a call that fails without an exception.
        return entry.exception or ("SystemError" if entry.outcome == "refused" else "an array")
    return "an array"


def _shows_memory(entry: Entry) -> bool:
    proof = entry.evidence or {}
    is_observed = {proof.get("address"), proof.get("write")} & {"yes", "no"}
    # An empty array has no memory that could be written to.
    is_filled = bool(is_observed) and entry.bytes > 0
    return is_filled and entry.observed_outcome in ("zero-copy", "copy", "device-copy")


def _is_protection_lost(entry: Entry) -> bool:
    # Nothing can be written to an empty array.
    return entry.writable == "result" and entry.device == "cpu" and entry.bytes > 0


def _compared(cell: Cell) -> list[str]:
    """The exchange, and what is expected of it."""
    entry = cell.entry
    kind = Device.parse(entry.source_device).kind
    if entry.outcome == "race" and cell.producer.has("busy"):
        return _race(cell)
    if entry.code == codes.DELETER_TWICE or entry.outcome == "race" or entry.late_free == "late":
        what = "counts the calls of the deleter" if kind == "cpu" else "fills the queue of a device"
        return [*cell.make(), *cell.call(), f"# Only dlbench itself {what}: no verdict here."]
    if entry.outcome == "wrong":
        return _wrong(cell)
    protocol = entry.protocol.partition("_versioned")[0].partition("_legacy")[0]
    protocol = "dlpack" if protocol == "dlpack_c" else protocol
    if _is_protection_lost(entry):
        return [*_protected(cell), *VERDICT]
    if _shows_memory(entry):
        # From one device to another it is copied, unless both reach the memory.
        may_copy = protocol not in SHARING or "+" in entry.device
        expected = "zero-copy or copy" if may_copy else "zero-copy"
        return [*_memory(cell, expected), *VERDICT]
    allowed = [REFUSALS[protocol]] if protocol in REFUSALS and entry.outcome == "refused" else []
    words = ("an array", *allowed)
    return [
        *cell.make(),
        "try:",
        *_indented(cell.call()),
        "    actual = 'an array'",
        "except Exception as error:",
        "    actual = f'{type(error).__name__}: {error}'",
        f"print(f'expected: {' or '.join(words)}\\nactual: {{actual}}')",
        f"raise SystemExit(not actual.startswith({words!r}))",
    ]


def _called(cell: Cell) -> list[str]:
    """A call of the function, which must get the addresses of the arrays, in their order."""
    if isinstance(cell.entry, NotMeasured) and "described" in cell.entry.data:
        return _described(cell)
    making, (place, view) = cell.make(), cell.producer.memory("array")
    function = cell.consumer.function(cell.entry.arrays)
    files = ["call_body.py", *["call_build.py"] * any("built(" in line for line in function)]
    lines = [line for name in files for line in _lines_of(name)]
    is_hidden = cell.entry.changed or cell.entry.device != "cpu"
    if is_hidden or cell.entry.bytes < BYTES:  # other bytes may be right, or out of reach
        lines[lines.index(f"BYTES = {BYTES}")] = "BYTES = 0"
    return [
        *lines,
        *function,
        "arrays, places" + (", views = [], [], []" if view else " = [], []"),
        f"for _ in range({cell.entry.arrays}):",
        *_indented([*making, *[view, "views.append(array_view)"] * bool(view)]),
        f"    arrays, places = [*arrays, array], [*places, {place}]",
        "try:",
        "    function(*arrays)",
        "    actual = verdict(places)",
        "except Exception as error:",
        "    actual = f'{type(error).__name__}: {error}'",
        "expected = 'zero-copy'",
        *VERDICT,
    ]


def _described(cell: Cell) -> list[str]:
    """A call of the adapter's own function, of which the body of dlbench records how the arguments
    are described."""
    making, fault = cell.make(), cell.entry.data["described"].partition(", not ")[0]
    return [
        "from dlbench.call_record import descriptions",
        f"function = {cell.consumer.loaded_function(cell.entry.arrays)}",
        "arrays = []",
        f"for _ in range({cell.entry.arrays}):",
        *_indented([*making, "arrays.append(array)"]),
        "found = descriptions(lambda: function(*arrays))",
        "print(*found, sep='\\n')",
        f"actual = 'wrong' if any({fault!r} in one for one in found) else 'zero-copy'",
        "expected = 'zero-copy'",
        *VERDICT,
    ]


def _lines_of(name: str) -> list[str]:
    """The code of a file beside this one, without its docstring and its imports of dlbench."""
    text = Path(__file__).with_name(name).read_text(encoding="utf-8")
    code = text.split('"""\n', 1)[1].replace("  # noqa: T201", "")
    return [line for line in code.splitlines() if line and not line.startswith("from dlbench")]


def _memory(cell: Cell, expected: str) -> list[str]:
    """A write to the producer's array that does not arrive in the result shows a copy."""
    making, called = cell.make(), cell.call()
    if Device.parse(cell.entry.source_device).kind not in ("cpu", "sycl"):  # no host memory
        array, result = (
            cell.producer.show("address", "array"),
            cell.consumer.show("address", "result"),
        )
        claim = f"'zero-copy' if {array} == {result} else 'copy'"
        return [*making, *called, f"expected, actual = {expected!r}, {claim}"]
    if cell.producer.hides_memory(cell.case):
        return _made_twice(cell, expected)
    (start, view), (seen, other) = cell.producer.memory("array"), cell.consumer.memory("result")
    before, keep = list[str](), [line for line in (view, other) if line]
    observed = cell.entry.observed
    # NumPy may read such an array only through what its library exports.
    is_exported = bool(observed) and observed.via == "exports"
    is_shown = cell.producer.shows_memory or not is_exported
    if len(called) > 1 and called[0].startswith(("class ", "array = ")) and is_shown:
        # The array itself is out of reach behind what shows one protocol.
        before = [*[view] * bool(view), f"place = {start}"]
        start, keep = "place", [other] * bool(other)
    if (cell.entry.evidence or {}).get("address") == "skipped":  # as of Polars' packed bits
        content = f"{cell.consumer.values('result', cell.case)}.tobytes()"
        kept = [line for line in keep if line != other]
        lines = [f"start, before = ctypes.c_uint8.from_address({start}), {content}"]
        lines += ["start.value ^= 1  # a write to the array"]
    else:
        content, kept = "seen.value", keep
        lines = [f"start, seen = map(ctypes.c_uint8.from_address, ({start}, {seen}))"]
        lines += ["before, start.value = seen.value, start.value ^ 255  # a write to the array"]
    claim = f"{content} != before"
    is_own = cell.producer.library == cell.consumer.library
    if is_own and (cell.entry.evidence or {}).get("write") == "skipped":
        claim = f"result is array or {claim}"  # each view may be a new copy, as of Dask's
    return [
        "import ctypes",
        *making,
        *before,
        *called,
        *kept,
        *lines,
        f"expected, actual = {expected!r}, 'zero-copy' if {claim} else 'copy'",
    ]


def _made_twice(cell: Cell, expected: str) -> list[str]:
    """Two results of one array that lie at two addresses are copies."""
    called = cell.call()
    again = called[next(i for i, line in enumerate(called) if line.startswith("result = ")) :]
    (one, view), (other, seen) = cell.consumer.memory("first"), cell.consumer.memory("result")
    claim = f"'zero-copy' if {one} == {other} else 'copy'"
    lines = [*cell.make(), *called, "first = result", *again, *filter(None, (view, seen))]
    return [*lines, f"expected, actual = {expected!r}, {claim}"]


def _protected(cell: Cell) -> list[str]:
    """A write to the result that arrives in the read-only array, which only the script has."""
    making, called = cell.make(), cell.call()
    place, view = cell.producer.memory("array")
    return [
        "import ctypes",
        *making,
        *[view] * bool(view),
        f"place = {place}",
        *called,
        f"before = ctypes.string_at(place, {cell.case.itemsize})",
        "try:",
        f"    {cell.consumer.show('write', 'result') or WRITE}",
        "except Exception as error:",
        "    print(f'the write is refused: {type(error).__name__}: {error}')",
        f"after = ctypes.string_at(place, {cell.case.itemsize})",
        "expected, actual = 'unchanged', 'unchanged' if after == before else 'changed'",
    ]


def _wrong(cell: Cell) -> list[str]:
    """The exchange, and whether its values, or those of the producer's array, have changed."""
    is_own = cell.entry.code == codes.SOURCE_CHANGED
    making, called = cell.make(keep_source=True), cell.call()
    side, name = (cell.producer, "made") if is_own else (cell.consumer, "result")
    read = side.values(name, cell.case)
    if cell.case.foreign:
        dtype = f"ml_dtypes.{cell.case.dtype}"
        making += ["import ml_dtypes", f"source = source.view({dtype})"]
        address = side.show("address", name) if cell.case.strides is None else ""
        if bits := side.show("bits", name, cell.case):
            read = f"{bits}.view({dtype})"
        elif address and side.reads_bits():  # NumPy cannot import the dtype from it
            making.append("import ctypes")
            read = f"np.frombuffer(ctypes.string_at({address}, {cell.case.bytes}), {dtype})"
            read += f".reshape({cell.case.shape})"
    lines = [*making, "import zlib"]
    lines.append(
        "describe = lambda a: f'{a.dtype} {a.shape} with checksum {zlib.crc32(a.tobytes())}'"
    )
    lines += ["expected = describe(source)", *["made = array"] * is_own, *called]
    lines.append(f"actual = describe({read})")
    if not is_own:  # memory that was freed too early gets other content
        lines += ["import gc", "other = np.full_like(source, 1)", "del array, source"]
        lines += ["gc.collect()", "taken = [other.copy() for _ in range(64)]"]
        lines.append(f"actual = actual if actual != expected else describe({read})")
    return [*lines, *VERDICT]


def _race(cell: Cell) -> list[str]:
    """Reads of results whose content is still being computed."""
    entry, maker = cell.entry, cell.producer
    device = entry.source_device
    making = maker.make(cell.case, "none")[:1]  # the case alone
    lines = [f"array = {maker.own('busy')}(case, {device!r}, 0.02)[0]"]
    if maker.has("new_stream"):
        queue = f"{maker.own('new_stream')}({device!r})"
        lines = [f"with {maker.own('on_stream')}({device!r}, {queue}):", f"    {lines[0]}"]
    lines += cell.call()
    read = cell.consumer.values("result", cell.case)
    lines.append(f"found += {read}.tobytes() != source.tobytes()")
    lines += [maker.ready("array") or "pass"]
    return [
        *making,
        "source = case.numpy()",
        "found = 0",
        f"for _ in range({TRIES}):",
        *_indented(lines),
        "expected, actual = '0 early reads', f'{found} early reads'",
        *VERDICT,
    ]


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for text in lines for line in text.splitlines()]


def _title(entry: Entry, versions: Mapping[str, str]) -> list[str]:
    what = f"{entry.protocol}, {entry.case}, {entry.bytes} bytes on {entry.device}"
    came = entry.outcome
    if isinstance(entry, Measured):
        came = f"{entry.outcome}, median {values.time(entry)}"
    elif isinstance(entry, NotMeasured):
        came = f"{entry.outcome}: {values.reason(entry)}"
    pair = dict.fromkeys((entry.producer, entry.consumer))
    named = ", ".join(f"{name} {versions[name]}" for name in pair if versions.get(name))
    lines = [f"{entry.producer} -> {entry.consumer}, {what}", f"observed: {came}"]
    where = "" if entry.environment == DEFAULT else f" in environment {entry.environment}"
    return lines + ([f"with {named}{where}"] if named or where else [])
