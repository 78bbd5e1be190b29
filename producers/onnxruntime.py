"""ONNX Runtime's values (`OrtValue`): over NumPy's memory if that is contiguous; in its own memory
for dtypes that NumPy lacks.
"""

from onnxruntime import OrtValue

from dlbench.adapter import require

SCRIPT = {
    "source": "bits",
    "make": "array = OrtValue.ortvalue_from_numpy(source)",
    "make own": (
        "array = OrtValue.ortvalue_from_shape_and_type(source.shape, source.dtype)\n"
        "array.update_inplace(source)"
    ),
    "make view": "",
    "make foreign": "",
}

DISTRIBUTION = ("onnxruntime", "onnxruntime-gpu")

# The numbers of the dtypes that NumPy lacks, in onnx.TensorProto.
ELEMENTS = {
    "bfloat16": 16,
    "float8_e4m3fn": 17,
    "float8_e4m3fnuz": 18,
    "float8_e5m2": 19,
    "float8_e5m2fnuz": 20,
    "uint4": 21,
    "int4": 22,
    "float4_e2m1fn": 23,
    "float8_e8m0fnu": 24,
}


def make(case, device):
    if not (case.own or case.foreign):
        return OrtValue.ortvalue_from_numpy(case.numpy())
    require(case.layout == "c" and case.storage != "view", "an OrtValue has no slices")
    content = case.unsliced(case.bits())
    element = ELEMENTS.get(case.dtype, case.numpy().dtype)
    array = OrtValue.ortvalue_from_shape_and_type(content.shape, element)
    array.update_inplace(content)
    return array


def address(array):
    return array.data_ptr()
