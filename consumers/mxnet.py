"""MXNet imports; its DLPack functions accept capsules."""

import mxnet as mx

from dlbench import Capsule

PROTOCOLS = {"dlpack": Capsule(mx.nd.from_dlpack), "convert": mx.nd.array}
CALLS = {"from_numpy": mx.nd.from_numpy}


def extras(array):
    return {}
