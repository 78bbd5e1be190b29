"""OpenCV imports: its functions take NumPy arrays alone. UMat is the array that it calls its own;
it gives its content away as a copy, and not its address.
"""

import cv2

PROTOCOLS = {"convert": cv2.UMat}


def values(array):
    return array.get() if isinstance(array, cv2.UMat) else array


def extras(array):
    return {}
