"""Fixtures of the Python tests."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest


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
