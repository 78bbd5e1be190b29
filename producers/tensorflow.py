"""TensorFlow tensors."""

import functools
import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_FORCE_GPU_ALLOW_GROWTH", "true")

import tensorflow as tf

from dlbench.adapter import capsule_pointer, turns_in_a_second, word_at

SCRIPT = {
    "make": ("with tf.device('CPU:0'):\n    array = tf.constant(source)"),
    "make cuda": ("with tf.device('GPU:{number}'):\n    array = tf.constant(source)"),
    "memory": "np.asarray({array})",
}

DEVICES = ("cpu", "cuda", "rocm")
DISTRIBUTION = ("tensorflow-cpu", "tensorflow", "tensorflow-rocm")


def devices():
    kind = "rocm" if tf.test.is_built_with_rocm() else "cuda"
    found = enumerate(tf.config.list_logical_devices("GPU"))
    return ["cpu", *(f"{kind}:{number}" for number, _ in found)]


def make(case, device):
    # Every tensor of TensorFlow's is read-only.
    with tf.device("CPU:0" if device == "cpu" else f"GPU:{device.partition(':')[2]}"):
        if case.storage == "view":
            return case.sliced(tf.constant(case.unsliced(case.numpy())), tf.broadcast_to)
        return tf.constant(case.numpy())


def memory(array):
    if isinstance(array, tf.Variable):
        array = array.value()
    # Neither a buffer nor DLPack exports float8, and TensorFlow aborts where it exports texts by
    # DLPack. `numpy` returns a copy, `__array__` a view.
    is_exported = not any(kind in str(array.dtype) for kind in ("float8", "string"))
    return array if is_exported else array.__array__()


@tf.function(autograph=False)  # autograph would leave a file behind in every worker
def late(content, turns):
    """`content` after `turns` turns that the compiler cannot remove."""
    first = tf.cast(turns, tf.uint32) | tf.constant(1, tf.uint32)

    def turn(i, state):
        return i + 1, state * tf.constant(1664525, tf.uint32) + tf.constant(1013904223, tf.uint32)

    _, state = tf.while_loop(lambda i, _: i < turns, turn, (0, first), parallel_iterations=1)
    nothing = tf.bitwise.right_shift(tf.bitwise.right_shift(state, 31), 1)
    return content + tf.cast(nothing, content.dtype)


@tf.function(autograph=False)  # autograph would leave a file behind in every worker
def store(variable, content, turns):
    """The same, after the variable's own memory is written."""
    stored = tf.raw_ops.ResourceScatterUpdate(
        resource=variable.handle,
        indices=tf.range(tf.size(content)),
        updates=late(content, turns),
    )
    with tf.control_dependencies([stored]):
        return variable.read_value()


KEPT = {}


@functools.cache
def turns_a_second():
    def spent(turns):
        begin = time.perf_counter()
        late(tf.constant(1.0), tf.constant(turns)).numpy()
        return time.perf_counter() - begin

    return turns_in_a_second(spent, 2_000)


def busy(case, device, seconds):
    # Makes the whole process compute asynchronously.
    tf.config.experimental.set_synchronous_execution(False)
    turns = tf.constant(int(seconds * turns_a_second()))
    content = make(case, device)
    with tf.device(content.device):
        variable = tf.Variable(tf.zeros_like(content))
    content.numpy()
    # The first word of a capsule's tensor is its address, also on a GPU.
    capsule = tf.experimental.dlpack.to_dlpack(variable.value())
    place = word_at(capsule_pointer(capsule, b"dltensor"))
    del capsule
    # Keep the variable, because the result is a copy that is still to be made.
    KEPT[device] = variable
    return store(variable, content, turns), place
