"""The process that rules run in: `PYTHON child.py FD JSON`, started by `runner`.

JSON: name, device, the two adapter files (null: none), and the rules by name. Answers go to FD, a
line each: {"loaded": version}; {"begin": rule} before a rule, {"rule": ..., "outcome": ..., ...}
after it; {"end": true}. With `"ends"` the interpreter is then shut down as anybody's would be.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
from pathlib import Path
from typing import Any

WORKER_MAIN = Path(__file__).absolute().parent.parent / "worker_main.py"


def main() -> None:
    """Serve, then end at once, or as an interpreter ends."""
    fd, asked = int(sys.argv[1]), json.loads(sys.argv[2])
    os.set_inheritable(fd, False)
    # This script's own folder is no place to import from.
    own = {str(Path(sys.argv[0]).absolute().parent), str(Path(__file__).resolve().parent)}
    sys.path[:] = [entry for entry in sys.path if entry not in own]
    runpy.run_path(str(WORKER_MAIN))["load_package"]()

    def say(**line: Any) -> None:
        os.write(fd, (json.dumps(line) + "\n").encode())

    serve(asked, say)
    if not asked["ends"]:
        os._exit(0)


def serve(asked: dict[str, Any], say: Any) -> None:
    """Load the library, run the rules."""
    from dlbench.check import running
    from dlbench.errors import first_line

    try:
        subject, version = running.load(asked)
    except BaseException as error:
        say(failed=f"{type(error).__name__}: {first_line(error)}")
        return
    say(loaded=version)
    if not asked["rules"]:
        # What the library does when it ends without any exchange.
        running.warm(subject)
    for name in asked["rules"]:
        say(begin=name)
        say(rule=name, **running.run(subject, name))
    # Whatever is kept for the end must be: nobody else holds it.
    sys.modules["dlbench"].__dict__["_subject"] = subject
    say(end=True)


if __name__ == "__main__":
    main()
