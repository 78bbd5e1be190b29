"""`dlbench repro`: a cell's exchange as a script that asserts what the run saw."""

from __future__ import annotations

import ast
import copy
import re
import signal
from collections.abc import Iterator, Mapping

from dlbench import _core, values
from dlbench.case import Case
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
    "dlpack": "exported_address(requested(array))",
    "buffer": "np.asarray(memoryview(array)).ctypes.data",
    "array_interface": "array.__array_interface__['data'][0]",
    "cuda_array_interface": "array.__cuda_array_interface__['data'][0]",
}
VERDICT = [
    "print(f'observed: {observed} / now: {now}')",
    "raise SystemExit(now != observed)",
]
#: A process of its own runs the rest of the script.
CHILD = """\
import os
import signal
if child := os.fork():
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    observed = {!r}
    now = signal.Signals(-status).name if status < 0 else f'exit status {{status}}'
    print(f'observed: {{observed}} / now: {{now}}')
    raise SystemExit({})
signal.alarm({})  # seconds"""
#: No script imports them from an adapter.
OWN_MODULES = frozenset({"dlbench", "__future__"})
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
        self._bound: dict[str, str] = {}

    def add(self, role: str, nodes: list[ast.stmt], expression: str = "None") -> str:
        """Adds statements to a role's part. Returns the expression, with names renamed that the
        other part uses differently."""
        nodes = copy.deepcopy(nodes)
        clash = {
            name
            for node in nodes
            if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Assign)
            for name in bound_names(node)
            if self._bound.setdefault(name, ast.unparse(node)) != ast.unparse(node)
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
        """The expression for the start of an array's memory."""
        if self.find(role, "address"):
            return self.helper(role, "address", array)
        return f"pointer({self.helper(role, 'memory', array, absent=array)})"

    def values(self, array: str, role: str = "consumer") -> str:
        """The values of an array, as NumPy reads them."""
        return self.helper(role, "values", array, absent=f"as_numpy({array})")

    def make(self, with_source: bool = False) -> list[str]:
        """Lines that bind the producer's `array`, and `source` if it is needed."""
        file, tree = self.files["producer"][0]
        nodes, lines = slicing.array(
            tree, file.path, self.case, self.entry.source_device, with_source
        )
        self.add("producer", nodes)
        return lines

    def call(self) -> tuple[str, list[str]]:
        """The consumer's call, and the lines that bind its argument to `array`."""
        entry, (file, tree), (maker, made) = (
            self.entry,
            self.files["consumer"][0],
            self.files["producer"][0],
        )
        before, call, imports_alone = slicing.calling(tree, file.path, entry.protocol, entry.device)
        spelled = self.add("consumer", before, slicing.text([call])[0])
        via, protocol = entry.observed.via if entry.observed else "", entry.protocol
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
            return spelled, alone(export, function, Device.parse(entry.source_device).in_dlpack())
        refused = entry.code == codes.OTHER_PROTOCOL and "proxy" in entry.data
        if via == "proxy" or (not via and (imports_alone or refused)):
            return spelled, alone(protocol)
        return spelled, []


def of_run(document: Document, entry: Entry, found: Catalogue) -> str:
    return script(entry, found, document.versions(entry.environment))


def script(entry: Entry, found: Catalogue, versions: Mapping[str, str]) -> str:
    """`entry` is the cell, `versions` those of the run."""
    parts = Parts(entry, found)
    if entry.outcome in ("crashed", "timed-out", "import-failed", "out-of-memory"):
        exchange = [line for part in _exchange(parts) for line in part]
        died = "SIGALRM" if entry.outcome == "timed-out" else getattr(entry, "signal", "")
        head, body = _in_child(died), [*exchange, "print(type(result), result)"]
    else:
        head, body = [], _on_queues(parts) or _claimed(parts)
    roles = ["producer", "consumer"]
    # As in the worker: some pairs can be imported in one order only.
    if values.import_order(entry)[0] != entry.producer:
        roles.reverse()
    lines = dict.fromkeys(line for role in roles for line in parts.lines[role])
    return slicing.script(_title(entry, versions), [*head, *lines, *body])


def _in_child(died: str) -> list[str]:
    """Lines after which a child process runs the rest. It is expected to end with the signal
    `died`; without one, with any failure."""
    differs = "now != observed"
    if died not in signal.Signals.__members__:
        died, differs = "an exit status other than 0", "status in (0, -signal.SIGALRM)"
    return CHILD.format(died, differs, LIMIT_S).splitlines()


def of_imports(document: Document, entry: Entry, found: Catalogue) -> str:
    """The imports of a pair in the order that failed. Raises BadInput where no order failed."""
    warning = next((one for one in entry.warnings if one.code == codes.IMPORT_ORDER), None)
    if warning is None:
        raise BadInput("no order of imports failed in this cell: leave out --imports")
    names = (warning.data.get("first", ""), warning.data.get("library", ""))
    if not set(names) <= found.files.keys():
        raise BadInput("the document does not name the two libraries whose imports fail")
    parts = {name: dict.fromkeys(_imports(found, name)) for name in names}
    for name, lines in parts.items():
        if not lines:
            raise BadInput(f"the adapter of {name} imports no library that a script could import")
    versions = document.versions(entry.environment)
    named = ", ".join(f"{name} {versions.get(name, '')}".strip() for name in names)
    title = [f"imports of {named}, in the order that fails", f"observed: {warning.text}"]
    title += ["without what the adapters do beside their imports"]
    head = _in_child("SIGALRM" if warning.data.get("outcome") == "timed-out" else "")
    return slicing.script(title, [*head, *parts[names[0]], *parts[names[1]], "print('imported')"])


def _imports(found: Catalogue, name: str) -> Iterator[str]:
    """The statements by which a library's adapters import it, those of the producer first."""
    for role in ("producer", "consumer"):
        if role not in found.roles(name):
            continue
        tree = ast.parse(found.roles(name)[role].path.read_text(encoding="utf-8"))
        for node in tree.body:
            modules = []
            if isinstance(node, ast.ImportFrom):
                modules = [node.module or ""]
            elif isinstance(node, ast.Import):
                modules = [each.name for each in node.names]
            if modules and not {module.partition(".")[0] for module in modules} & OWN_MODULES:
                yield ast.unparse(node)


def _exchange(parts: Parts, with_source: bool = False) -> tuple[list[str], list[str], list[str]]:
    """Lines that make the array, that replace it by an object with one protocol, and that import
    it."""
    making = parts.make(with_source)
    call, shown = parts.call()
    return making, shown, [f"result = {call}"]


def _claimed(parts: Parts) -> list[str]:
    """The exchange, and a comparison with the run's result."""
    entry = parts.entry
    if entry.code == codes.DELETER_TWICE:
        lines = [line for part in _exchange(parts) for line in part]
        return [*lines, "# Only `dlbench check` counts the calls of the deleter: no verdict here."]
    is_wrong = entry.outcome == "wrong"
    making, shown, called = _exchange(parts, with_source=is_wrong or bool(_changed(entry)))
    timed, call = list[str](), called[0].removeprefix("result = ")
    if entry.clock == "ready" and (ready := parts.helper("consumer", "ready", "result")):
        called.append(ready)
        call = parts.helper("consumer", "ready", call)
    if isinstance(entry, Measured):
        timed = ["import timeit", f"times = timeit.repeat(lambda: {call}, number=100, repeat=5)"]
        timed.append("print('median', round(sorted(times)[2] * 1e7), 'ns')")
    proof = entry.evidence or {}
    if is_wrong:
        return [*making, *_wrong(parts, [*shown, *called]), *VERDICT]
    is_observed = {proof.get("address"), proof.get("write")} & {"yes", "no"}
    if is_observed and entry.found in ("zero-copy", "copy", "device-copy"):
        return [*_copied(parts, making, shown, called, proof), *timed, *VERDICT]
    lines = ["try:", *_indented([*making, *shown, *called])]
    lines += ["    now = 'no exception'", "    print(type(result), result)"]
    lines += ["except Exception as error:", "    print(error)", "    now = type(error).__name__"]
    exception = "no exception"
    if isinstance(entry, NotMeasured) and entry.code != codes.PROXY_REFUSED:
        exception = entry.exception
    if exception != "no exception" and not exception.isidentifier():
        return [*lines, "print('now', now)"]
    return [*lines, f"observed = {exception!r}", *timed, *VERDICT]


def _wrong(parts: Parts, exchange: list[str]) -> list[str]:
    """The exchange, and whether its values, or those of the producer's array, have changed."""
    is_own = parts.entry.code == codes.SOURCE_CHANGED
    read = parts.values("made", "producer") if is_own else parts.values("result")
    look = f"{{'shape', 'values'}} & {{*lost({read}, content)}}"
    lines = ["content = source.copy()", *(["made = array"] if is_own else [])]
    lines += [*exchange, f"found = {look}"]
    if not is_own:  # memory that was freed too early gets other content
        lines += ["del array, source", "gc.collect()"]
        lines += ["taken = [np.full_like(content, 1) for _ in range(64)]"]
        lines += [f"found = found or {look}"]
    lines += ["print('not as in the source:', *found or ['nothing'])"]
    return [*lines, "observed, now = 'wrong', 'wrong' if found else 'right'"]


def _copied(
    parts: Parts, making: list[str], shown: list[str], called: list[str], proof: Mapping[str, str]
) -> list[str]:
    """The exchange, whether memory is shared, which library copies, and what differs from the
    source."""
    entry, word, changed = parts.entry, parts.entry.found, _changed(parts.entry)
    array, result = parts.place("producer", "array"), parts.place("consumer", "result")
    used = "dlpack" if entry.observed.used.startswith("dlpack") else entry.observed.used
    # Each export of a producer that copies is another copy: that of this very call counts.
    is_recorded = used == "dlpack" and entry.copied_by == "producer"
    body = [*shown, *(["array = recorder = Recorded(array)"] if is_recorded else []), *called]
    if is_recorded or (shown and not array.startswith("pointer(")):
        body, array = [f"place = {array}", *body], "place"
    actual = repr("copy" if word == "zero-copy" else word)
    if is_blamed := entry.copied_by and used in EXPORTED:
        exported = "recorder.exported" if is_recorded else EXPORTED[used]
        body.append(f"copied_by = 'producer' if {exported} != {array} else 'consumer'")
        if is_recorded:
            body.append(f"print('the consumer copies it again:', {exported} != {result})")
        actual, word = f"f'{word} by the {{copied_by}}'", f"{word} by the {entry.copied_by}"
    same = f"{array} == {result}"
    if proof.get("address") not in ("yes", "no") or (word, proof["address"]) == ("zero-copy", "no"):
        same = f"is_shared({array}, {result})"
    claim = f"'zero-copy' if {same} else {actual}"
    if changed or is_blamed:
        body.append(f"now = {claim}")
        if changed:
            look = f"lost({parts.values('result')}, source)"
            body.append(f"now += ''.join(', other ' + word for word in {look})")
            word += "".join(f", other {name}" for name in changed)
        # The time is that of a call with the array itself.
        body += [*(["array = recorder.array"] if is_recorded else []), f"observed = {word!r}"]
    else:
        body.append(f"observed, now = {word!r}, {claim}")
    # The array is made directly where it is the source itself; the reference to its memory does no
    # harm here.
    making = [line for line in making if line != "del raw"]
    reads_source = "source" in slicing.names_read([ast.parse("\n".join(body))])
    if making[-1:] == ["array = source"] and not reads_source:
        making = [re.sub(r"\bsource\b", "array", line) for line in making[:-1]]
    return [*making, *body]


def _changed(entry: Entry) -> list[str]:
    """The properties of the result that differ from the source's."""
    return [name for name in ("dtype", "shape", "layout") if name in entry.changed]


def _on_queues(parts: Parts) -> list[str]:
    """A race, or memory that is reused too early, on a device with a queue that can be filled."""
    entry, device = parts.entry, parts.entry.source_device
    is_race, kind = entry.outcome == "race", Device.parse(device).kind
    if not is_race and entry.late_free != "late":
        return []
    is_on_stream = kind in ("cuda", "rocm")
    if is_on_stream and (
        parts.find("producer", "compute_from")
        or not (parts.find("consumer", "on_stream") or parts.find("consumer", "stream"))
    ):
        return []  # such a stream has no name
    call = parts.call()[0]
    end = ["observed, now = 'early', 'early' if found else 'in order'"]
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
    if not is_on_stream or not parts.find("producer", "on_stream"):
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
        came = f"{entry.outcome}, median {values.time(entry)}"
    elif isinstance(entry, NotMeasured):
        came = f"{entry.outcome}: {values.reason(entry)}"
    pair = dict.fromkeys((entry.producer, entry.consumer))
    named = ", ".join(f"{name} {versions[name]}" for name in pair if versions.get(name))
    lines = [f"{entry.producer} -> {entry.consumer}, {what}", f"observed: {came}"]
    where = "" if entry.environment == DEFAULT else f" in environment {entry.environment}"
    return lines + ([f"with {named}{where}"] if named or where else [])
