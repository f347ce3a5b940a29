"""The embedded engine: one SQLite file, keyword search, several processes."""

from corebrain.engines.local.engine import LocalEngine

__all__ = ["LocalEngine"]
