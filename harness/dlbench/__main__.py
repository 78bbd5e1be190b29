"""`python -m dlbench`, and the command `dlbench`."""

from __future__ import annotations

import errno
import os
import sys


def main() -> int:
    """Runs the command line; the exit status."""
    if sys.argv[1:] == ["--version"]:
        return print_version()
    from dlbench import cli

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
