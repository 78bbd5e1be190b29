"""A worker without libraries: speaks the wire, and misbehaves as its adapters' paths say.

A path is a list of `where=what`, as "make=segv;round=hang". Where: load, floors, make, call,
round, split, phases, judge, drop, memory, after-LIBRARY (an import). What: see `act`. `device=NS`
of a producer: what is left of each row on a device's clock.
A `what` with @FILE behind it is done once only: FILE remembers; see also `slowness`.
"""

import collections
import contextlib
import ctypes
import json
import mmap
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

wire = socket.socket(fileno=int(sys.argv[sys.argv.index("--fd") + 1]))
scripts = {}
prepared = {}
counts = collections.Counter()  # rounds, by request

DEVICE_STEP_NS = 1000.0
#: A device's memory, and a worker's share of it from its first array on.
DEVICE_BYTES = 1000
CONTEXT_BYTES = 300


def send(message):
    wire.sendall((json.dumps(message) + "\n").encode())


def sleeper(**options):
    """A process that never ends by itself and holds the wire and the pipes open."""
    child = subprocess.Popen(
        [sys.executable, "-c", "import time\nwhile True: time.sleep(60)"],
        close_fds=False,
        **options,
    )
    note = os.environ.get("FAKE_WORKER_PIDS")
    if note:
        with Path(note).open("a") as file:
            file.write(f"{child.pid}\n")


def act(what):
    """Do it. True: the request has been answered already."""
    what, _, once = what.partition("@")
    if once:
        if Path(once).exists():
            return False
        Path(once).touch()
    if what in ("segv", "abort", "kill"):
        number = {"segv": signal.SIGSEGV, "abort": signal.SIGABRT, "kill": signal.SIGKILL}[what]
        os.write(2, f"about to {what}\n".encode())
        os.kill(os.getpid(), number)
    elif what == "exit":
        os._exit(0)
    elif what == "hang":
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        while True:
            time.sleep(60)
    elif what == "stderr":
        for _ in range(100):
            os.write(2, b"x" * (1 << 20))
    elif what == "grandchild":
        sleeper()
    elif what == "setsid":
        sleeper(start_new_session=True)
    elif what == "orphan":
        # The middle one is gone at once; its child is in no group or session of ours.
        if os.fork() == 0:
            sleeper(start_new_session=True)
            os._exit(0)
        os.wait()
    elif what == "garbage":
        wire.sendall(b"\xff\x00 hello\n")
        return True
    elif what == "flood":
        with contextlib.suppress(OSError):
            while True:
                wire.sendall(b"x" * 65536)
        return True
    elif what == "close":
        wire.shutdown(socket.SHUT_RDWR)
        time.sleep(600)
    elif what == "nonsense":
        send({"ok": {"ns": "fast", "outcome": 7}})
        return True
    elif what == "nan":
        wire.sendall(b'{"ok":{"ns":NaN}}\n')
        return True
    elif what == "late":
        # Answers properly and is gone before the next request.
        return "late"
    elif what in ("refused", "import-failed", "no-device", "wrong", "unsupported"):
        send({"error": {"outcome": what, "exception": "BufferError", "reason": "two\nlines"}})
        return True
    elif what == "alone":
        require_alone()
    elif what == "slow":
        time.sleep(0.3)
    elif what.startswith("map:"):
        map_code(Path(what.removeprefix("map:")))
    else:
        raise ValueError(what)
    return False


def map_code(path):
    """Map the file as code, as an import of a library does. A line of PATH.log holds how many of
    its pages were in the page cache before."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long)
    libc.mincore.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p)
    size = path.stat().st_size
    with path.open("rb") as file:
        kind = (mmap.PROT_READ | mmap.PROT_EXEC, mmap.MAP_SHARED, file.fileno(), 0)
        code = libc.mmap(None, size, *kind)
        pages = ctypes.create_string_buffer(size // mmap.PAGESIZE)
        libc.mincore(code, size, pages)
        ctypes.string_at(code, size)
    with path.with_suffix(".log").open("a") as log:
        log.write(f"{sum(page & 1 for page in pages.raw)}\n")


def states():
    """State letters of the other workers of our parent."""
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            command = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if int(fields[1]) == os.getppid() and b"fake_worker.py" in command:
            yield fields[0]


def require_alone():
    """All other workers are stopped, or become so: a signal takes effect a little later."""
    for _ in range(2000):
        if all(state in "TtZX" for state in states()):
            return
        time.sleep(0.005)
    send({"error": {"outcome": "wrong", "reason": "another worker is running"}})
    os._exit(1)


def todo(where, *libraries):
    """What the scripts of these (role, library) say for this place."""
    answered = False
    for key in libraries:
        for step in scripts.get(key, "").split(";"):
            place, _, what = step.partition("=")
            if place == where:
                answered = act(what) or answered
    return answered


def todo_after(key):
    """`after-a+b=what`: where these libraries were imported before."""
    imported = {library for role, library in scripts} - {key[1]}
    for step in scripts[key].split(";"):
        place, _, what = step.partition("=")
        if place.startswith("after-") and set(place[6:].split("+")) <= imported:
            return act(what)
    return False


def sides(exchange):
    return ("producer", exchange["producer"]), ("consumer", exchange["consumer"])


def outcome_of(exchange, judged):
    """`copies=CASE` of a producer: from the beginning; `lazily=CASE`: so the last look finds.
    With @FILE behind it, in the first worker that is asked: FILE remembers which.
    `shows-nothing=CASE`: unproven.
    """
    for step in scripts.get(("producer", exchange["producer"]), "").split(";"):
        where, _, what = step.partition("=")
        case, _, note = what.partition("@")
        if case != exchange["case"] or (note and not is_first(Path(note))):
            continue
        if where == "copies" or (judged and where == "lazily"):
            return "copy"
        if where == "shows-nothing":
            return "unproven"
    return "zero-copy"


def is_first(note):
    if not note.exists():
        note.write_text(str(os.getpid()))
    return note.read_text() == str(os.getpid())


def number_of(note):
    """The number of this worker among those that came here; the first is 1."""
    pids = note.read_text().split() if note.exists() else []
    if str(os.getpid()) not in pids:
        pids.append(str(os.getpid()))
        note.write_text(" ".join(pids))
    return pids.index(str(os.getpid())) + 1


def contexts():
    """The workers that live and have a context, this one among them."""
    notes = Path(os.environ["FAKE_WORKER_CONTEXTS"])
    (notes / str(os.getpid())).touch()
    return [note for note in notes.iterdir() if Path("/proc", note.name).exists()]


def device_memory():
    """What a driver says is free."""
    return {"free": DEVICE_BYTES - CONTEXT_BYTES * len(contexts()), "total": DEVICE_BYTES}


def prepare(request):
    exchange = request["exchange"]
    if "FAKE_WORKER_CONTEXTS" in os.environ and device_memory()["free"] < 0:
        send({"error": {"outcome": "out-of-memory", "reason": "cuda: context: out of memory (2)"}})
        return
    producer, consumer = sides(exchange)
    prepared[request["id"]] = exchange
    send({"step": "make"})
    if todo("make", producer):
        return
    send({"step": "call"})
    words = (f"call{exchange['bytes']}", f"call-{exchange['case']}", "call")
    if any(todo(word, consumer) for word in words):
        return
    send(
        {
            "ok": {
                "outcome": (
                    "copy" if exchange["protocol"] == "convert" else outcome_of(exchange, False)
                ),
                "changed": [],
                "copied_by": "",
                "late_read": False,
                "evidence": {
                    "address": "yes",
                    "guard": "skipped",
                    "write": "yes",
                    "slope": "skipped",
                },
                "observed": {
                    "used": exchange["protocol"],
                    "via": "direct",
                    "calls": ["__dlpack__()"],
                    "struct": "versioned",
                    "version": [1, 0],
                    "flags": [],
                },
                "first_ns": dict.fromkeys(request["clocks"], 9000),
                "iterations": dict.fromkeys(request["clocks"], 1 if is_long(exchange) else 100),
                "device_step_ns": DEVICE_STEP_NS,
                "floor": "call",
                "warnings": [],
                "seconds": 0.001,
            }
        }
    )


def slowness(names):
    """`apart@FILE`: rounds take ten times as long in all workers but the first."""
    for name in names:
        for step in scripts.get(name, "").split(";"):
            what, _, note = step.partition("@")
            if what == "apart" and not is_first(Path(note)):
                return 10
    return 1


def is_long(exchange):
    """`long`: one exchange takes three seconds, as the worker reports it."""
    return any("long" in scripts.get(side, "").split(";") for side in sides(exchange))


def measure(request):
    exchange = prepared[request["id"]]
    answered = todo("round", *sides(exchange))
    if answered is True:
        return
    # Ever the same, so that nothing asks for refinement; `ready` takes twice as long.
    ns = 3e9 if is_long(exchange) else 1000.0 * (2 if request["clock"] == "ready" else 1)
    if any("noisy" in scripts.get(side, "") for side in sides(exchange)):
        prepared.setdefault("noise", []).append(1)
        ns += 300.0 * (len(prepared["noise"]) % 5)
    ns *= slowness(sides(exchange))
    time = {"ns": ns, "cpu_ns": ns, "canary_ns": 100}
    counts[request["id"]] += 1
    rounds = counts[request["id"]]
    for step in ";".join(scripts.get(side, "") for side in sides(exchange)).split(";"):
        what, _, note = step.partition("@")
        if what == "disturbed" and is_first(Path(note)):
            time |= {"ns": 10 * ns, "preempted": 1}
        if what == "unsteady" and is_first(Path(note)):
            time["ns"] *= 10 if rounds > 2 else 1
        # `shared@WORKERS=FILE`: another thread uses the core in all rounds of these workers;
        # `briefly@ROUNDS`: in these rounds.
        if what in ("shared", "briefly"):
            which, _, path = note.partition("=")
            is_slow = str(number_of(Path(path)) if path else rounds) in which.split(",")
            time |= {"ns": time["ns"] * (2 if is_slow else 1), "canary_ns": 180 if is_slow else 100}
    if request["clock"] == "device":
        for step in scripts.get(("producer", exchange["producer"]), "").split(";"):
            where, _, what = step.partition("=")
            time["ns"] = float(what) if where == "device" else time["ns"]
        time |= {"empty_ns": 2000.0, "spent_ns": 8e6}
    send({"ok": time})
    if answered == "late":
        os.kill(os.getpid(), signal.SIGKILL)


def main():
    how, _, once = os.environ.get("FAKE_WORKER_START", "").partition("@")
    if how == "die" and not (once and Path(once).exists()):
        if once:
            Path(once).touch()
        os.write(2, b"no such module\n")
        os._exit(3)
    build = os.environ.get("FAKE_WORKER_BUILD", "fake")
    send({"hello": {"build": build, "python": "3.11.7", "gil": True, "pid": os.getpid()}})
    for line in wire.makefile("r"):
        request = json.loads(line)
        verb = request["do"]
        log = os.environ.get("FAKE_WORKER_LOG")
        if log:
            with Path(log).open("a") as file:
                file.write(f"{os.getpid()} {line}")
        if verb == "end":
            os._exit(0)
        elif verb == "load":
            key = (request["role"], request["library"])
            scripts[key] = request["path"]
            if not (todo("load", key) or todo_after(key)):
                send({"ok": {"version": "1.0", "devices": ["cpu"], "seconds": 0.5}})
        elif verb == "device_memory":
            known = "FAKE_WORKER_CONTEXTS" in os.environ
            if not todo("memory", *scripts):
                send({"ok": device_memory() if known else {}})
        elif verb == "copy_floors":
            send({"ok": {"warm": 16.0, "fresh": 0.5}})
        elif verb == "floors":
            send({"ok": {"empty": 0.3, "clock": 23.5, "call": 20.0, "proxy": 35.0}})
        elif verb == "prepare":
            prepare(request)
        elif verb == "round":
            measure(request)
        elif verb == "split":
            if not todo("split", *sides(prepared[request["id"]])):
                calls = [{"phase": "export", "call": "__dlpack__()", "raised": False}]
                send({"ok": {"via": "proxy", "iterations": 50, "calls": calls, "warnings": []}})
        elif verb == "phases":
            if not todo("phases", *sides(prepared[request["id"]])):
                times = {"exchange": 810.0, "calls": [400.0], "import": 300.0, "release": 100.0}
                times |= {"unexplained": 10.0, "canary_ns": 100}
                counts["phases"] += 1
                # `phases-briefly@ROUND`: another thread uses the core in this round.
                if f"phases-briefly@{counts['phases']}" in scripts.values():
                    times |= {"import": 1110.0, "exchange": 1620.0, "canary_ns": 180}
                send({"ok": times})
        elif verb == "judge":
            exchange = prepared[request["id"]]
            send({"step": "guard"})
            todo("guard", *sides(exchange))
            todo(f"guard-{exchange['case']}", *sides(exchange))
            send({"step": "judged"})
            answered = todo("judge", *sides(exchange))
            if not (answered or todo(f"judge{exchange['bytes']}", *sides(exchange))):
                outcome = outcome_of(exchange, True)
                warning = {"code": "drift", "text": "judged again"}
                send({"ok": {"outcome": outcome, "warnings": [warning]}})
        elif verb != "drop" or not todo("drop", *sides(prepared[request["id"]])):
            send({"ok": {}})


main()
