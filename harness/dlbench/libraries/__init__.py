"""Adapters and the facts of their libraries that are known without an import."""
