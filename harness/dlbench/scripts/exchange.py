"""`dlbench repro`: a cell's exchange as a script that asserts what the run saw."""

from __future__ import annotations

import ast
import copy
import re
import signal
from collections.abc import Mapping

from dlbench import _core, values
from dlbench.case import Case
from dlbench.check.reading import DEVICE_TYPES
from dlbench.device import Device
from dlbench.document import Document, Entry, Measured, NotMeasured, codes
from dlbench.environments.environment import DEFAULT
from dlbench.errors import BadInput
from dlbench.libraries.alone import alone
from dlbench.libraries.discover import Catalogue, adapter
from dlbench.libraries.facts import AdapterFile, assigned, bound_names
from dlbench.scripts import slicing

LIMIT_S = 30
TRIES = 20
#: Where the exported memory of `array` lies.
EXPORTED = {
    "dlpack": "exported_address(asked(array))",
    "buffer": "np.asarray(memoryview(array)).ctypes.data",
    "array_interface": "array.__array_interface__['data'][0]",
    "cuda_array_interface": "array.__cuda_array_interface__['data'][0]",
}
VERDICT = [
    "print(f'expected {expected} / actual {actual}')",
    "raise SystemExit(actual != expected)",
]
#: A process of its own runs the rest of the script.
CHILD = """\
import os
import signal
if child := os.fork():
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    expected = {!r}
    actual = signal.Signals(-status).name if status < 0 else f'exit status {{status}}'
    print(f'expected {{expected}} / actual {{actual}}')
    raise SystemExit({})
signal.alarm({})  # seconds"""
#: On the driver of a GPU: `first` is the producer's stream, `second` the consumer's.
STREAMS = """\
driver = Driver({kind!r}, {number})
first, second = driver.stream(), {second}
size = source.nbytes
content = driver.pinned(3 * size)
zeros, seen = content + size, content + 2 * size
ctypes.memmove(content, source.ctypes.data, size)
ctypes.memset(zeros, 0, size)
def make_array():
    with {on_first}:
{make}
    return array
found = 0
"""
RACE = """\
array = make_array()
for _ in range({tries}):
    driver.copy({place}, zeros, size, first)
    driver.wait(first)
    driver.sleep(first)
    driver.copy({place}, content, size, first)
    with {on_first}, {on_second}:
        result = {call}
    driver.copy(seen, {result}, size, second)
    driver.wait(second)
    found += ctypes.string_at(seen, size) != source.tobytes()
    driver.wait(first)"""
LATE = """\
for _ in range({tries}):
    array = make_array()
    driver.copy({place}, content, size, first)
    driver.wait(first)
    with {on_first}, {on_second}:
        result = {call}
    driver.sleep(second)
    driver.copy(seen, {result}, size, second)
    del result, array
    array = make_array()
    driver.copy({place}, zeros, size, first)
    driver.wait(first)
    driver.wait(second)
    found += ctypes.string_at(seen, size) != source.tobytes()"""


class Parts:
    """The statements that a script takes from the adapters of a cell."""

    def __init__(self, entry: Entry, found: Catalogue) -> None:
        self.entry, self.case = entry, Case(**_core.case(entry.case), bytes=entry.bytes)
        self.files: dict[str, list[tuple[AdapterFile, ast.Module]]] = {}
        for role, name in (("producer", entry.producer), ("consumer", entry.consumer)):
            own, roles = adapter(found, role, name), found.roles(name).values()
            files = [own, *(file for file in roles if file is not own)]
            self.files[role] = [(file, slicing.read(file.path, name)) for file in files]
        self.lines: dict[str, list[str]] = {"producer": [], "consumer": []}
        self._taken: dict[str, str] = {}

    def add(self, role: str, nodes: list[ast.stmt], expression: str = "None") -> str:
        """Puts statements into a role's part. Returns the expression in their names: those that the
        other part uses for something else are renamed."""
        nodes = copy.deepcopy(nodes)
        clash = {
            name
            for node in nodes
            if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Assign)
            for name in bound_names(node)
            if self._taken.setdefault(name, ast.unparse(node)) != ast.unparse(node)
        }
        tree = ast.parse(expression)
        for part in [n for top in [*nodes, tree] for n in ast.walk(top)]:
            if isinstance(part, ast.Name) and part.id in clash:
                part.id += f"_of_{role}"
            elif isinstance(part, ast.FunctionDef) and part.name in clash:
                part.name += f"_of_{role}"
        self.lines[role] += [t for t in slicing.text(nodes) if t not in self.lines[role]]
        return ast.unparse(tree)

    def find(self, role: str, name: str) -> ast.Module | None:
        """The library's file that defines a function: that of its role first."""
        trees = (tree for _, tree in self.files[role] if name in slicing.defined(tree))
        return next(trees, None)

    def helper(self, role: str, name: str, *arguments: str, absent: str = "") -> str:
        """A call of the library's function; `absent` where it has none."""
        tree = self.find(role, name)
        if tree is None:
            return absent
        call = slicing.helper(tree, name, *arguments)
        return self.add(role, slicing.needed(tree, slicing.names_read([ast.parse(call)])), call)

    def place(self, role: str, array: str) -> str:
        """Where an array's memory begins."""
        if self.find(role, "address"):
            return self.helper(role, "address", array)
        return f"pointer({self.helper(role, 'memory', array, absent=array)})"

    def values(self, array: str, role: str = "consumer") -> str:
        """As NumPy reads them."""
        return self.helper(role, "values", array, absent=f"as_numpy({array})")

    def make(self, with_source: bool = False) -> list[str]:
        """Lines that leave the producer's `array`, and `source` where they read it or it is
        wanted."""
        file, tree = self.files["producer"][0]
        bits = any(isinstance(n, ast.Attribute) and n.attr == "bits" for n in ast.walk(tree))
        body = slicing.making(tree, file.path, self.case, self.entry.source_device)
        self.add("producer", slicing.needed(tree, slicing.names_read(body)))
        return slicing.content(self.case, slicing.text(body), bits, with_source)

    def call(self) -> tuple[str, list[str]]:
        """The consumer's call, and the lines that leave what it is given in `array`."""
        entry, (file, tree), (maker, made) = (
            self.entry,
            self.files["consumer"][0],
            self.files["producer"][0],
        )
        before, call, takes_alone = slicing.calling(tree, file.path, entry.protocol, entry.device)
        spelled = self.add("consumer", before, slicing.text([call])[0])
        via, protocol = entry.seen.via if entry.seen else "", entry.protocol
        wanted = ("dlpack_versioned", "dlpack_legacy") if protocol == "dlpack" else (protocol,)
        export = next((name for name in wanted if name in maker.exports), "")
        if entry.code == codes.PROXY_REFUSED:
            return spelled, []  # the consumer imports the array itself
        if via == "exports" or (not via and export):
            if not export:
                raise BadInput(f"adapter {maker.path} exports no {protocol} any more")
            node = slicing.entries(assigned(made, "EXPORTS"))[export]
            function = self.add(
                "producer", slicing.needed(made, slicing.names_read([node])), ast.unparse(node)
            )
            return spelled, alone(export, function, numbers(entry.source_device))
        refused = entry.code == codes.OTHER_PROTOCOL and "proxy" in entry.data
        if via == "proxy" or (not via and (takes_alone or refused)):
            return spelled, alone(protocol)
        return spelled, []


def numbers(device: str) -> tuple[int, int]:
    """A device in DLPack's numbers. Raises BadInput for a kind that has none."""
    at = Device.parse(device)
    if at.kind not in DEVICE_TYPES:
        allowed = ", ".join(DEVICE_TYPES)
        raise BadInput(f"the cell's device is {device!r}; allowed: {allowed}:NUMBER")
    return DEVICE_TYPES[at.kind], at.index


def of_run(document: Document, entry: Entry, found: Catalogue) -> str:
    return script(entry, found, document.versions(entry.environment))


def script(entry: Entry, found: Catalogue, versions: Mapping[str, str]) -> str:
    """`entry` is the cell, `versions` those of the run."""
    parts = Parts(entry, found)
    body: list[str]
    if entry.outcome in ("crashed", "timed-out", "import-failed", "out-of-memory"):
        body = [*_exchange(parts), "print(type(result), result)"]
        died = "SIGALRM" if entry.outcome == "timed-out" else getattr(entry, "signal", "")
        differs = "actual != expected"
        if died not in signal.Signals.__members__:
            died, differs = "an exit status other than 0", "status in (0, -signal.SIGALRM)"
        head = CHILD.format(died, differs, LIMIT_S).splitlines()
    else:
        head = []
        body = _on_queues(parts) or _claimed(parts)
    roles = ["producer", "consumer"]
    # As in the worker: some pairs can be imported in one order only.
    if values.import_order(entry)[0] != entry.producer:
        roles.reverse()
    lines = [line for role in roles for line in dict.fromkeys(parts.lines[role])]
    return slicing.script(_title(entry, versions), [*head, *lines, *body])


def _exchange(parts: Parts) -> list[str]:
    making = parts.make()
    call, shown = parts.call()
    return [*making, *shown, f"result = {call}"]


def _claimed(parts: Parts) -> list[str]:
    """The exchange, and whether it is what the run saw."""
    entry = parts.entry
    is_wrong = entry.outcome == "wrong" and entry.code != codes.DELETER_TWICE
    making = parts.make(with_source=is_wrong or bool(_changed(entry)))
    call, shown = parts.call()
    ready = parts.helper("consumer", "ready", "result") if entry.clock == "ready" else ""
    lines = [*making, *shown, f"result = {call}", *([ready] if ready else [])]
    proof = entry.evidence or {}
    timed = _timed(parts, parts.helper("consumer", "ready", call) if ready else call)
    if entry.code == codes.DELETER_TWICE:
        return [*lines, "# Only `dlbench check` counts the calls of the deleter: no verdict here."]
    if is_wrong:
        is_own = entry.code == codes.SOURCE_CHANGED
        read = parts.values("made", "producer") if is_own else parts.values("result")
        look = f"{{'shape', 'values'}} & {{*lost({read}, content)}}"
        before = ["content = source.copy()", *(["made = array"] if is_own else [])]
        lines[len(making) :] = [*before, *lines[len(making) :], f"found = {look}"]
        if not is_own:
            lines += ["del array, source", "gc.collect()"]
            lines += ["taken = [np.full_like(content, 1) for _ in range(64)]"]
            lines += [f"found = found or {look}"]
        lines += ["print('not as in the source:', *found)"]
        return [*lines, "expected, actual = 'wrong', 'wrong' if found else 'right'", *VERDICT]
    is_seen = {proof.get("address"), proof.get("write")} & {"yes", "no"}
    if is_seen and entry.found in ("zero-copy", "copy", "device-copy"):
        made, given, behind = _copied(parts, proof, is_alone=bool(shown))
        called = lines[len(making) + len(shown) :]
        plain = _plain(making, [*made, *shown, *given, *called, *behind])
        return [*plain, *timed, *VERDICT]
    lines = ["try:", *(f"    {line}" for each in lines for line in each.splitlines())]
    lines += ["    actual = 'no exception'", "    print(type(result), result)"]
    lines += ["except Exception as error:", "    print(error)", "    actual = type(error).__name__"]
    exception = "no exception"
    if isinstance(entry, NotMeasured) and entry.code != codes.PROXY_REFUSED:
        exception = entry.exception
    if exception != "no exception" and not exception.isidentifier():
        return [*lines, "print('actual', actual)"]
    return [*lines, f"expected = {exception!r}", *timed, *VERDICT]


def _copied(
    parts: Parts, proof: Mapping[str, str], *, is_alone: bool
) -> tuple[list[str], list[str], list[str]]:
    """Lines after the making, before the call and after it: is memory shared, which library copies,
    what differs from the source?
    """
    entry, word = parts.entry, parts.entry.found
    array, result = parts.place("producer", "array"), parts.place("consumer", "result")
    used = "dlpack" if entry.seen.used.startswith("dlpack") else entry.seen.used
    lines, actual = list[str](), repr("copy" if word == "zero-copy" else word)
    # Each export of a producer that copies is another copy: that of this very call counts.
    is_recorded = used == "dlpack" and entry.copied_by == "producer"
    given = ["array = recorder = Recorded(array)"] if is_recorded else []
    made = []
    if is_recorded or (is_alone and not array.startswith("pointer(")):
        made, array = [f"place = {array}"], "place"
    if entry.copied_by and used in EXPORTED:
        exported = "recorder.exported" if is_recorded else EXPORTED[used]
        if is_recorded:
            lines = [f"print('the consumer copies it again:', {exported} != {result})"]
        lines.insert(0, f"copied_by = 'producer' if {exported} != {array} else 'consumer'")
        actual, word = f"f'{word} by the {{copied_by}}'", f"{word} by the {entry.copied_by}"
    same = f"{array} == {result}"
    if proof.get("address") not in ("yes", "no") or (word, proof["address"]) == ("zero-copy", "no"):
        same = f"is_shared({array}, {result})"
    claim = f"'zero-copy' if {same} else {actual}"
    if not (changed := _changed(entry)) and not lines and not is_recorded:
        return made, given, [f"expected, actual = {word!r}, {claim}"]
    lines += [f"actual = {claim}"]
    if changed:
        look = f"lost({parts.values('result')}, source)"
        lines += [f"actual += ''.join(', other ' + word for word in {look})"]
        word += "".join(f", other {name}" for name in changed)
    # The time is that of a call with the array itself.
    lines += ["array = recorder.array"] if is_recorded else []
    return made, given, [*lines, f"expected = {word!r}"]


def _plain(making: list[str], others: list[str]) -> list[str]:
    """The lines, with the array made directly where it is the source itself, and without the
    release of a reference that does no harm here.
    """
    making = [line for line in making if line != "del raw"]
    reads_source = "source" in slicing.names_read([ast.parse("\n".join(others))])
    if making[-1:] == ["array = source"] and not reads_source:
        making = [re.sub(r"\bsource\b", "array", line) for line in making[:-1]]
    return [*making, *others]


def _changed(entry: Entry) -> list[str]:
    """What of the result's form is not as in the source."""
    return [name for name in ("dtype", "shape", "layout") if name in entry.changed]


def _timed(parts: Parts, call: str) -> list[str]:
    if not isinstance(parts.entry, Measured):
        return []
    measure = f"min(timeit.repeat(lambda: {call}, number=100, repeat=5))"
    return ["import timeit", f"print(round({measure} * 1e7), 'ns')"]


def _on_queues(parts: Parts) -> list[str]:
    """A race, or memory that is used again too early, where a queue can be filled."""
    entry, device = parts.entry, parts.entry.source_device
    is_race, kind = entry.outcome == "race", Device.parse(device).kind
    if not is_race and entry.late_free != "late":
        return []
    call = parts.call()[0]
    end = ["expected, actual = 'early', 'early' if found else 'in order'"]
    end = [f"print(f'{{found}} of {TRIES} reads saw other content')", *end, *VERDICT]
    if is_race and parts.find("producer", "busy"):
        lines = [f"array = {parts.helper('producer', 'busy', 'case', repr(device), '0.02')}"]
        if parts.find("producer", "new_stream"):
            queue = parts.helper("producer", "new_stream", repr(device))
            lines = [
                f"with {parts.helper('producer', 'on_stream', repr(device), queue)}:",
                f"    {lines[0]}",
            ]
        lines += ["array = array[0] if isinstance(array, tuple) else array", f"result = {call}"]
        lines += [parts.helper("consumer", "ready", "result", absent="pass")]
        lines += [f"found += not np.array_equal({parts.values('result')}, source)"]
        lines += [parts.helper("producer", "ready", "array", absent="pass")]
        return [
            *slicing.content(
                parts.case, ["found = 0", f"for _ in range({TRIES}):", *_indented(lines)]
            ),
            *end,
        ]
    if kind not in ("cuda", "rocm") or not parts.find("producer", "on_stream"):
        return []
    making = parts.make(with_source=True)
    begin = making.index("del raw") + 1
    on_first = parts.helper("producer", "on_stream", repr(device), "first")
    own = slicing.defined(parts.files["consumer"][0][1])
    second, on_second = "driver.stream()", "contextlib.nullcontext()"
    if "stream" in own and "on_stream" not in own:
        second = parts.helper("consumer", "stream", repr(device))
    elif parts.find("consumer", "on_stream"):
        on_second = parts.helper("consumer", "on_stream", repr(device), "second")
    words = {
        "kind": kind, "number": Device.parse(device).index, "second": second, "tries": TRIES,
        "on_first": on_first, "on_second": on_second, "call": call,
        "make": "\n".join(_indented(_indented(making[begin:]))),
        "place": parts.place("producer", "array"), "result": parts.place("consumer", "result"),
    }  # fmt: skip
    body = STREAMS + (RACE if is_race else LATE)
    return ["import contextlib", *making[:begin], *body.format(**words).splitlines(), *end]


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for text in lines for line in text.splitlines()]


def _title(entry: Entry, versions: Mapping[str, str]) -> list[str]:
    what = f"{entry.protocol}, {entry.case}, {entry.bytes} bytes on {entry.device}"
    came = entry.outcome
    if isinstance(entry, Measured):
        came = f"{entry.outcome}, {values.time(entry)}"
    elif isinstance(entry, NotMeasured):
        came = f"{entry.outcome}: {values.reason(entry)}"
    pair = dict.fromkeys((entry.producer, entry.consumer))
    named = ", ".join(f"{name} {versions[name]}" for name in pair if versions.get(name))
    lines = [f"{entry.producer} -> {entry.consumer}, {what}", f"seen: {came}"]
    where = "" if entry.environment == DEFAULT else f" in environment {entry.environment}"
    return lines + ([f"with {named}{where}"] if named or where else [])
