"""TensorFlow tensors."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_FORCE_GPU_ALLOW_GROWTH", "true")

import tensorflow as tf

from dlbench.adapter import require_own_layout

DISTRIBUTION = ("tensorflow-cpu", "tensorflow", "tensorflow-rocm")


def devices():
    kind = "rocm" if tf.test.is_built_with_rocm() else "cuda"
    found = enumerate(tf.config.list_logical_devices("GPU"))
    return ["cpu", *(f"{kind}:{number}" for number, _ in found)]


def make(case, device):
    require_own_layout(case, "TensorFlow")
    with tf.device("CPU:0" if device == "cpu" else f"GPU:{device.partition(':')[2]}"):
        return tf.constant(case.numpy())
