"""When, how often and in which thread a consumer calls the deleter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dlbench import _check
from dlbench.check import leaks
from dlbench.check.imports import brought
from dlbench.check.known_producer import Array, KnownProducer, sized
from dlbench.check.reading import address, on_error, values
from dlbench.check.rule import HEADER, SPEC, consumer_rule
from dlbench.check.subject import Subject, collect, in_thread
from dlbench.check.verdict import Broken, NotApplicable, expect

DELETER = f"{HEADER}, DLManagedTensorVersioned.deleter"


def arrived(subject: Subject, array: Array, view: Callable[[Any], Any] | None = None) -> bytes:
    """The values of an import of the array, or of a view of it, before any deletion: the control of
    checks by values. Another rule tests whether they are the array's.
    """
    twin = brought(subject, KnownProducer(subject, array, poison=False))
    values: bytes = subject.read_facts(view(twin) if view else twin)["values"]
    return values


def unchanged(subject: Subject, producer: KnownProducer, result: Any, when: str) -> None:
    """Raises Broken if the result's values changed; deleters overwrite the freed memory."""
    if subject.read_facts(result)["values"] != arrived(subject, producer.array):
        raise Broken(f"its values changed {when}")


@consumer_rule("import.deleter-once", DELETER, counts=True)
def deleter_once(subject: Subject) -> str:
    """the deleter is called once, after the result is deleted

    del result; gc.collect()
    assert len(deleted) == 1, deleted
    """
    producer = KnownProducer(subject, sized("import.deleter-once"))
    # A library may keep references from its own reads, which are not the import's; so the rule
    # reads nothing.
    brought(subject, producer)
    return producer.require_deleted()


@consumer_rule("import.deleter-not-early", DELETER, counts=True)
def deleter_not_early(subject: Subject) -> str:
    """the deleter is not called while the result uses the memory

    gc.collect(); early = len(deleted)
    source[0] = -1
    assert not (early and {values}[0] == -1), 'the memory is still used'
    """
    producer = KnownProducer(subject, sized("import.deleter-not-early"))
    result = brought(subject, producer)
    producer.release_kept()
    early = producer.deletions
    unchanged(subject, producer, result, "while it was used")
    observed = subject.read_facts(result)
    if early and observed["address"] in [
        borrowed.address for borrowed in producer.borrowed_tensors
    ]:
        raise Broken("it was called while the result was alive")
    del result
    return "not before" if not early else "it copied, and gave the memory back at once"


@consumer_rule("import.view-keeps", DELETER, counts=True)
def view_keeps(subject: Subject) -> str:
    """the deleter is not called before the last view is deleted

    result = result[2:]; gc.collect(); early = len(deleted)
    source[2] = -1
    assert not (early and {values}[0] == -1), 'the memory is still used'
    del result; gc.collect()
    assert len(deleted) == 1, deleted
    """
    producer = KnownProducer(subject, sized("import.view-keeps"))
    result = brought(subject, producer)
    with on_error(NotApplicable, "no view can be made: "):
        view = result[8:]
    expected = arrived(subject, producer.array, lambda result: result[8:])
    subject.wait(view)
    del result
    producer.release_kept()
    if subject.read_facts(view)["values"] != expected:
        raise Broken("the view's values changed when the result was dropped")
    early = producer.deletions
    del view
    producer.require_deleted()
    return "the view kept it" if not early else "the view is a copy"


@consumer_rule(
    "import.null-deleter",
    DELETER,
    risky=True,
    patch="ctypes.c_void_p.from_address(struct + {deleter}).value = None",
)
def null_deleter(subject: Subject) -> str:
    """a deleter that is NULL is not called

    del result; gc.collect()
    """
    producer = KnownProducer(subject, deleter="null")
    result = brought(subject, producer)
    unchanged(subject, producer, result, "at once")
    del result
    producer.release_kept()
    return "nothing was called"


@consumer_rule(
    "import.null-context",
    f"{HEADER}, DLManagedTensorVersioned.manager_ctx",
    patch="ctypes.c_void_p.from_address(struct + {deleter} - 8).value = None",
    counts=True,
)
def null_context(subject: Subject) -> str:
    """the deleter is called even if manager_ctx is NULL

    del result; gc.collect()
    assert len(deleted) == 1, deleted
    """
    for variants in structs(subject):
        producer = KnownProducer(subject, sized("import.null-context"), context=False)
        producer.describes |= variants
        result = brought(subject, producer)
        unchanged(subject, producer, result, "at once")
        del result
        producer.require_deleted()
    return "its deleter was called once"


def structs(subject: Subject) -> list[dict[str, bool]]:
    """Keywords of a KnownProducer: for the requested struct, and for the legacy one if accepted."""
    brought(subject, KnownProducer(subject))
    variants: list[dict[str, bool]] = [{}]
    if subject.handed == "versioned":
        try:
            subject.import_(KnownProducer(subject, legacy=True))
        except Exception:
            return variants
        variants.append({"legacy": True})
    return variants


@consumer_rule("import.exported-again", SPEC, risky=True, counts=True)
def exported_again(subject: Subject) -> str:
    """an export of the result, to the library itself too, may outlive it, and releases the memory

    again = result.__dlpack__(); del result; gc.collect(); del again
    gc.collect()
    assert len(deleted) == 1, deleted; deleted.clear()
    result = {call}
    again = {again}; del result; gc.collect(); del again
    gc.collect()
    assert len(deleted) == 1, deleted
    """
    producer = KnownProducer(subject, sized("import.exported-again"))
    result = brought(subject, producer)
    with on_error(NotApplicable, "it does not export what it imports: "):
        again = subject.request_export(result)
        facts = _check.read(again)
    if address(facts) not in [borrowed.address for borrowed in producer.borrowed_tensors]:
        raise NotApplicable("it exports other memory")
    before = values(facts)
    del result
    producer.release_kept()
    expect(values(facts) == before, "its values changed when the result was dropped")
    del again
    producer.require_deleted()
    return imported_again(subject)


def imported_again(subject: Subject) -> str:
    """The same, where it is the library itself that imports what it exports."""
    producer = KnownProducer(subject, sized("import.exported-again"))
    result = brought(subject, producer)
    try:
        again = subject.import_(result)
    except Exception:
        return "its deleter was called once"
    del result
    producer.release_kept()
    unchanged(subject, producer, again, "when the import that it was imported from was dropped")
    del again
    return producer.require_deleted()


@consumer_rule("import.several", DELETER, counts=True)
def several(subject: Subject) -> str:
    """several imports of one buffer are deleted independently

    more = [{call}, {call}]
    del result; gc.collect()
    assert len(deleted) in (1, 3), deleted
    more.clear(); gc.collect()
    assert len(deleted) == 3, deleted
    """
    producer = KnownProducer(subject, sized("import.several"), poison=False)
    results = [brought(subject, producer) for _ in range(3)]
    copies = producer.deletions
    del results[1]
    producer.release_kept()
    given = producer.deletions - copies
    expect(copies != 0 or given == 1, f"one of three was dropped, and {given} deleters were called")
    for result in results:
        unchanged(subject, producer, result, "when another import was dropped")
    del result
    results.clear()
    collect()
    # A library may keep what was read: so three that were not read.
    unseen = KnownProducer(subject, producer.array, poison=False)
    results = [brought(subject, unseen) for _ in range(3)]
    results.clear()
    unseen.release_kept()
    often = [borrowed.deletions for borrowed in unseen.borrowed_tensors]
    expect(
        set(often) <= {1}, f"three imports were dropped, and their deleters called {often} times"
    )
    return "each deleter was called once"


@consumer_rule("import.other-thread", SPEC, counts=True)
def other_thread(subject: Subject) -> str:
    """the result may be dropped in another thread

    import threading
    held = [result]; del result
    thread = threading.Thread(target=held.clear); thread.start(); thread.join()
    gc.collect()
    assert len(deleted) == 1, deleted
    """
    producer = KnownProducer(subject, sized("import.other-thread"))
    held = [brought(subject, producer)]
    with on_error(Broken):
        in_thread(held.clear)
    return producer.require_deleted()


@consumer_rule("import.alive-at-exit", SPEC, risky=True, at_exit=True)
def alive_at_exit(subject: Subject) -> str:
    """a result may be alive when the interpreter exits

    print('and now the end')
    """
    producer = KnownProducer(subject, sized("import.alive-at-exit"))
    subject.kept += [brought(subject, producer), producer]
    return "the process ended well"


@consumer_rule("import.leak", DELETER)
def leak(subject: Subject) -> str:
    """an import leaks nothing

    left(lambda: {call}, array)
    """
    producer = KnownProducer(subject, sized("import.leak"))
    result = brought(subject, producer)
    exported, given = 0, 0

    def exchange() -> None:
        nonlocal exported, given
        subject.import_(producer)
        exported += len(producer.borrowed_tensors)
        producer.capsules.clear()
        producer.calls.clear()
        given += sum(borrowed.deletions for borrowed in producer.borrowed_tensors)
        producer.borrowed_tensors.clear()

    controls = {"view of an array": lambda: result[8:], "array that it makes": subject.make}
    left = leaks.require_none(exchange, producer.array, controls)
    # A library with its own collector deletes the last ones later.
    expect(given >= 0.9 * exported, f"of {exported:,} borrowed tensors {given:,} were deleted")
    return left
