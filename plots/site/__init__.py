"""The site: static pages from the records of many runs, machines and dates."""

from __future__ import annotations

from .pages import Site

__all__ = ["Site"]
