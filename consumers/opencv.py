"""OpenCV imports: its functions accept NumPy arrays alone.

UMat is its own array type; it returns its content as a copy, and not its address.
"""

import cv2

PROTOCOLS = {"convert": cv2.UMat}


def values(array):
    return array.get() if isinstance(array, cv2.UMat) else array


def extras(array):
    return {}
