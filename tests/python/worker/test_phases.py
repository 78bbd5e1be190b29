"""The phases, requested over the wire: planted delays appear in the right phase."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

import pytest

from samples import warned
from wire import F32, plant, prepare, send_request

pytestmark = [pytest.mark.process, pytest.mark.timing]

#: A producer in Python with a busy wait in each of its parts, and a consumer likewise. A spin
#: overshoots and never ends early.
WAIT = """
import time
def wait(ns):
    end = time.perf_counter_ns() + ns
    while time.perf_counter_ns() < end:
        pass
"""
MAKE = (
    WAIT
    + """
class Array:
    def __init__(self, array):
        self.array = array
    def __dlpack_device__(self):
        wait({query})
        return self.array.__dlpack_device__()
    def __dlpack__(self, **asked):
        wait({export})
        return self.array.__dlpack__(**asked)
def make(case, device):
    return Array(case.numpy())
def values(array):
    return array.array
"""
)
TAKE = (
    WAIT
    + """
import numpy as np
class Taken:
    def __init__(self, array):
        self.array = array
        self.__array_interface__ = array.__array_interface__
    def __del__(self):
        wait({release})
def take(x):
    assert x.__dlpack_device__() == (1, 0)
    taken = Taken(np.from_dlpack(x))
    wait({import_})
    return taken
PROTOCOLS = {{"dlpack": take}}
"""
)
DELAY_NS = 20_000
NUMPY = "import numpy as np\nPROTOCOLS = {'dlpack': np.from_dlpack}\n"
PLAIN = "def make(case, device):\n    return case.numpy()\n"


def split(
    folder: Path,
    make: str,
    take: str,
    rounds: int = 7,
    iterations: int = 160,
    protocol: str = "dlpack",
) -> list[Any]:
    """The answers to `split` and to so many rounds of phases."""
    rounds_requested = [
        {"do": "phases", "id": 1, "iterations": iterations, "prelude": 8, "seed": seed}
        for seed in range(rounds)
    ]
    return send_request(
        folder,
        plant(folder, "producer", "giver", make),
        plant(folder, "consumer", "taker", take),
        prepare(1, "giver", "taker", protocol, F32),
        {"do": "split", "id": 1},
        *rounds_requested,
    )[3:]


def medians(answers: list[Any]) -> dict[str, float]:
    """By phase, with `exchange` and `unexplained`."""
    requested = [call["phase"] for call in answers[0]["ok"]["calls"]]
    rounds = [answer["ok"] for answer in answers[1:]]
    names = ("exchange", "import", "release", "unexplained")
    found = {name: statistics.median(one[name] for one in rounds) for name in names}
    for phase in ("query", "export"):
        found[phase] = statistics.median(
            sum(ns for ns, of in zip(one["calls"], requested, strict=True) if of == phase)
            for one in rounds
        )
    return found


def measure(folder: Path, **delays: int) -> dict[str, float]:
    reported = dict.fromkeys(("query", "export", "import_", "release"), 0) | delays
    return medians(split(folder, MAKE.format(**reported), TAKE.format(**reported)))


def steadiest(folder: Path, make: str, take: str, protocol: str = "dlpack") -> dict[str, float]:
    """The medians of the worker, of at most five, that leave the least unexplained.

    A share that the phases do not explain is left in each worker; what another process of the
    machine adds to one side of a comparison of some hundred nanoseconds is not.
    """
    least: dict[str, float] = {}
    for _ in range(5):
        found = medians(split(folder, make, take, protocol=protocol))
        if not least or unexplained_share(found) < unexplained_share(least):
            least = found
        if unexplained_share(least) < 0.15:
            break
    return least


def unexplained_share(found: dict[str, float]) -> float:
    return abs(found["unexplained"]) / found["exchange"]


def test_the_phases_add_up(tmp_path: Path) -> None:
    reported = dict.fromkeys(("query", "export", "import_", "release"), 0)
    found = steadiest(tmp_path, MAKE.format(**reported), TAKE.format(**reported))
    parts = sum(found[phase] for phase in ("query", "export", "import", "release"))
    assert parts + found["unexplained"] == pytest.approx(found["exchange"], rel=0.15)
    assert unexplained_share(found) < 0.15


@pytest.mark.parametrize("phase", ["query", "export", "import_", "release"])
def test_a_delay_is_found_in_its_phase_and_nowhere_else(tmp_path: Path, phase: str) -> None:
    planted = phase.rstrip("_")
    # Beside another process's work the two workers differ by more than the delay's 10 %.
    for _ in range(5):
        without = measure(tmp_path)
        with_it = measure(tmp_path, **{phase: DELAY_NS})
        grown = {name: with_it[name] - without[name] for name in with_it}
        # What the delay really took, the exchange in the same rounds knows.
        whole = grown.pop("exchange")
        elsewhere = max(abs(ns) for name, ns in grown.items() if name != planted)
        near = abs(grown[planted] - whole) < 0.15 * whole and elsewhere < 0.15 * whole
        if near and whole > 0.9 * DELAY_NS:
            break
    else:
        pytest.fail(f"of {whole} ns: {grown}")


def test_the_calls_are_those_that_were_seen(tmp_path: Path) -> None:
    reported = dict.fromkeys(("query", "export", "import_", "release"), 0)
    ok = split(tmp_path, MAKE.format(**reported), TAKE.format(**reported), rounds=0)[0]["ok"]
    assert [call["call"].partition("(")[0] for call in ok["calls"]] == [
        "__dlpack_device__",
        "__dlpack__",
    ]
    assert ok["via"] == "type"


def test_a_call_that_fails_and_is_tried_again_is_part_of_export(tmp_path: Path) -> None:
    make = (
        WAIT + "class Old:\n"
        "    def __init__(self, array): self.array = array\n"
        "    def __dlpack__(self, *, stream=None): return self.array.__dlpack__()\n"
        "    def __dlpack_device__(self): return self.array.__dlpack_device__()\n"
        "def make(case, device): return Old(case.numpy())\n"
        "def values(array): return array.array\n"
    )
    answers = split(tmp_path, make, NUMPY)
    calls = answers[0]["ok"]["calls"]
    assert [(call["phase"], call["raised"]) for call in calls] == [
        ("export", True),
        ("export", False),
    ]
    assert calls[1]["call"] == "__dlpack__()"
    found = steadiest(tmp_path, make, NUMPY)
    assert found["export"] > 0.5 * found["exchange"]
    assert unexplained_share(found) < 0.15


def test_a_type_that_cannot_be_patched_has_a_proxy_before_it(tmp_path: Path) -> None:
    answers = split(tmp_path, PLAIN, NUMPY)
    assert answers[0]["ok"]["via"] == "proxy"
    assert all(answer["ok"]["release"] > 0 for answer in answers[1:])


def test_what_the_proxy_refuses_in_the_producers_place_is_replayed(tmp_path: Path) -> None:
    answers = split(tmp_path, PLAIN, NUMPY, protocol="dlpack_legacy")
    calls = [(c["phase"], c["raised"], c["ours"]) for c in answers[0]["ok"]["calls"]]
    assert calls == [("export", True, True), ("export", False, False)]
    found = steadiest(tmp_path, PLAIN, NUMPY, protocol="dlpack_legacy")
    assert found["export"] > 0
    assert unexplained_share(found) < 0.15


def test_a_consumer_that_knows_the_type_is_not_taken_in_by_a_proxy(tmp_path: Path) -> None:
    """It asks a proxy for a capsule and an ndarray for nothing."""
    take = (
        "import numpy as np\n"
        "def take(x):\n"
        "    return x.view() if type(x) is np.ndarray else np.from_dlpack(x)\n"
        "PROTOCOLS = {'dlpack': take}\n"
    )
    error = split(tmp_path, PLAIN, take, rounds=1)[0]["error"]
    assert error["outcome"] == "no-protocol"
    assert "differently with a proxy" in error["reason"]


def test_a_consumer_that_knows_a_patchable_type_and_asks_it_nothing(tmp_path: Path) -> None:
    reported = dict.fromkeys(("query", "export", "import_", "release"), 0)
    take = (
        "import numpy as np\n"
        "def take(x):\n"
        "    return x.array.view() if hasattr(x, 'array') else np.from_dlpack(x)\n"
        "PROTOCOLS = {'dlpack': take}\n"
    )
    error = split(tmp_path, MAKE.format(**reported), take, rounds=1)[0]["error"]
    assert error["outcome"] == "no-protocol"
    assert "differently" in error["reason"]


def test_a_consumer_that_asks_the_real_type_more_is_replayed_on_the_type(tmp_path: Path) -> None:
    take = (
        "import numpy as np\n"
        "def take(x):\n"
        "    if hasattr(x, 'array'): x.__dlpack_device__(), x.__dlpack_device__()\n"
        "    return np.from_dlpack(x)\n"
        "PROTOCOLS = {'dlpack': take}\n"
    )
    reported = dict.fromkeys(("query", "export", "import_", "release"), 0)
    ok = split(tmp_path, MAKE.format(**reported), take, rounds=1)[0]["ok"]
    assert [call["phase"] for call in ok["calls"]] == ["query", "query", "export"]


RAISING = (
    "import numpy as np\n"
    "calls = 0\n"
    "def take(x):\n"
    "    global calls\n"
    "    calls += 1\n"
    "    y = np.from_dlpack(x)\n"
    "    if calls > {after}: raise RuntimeError('enough')\n"
    "    return y\n"
    "PROTOCOLS = {{'dlpack': take}}\n"
)
WITNESS = """
import json, sys
class Array:
    def __init__(self, array): self.array = array
    def __dlpack__(self, **asked): return self.array.__dlpack__(**asked)
    def __dlpack_device__(self): return self.array.__dlpack_device__()
own = dict(vars(Array))
def make(case, device):
    global own
    from pathlib import Path
    Path({path!r}).write_text(str([k for k in own if vars(Array).get(k) is not own[k]]))
    return Array(case.numpy())
def values(array): return array.array
"""


def test_a_patched_type_is_restored_after_an_exception(tmp_path: Path) -> None:
    """The second preparation's `make` looks at the type after the first one's round failed."""
    observed = tmp_path / "seen.txt"
    answers = send_request(
        tmp_path,
        plant(tmp_path, "producer", "giver", WITNESS.format(path=str(observed))),
        plant(tmp_path, "consumer", "taker", RAISING.format(after=0)),
        plant(tmp_path, "consumer", "patient", RAISING.format(after=3000)),
        prepare(1, "giver", "patient", "dlpack", F32),
        {"do": "split", "id": 1},
        {"do": "phases", "id": 1, "iterations": 4000, "prelude": 8, "seed": 1},
        prepare(2, "giver", "patient", "dlpack", F32, 8192),
    )
    assert answers[4]["ok"]["via"] == "type"
    assert answers[5]["error"]["reason"] == "enough"
    assert observed.read_text() == "[]"


def test_deleters_that_run_in_import_are_reported(tmp_path: Path) -> None:
    take = "import numpy as np\nPROTOCOLS={'dlpack': lambda x: np.from_dlpack(x).copy()}\n"
    assert split(tmp_path, PLAIN, NUMPY, rounds=0)[0]["ok"]["warnings"] == []
    warnings = split(tmp_path, PLAIN, take, rounds=0)[0]["ok"]["warnings"]
    text = "8 of 8 deleters ran in import, before the call returned"
    assert warnings == [warned("deleter-in-import", text, count="8", deleters="8")]


def test_deleters_that_run_late_are_reported(tmp_path: Path) -> None:
    take = (
        "import numpy as np\nkept = []\n"
        "def take(x):\n    kept.append(np.from_dlpack(x))\n    return kept[-1].view()\n"
        "PROTOCOLS = {'dlpack': take}\n"
    )
    warnings = split(tmp_path, PLAIN, take, rounds=0)[0]["ok"]["warnings"]
    text = "8 of 8 deleters had not run when the result was dropped"
    assert warnings == [warned("deleter-later", text, count="8", deleters="8")]


def test_a_capsule_needs_no_proxy(tmp_path: Path) -> None:
    take = (
        "import numpy as np\nfrom dlbench import Capsule\n"
        "class Box:\n"
        "    def __init__(self, capsule): self.capsule = capsule\n"
        "    def __dlpack__(self, **asked): return self.capsule\n"
        "    def __dlpack_device__(self): return (1, 0)\n"
        "PROTOCOLS = {'dlpack': Capsule(lambda capsule: np.from_dlpack(Box(capsule)))}\n"
    )
    answers = split(tmp_path, PLAIN, take)
    assert answers[0]["ok"]["via"] == "capsule"
    found = steadiest(tmp_path, PLAIN, take)
    assert unexplained_share(found) < 0.15
    assert found["query"] == 0
    assert found["import"] > found["export"] > 0


def test_what_is_not_prepared_has_no_phases(tmp_path: Path) -> None:
    answers = send_request(tmp_path, {"do": "phases", "id": 1, "iterations": 1})
    assert "no exchange is prepared" in answers[0]["error"]["reason"]
