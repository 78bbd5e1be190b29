"""dpnp arrays on a SYCL device; intel-opencl-rt makes the CPU one."""

import os

from dlbench.adapter import opencl_cpu, require_own_layout

os.environ.setdefault("OCL_ICD_FILENAMES", opencl_cpu())

import dpctl
import dpnp

DEVICES = ("sycl:0",)

values = dpnp.asnumpy


def devices():
    return [f"sycl:{number}" for number, _ in enumerate(dpctl.get_devices())]


def make(case, device):
    require_own_layout(case, "dpnp")
    where = dpctl.get_devices()[int(device.partition(":")[2])]
    return dpnp.asarray(case.numpy(), device=where)


def ready(array):
    # An import of CPU memory is a NumPy array, without a queue.
    if isinstance(array, dpnp.ndarray):
        array.sycl_queue.wait()
