"""memoryview takes a buffer."""

PROTOCOLS = {"buffer": memoryview}
