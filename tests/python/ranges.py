"""Builds tools that receive ranges, and checks what they received."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
FAKES = ROOT / "tests/core/trace/fakes"


def compiler() -> str:
    found = shutil.which(os.environ.get("CXX", "c++"))
    if found is None:
        pytest.skip("needs a C++ compiler")
    return found


def nvtx_include() -> Path:
    """Where NVTX's headers are: those of the package nvidia-nvtx, or of a CUDA toolkit."""
    spec = importlib.util.find_spec("nvidia")
    places = list(spec.submodule_search_locations or ()) if spec else []
    folders = [folder for place in places for folder in Path(place).glob("*/include")]
    for folder in (*sorted(folders, reverse=True), Path("/usr/local/cuda/include")):
        if (folder / "nvtx3/nvToolsExt.h").exists():
            return folder
    pytest.skip("needs NVTX's headers: pip install nvidia-nvtx")


def build(source: str, out: Path, *more: str) -> Path:
    """One of the fakes, as a library (or a program, where `out` has no suffix)."""
    out.parent.mkdir(parents=True, exist_ok=True)
    kind = ["-shared", "-fPIC"] if ".so" in out.name else []
    command = [compiler(), "-std=c++20", "-O1", *kind, f"-I{ROOT / 'harness/core'}", *more]
    subprocess.run([*command, str(FAKES / source), "-o", str(out), "-ldl"], check=True)
    return out


def injection(folder: Path) -> Path:
    """An NVTX tool that writes what it saw when its process ends."""
    return build("injection.cpp", folder / "libinjection.so", f"-isystem{nvtx_include()}")


def logs(base: Path) -> list[list[dict[str, Any]]]:
    """The reports of each process to the tool."""
    return [
        [json.loads(line) for line in path.read_text().splitlines()]
        for path in sorted(base.parent.glob(f"{base.name}.*"))
    ]


def complaints(events: Iterable[dict[str, Any]]) -> list[str]:
    """What is wrong with the ranges of one process: balance, names, payloads."""
    found = []
    open_: dict[int, list[str]] = {}
    for event in events:
        if event["domain"] != "dlbench":
            continue
        stack = open_.setdefault(event["thread"], [])
        if event["op"] == "pop":
            if not stack:
                found.append("a pop without a push")
            else:
                stack.pop()
            continue
        stack.append(event["message"])
        if not event["registered"]:
            found.append(f"{event['message']}: not a registered string")
        if not event["category"]:
            found.append(f"{event['message']}: of no named category")
        if event["payload_type"] != 1:  # NVTX_PAYLOAD_TYPE_UNSIGNED_INT64
            found.append(f"{event['message']}: no payload in bytes")
    return found + [f"{name}: never closed" for stack in open_.values() for name in stack]


@dataclass
class Node:
    """A range with those inside it."""

    name: str
    category: str
    bytes: int
    inner: list[Node] = field(default_factory=list)

    def all(self) -> Iterator[Node]:
        yield self
        for node in self.inner:
            yield from node.all()


def tree(events: Iterable[dict[str, Any]]) -> Node:
    """The ranges of one process, on all its threads, below a root without a name."""
    root = Node("", "", 0)
    stacks: dict[int, list[Node]] = {}
    for event in events:
        if event["domain"] != "dlbench":
            continue
        stack = stacks.setdefault(event["thread"], [root])
        if event["op"] == "push":
            node = Node(event["message"], event["category"], event["payload"])
            stack[-1].inner.append(node)
            stack.append(node)
        else:
            stack.pop()
    return root


def chrome_tree(events: Iterable[dict[str, Any]]) -> dict[int, Node]:
    """The same of a Chrome trace, by process; raises AssertionError for ranges that overlap."""
    whole = [event for event in events if event["ph"] == "X"]
    # Written outer ones first, so that equal times need no rule.
    roots: dict[int, Node] = {}
    stacks: dict[tuple[int, int], list[tuple[Node, float]]] = {}
    for event in whole:
        root = roots.setdefault(event["pid"], Node("", "", 0))
        stack = stacks.setdefault((event["pid"], event["tid"]), [(root, float("inf"))])
        begin, end = event["ts"], event["ts"] + event["dur"]
        while begin >= stack[-1][1]:
            stack.pop()
        assert end <= stack[-1][1] + 1e-3, f"{event['name']} overlaps {stack[-1][0].name}"
        node = Node(event["name"], event["cat"], event["args"]["bytes"])
        stack[-1][0].inner.append(node)
        stack.append((node, end))
    return roots
