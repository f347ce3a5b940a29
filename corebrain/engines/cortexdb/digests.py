"""Digests under which CortexDB keeps what must be found and not be read (spec 04 section 4)."""

import hashlib


def label_digest(value: str) -> str:
    """Return the first 16 hex digits of SHA-256 over the UTF-8 of *value*."""
    return hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def path_digest(path: str) -> str:
    """Return the first 40 hex digits of SHA-256 over the UTF-8 of *path*."""
    return hashlib.sha256(path.encode("utf-8", "surrogatepass")).hexdigest()[:40]


def path_digests(path: str) -> tuple[str, ...]:
    """Return the digests of every prefix of *path* that ends before a `/`, left to right, then of the whole.

    A leading `/` gives the empty prefix; adjacent repeats are removed.
    """
    digests: list[str] = []
    for end in (*(at for at, character in enumerate(path) if character == "/"), len(path)):
        digest = path_digest(path[:end])
        if not digests or digests[-1] != digest:
            digests.append(digest)
    return tuple(digests)
