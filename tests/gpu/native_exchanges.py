"""Each exchange between the native halves on one device, a few times: for memcheck to look at."""

from __future__ import annotations

import sys

import numpy as np

from dlbench import _native_consumer as consumer
from dlbench import _native_producer as producer


def main(device: str) -> None:
    content = np.arange(4096, dtype=np.float32)
    importer, to_cpu = consumer.Importer(device), consumer.Importer("cpu")
    for memory in ("device", "pinned", "managed"):
        for _ in range(3):
            array = producer.DeviceArray(content, device, memory=memory)
            importer.from_dlpack(array)
            importer.from_dlpack_c(array)
            if memory != "pinned":
                importer.from_cuda_array_interface(array)
            copied = np.asarray(to_cpu.from_dlpack(array))
            if not (copied == content).all():
                raise SystemExit(f"{memory} memory came back with other values")
    importer.from_dlpack(producer.Array(content))
    print(f"native to native on {device}: every exchange, values as they were")


if __name__ == "__main__":
    main(sys.argv[1])
