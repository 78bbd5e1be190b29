"""One exchange between a planted producer and consumer, judged over the wire."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from wire import F32, plant, prepare, send_request

SIZE = 1 << 20
READONLY = F32 | {"name": "f32-readonly", "readonly": True}
GIVE = """\
def make(case, device):
    return case.numpy()
def address(array):
    return array.ctypes.data
"""
NUMPY = "import numpy as np\n"
SHARE = NUMPY + "PROTOCOLS = {'dlpack': np.from_dlpack}\n"
COPY = NUMPY + "PROTOCOLS = {'dlpack': lambda x: np.from_dlpack(x).copy()}\n"


def judged(
    folder: Path, make: str, take: str, case: dict[str, Any] = F32, size: int = SIZE
) -> dict[str, Any]:
    """The answer to `judge` after one exchange was prepared."""
    *_, prepared, judgement = send_request(
        folder,
        plant(folder, "producer", "giver", make),
        plant(folder, "consumer", "taker", take),
        prepare(1, "giver", "taker", "dlpack", case, size),
        {"do": "judge", "id": 1},
    )
    assert "ok" in prepared, prepared
    return judgement


def found(folder: Path, make: str, take: str, **more: Any) -> dict[str, Any]:
    answer = judged(folder, make, take, **more)
    assert "ok" in answer, answer
    ok: dict[str, Any] = answer["ok"]
    return ok
