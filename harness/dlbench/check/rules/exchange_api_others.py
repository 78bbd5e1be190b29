"""The C exchange API's functions that have no array: the allocator, and the stream."""

from __future__ import annotations

from typing import Any

from dlbench.check.reading import describe_error
from dlbench.check.rule import EXCHANGE_API, Broken, producer_rule
from dlbench.check.rules.exchange_api import CALLED, has
from dlbench.check.subject import Subject


@producer_rule(
    "c-api.allocate",
    "managed_tensor_allocator allocates memory as the prototype describes",
    f"{EXCHANGE_API}.managed_tensor_allocator",
    lines=CALLED["allocate"],
)
def allocate(subject: Subject) -> str:
    _, api = subject.api()
    has(api, "managed_tensor_allocator")
    answer = api.allocate((2, 32, 1), (3, 5))
    if answer["status"] != 0 or answer["made"] is None:
        raise Broken(f"it returned {answer['status']}: {answer['kind']} {answer['message']}")
    facts = answer["made"].facts
    expected = {"dtype": (2, 32, 1), "shape": (3, 5), "device": (1, 0)}
    wrong = [f"{key} is {facts[key]}" for key, value in expected.items() if facts[key] != value]
    if wrong or not facts["data"]:
        raise Broken(", ".join(wrong) or "data is NULL")
    return f"shape {facts['shape']}, strides {facts['strides']}"


@producer_rule(
    "c-api.allocate-error",
    "an allocation that fails returns -1 and calls SetError with the reason, once",
    f"{EXCHANGE_API}.managed_tensor_allocator",
    risky=True,
    lines=CALLED["allocate-error"],
)
def allocate_error(subject: Subject) -> str:
    _, api = subject.api()
    has(api, "managed_tensor_allocator")
    answer = api.allocate((200, 32, 1), (3, 5))
    if answer["made"] is not None:
        raise Broken("type code 200 was allocated")
    if answer["status"] == 0:
        raise Broken("it returned 0, and no tensor")
    if answer["complaints"] != 1:
        raise Broken(f"SetError was called {answer['complaints']} times")
    return (
        f"{answer['kind']}: {answer['message'].splitlines()[0][:100] if answer['message'] else ''}"
    )


@producer_rule(
    "c-api.stream",
    "current_work_stream of the CPU is NULL",
    f"{EXCHANGE_API}.current_work_stream",
    level="should",
    lines=CALLED["stream"],
)
def stream(subject: Subject) -> str:
    _, api = subject.api()
    has(api, "current_work_stream")
    try:
        answer: Any = api.stream(1, 0)
    except Exception as error:
        raise Broken(describe_error(error)) from None
    if answer is NotImplemented:
        raise Broken("it wrote nothing")
    if answer != 0:
        raise Broken(f"it is {answer:#x}")
    return "NULL"
