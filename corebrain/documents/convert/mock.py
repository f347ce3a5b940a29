"""A parser that misbehaves on request: proves each rule of the pool. No file format leads here.

The document's text is an order: `hang`, `spin`, `eat`, `segfault`, `exit`, `quit`, `flood`, `noise`, `raise`,
`refuse`, `fork`, `litter`, `environment`, `connect`, `read`, `write`, `once`, `parts` or anything else, which is
echoed.
"""

import ctypes
import json
import os
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path

from corebrain.documents.types import ConvertedDocument, Part, RawDocument
from corebrain.errors import Encrypted

NAME = "mock"
VERSION = 1


def convert(raw: RawDocument, format: str) -> ConvertedDocument:  # noqa: A002 - the contract's word
    """Obey the order, then answer with its result, or with the text itself."""
    data = raw.data if isinstance(raw.data, bytes) else raw.data.read_bytes()
    order, _, argument = data.decode().partition(" ")
    parts = (Part("a.txt", "text/plain", b"first"), Part("a.txt", "text/plain", b"second")) if order == "parts" else ()
    markdown = _ORDERS[order](argument) if order in _ORDERS else data.decode()
    return ConvertedDocument(
        markdown=markdown,
        title=None,
        format=format,
        language=None,
        converter=NAME,
        pages=None,
        size=len(data),
        parts=parts,
        metadata={"pid": os.getpid()},
    )


def _hang(_: str) -> str:
    time.sleep(3600)
    return ""


def _spin(_: str) -> str:
    while True:
        pass


def _eat(_: str) -> str:
    held = []
    while True:
        held.append(bytearray(16 << 20))


def _segfault(_: str) -> str:
    return str(ctypes.string_at(0))


def _exit(_: str) -> str:
    os._exit(3)


def _quit(_: str) -> str:
    sys.exit(4)


def _flood(argument: str) -> str:
    return "x" * int(argument)


def _noise(_: str) -> str:
    print("a library's advert" * 10_000)  # noqa: T201 - that is what it shall do
    os.write(1, b"\0\0\0\x02{}" * 10_000)
    sys.stderr.write("warning " * 100_000)
    return "noisy"


def _raise(_: str) -> str:
    raise KeyError("Root")


def _refuse(_: str) -> str:
    raise Encrypted("no password given", advice="ask for it")


def _fork(argument: str) -> str:
    """Start a child that holds the pipes, note its id in a file, and die or hang."""
    child = os.fork()
    if child == 0:
        time.sleep(3600)
    where, _, end = argument.partition(" ")
    Path(where).write_text(str(child), encoding="ascii")
    return _hang("") if end == "hang" else _exit("")


def _litter(_: str) -> str:
    Path("left").mkdir()
    Path("left/behind.txt").write_text("secret", encoding="utf-8")
    return str(Path.cwd())


def _environment(_: str) -> str:
    return json.dumps({"environment": dict(os.environ), "names": sorted(os.listdir())})  # noqa: PTH208 - names are meant


def _connect(argument: str) -> str:
    with socket.create_connection(("127.0.0.1", int(argument)), timeout=1):
        return "connected"


def _read(argument: str) -> str:
    return Path(argument).read_text(encoding="utf-8")


def _write(argument: str) -> str:
    Path(argument).write_text("written", encoding="utf-8")
    return "written"


def _once(argument: str) -> str:
    """Die the first time; a file remembers."""
    mark = Path(argument)
    if mark.exists():
        return "second try"
    mark.touch()
    os._exit(1)


_ORDERS: dict[str, Callable[[str], str]] = {
    "hang": _hang,
    "spin": _spin,
    "eat": _eat,
    "segfault": _segfault,
    "exit": _exit,
    "quit": _quit,
    "flood": _flood,
    "noise": _noise,
    "raise": _raise,
    "refuse": _refuse,
    "fork": _fork,
    "litter": _litter,
    "environment": _environment,
    "connect": _connect,
    "once": _once,
    "read": _read,
    "write": _write,
}
