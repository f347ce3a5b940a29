"""`brain add notion`: adds a Notion workspace, or a part of it, to `brain.toml`."""

from argparse import Namespace

from pipeline.cli.console import Console
from pipeline.cli.printable import printable
from pipeline.config import edit
from pipeline.config.load import load, parsed
from pipeline.errors import SetupError
from pipeline.source_set import connectors_of

TOKEN = "${NOTION_TOKEN}"  # noqa: S105 - where the token is, not the token


def run(options: Namespace, console: Console) -> int:
    """Add the workspace, checked as a sync would check it; nothing is asked of Notion yet."""
    config = load(options.config)
    if config.file is None:
        raise SetupError("there is no brain.toml here or above; run `brain init` first")
    keys: dict[str, object] = {"kind": "notion", "token": TOKEN}
    if options.root:
        keys["roots"] = options.root
    content = edit.with_source(config.file.read_text(encoding="utf-8-sig"), options.name, keys)
    checked = parsed(content, config.file)
    connectors_of(checked.sources, checked.folder)
    edit.write(content, config.file)
    console.say(f"added [sources.{options.name}] to {printable(str(config.file))}")
    console.say("share pages with the integration (⋯, Connections), then `brain sync` reads them")
    console.answer(name=options.name, file=str(config.file), roots=options.root)
    return 0
