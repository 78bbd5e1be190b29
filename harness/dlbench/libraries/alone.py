"""Lines of Python that offer a consumer one protocol of an array only, as a worker's proxy does."""

from __future__ import annotations

PROPERTIES = {
    "array_interface": "__array_interface__",
    "array_struct": "__array_struct__",
    "cuda_array_interface": "__cuda_array_interface__",
}
METHODS = {
    "dlpack": ("__dlpack__", "__dlpack_device__"),
    "dlpack_versioned": ("__dlpack__", "__dlpack_device__"),
    "dlpack_legacy": ("__dlpack__", "__dlpack_device__"),
    "array": ("__array__",),
}


def alone(protocol: str, export: str = "", device: tuple[int, int] = (1, 0)) -> list[str]:
    """Statements that bind `array` to an object with that protocol only; none if Python cannot make
    one.

    `export` is a library's own call, for a protocol without an attribute of its arrays; `device` is
    their DLPack device.
    """
    if protocol == "buffer":
        # Some libraries know memoryview itself, as SciPy does, and take it for a number.
        return [
            f"array = PickleBuffer({export}(array))" if export else "array = PickleBuffer(array)"
        ]
    members = []
    if protocol in PROPERTIES:
        value = f"{export}(x)" if export else f"x.{PROPERTIES[protocol]}"
        members = [f"{PROPERTIES[protocol]} = property(lambda self, x=array: {value})"]
    for method in METHODS.get(protocol, ()):
        value = f"array.{method}"
        if protocol == "dlpack_legacy" and method == "__dlpack__":
            # A producer older than DLPack 1.0 accepts no other argument.
            given = f"{export}(x)" if export else "x.__dlpack__(stream=stream)"
            value = f"lambda stream=None, x=array: {given}"
        elif export:
            given = str(device) if method == "__dlpack_device__" else f"{export}(x)"
            value = f"lambda *args, x=array, **kwargs: {given}"
        members.append(f"{method} = staticmethod({value})")
    lines = ["class Alone:", *(f"    {member}" for member in members), "array = Alone()"]
    return lines if members else []
