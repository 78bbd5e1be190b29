"""The compiled half of the parent: planning, the fleet, documents."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypedDict

version: str
build_id: str
nvtx: str
protocols: list[str]
phases: list[str]
case_names: list[str]
codes: dict[str, tuple[str, str]]
warnings: dict[str, str]
comparison_warnings: dict[str, str]
outcomes: list[str]

class UsageError(ValueError): ...
class DiskError(OSError): ...

def parse_bytes(text: str) -> int: ...
def parse_seconds(text: str) -> float: ...
def parse_percent(text: str) -> float: ...
def format_bytes(count: int) -> str: ...
def did_you_mean(wanted: str, allowed: Sequence[str]) -> str: ...
def require_known(what: str, wanted: str, allowed: Sequence[str]) -> None: ...
def call_for(protocol: str, offered: Sequence[str]) -> str: ...
def case(name: str) -> dict[str, Any]: ...

class Library:
    name: str
    environment: str
    installed: bool
    version: str
    why_not: str
    producer_path: str
    consumer_path: str
    protocols: list[str]
    devices: list[str]
    has_ready: bool
    crosses: bool
    in_default_matrix: bool
    hidden: bool
    absence: str
    def __init__(
        self,
        *,
        name: str = ...,
        environment: str = ...,
        installed: bool = ...,
        version: str = ...,
        why_not: str = ...,
        producer_path: str = ...,
        consumer_path: str = ...,
        protocols: list[str] = ...,
        devices: list[str] = ...,
        has_ready: bool = ...,
        crosses: bool = ...,
        in_default_matrix: bool = ...,
        hidden: bool = ...,
        absence: str = ...,
    ) -> None: ...

class Axes:
    environments: list[str]
    filter: str
    def __init__(
        self,
        *,
        environments: list[str] = ...,
        producers: list[str] = ...,
        consumers: list[str] = ...,
        protocols: list[str] = ...,
        devices: list[str] = ...,
        cases: list[str] = ...,
        sizes: list[int] = ...,
        phases: list[str] = ...,
        filter: str = ...,  # noqa: A002
        device_kinds: list[tuple[str, int, str]] = ...,
    ) -> None: ...

class Cell:
    name: str
    phase: str
    clock: str
    environment: str
    producer: str
    consumer: str
    protocol: str
    device: str
    case: str
    bytes: int

class Plan:
    cells: list[Cell]
    excluded: list[tuple[Cell, str, str]]
    pairs: list[tuple[str, str, str, int]]
    fingerprint: str

def cell_from_name(name: str) -> Cell: ...
def parse_device(word: str, libraries: Sequence[Library]) -> str: ...
def make_plan(libraries: Sequence[Library], axes: Axes) -> Plan: ...

class Options:
    out: str
    pythons: dict[str, str]
    replicas: int
    budget_s: float
    def __init__(
        self,
        *,
        out: str = ...,
        pythons: dict[str, str] = ...,
        worker_main: str = ...,
        jobs: int = ...,
        timeout_s: float = ...,
        budget_s: float = ...,
        precision: float = ...,
        replicas: int = ...,
        isolate: bool = ...,
        seed: int = ...,
        context: str = ...,
        resume: bool = ...,
    ) -> None: ...

class Summary:
    wall_s: float
    round_s: float
    timing_after_import_s: float
    library_after_import_s: float
    last_import_s: float
    recorded: int
    measured: int
    signal: int
    disk_full: bool | str

class Observer(Protocol):
    def on_progress(self, done: int, total: int, doing: str) -> None: ...
    def on_recorded(self, cell: str, outcome: str, median_ns: float) -> None: ...

def run(plan: Plan, options: Options, observer: Observer) -> Summary: ...

round_ns: float

class Death:
    outcome: str
    garbled: bool
    how: str
    signal: str
    exit_status: int
    step: str
    stdout_tail: str
    stderr_tail: str

class Worker:
    is_alive: bool
    pid: int | None
    def __init__(
        self,
        command: Sequence[str],
        timeout_s: float,
        *,
        variables: Mapping[str, str] = ...,
    ) -> None: ...
    def receive(self) -> str | Death: ...
    def ask(self, request: str, timeout_s: float | None = ...) -> str | Death: ...
    def finish(self, request: str) -> Death: ...
    def stop(self) -> None: ...

class Program:
    out: str
    err: str
    status: int | None

def run_program(command: Sequence[str], timeout_s: float) -> Program: ...
def write_document(run_dir: str) -> str: ...
def append_end(run_directory: str, wall_s: float, signal: int) -> None: ...
def append_counts(run_directory: str, counts: Sequence[tuple[str, float | None, str]]) -> None: ...
def append_api_calls(
    run_directory: str,
    counted: Sequence[tuple[str, dict[str, int] | None, dict[str, dict[str, int]], str]],
) -> None: ...
def try_planted_waits(count: int, seed: int = ..., jobs: int = ...) -> list[PlantedWait]: ...
def ordering_cost(times: int = ...) -> tuple[float, float]: ...
def append_sync(run_directory: str, records: str) -> None: ...

most_document_bytes: int

def validate_document(path: str) -> None: ...
def validate_comparison(path: str) -> None: ...
def journal_context(journal: str) -> str: ...
def compare(
    *,
    base: Sequence[str],
    head: Sequence[str],
    base_environment: str = ...,
    head_environment: str = ...,
    threshold: float = ...,
    false_alarms: float = ...,
    instructions: bool = ...,
    force: bool = ...,
    only_changed: bool = ...,
) -> dict[str, Any]: ...
def next_processes(
    *,
    lo: float,
    hi: float,
    first: int,
    second: int,
    minimum_detectable_change: float,
    most: int,
    threshold: float,
    level: float,
) -> int: ...
def part_of_alarms(*, analysis: int, workers: int, most: int) -> float: ...

false_alarms: float
coarse_workers: int
most_workers: int
max_analyses: int

class PlantedWait(TypedDict):
    kind: str
    neighbours: int
    delay_ns: int
    truth: str
    found: str
    share_error: float | None

def ratio_of_medians(
    first: list[list[float]], second: list[list[float]], between: float | None = ...
) -> tuple[float, float, float, bool]: ...
def between_half_width(medians: list[float]) -> float: ...
def process_intervals(cells: list[list[float]]) -> list[tuple[float, float]]: ...
