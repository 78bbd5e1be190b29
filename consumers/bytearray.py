"""bytearray imports: copies a buffer's bytes."""

PROTOCOLS = {"buffer": bytearray}


def extras(array):
    return {}
