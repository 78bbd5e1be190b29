"""The producer `native`: arrays in its own memory."""

class Array:
    def __init__(self, buffer: memoryview[float], /) -> None: ...

class DeviceArray:
    address: int
    def __init__(self, buffer: bytes, device: str, /, *, memory: str) -> None: ...
