"""Blobs that a listing had to read, kept on disk between the scan and the storing, so that memory stays flat."""

import json
import shutil
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from connectors.contract import Blob

_FIELDS = ("media_type", "filename", "token", "title", "url", "language", "repo", "commit")


class Spool:
    """A private folder, made on the first put and removed with everything in it at `close`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, blob: Blob) -> str:
        """Keep *blob*; returns the name to `take` it by."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        name = uuid4().hex
        (self._folder / f"{name}.json").write_text(json.dumps(self._written(blob)), encoding="utf-8")
        return name

    def take(self, name: str) -> Blob:
        """Return the blob; its bytes are private copies on disk that the caller deletes."""
        described = self._folder / f"{name}.json"
        fields = json.loads(described.read_text(encoding="utf-8"))
        described.unlink()
        return self._read(fields)

    def close(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _written(self, blob: Blob) -> dict[str, Any]:
        path = self._folder / uuid4().hex
        if isinstance(blob.data, Path):
            shutil.move(blob.data, path)
        else:
            path.write_bytes(blob.data)
        return {
            **{name: getattr(blob, name) for name in _FIELDS},
            "data": path.name,
            "modified": blob.modified.isoformat() if blob.modified else None,
            "path": blob.path,
            "tags": blob.tags,
            "parts": [self._written(part) for part in blob.parts],
        }

    def _read(self, fields: dict[str, Any]) -> Blob:
        parts = tuple(self._read(part) for part in fields.pop("parts"))
        modified = fields.pop("modified")
        data = self._folder / fields.pop("data")
        path, tags = tuple(fields.pop("path")), tuple(fields.pop("tags"))
        blob = Blob(data=data, path=path, tags=tags, parts=parts, **fields)
        return replace(blob, modified=datetime.fromisoformat(modified)) if modified else blob
