"""A headless Chromium for the tests of pages."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


def executable() -> str:
    """DLBENCH_CHROMIUM, or the first browser of its kind on PATH; skips the test without one."""
    requested = os.environ.get("DLBENCH_CHROMIUM", "")
    found = requested or next(filter(None, map(shutil.which, NAMES)), "")
    if not found:
        pytest.skip(f"no Chromium: none of {', '.join(NAMES)} is on PATH (apt install chromium)")
    return found


@contextmanager
def started() -> Iterator[Any]:
    """A browser; closed in the end."""
    api = pytest.importorskip("playwright.sync_api")
    # Chromium's sandbox does not start as root, nor where user namespaces are forbidden.
    options = ["--no-sandbox"] if os.geteuid() == 0 or "CI" in os.environ else []
    path = executable()
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=options)
        yield browser
        browser.close()


class Page:
    """One page of a file. What the console says and what is asked of the network is kept."""

    def __init__(self, browser: Any, path: Path, anchor: str = "", **options: Any) -> None:
        self.complaints: list[str] = []
        self.own = browser.new_page(**{"viewport": {"width": 1200, "height": 800}, **options})
        self.own.on("console", lambda message: self.complaints.append(message.text))
        self.own.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.own.on("request", self._on_request)
        self.own.goto(path.as_uri() + anchor)
        self.own.wait_for_function("document.documentElement.dataset.ready !== undefined")

    def _on_request(self, request: Any) -> None:
        if not request.url.startswith(("file:", "data:", "blob:")):
            self.complaints.append(f"asks the network for {request.url}")

    def texts(self, selector: str) -> list[str]:
        return [text.strip() for text in self.own.locator(selector).all_text_contents()]

    def text(self, selector: str) -> str:
        return str(self.own.locator(selector).inner_text())

    def focused(self) -> str:
        """The label of what has the focus."""
        script = "(e => e.getAttribute('aria-label') || e.textContent)(document.activeElement)"
        return str(self.own.evaluate(script))

    def press(self, *keys: str) -> None:
        for key in keys:
            self.own.keyboard.press(key)

    def close(self) -> None:
        self.own.close()
        assert not self.complaints, self.complaints


#: Opens the report of these documents.
Open = Callable[..., Page]
