"""Fixtures of the Python tests."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import browser as browsers


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
        anchor: str = "",
        **options: Any,
    ) -> browsers.Page:
        path = tmp_path / "report.html"
        packed = [report.pack(d, f"run{i}", f"runs/{i}") for i, d in enumerate(documents)]
        with path.open("wb") as out:
            report.write(out, packed, comparison)
        pages.append(browsers.Page(chromium, path, anchor, **options))
        return pages[-1]

    yield opened
    for page in pages:
        page.close()
