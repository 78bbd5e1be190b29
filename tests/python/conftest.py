"""Fixtures of the Python tests."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import browser as browsers
from typed import comparison_of, doc

_STARTS = {
    "dlbench.start_process",
    "os.exec",
    "os.fork",
    "os.forkpty",
    "os.posix_spawn",
    "os.spawn",
    "os.system",
    "subprocess.Popen",
}
_started: list[str] = []
#: Those that take seconds to import. A test of several libraries is thorough with one of them.
_SLOW_TO_IMPORT = {"dask", "dpnp", "numba", "paddle", "tensorflow", "tvm", "warp"}


def _note_start(event: str, _: object) -> None:
    if event in _STARTS:
        _started.append(event)


sys.addaudithook(_note_start)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        given = item.callspec.params.values() if hasattr(item, "callspec") else ()
        is_slow = any(isinstance(one, str) and one in _SLOW_TO_IMPORT for one in given)
        if is_slow and any(item.iter_markers("process")) | any(item.iter_markers("libraries")):
            item.add_marker(pytest.mark.thorough)


def pytest_collection_finish() -> None:
    """What starts processes from here on is a test, or a fixture of its."""
    _started.clear()


@pytest.fixture(autouse=True)
def starts_no_process_in_the_fast_lane(request: pytest.FixtureRequest) -> Iterator[None]:
    """In the fast lane no test starts a process, nor its file's fixtures: what does needs a mark.
    Processes of `multiprocessing` raise no audit event and are not seen."""
    yield
    is_fast_lane = "not process" in request.config.option.markexpr
    started = _started.copy()
    _started.clear()
    assert not (is_fast_lane and started), "mark this test with pytest.mark.process"


@pytest.fixture
def fresh_drivers() -> Iterator[None]:
    """No driver's answer is known from before, nor kept."""
    from dlbench.machine import drivers

    drivers.find_drivers.cache_clear()
    yield
    drivers.find_drivers.cache_clear()


@pytest.fixture
def balanced() -> Iterator[None]:
    """After each test every managed tensor has been given back once."""
    from dlbench import _native_consumer as consumer
    from dlbench import _native_producer as producer

    before = producer.exports() - producer.deleted(), consumer.imports() - consumer.deleted()
    yield
    gc.collect()
    after = producer.exports() - producer.deleted(), consumer.imports() - consumer.deleted()
    assert after == before


@pytest.fixture
def native_log() -> Iterator[None]:
    """The native producer writes down what is asked of it."""
    from dlbench import _native_producer as producer

    producer.set_logging(True)
    producer.clear_log()
    yield
    producer.set_logging(False)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """One browser for a file of tests."""
    with browsers.started() as browser:
        yield browser


@pytest.fixture
def open_page(chromium: Any, tmp_path: Path) -> Iterator[browsers.Open]:
    """Opens the report of documents; no page may complain."""
    from dlbench.plots import report

    pages: list[browsers.Page] = []

    def opened(
        *documents: dict[str, Any],
        comparison: dict[str, Any] | None = None,
        boundary: dict[str, Any] | None = None,
        anchor: str = "",
        **options: Any,
    ) -> browsers.Page:
        path = tmp_path / "report.html"
        packed = [
            report.pack(doc(d), f"run{i}", f"runs/{i}", boundary) for i, d in enumerate(documents)
        ]
        with path.open("wb") as out:
            report.write(out, packed, comparison_of(comparison) if comparison else None)
        pages.append(browsers.Page(chromium, path, anchor, **options))
        return pages[-1]

    yield opened
    for page in pages:
        page.close()
