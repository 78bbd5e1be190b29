"""The producer `native`: arrays in its own memory."""

class Array:
    def __init__(self, buffer: memoryview[float], /) -> None: ...
