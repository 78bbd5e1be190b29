"""`python -m dlbench`, and the command `dlbench`."""

from __future__ import annotations

import errno
import os
import sys


def main() -> int:
    """Runs the command line; the exit status."""
    if sys.argv[1:] == ["--version"]:
        return print_version()
    import signal

    # An interrupt during the imports ends the process without a traceback.
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from dlbench import cli

    signal.signal(signal.SIGINT, before)
    return cli.main()


def print_version() -> int:
    """Imports no module that only a run needs. A closed standard output is not an error."""
    from dlbench._core import version

    try:
        os.write(1, f"dlbench {version}\n".encode())
    except OSError as error:
        if error.errno not in (errno.EBADF, errno.EPIPE):
            line = f"dlbench: cannot write to standard output: {error.strerror}\n"
            os.write(2, line.encode())
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
