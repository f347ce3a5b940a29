"""`brain add github`: adds repositories to `brain.toml`."""

from argparse import Namespace

from connectors.github.selection import Wanted
from pipeline.cli.console import Console
from pipeline.cli.printable import printable
from pipeline.config import edit
from pipeline.config.load import load, parsed
from pipeline.errors import SetupError
from pipeline.source_set import connectors_of

TOKEN = "${GITHUB_TOKEN:-}"  # noqa: S105 - where the token is, not the token; none reads what is public


def run(options: Namespace, console: Console) -> int:
    """Add the repositories, checked as a sync would check them; nothing is asked of GitHub yet."""
    config = load(options.config)
    if config.file is None:
        raise SetupError("there is no brain.toml here or above; run `brain init` first")
    repos = list(Wanted(options.repo).given)
    owner, _, short = repos[0].partition("/")
    name = options.name or f"{owner}-{short}".replace("*", "all").replace("?", "x").lower()
    keys: dict[str, object] = {"kind": "github", "token": TOKEN, "split": "always"}
    keys |= {"repo": repos[0]} if len(repos) == 1 and "*" not in repos[0] else {"repos": repos}
    rules = {"branch": options.branch, "paths": options.path, "exclude": options.exclude, "also": options.also}
    keys.update({key: value for key, value in rules.items() if value})
    content = edit.with_source(config.file.read_text(encoding="utf-8-sig"), name, keys)
    checked = parsed(content, config.file)
    connectors_of(checked.sources, checked.folder)
    edit.write(content, config.file)
    console.say(f"added [sources.{name}] to {printable(str(config.file))}; `brain sync {name}` reads it")
    console.say("private repositories need GITHUB_TOKEN, a token that may read their contents")
    console.answer(name=name, file=str(config.file), repos=repos)
    return 0
