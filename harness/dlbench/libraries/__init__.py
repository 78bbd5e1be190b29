"""Adapters and their libraries, as far as they are known without an import."""
