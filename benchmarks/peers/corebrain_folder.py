"""Follow a folder once with this project: FOLDER STORE."""

import json
import sys
import time
from pathlib import Path

from connectors.files.connector import FilesConnector
from corebrain.brain import Brain
from corebrain.engines.local import LocalEngine
from corebrain.model.requests import ListRequest
from pipeline.state.sqlite import SqliteState
from pipeline.syncing import sync

root, store = Path(sys.argv[1]), Path(sys.argv[2])
engine, state = LocalEngine(store / "memory.db"), SqliteState(store / "state.db")
began = time.perf_counter()
report = sync(FilesConnector(root, name="docs"), Brain(engine), state)
seconds = time.perf_counter() - began
texts: list[str] = []
request = ListRequest(limit=200)
while True:
    page = engine.list(request)
    texts += [hit.text for hit in page.items]
    if page.next_cursor is None:
        break
    request = request.model_copy(update={"cursor": page.next_cursor})
state.close()
engine.close()
sys.stdout.write(json.dumps({"seconds": seconds, "texts": texts}) + "\n")
