"""The worker: reads tasks from its standard input, converts, and writes replies to its standard output.

Started by the pool as `python -I -m corebrain.documents.worker FOLDER MODE`, where FOLDER is its private one and
MODE says what else it may see (`worker_platform.confine`). It imports a converter when the first document asks for it,
and keeps both streams to itself: what a library prints goes to standard error.

A task is `{module, format, argument, path, filename, mime, origin, password, seconds, memory, reply_cap}`. A reply is
one of `{loaded}` (the converter is imported and now starts), `{converted, parts}`, `{refusal}`, `{missing}`, `{failed}`
and `{memory}`; all but the first also carry `rss`, and end the task.
"""

import importlib
import os
import shutil
import sys
from pathlib import Path
from typing import Protocol, cast

from corebrain.documents import wire, worker_platform
from corebrain.documents.types import ConvertedDocument, Json, RawDocument
from corebrain.documents.worker_limits import OPEN
from corebrain.errors import Refusal


class _Converter(Protocol):
    def convert(self, raw: RawDocument, format: str, *argument: str) -> ConvertedDocument: ...  # noqa: A002 - the contract's word


def main() -> None:
    """Serve until standard input ends, which means that the pool's process is gone; then remove the private folder."""
    tasks, replies = _take_streams()
    folder, mode = sys.argv[1:] or ("", OPEN)
    worker_platform.confine(Path(folder), mode)
    while (task := wire.read(tasks)) is not None:
        reply = _serve(task, replies)
        worker_platform.die_after(0)
        reply["rss"] = worker_platform.resident_bytes()
        frame = wire.encode(reply)
        if len(frame) > cast("int", task["reply_cap"]):
            limit = len(frame) // 1_000_000
            frame = wire.encode(_refused("TooLarge", f"the converted text has {limit} MB, more than is taken", ""))
        wire.write(replies, frame)
    if folder:
        shutil.rmtree(folder, ignore_errors=True)


def _take_streams() -> tuple[int, int]:
    """Private copies of both streams; descriptor 0 becomes empty, descriptor 1 standard error."""
    tasks, replies = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return tasks, replies


def _serve(task: wire.Message, replies: int) -> wire.Message:
    try:
        converter = _load(str(task["module"]), replies)
        worker_platform.limit_memory(cast("int", task["memory"]))
        worker_platform.die_after(cast("float", task["seconds"]))
        raw = RawDocument(
            Path(str(task["path"])).read_bytes(),
            cast("str | None", task["filename"]),
            cast("str | None", task["mime"]),
            cast("str | None", task["origin"]),
            cast("str | None", task["password"]),
        )
        argument = str(task["argument"])
        converted = converter.convert(raw, str(task["format"]), *([argument] if argument else []))
        return {"converted": _fields(converted), "parts": _write_parts(converted)}
    except Refusal as error:
        return _refused(type(error).__name__, error.message, error.advice)
    except ImportError as error:
        return {"missing": error.name or str(error)}
    except MemoryError:
        return {"memory": True}
    except BaseException as error:  # noqa: BLE001 - the process's border: whatever a library raises costs one document
        return {"failed": f"{type(error).__name__}: {error}"[:500]}


def _load(name: str, replies: int) -> _Converter:
    module = sys.modules.get(name)
    if module is None:
        module = importlib.import_module(name)
    wire.write(replies, wire.encode({"loaded": True}))
    return cast("_Converter", module)


def _refused(kind: str, message: str, advice: str) -> wire.Message:
    return {"refusal": {"kind": kind, "message": message, "advice": advice}}


def _fields(converted: ConvertedDocument) -> dict[str, Json]:
    return {
        "markdown": converted.markdown,
        "title": converted.title,
        "format": converted.format,
        "language": converted.language,
        "converter": converted.converter,
        "pages": converted.pages,
        "size": converted.size,
        "tags": list(converted.tags),
        "metadata": converted.metadata,
    }


def _write_parts(converted: ConvertedDocument) -> list[Json]:
    """Attachments go through the worker's folder, not through the reply."""
    for index, part in enumerate(converted.parts):
        Path(f"part-{index}").write_bytes(part.data)
    return [{"name": part.name, "media_type": part.media_type} for part in converted.parts]


if __name__ == "__main__":
    main()
