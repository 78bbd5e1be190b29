"""Warp arrays; over NumPy's memory where a case sets the address or the layout."""

import contextlib
import functools

import warp as wp

from dlbench.adapter import require

SCRIPT = {
    "before": "wp.config.quiet = True\nwp.init()",
    "make": "array = wp.array(source, copy=False, device='cpu')",
    "make usual": "array = wp.array(source, device='cpu')",
    "own": "array = wp.clone(array){slice}",
    "make cuda": "array = wp.array(source, device='cuda:{number}')",
    "values": "{array}.numpy()",
}

DISTRIBUTION = "warp-lang"
DEVICES = ("cpu", "cuda")
SPECIAL = ("pinned",)

wp.config.quiet = True
wp.init()


def devices():
    return [str(device) for device in wp.get_devices()]


def make(case, device):
    if device == "cpu":
        require(case.special != "pinned", "pinned memory needs a device: --devices cuda:0")
        wrap = functools.partial(wp.array, copy=False, device=device)
        return case.build(wrap, wp.clone, usual=True)
    if case.special == "pinned":
        return wp.array(case.numpy(), device="cpu", pinned=True)
    return wp.array(case.numpy(), device=device)


def address(array):
    return array.ptr


def stream(device):
    return wp.get_stream(device).cuda_stream


@contextlib.contextmanager
def on_stream(device, handle):
    # With sync_enter, the new stream would wait for the former one.
    with wp.ScopedStream(wp.Stream(device, cuda_stream=handle), sync_enter=False):
        yield
