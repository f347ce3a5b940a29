"""Follow a folder once with CocoIndex: each file memoised, a folder as target, its database in STORE (COCOINDEX_DB)."""

import json
import os
import sys
import time
from pathlib import Path

import cocoindex as coco
from cocoindex.connectors import localfs

root, store = Path(sys.argv[1]), Path(sys.argv[2])
os.environ["COCOINDEX_DB"] = str(store / "cocoindex.db")
out = store / "out"


@coco.fn(memo=True)
async def keep(file: localfs.File, target: localfs.DirTarget) -> None:
    name = file.file_path.path.as_posix().replace("/", "__")
    target.declare_file(name, await file.read_text())


@coco.fn
async def main(source: Path) -> None:
    target = await localfs.mount_dir_target(out)
    await coco.mount_each(keep, localfs.walk_dir(source, recursive=True).items(), target)


began = time.perf_counter()
coco.App(coco.AppConfig(name="docs"), main, source=root).update_blocking()
seconds = time.perf_counter() - began
texts = [file.read_text() for file in out.rglob("*") if file.is_file()]
sys.stdout.write("\n" + json.dumps({"seconds": seconds, "texts": texts}) + "\n")
