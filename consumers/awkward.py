"""Awkward's arrays."""

import awkward as ak

DEFAULT = False

PROTOCOLS = {"dlpack": ak.from_dlpack, "convert": ak.Array}
