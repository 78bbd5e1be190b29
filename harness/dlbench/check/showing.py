"""Lines of scripts: what must be refused, and what may be. A script ends with status 1 where it
shows the fault, by an exception or by SystemExit with a text, and with 0 where there is none."""

from __future__ import annotations

from textwrap import indent


def refused(call: str, errors: str = "Exception", given: str = "given") -> str:
    """The call must raise one of the errors; any other one is the fault, as is what it gives."""
    return (
        "try:\n"
        f"    {given} = {call}\n"
        f"except {errors} as error:\n"
        "    print('refused, as it must be:', repr(error))\n"
        "else:\n"
        f"    raise SystemExit(f'not refused: {{{given}!r}}')"
    )


def indented(lines: str) -> str:
    """In a block."""
    return indent(lines, "    ")


def allowed(call: str, errors: str = "Exception", given: str = "given") -> str:
    """What the call gives; one of the errors is no fault either, and ends the script."""
    return (
        "try:\n"
        f"    {given} = {call}\n"
        f"except {errors} as error:\n"
        "    print('refused, as it may be:', repr(error))\n"
        "    raise SystemExit(0)"
    )


#: Where the first element of a capsule's tensor lies.
ADDRESS = (
    "def address(capsule):\n"
    "    versioned = 'versioned' in repr(capsule)\n"
    "    struct = point(capsule, b'dltensor_versioned' if versioned else b'dltensor')\n"
    "    tensor = struct + 32 if versioned else struct\n"
    "    data = ctypes.c_void_p.from_address(tensor).value or 0\n"
    "    return data + ctypes.c_uint64.from_address(tensor + 40).value\n"
)
#: What many of an exchange leave, in objects and KiB; the first ones fill caches.
LEFT = (
    "import resource\n"
    "def used():\n"
    "    gc.collect()\n"
    "    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
    "    return sys.getallocatedblocks(), sys.getrefcount(array), most\n"
    "for count in (20_000, 50_000):\n"
    "    before = used()\n"
    "    for _ in range(count):\n"
    "        {}\n"
    "    objects, references, kib = (now - then for then, now in zip(before, used()))\n"
    "    print(count, 'leave', objects, 'objects', references, 'references', kib, 'KiB')\n"
    "assert objects < 500 and references < 500 and kib < 4_000"
)
#: Its device.
DEVICE = "[ctypes.c_int32.from_address(tensor + at).value for at in (8, 12)]"
#: What NumPy reads of an array, by DLPack where it speaks it.
BYTES = (
    "def values(array):\n"
    "    return np.from_dlpack(array) if hasattr(array, '__dlpack__') else np.asarray(array)\n"
)
#: What was lent has arrived; who returns bytes returns them as they lie.
SAME = (
    "given = values(result)\n"
    "assert given.tobytes() in (source.tobytes(), source.tobytes('A')), given"
)
#: An import that is refused, after which nothing of it is left.
TRIED = (
    "try:\n"
    "    result = {call}\n"
    "except Exception as error:\n"
    "    print('refused, as it may be:', repr(error))\n"
    "gc.collect()\n"
)
#: Without `result` the deleter has been called once.
ONCE = "gc.collect()\nassert len(deleted) == 1, deleted"
