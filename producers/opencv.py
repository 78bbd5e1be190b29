"""Results of OpenCV's functions: NumPy arrays in OpenCV's memory."""

import cv2

from dlbench.adapter import require

SCRIPT = {"make": "array = cv2.copyTo(source, None)"}

DISTRIBUTION = ("opencv-python-headless", "opencv-python", "opencv-contrib-python")
DEFAULT = False


def make(case, device):
    content = case.numpy()
    array = cv2.copyTo(content, None)
    made = array is not None and (array.dtype, array.shape) == (content.dtype, content.shape)
    require(made, f"OpenCV's functions do not return {content.dtype} arrays of {content.shape}")
    return array
