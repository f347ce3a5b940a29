"""Search by meaning: what turns text into vectors."""

from corebrain.embed.contract import Embedder, EmbedsQueries
from corebrain.embed.registry import build_embedder

__all__ = ["Embedder", "EmbedsQueries", "build_embedder"]
