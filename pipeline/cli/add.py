"""`brain add`: adds a source to `brain.toml`; here a folder, the other kinds in modules of their own."""

import os
from argparse import Namespace
from pathlib import Path

from pipeline.cli import add_github, add_notion, add_web
from pipeline.cli.console import Console
from pipeline.cli.printable import printable
from pipeline.config import edit
from pipeline.config.load import load, parsed
from pipeline.errors import SetupError
from pipeline.folders import name_for
from pipeline.source_set import SOURCE_IDS, connectors_of


def run(options: Namespace, console: Console) -> int:
    """Add the source, checked as a sync would check it."""
    if options.kind == "notion":
        return add_notion.run(options, console)
    if options.kind == "github":
        return add_github.run(options, console)
    if options.kind == "web":
        return add_web.run(options, console)
    config = load(options.config)
    if config.file is None:
        raise SetupError("there is no brain.toml here or above; run `brain init` first")
    folder = Path(options.path).expanduser()
    if not folder.is_dir():
        what = "is a file" if folder.exists() else "does not exist"
        raise SetupError(f"the folder {options.path} {what}; name the folder that holds the documents")
    reserved = [source for source in SOURCE_IDS if source != "files"]
    name = options.name or name_for(folder, reserved)
    keys = {"kind": "files", "path": _written(options.path, config.folder)}
    content = edit.with_source(config.file.read_text(encoding="utf-8-sig"), name, keys)
    checked = parsed(content, config.file)
    connectors_of(checked.sources, checked.folder)
    edit.write(content, config.file)
    console.say(f"added [sources.{name}] to {printable(str(config.file))}; `brain sync {name}` reads it")
    console.answer(name=name, file=str(config.file), path=keys["path"])
    return 0


def _written(path: str, base: Path) -> str:
    """Return the path as the file says it: what starts with `~` stays, a relative one starts at the file's folder."""
    if path.startswith("~"):
        return path
    full = os.path.abspath(path)  # noqa: PTH100 - resolve() would replace a link by what it points to today
    return full if Path(path).is_absolute() or not Path(full).is_relative_to(base) else os.path.relpath(full, base)
