"""The keys of results.json and comparison.json, as their declarations in C++ say.

Made by docs/site/generate.py; do not edit. A key that may be absent is None where 0 is a value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dlbench.document.record import Key, Record, part, parts, parts_by_name


class StreamTrial(Record):
    __slots__ = ()
    stream = Key[int | str | None](None)
    requested_by = Key("")
    reason = Key("")


class Axes(Record):
    __slots__ = ()
    name = Key("")
    phase = Key("")
    clock = Key("")
    producer = Key("")
    consumer = Key("")
    protocol = Key("")
    device = Key("")
    case = Key("")
    bytes = Key(0)
    arrays = Key(1)
    environment = Key("")
    machine = Key("")


class Ordering(StreamTrial):
    __slots__ = ()
    reads_on = Key("")
    expected = Key("")
    waits = Key("")
    content = Key("")
    transfer_ns = Key[float | None](None)
    export_blocked = Key[float | None](None)
    import_blocked = Key[float | None](None)
    gap_ns = Key[float | None](None)
    code = Key("")
    data = Key[Mapping[str, str]]({})


class Capture(StreamTrial):
    """One exchange while the consumer's stream captures a graph in the mode `global`."""

    __slots__ = ()
    producer_stream = Key("")
    result = Key("")
    nodes = Key[int | None](None)
    at = Key("")
    error = Key[int | None](None)


class DeviceTimer(Record):
    """The timer of the clock `device`."""

    __slots__ = ()
    step_ns = Key(0.0)
    empty_ns = Key(0.0)
    scatter_ns = Key(0.0)


class CodedWarning(Record):
    __slots__ = ()
    code = Key("")
    text = Key("")
    data = Key[Mapping[str, str]]({})


class Guard(Record):
    __slots__ = ()
    pages = Key(0)
    read = Key(0)
    written = Key(0)
    late = Key(0)
    by = Key[Sequence[str]](())


class Observed(Record):
    """Observations during the consumer's call."""

    __slots__ = ()
    used = Key("")
    via = Key("direct")
    calls = Key[Sequence[str]](())
    struct = Key("")
    version = Key[Sequence[int]](())
    flags = Key[Sequence[str]](())
    guard = part(Guard)


class Entry(Axes):
    __slots__ = ()
    imports = Key[Sequence[str]](())
    sync = parts(Ordering)
    late_free = Key("")
    capture = parts(Capture)
    outcome = Key("")
    changed = Key[Sequence[str]](())
    writable = Key("")
    copied_by = Key("")
    late_read = Key(False)
    evidence = Key[Mapping[str, str]]({})
    device_timer = part(DeviceTimer)
    warnings = parts(CodedWarning)
    observed = part(Observed)


class Cache(Record):
    __slots__ = ()
    type = Key("")
    level = Key(0)
    size = Key(0)
    num_sharing = Key(0)


class BenchmarkContext(Record):
    """What readers of Google Benchmark's JSON expect."""

    __slots__ = ()
    date = Key("")
    host_name = Key("")
    executable = Key("")
    num_cpus = Key(0)
    mhz_per_cpu = Key(0.0)
    caches = parts(Cache)
    load_avg = Key[Sequence[float]](())
    json_schema_version = Key(0)
    library_build_type = Key("")
    cpu_scaling_enabled = Key(False)
    aslr_enabled = Key(False)


class RunDropped(Record):
    __slots__ = ()
    lines = Key(0)
    first = Key("")


class RunRequest(Record):
    """The request of the run."""

    __slots__ = ()
    pair = Key[Sequence[str]](())
    producers = Key[Sequence[str]](())
    consumers = Key[Sequence[str]](())
    protocols = Key[Sequence[str]](())
    devices = Key[Sequence[str]](())
    cases = Key[Sequence[str]](())
    sizes = Key[Sequence[str]](())
    arrays = Key[Sequence[str]](())
    count = Key[Sequence[str]](())
    phases = Key[Sequence[str]](())
    env = Key[Sequence[str]](())
    trace_api = Key(False)
    sync = Key(False)
    capture = Key(False)
    isolate = Key(False)
    evict = Key(False)
    filter = Key("")
    budget = Key("")
    precision = Key("")
    timeout = Key("")
    adapters = Key("")
    replicas = Key(0)
    jobs = Key[int | None](None)
    seed = Key[int | None](None)


class RunCompare(Record):
    """For the run of a comparison: the request for its two sides."""

    __slots__ = ()
    env = Key[Sequence[str]](())
    workers = Key(0)
    threshold = Key(0.0)
    instructions = Key(False)


class NoiseDevice(Record):
    __slots__ = ()
    device = Key("")
    busy = Key[float | None](None)
    processes = Key[int | None](None)


class Noise(Record):
    __slots__ = ()
    seconds = Key(0.0)
    other_processes = Key[float | None](None)
    stolen = Key[float | None](None)
    devices = parts(NoiseDevice)
    frequency = Key[float | None](None)
    reference_ns = Key[float | None](None)
    reference_spread = Key[float | None](None)
    too_busy = Key(False)


class MachineDeviceUnit(Record):
    __slots__ = ()
    name = Key("")
    uuid = Key("")
    mode = Key("")
    facts = Key[Mapping[str, str]]({})


class MachineDevice(Record):
    __slots__ = ()
    name = Key("")
    state = Key("")
    message = Key("")
    count = Key[int | None](None)
    version = Key("")
    units = parts(MachineDeviceUnit)


class Machine(Record):
    __slots__ = ()
    cpu = Key("")
    architecture = Key("")
    cores = Key[int | None](None)
    memory_bytes = Key[int | None](None)
    kernel = Key("")
    governor = Key("unknown")
    turbo = Key("")
    aslr = Key("")
    smt = Key("")
    huge_pages = Key("")
    numa_nodes = Key("")
    virtual = Key(False)
    devices = parts(MachineDevice)


class EnvironmentReferenceExchange(Record):
    __slots__ = ()
    median_ns = Key(0.0)
    spread = Key[float | None](None)
    core_ns = Key(0.0)
    workers = Key(0)


class EnvironmentBetweenProcesses(Record):
    __slots__ = ()
    length_ns = Key(0.0)
    half_width = Key(0.0)
    series = Key(0)


class Environment(Record):
    """A Python interpreter with its packages."""

    __slots__ = ()
    python = Key("")
    executable = Key("")
    failure = Key("")
    gil = Key(False)
    libraries = Key[Mapping[str, str]]({})
    floors_ns = Key[Mapping[str, float]]({})
    import_seconds = Key[Mapping[str, float]]({})
    import_effects = Key[Mapping[str, Mapping[str, Sequence[str]]]]({})
    copy_floors_gb_per_s = Key[Mapping[str, float]]({})
    copy_floors_bytes = Key[Mapping[str, int]]({})
    context_flags = Key[Mapping[str, str]]({})
    reference_exchange = part(EnvironmentReferenceExchange)
    between_processes = parts(EnvironmentBetweenProcesses)


class Run(Record):
    __slots__ = ()
    schema = Key(1)
    version = Key("")
    build = Key("")
    counted_by = Key("")
    command = Key[Sequence[str]](())
    wall_s = Key(0.0)
    round_s = Key[float | None](None)
    signal = Key[int | None](None)
    seed = Key[int | None](None)
    dropped = part(RunDropped)
    fingerprint = Key("")
    request = part(RunRequest)
    compare = part(RunCompare)
    not_installed = Key[Mapping[str, str]]({})
    noise = part(Noise)
    machine = part(Machine)
    environments = parts_by_name(Environment)


class DlbenchMachineContext(BenchmarkContext):
    """The other keys of its context."""

    __slots__ = ()


class DlbenchMachine(Run):
    __slots__ = ()
    context = part(DlbenchMachineContext)


class Dlbench(Run):
    __slots__ = ()
    machines = parts_by_name(DlbenchMachine)


class Context(BenchmarkContext):
    __slots__ = ()
    dlbench = part(Dlbench)


class ApiCalls(Record):
    __slots__ = ()
    phases = Key[Mapping[str, Mapping[str, int]]]({})


class MeasuredPhasesPart(Record):
    __slots__ = ()
    phase = Key("")
    what = Key("")
    ns = Key(0.0)
    failed_by = Key("")


class MeasuredPhases(Record):
    """The phases of the exchange in the order of time. Present together with `unexplained_ns`."""

    __slots__ = ()
    via = Key("")
    exchange_ns = Key(0.0)
    parts = parts(MeasuredPhasesPart)


class MeasuredWorker(Record):
    __slots__ = ()
    median_ns = Key(0.0)
    first_ns = Key(0.0)
    samples_ns = Key[Sequence[float]](())
    core_ns = Key(0.0)
    outcome = Key("")
    iterations = Key[int | None](None)


class Measured(Entry):
    __slots__ = ()
    run_name = Key("")
    run_type = Key("iteration")
    repetitions = Key(0)
    repetition_index = Key(0)
    threads = Key(0)
    iterations = Key(0)
    real_time = Key(0.0)
    cpu_time = Key(0.0)
    time_unit = Key("ns")
    has_ready = Key(False)
    lo_ns = Key(0.0)
    hi_ns = Key(0.0)
    interval = Key("")
    between_half_width = Key[float | None](None)
    mad_ns = Key(0.0)
    floor_ratio = Key(0.0)
    gb_per_s = Key(0.0)
    instructions = Key(0.0)
    api_calls = part(ApiCalls)
    unexplained_ns = Key[float | None](None)
    unexplained_lo_ns = Key[float | None](None)
    unexplained_hi_ns = Key[float | None](None)
    phases = part(MeasuredPhases)
    workers = parts(MeasuredWorker)


class NotMeasured(Entry):
    __slots__ = ()
    reason = Key("")
    code = Key("")
    data = Key[Mapping[str, str]]({})
    exception = Key("")
    signal = Key("")
    stderr_tail = Key("")
    below_ns = Key(0.0)
    found = Key("")


class Check(Record):
    __slots__ = ()
    library = Key("")
    version = Key("")
    rule = Key("")
    role = Key("")
    device = Key("cpu")
    level = Key("")
    section = Key("")
    outcome = Key("")
    observed = Key("")
    struct = Key("")
    signal = Key("")
    stderr_tail = Key("")
    issue = Key("")
    accepted = Key(False)
    reproducer = Key("")
    machine = Key("")


class Side(Record):
    __slots__ = ()
    runs = Key[Sequence[str]](())
    environment = Key("")
    date = Key("")
    python = Key("")
    libraries = Key[Mapping[str, str]]({})


class ComparisonMinimumDetectableChange(Record):
    __slots__ = ()
    least = Key(0.0)
    median = Key(0.0)
    most = Key(0.0)


class ComparisonInconclusive(Record):
    """The INCONCLUSIVE cells, and the number of cells with a time on both sides."""

    __slots__ = ()
    cells = Key(0)
    of = Key(0)
    replicas = Key[int | None](None)
    unknown = Key(0)
    undecidable = Key(0)


class CellInconclusive(Record):
    __slots__ = ()
    code = Key("")
    replicas = Key[int | None](None)


class Cell(Axes):
    __slots__ = ()
    presence = Key("")
    base_outcome = Key[str | None](None)
    head_outcome = Key[str | None](None)
    base = Key[float | None](None)
    head = Key[float | None](None)
    base_workers = Key(0)
    head_workers = Key(0)
    ratio = Key[float | None](None)
    lo = Key[float | None](None)
    hi = Key[float | None](None)
    p = Key[float | None](None)
    spread = Key[float | None](None)
    minimum_detectable_change = Key[float | None](None)
    verdict = Key[str | None](None)
    inconclusive = part(CellInconclusive)
    outcome_change = Key[str | None](None)
    details = Key[Sequence[str]](())


class Comparison(Record):
    __slots__ = ()
    dlbench_comparison = Key(1)
    version = Key("")
    metric = Key("")
    threshold = Key(0.0)
    false_alarms = Key(0.0)
    base = part(Side)
    head = part(Side)
    counts = Key[Mapping[str, int]]({})
    minimum_detectable_change = part(ComparisonMinimumDetectableChange)
    inconclusive = part(ComparisonInconclusive)
    left_out = Key[Mapping[str, int]]({})
    warnings = parts(CodedWarning)
    aa = Key[Mapping[str, int]]({})
    cells = parts(Cell)
