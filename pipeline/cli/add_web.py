"""`brain add web`: adds a site to `brain.toml`."""

from argparse import Namespace

from connectors.web.asking import name_of, private_place
from pipeline.cli.console import Console
from pipeline.cli.printable import printable
from pipeline.config import edit
from pipeline.config.load import load, parsed
from pipeline.errors import SetupError
from pipeline.source_set import connectors_of


def run(options: Namespace, console: Console) -> int:
    """Add the site, checked as a sync would check it; nothing is asked of it yet.

    An address that by its text lies on this machine or a private network is allowed there, for a person typed it, and
    that is said.
    """
    config = load(options.config)
    if config.file is None:
        raise SetupError("there is no brain.toml here or above; run `brain init` first")
    name = options.name or name_of(options.url[0])
    keys: dict[str, object] = {"kind": "web", "start": options.url}
    private = list(dict.fromkeys(place for url in options.url if (place := private_place(url)) is not None))
    rules = {"include": options.include, "exclude": options.exclude, "allow_private": private}
    keys.update({key: values for key, values in rules.items() if values})
    content = edit.with_source(config.file.read_text(encoding="utf-8-sig"), name, keys)
    checked = parsed(content, config.file)
    connectors_of(checked.sources, checked.folder)
    edit.write(content, config.file)
    console.say(f"added [sources.{name}] to {printable(str(config.file))}; `brain sync {name}` reads it")
    if private:
        console.say(f"it may reach {printable(', '.join(private))} on a private network (allow_private)")
    console.answer(name=name, file=str(config.file), start=options.url)
    return 0
