"""dlbench measures what happens when one array library hands an array to another.

Adapters import `Call`, `Capsule`, `Unsupported` and `X` from here.
"""

from dlbench.adapter import Call, Capsule, Unsupported, X

__all__ = ["Call", "Capsule", "Unsupported", "X"]
