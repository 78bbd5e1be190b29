"""The C exchange API's functions that have no array: the allocator, and the stream."""

from __future__ import annotations

from functools import partial
from typing import Any

from dlbench.check.reading import describe_error
from dlbench.check.rule import EXCHANGE_API, RULES, Broken
from dlbench.check.rules.exchange_api import has, shown_by
from dlbench.check.subject import Subject

rule = partial(RULES.add, role="producer")


@rule(
    "c-api.allocate",
    "managed_tensor_allocator allocates memory as the prototype describes",
    f"{EXCHANGE_API}.managed_tensor_allocator",
    shown=shown_by("allocate"),
)
def allocate(subject: Subject) -> str:
    _, api = subject.api()
    has(api, "managed_tensor_allocator")
    said = api.allocate((2, 32, 1), (3, 5))
    if said["status"] != 0 or said["made"] is None:
        raise Broken(f"it returned {said['status']}: {said['kind']} {said['message']}")
    facts = said["made"].facts
    asked = {"dtype": (2, 32, 1), "shape": (3, 5), "device": (1, 0)}
    wrong = [f"{key} is {facts[key]}" for key, value in asked.items() if facts[key] != value]
    if wrong or not facts["data"]:
        raise Broken(", ".join(wrong) or "data is NULL")
    return f"shape {facts['shape']}, strides {facts['strides']}"


@rule(
    "c-api.allocate-error",
    "an allocation that fails returns -1 and calls SetError with the reason, once",
    f"{EXCHANGE_API}.managed_tensor_allocator",
    risky=True,
    shown=shown_by("allocate-error"),
)
def allocate_error(subject: Subject) -> str:
    _, api = subject.api()
    has(api, "managed_tensor_allocator")
    said = api.allocate((200, 32, 1), (3, 5))
    if said["made"] is not None:
        raise Broken("type code 200 was allocated")
    if said["status"] == 0:
        raise Broken("it returned 0, and no tensor")
    if said["complaints"] != 1:
        raise Broken(f"SetError was called {said['complaints']} times")
    return f"{said['kind']}: {said['message'].splitlines()[0][:100] if said['message'] else ''}"


@rule(
    "c-api.stream",
    "current_work_stream of the CPU is NULL",
    f"{EXCHANGE_API}.current_work_stream",
    level="should",
    shown=shown_by("stream"),
)
def stream(subject: Subject) -> str:
    _, api = subject.api()
    has(api, "current_work_stream")
    try:
        said: Any = api.stream(1, 0)
    except Exception as error:
        raise Broken(describe_error(error)) from None
    if said is NotImplemented:
        raise Broken("it wrote nothing")
    if said != 0:
        raise Broken(f"it is {said:#x}")
    return "NULL"
