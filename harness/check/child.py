"""The process that rules run in: `PYTHON child.py`, started by `runner`.

It speaks the wire of a worker on file 3: `load` with the library's name, device and adapter files,
`warm` for its first array, `rule` with a name, and `end`, `as_program` or at once. For `check
--calls`: `adapters` with a producer and a consumer, `call` with a condition.
"""

from __future__ import annotations

import fcntl
import gc
import json
import os
import resource
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

WIRE = 3
#: The longest text of a library, because a line has a limit.
LONGEST_TEXT = 2000
WORKER_MAIN = Path(__file__).absolute().parent.parent / "worker_main.py"


def main() -> None:
    """Serve, then exit at once, or as an interpreter exits."""
    fd = moved_up(WIRE)
    # This script's own folder is no place to import from.
    own = {str(Path(sys.argv[0]).absolute().parent), str(Path(__file__).resolve().parent)}
    sys.path[:] = [entry for entry in sys.path if entry not in own]
    runpy.run_path(str(WORKER_MAIN))["load_package"]()
    if not serve(fd):
        os._exit(0)


def moved_up(fd: int) -> int:
    """Moves the descriptor to the end of the table, where no library uses its number by chance.
    Programs that a library executes do not inherit it; forked processes do."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    last = 1023 if most == resource.RLIM_INFINITY else min(most, 1024) - 1
    moved = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, last)
    os.close(fd)
    return moved


def serve(fd: int) -> bool:
    """Answer all requests; return whether the interpreter shuts down normally."""
    from dlbench.check import boundary, running
    from dlbench.errors import encodable, first_line

    def send(**message: Any) -> None:
        os.write(fd, (json.dumps(message) + "\n").encode())

    def fit(text: str) -> str:
        return encodable(text)[:LONGEST_TEXT]

    send(hello={})
    subject = adapters = None
    for request in requests(fd):
        if request["do"] in ("load", "adapters"):
            version = ""
            try:
                if request["do"] == "adapters":
                    adapters = boundary.load(request)
                else:
                    subject, version = running.load(request)
            except BaseException as error:
                text = fit(first_line(error))
                send(error={"exception": fit(type(error).__name__), "reason": text})
                continue
            # Rules collect garbage often: objects of the imports are not scanned each time.
            gc.freeze()
            send(ok={"version": fit(version)})
        elif adapters is not None and request["do"] == "call":
            found = boundary.run(adapters, request)
            send(ok={key: fit(text) for key, text in found.items()})
        elif request["do"] == "end":
            gc.unfreeze()
            # The subject is kept alive here until the end.
            sys.modules["dlbench"].__dict__["_subject"] = subject
            return bool(request.get("as_program"))
        elif subject is not None and request["do"] == "warm":
            running.warm(subject)
            send(ok={})
        elif subject is not None:
            result = running.run(subject, request["rule"])
            send(ok={"rule": request["rule"], **{key: fit(text) for key, text in result.items()}})
    return False


def requests(fd: int) -> Iterator[dict[str, Any]]:
    """The requests from the wire, until it is closed."""
    unread = b""
    while chunk := os.read(fd, 1 << 16):
        *lines, unread = (unread + chunk).split(b"\n")
        yield from map(json.loads, lines)


if __name__ == "__main__":
    main()
