"""Stage 1 of `tests/gpu/run`: the driver, without any library."""

from __future__ import annotations

import json
import math
import statistics
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from work import KIND, NUMBER, Line, Stage, last_line

#: Streams that are looked at, the default stream included.
STREAMS = 16
#: Two of these keep a stream busy, in ns.
BUSY_NS = 10_000_000
#: Settings that give streams hardware queues of their own.
MORE_QUEUES = {"CUDA_DEVICE_MAX_CONNECTIONS": "32", "GPU_MAX_HW_QUEUES": "16"}


def ns(values: Sequence[float]) -> str:
    middle = statistics.median(values)
    return f"median {middle:.0f} ns, {min(values):.0f} to {max(values):.0f} ns, n = {len(values)}"


def query_device(stage: Stage, function: str, *arguments: object, **more: str) -> Any:
    """What `_device.FUNCTION` returns, called in a process of its own. Raises RuntimeError."""
    call = f"_device.{function}(*{list(arguments)!r})"
    code = f"import json; from dlbench import _device; print(json.dumps({call}))"
    done = stage.run([sys.executable, "-c", code], 10, **more)
    if done.returncode != 0:
        raise RuntimeError(last_line(done))
    return json.loads(done.stdout.splitlines()[-1])


def driver(stage: Stage) -> Iterator[Line]:
    state, reason, count = query_device(stage, "backend", KIND)
    if state != "ok":
        yield "fail", "driver", f"{KIND}: {state}: {reason}"
        return
    library, version, units = query_device(stage, "about", KIND)
    yield "pass", "driver", f"{library}, version {version}, devices: {count}"
    for number, (name, uuid, mode) in enumerate(units):
        yield "pass", f"device {KIND}:{number}", f"{name}, {uuid}, mode {mode or 'not reported'}"


def timer(stage: Stage) -> Iterator[Line]:
    steps = query_device(stage, "timer_steps", KIND, int(NUMBER), 200)
    text = f"multiples of {math.gcd(*steps)} ns; {ns(steps)}"
    yield "pass" if min(steps) > 0 else "fail", "timer step", text


def event_zero(stage: Stage) -> Iterator[Line]:
    times = query_device(stage, "empty_events", KIND, int(NUMBER), 50, 0)
    yield "pass" if min(times) >= 0 else "fail", "empty event pair, stream idle", ns(times)
    name = "empty event pair, stream held by a delay"
    for hold in (BUSY_NS, 10 * BUSY_NS):  # a busy host needs the longer one
        try:
            times = query_device(stage, "empty_events", KIND, int(NUMBER), 50, hold)
        except RuntimeError as error:
            if "the delay ended before" not in str(error):
                raise
            line = ("inconclusive", name, str(error))
        else:
            line = ("pass" if min(times) >= 0 else "fail", name, ns(times))
            break
    yield line


def streams(stage: Stage) -> Iterator[Line]:
    for name, more in (("", {}), (" with more hardware queues", MORE_QUEUES)):
        for busy in (BUSY_NS, 5 * BUSY_NS):
            rows = query_device(stage, "stream_order", KIND, int(NUMBER), STREAMS, busy, **more)
            if all(was_busy for was_busy, _, _ in rows):
                break
        yield independence(f"{STREAMS} streams{name}", rows)


def independence(name: str, rows: list[tuple[bool, bool, str]]) -> Line:
    """`rows` as `_device.stream_order` returns them; the first stream is the default one."""
    late = sum(not was_busy for was_busy, _, _ in rows)
    if late:
        return "inconclusive", name, f"{late} of {len(rows)} delays ended before the host was done"
    powerless = sum(not ordered for _, ordered, _ in rows)
    if powerless:
        text = f"control failed: work behind its own stream's delay ran early {powerless} times"
        return "inconclusive", name, text
    waited = [
        f"{second} waits for {first}"
        for first, (_, _, beside) in enumerate(rows)
        for second, ran in enumerate(beside)
        if second != first and ran == "0"
    ]
    pairs = len(rows) * (len(rows) - 1)
    text = f"{pairs - len(waited)} of {pairs} ordered pairs of streams run beside each other"
    if waited:
        more = f", and {len(waited) - 5} more" if len(waited) > 5 else ""
        return "inconclusive", name, f"{text}; stream {'; '.join(waited[:5])}{more}"
    return "pass", name, f"{text}; control: work behind a delay on its own stream waits"
