"""Lines of Python that show a consumer one protocol of an array alone, as a worker's relay does."""

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
#: What a producer from before DLPack 1.0 knows; the others are handed on.
LEGACY = ("self, stream=None", "stream=stream")
ANY = ("self, *args, **kwargs", "*args, **kwargs")


def lines(protocol: str, export: str = "", device: tuple[int, int] = (1, 0)) -> list[str]:
    """They leave in `array` what stands for it. Nothing for what Python cannot show alone.

    `export` is a library's own call, where no attribute of its arrays gives that protocol, and
    `device` where they lie, in DLPack's numbers.
    """
    if protocol == "buffer":
        return [f"array = memoryview({export}(array))" if export else "array = memoryview(array)"]
    body: list[str] = []
    if protocol in PROPERTIES:
        body = ["    @property"]
        body += [
            f"    def {PROPERTIES[protocol]}(self):",
            f"        return {export}(x)" if export else f"        return x.{PROPERTIES[protocol]}",
        ]
    for method in METHODS.get(protocol, ()):
        legacy = protocol == "dlpack_legacy" and method == "__dlpack__"
        takes, hands = LEGACY if legacy else ANY
        answer = f"x.{method}({hands})"
        if export:
            answer = str(device) if method == "__dlpack_device__" else f"{export}(x)"
        body += [f"    def {method}({takes}):", f"        return {answer}"]
    return ["x = array", "class Alone:", *body, "array = Alone()"] if body else []
