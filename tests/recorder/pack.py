"""Puts the traces of a folder into one compressed file, or reads such a file.

python3 tests/recorder/pack.py FOLDER OUT.jsonl.xz
"""

from __future__ import annotations

import lzma
import sys
from collections.abc import Iterator
from pathlib import Path


def whole_lines(trace: bytes) -> bytes:
    """Behind the last line lie zero bytes: the recorder reserves its file in large steps."""
    return trace.partition(b"\0")[0]


def pack(folder: Path, out: Path) -> int:
    """Writes all traces in the order of their names; returns how many."""
    traces = sorted(folder.glob("*.jsonl"))
    with lzma.open(out, "wb") as packed:
        for trace in traces:
            packed.write(whole_lines(trace.read_bytes()))
    return len(traces)


def unpack(packed: Path) -> Iterator[str]:
    """Each process's trace."""
    lines: list[str] = []
    with lzma.open(packed, "rt") as file:
        for line in file:
            if line.startswith('{"trace":') and lines:
                yield "".join(lines)
                lines = []
            lines.append(line)
    if lines:
        yield "".join(lines)


if __name__ == "__main__":
    if len(sys.argv) != 3 or not Path(sys.argv[1]).is_dir():
        sys.exit("usage: pack.py FOLDER OUT.jsonl.xz")
    print(pack(Path(sys.argv[1]), Path(sys.argv[2])), "traces")
