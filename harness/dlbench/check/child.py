"""The process that rules run in: `PYTHON child.py FD JSON`, started by `runner`.

JSON: name, device, the two adapter files (null: none), and the rules by name. Answers go to FD, a
line each: {"loaded": version}; {"begin": rule} before a rule, {"rule": ..., "outcome": ..., ...}
after it; {"end": true}. With `"ends"` the interpreter is then shut down as anybody's would be.
"""

from __future__ import annotations

import fcntl
import json
import os
import resource
import runpy
import sys
from pathlib import Path
from typing import Any

#: A library's words may be of any length, and a line may not.
LONGEST_TEXT = 2000
WORKER_MAIN = Path(__file__).absolute().parent.parent / "worker_main.py"


def main() -> None:
    """Serve, then end at once, or as an interpreter ends."""
    fd, asked = moved_up(int(sys.argv[1])), json.loads(sys.argv[2])
    # This script's own folder is no place to import from.
    own = {str(Path(sys.argv[0]).absolute().parent), str(Path(__file__).resolve().parent)}
    sys.path[:] = [entry for entry in sys.path if entry not in own]
    runpy.run_path(str(WORKER_MAIN))["load_package"]()

    def say(**line: Any) -> None:
        os.write(fd, (json.dumps(line) + "\n").encode())

    serve(asked, say)
    if not asked["ends"]:
        os._exit(0)


def moved_up(fd: int) -> int:
    """The descriptor moved to the end of the table, where a library does not use it by chance.
    Programs that a library executes do not inherit it; forked processes do."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    last = 1023 if most == resource.RLIM_INFINITY else min(most, 1024) - 1
    moved = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, last)
    os.close(fd)
    return moved


def serve(asked: dict[str, Any], say: Any) -> None:
    """Load the library, run the rules."""
    from dlbench.check import running
    from dlbench.errors import first_line

    try:
        subject, version = running.load(asked)
    except BaseException as error:
        say(failed=f"{type(error).__name__}: {first_line(error)}"[:LONGEST_TEXT])
        return
    say(loaded=version[:LONGEST_TEXT])
    if not asked["rules"]:
        # What the library does when it ends without any exchange.
        running.warm(subject)
    for name in asked["rules"]:
        say(begin=name)
        say(
            rule=name,
            **{key: text[:LONGEST_TEXT] for key, text in running.run(subject, name).items()},
        )
    # Whatever is kept for the end must be: nobody else holds it.
    sys.modules["dlbench"].__dict__["_subject"] = subject
    say(end=True)


if __name__ == "__main__":
    main()
