"""What OpenCV's functions return: NumPy arrays that they made."""

import cv2

from dlbench.adapter import require_buffer_dtype, require_own_layout

DISTRIBUTION = ("opencv-python-headless", "opencv-python", "opencv-contrib-python")
DEFAULT = False


def make(case, device):
    require_own_layout(case, "OpenCV")
    require_buffer_dtype(case, "OpenCV")
    return cv2.copyTo(case.numpy(), None)
