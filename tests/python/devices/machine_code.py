"""Reads the machine code of the delay kernel from a disassembler, and checks it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

TIMER, WORD, STAMP, FENCE, BRANCH = "timer", "word", "stamp", "fence", "branch"

#: In bytes of code. A division of 64 bits has a thousand, and takes longer than the clock's
#: step, so that each wait would last that much longer.
LONGEST_WAIT = 256


@dataclass(frozen=True)
class Step:
    """An instruction that matters: a read of the clock, a store of 32 bits (the value) or of 64 (a
    stamp), what makes earlier stores visible before it goes on, or a conditional branch."""

    kind: str
    address: int
    target: int = 0  #: of a branch


def faults(steps: list[Step]) -> list[str]:
    """Why a kernel with this code would report wrong times; empty for one that is right.

    Code is compared by address: between the wait and the last stamp the kernel has no loop."""
    return [*_faults_of_wait(steps), *_faults_of_order(steps)]


def _faults_of_wait(steps: list[Step]) -> Iterator[str]:
    loops = [step for step in steps if step.kind == BRANCH and step.target <= step.address]
    if len(loops) != 1:
        yield f"{len(loops)} loops instead of one"
    for loop in loops:
        inside = [step for step in steps if loop.target <= step.address <= loop.address]
        if not any(step.kind == TIMER for step in inside):
            yield "the wait does not read the clock"
        if any(step.kind in (WORD, STAMP) for step in inside):
            yield "the wait stores"
        if loop.address - loop.target > LONGEST_WAIT:
            yield "the wait is long"


def _faults_of_order(steps: list[Step]) -> Iterator[str]:
    words = [step.address for step in steps if step.kind == WORD]
    stamps = [step.address for step in steps if step.kind == STAMP]
    if (len(words), len(stamps)) != (1, 2):
        yield f"{len(words)} stores of the value and {len(stamps)} stamps instead of 1 and 2"
        return
    (word,) = words
    if word > min(stamps):
        yield "the value is stored after a stamp"
    end = max((s.address for s in steps if s.kind == TIMER and s.address < max(stamps)), default=0)
    if end > min(stamps):
        yield "the end is read after a stamp is stored"
    if end < word:
        yield "the end is read before the value is stored"
    if not any(step.kind == FENCE and word < step.address < end for step in steps):
        yield "nothing makes the value visible before the end is read"


def ptxas() -> str | None:
    """NVIDIA's assembler: a toolkit's, or that of the package nvidia-cuda-nvcc."""
    return _tool("ptxas")


def nvdisasm() -> str | None:
    """NVIDIA's disassembler: a toolkit's, or that of the package nvidia-cuda-nvdisasm."""
    return _tool("nvdisasm")


def _tool(name: str) -> str | None:
    packages = (path for entry in sys.path for path in Path(entry).glob(f"nvidia/*/bin/{name}"))
    found = shutil.which(name) or next(packages, None)
    return None if found is None else str(found)


SASS_LINE = re.compile(r"^\s*(?P<label>\.\w+):|/\*(?P<address>[0-9a-f]{4,})\*/\s+(?P<text>.*?)\s*;")


def read_sass(cubin: Path) -> list[Step]:
    words = [str(nvdisasm()), "-c", str(cubin)]
    text = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    return list(_sass_steps(text))


def _sass_steps(text: str) -> Iterator[Step]:
    labels: dict[str, int] = {}
    waiting: list[str] = []
    instructions: list[tuple[int, str]] = []
    for line in text.splitlines():
        found = SASS_LINE.search(line)
        if found is None:
            continue
        if found["label"]:
            waiting.append(found["label"])
            continue
        address = int(found["address"], 16)
        labels.update(dict.fromkeys(waiting, address))
        waiting.clear()
        instructions.append((address, found["text"]))
    for address, instruction in instructions:
        guard, operation = re.match(r"(@\S+\s+)?(.*)", instruction).groups()  # type: ignore[union-attr]
        name = operation.split()[0]
        target = re.search(r"`\((\.\w+)\)", operation)
        if "SR_GLOBALTIMER" in operation:
            yield Step(TIMER, address)
        elif re.match(r"STG?\.", name):
            yield Step(STAMP if ".64" in name else WORD, address)
        elif name.startswith("MEMBAR") and name.endswith(".SYS"):
            yield Step(FENCE, address)
        # A guard is a predicate before the branch, or a uniform one among its operands. The loop
        # that pads a function's end has neither.
        elif name.startswith("BRA") and target and (guard or ".U" in name):
            yield Step(BRANCH, address, labels[target[1]])


AMD_LINE = re.compile(r"^\t(?P<text>\S.*?)\s*// (?P<address>[0-9A-F]+):[^<]*(<(?P<target>.*)>)?")


def read_amd(disassembler: str, code: Path) -> list[Step]:
    words = [disassembler, "-d", "--disassemble-symbols=dlbench_delay", str(code)]
    text = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    return list(_amd_steps(text))


def _amd_steps(text: str) -> Iterator[Step]:
    start = re.search(r"^([0-9a-f]+) <dlbench_delay>:", text, re.MULTILINE)
    assert start is not None, text
    for line in text.splitlines():
        found = AMD_LINE.match(line)
        if found is None:
            continue
        address, instruction = int(found["address"], 16), found["text"]
        # s_memtime, the core's clock, is no clock that keeps its rate.
        if instruction.startswith("s_memrealtime") or "MSG_RTN_GET_REALTIME" in instruction:
            yield Step(TIMER, address)
        elif store := re.match(r"(global|flat)_store_(dword|b32|dwordx2|b64) ", instruction):
            yield Step(WORD if store[2] in ("dword", "b32") else STAMP, address)
        elif _waits_for_stores(instruction):
            yield Step(FENCE, address)
        elif instruction.startswith("s_cbranch") and found["target"]:
            offset = found["target"].partition("+")[2] or "0"
            yield Step(BRANCH, address, int(start[1], 16) + int(offset, 16))


def _waits_for_stores(instruction: str) -> bool:
    """Whether it waits until stores have reached memory: by the generation, a counter of loads and
    stores, one of stores alone, or its instruction of its own."""
    return bool(
        re.match(r"s_waitcnt .*vmcnt\(0\)", instruction)
        or re.match(r"s_waitcnt_vscnt null, 0x0", instruction)
        or re.match(r"s_wait_storecnt 0x0", instruction)
    )
