"""OpenCV imports: its functions accept only NumPy arrays.

OpenCV's own array type UMat returns its content as a copy, and has no address.
"""

import cv2

SCRIPT = {"memory": "{array}.get()"}

PROTOCOLS = {"convert": cv2.UMat}


def values(array):
    return array.get() if isinstance(array, cv2.UMat) else array


def extras(array):
    return {}
