"""The verbs and their arguments. Imports nothing that takes time: `brain --help` answers at once."""

import argparse
from pathlib import Path
from typing import Any, NoReturn

from pipeline.cli import agent_arguments, care_arguments, search_arguments
from pipeline.cli.verb import Verb, positive
from pipeline.cli.verb import add_json as _json

FACETS = ("kind", "source", "source_id", "folder", "file_path", "language", "repo", "url", "tag", "namespace")


class UsageError(Exception):
    """The command line cannot be read."""


class _Parser(argparse.ArgumentParser):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**{"formatter_class": argparse.RawDescriptionHelpFormatter, "allow_abbrev": False, **settings})

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; see `{self.prog} --help`")


def parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    top = _Parser(
        prog="brain",
        description="The company brain for AI agents: your documents, kept up to date and searchable.",
        epilog=_examples(
            (
                ("brain sync ~/handbook", "remember a folder, no configuration needed"),
                ('brain search "parental leave"', "find it again"),
                ("brain init", "write a brain.toml for several sources"),
            )
        )
        + "\n\nExit status: 0 all well, 1 a source or the engine failed, 2 the command or configuration is wrong,"
        "\n130 interrupted; run it again to go on.",
    )
    _add_global(top, default=None)
    top.add_argument("--version", action="store_true", help="print the version and end")
    verbs = top.add_subparsers(dest="verb", metavar="VERB", title="verbs")
    for verb in VERBS:
        below = verbs.add_parser(
            verb.name, help=verb.help, description=verb.text, epilog=_examples(verb.examples), prog=f"brain {verb.name}"
        )
        _add_global(below, default=argparse.SUPPRESS)
        verb.add(below)
    return top


def _examples(examples: tuple[tuple[str, str], ...]) -> str:
    width = max(len(command) for command, _ in examples)
    return "examples:\n" + "\n".join(f"  {command:<{width}}  {what}" for command, what in examples)


def _add_global(to: argparse.ArgumentParser, default: object) -> None:
    to.add_argument(
        "--config",
        type=Path,
        metavar="FILE",
        default=default,
        help="the configuration; else the nearest brain.toml from here upwards",
    )
    debug = False if default is None else default
    to.add_argument("--debug", action="store_true", default=debug, help="show where an error came from")


def _logs(to: argparse.ArgumentParser) -> None:
    to.add_argument("--verbose", action="store_true", help="log every document to standard error, not only each source")
    to.add_argument("--log-json", action="store_true", help="log to standard error as JSON lines")


def _source(to: argparse.ArgumentParser) -> None:
    to.add_argument("--source", metavar="S", help="a source's name, or files, notion, github, web for all of a kind")


def _limit(to: argparse.ArgumentParser, default: int) -> None:
    to.add_argument("--limit", type=positive, metavar="N", default=default, help=f"at most N (default {default})")


def _add(to: argparse.ArgumentParser) -> None:
    kinds = to.add_subparsers(dest="kind", metavar="KIND", required=True)
    files = kinds.add_parser("files", help="a folder on this machine", prog="brain add files")
    _add_global(files, default=argparse.SUPPRESS)
    files.add_argument("path", metavar="PATH", help="the folder")
    files.add_argument("--name", help="what to call it (default: the folder's name)")
    _json(files)
    notion = kinds.add_parser("notion", help="a Notion workspace, by ${NOTION_TOKEN}", prog="brain add notion")
    _add_global(notion, default=argparse.SUPPRESS)
    notion.add_argument("--root", action="append", default=[], metavar="LINK", help="only this page or database")
    notion.add_argument("--name", default="notion", help="what to call it (default: notion)")
    _json(notion)
    github = kinds.add_parser("github", help="repositories, by ${GITHUB_TOKEN}", prog="brain add github")
    _add_github(github)
    web = kinds.add_parser("web", help="a site, its sitemap or a feed", prog="brain add web")
    _add_global(web, default=argparse.SUPPRESS)
    web.add_argument("url", nargs="+", metavar="URL", help="where it begins; what lies below it is read")
    web.add_argument("--include", action="append", default=[], metavar="PATTERN", help="only pages such as /latest/**")
    web.add_argument("--exclude", action="append", default=[], metavar="PATTERN", help="no pages such as /v1/**")
    web.add_argument("--name", help="what to call it (default: the host)")
    _json(web)


def _add_github(to: argparse.ArgumentParser) -> None:
    _add_global(to, default=argparse.SUPPRESS)
    to.add_argument("repo", nargs="+", metavar="OWNER/REPO", help="one or more; owner/* is all of an owner")
    to.add_argument("--branch", metavar="B", help="a branch or tag (default: the default branch)")
    to.add_argument("--path", action="append", default=[], metavar="PATTERN", help="only files such as docs/**")
    to.add_argument("--exclude", action="append", default=[], metavar="PATTERN", help="no files such as CHANGELOG*")
    to.add_argument("--also", action="append", default=[], metavar="KIND", help="issues, pulls, releases, …")
    to.add_argument("--name", help="what to call it (default: owner-repo)")
    _json(to)


def _sync(to: argparse.ArgumentParser) -> None:
    to.add_argument("what", nargs="*", metavar="NAME|PATH", help="sources by name, or folders (default: every source)")
    to.add_argument("--dry-run", action="store_true", help="say what would be done and what it would cost")
    to.add_argument("--full", action="store_true", help="list everything anew, whatever was seen before")
    to.add_argument("--retry", action="store_true", help="try what is set aside now, not when it is due")
    to.add_argument(
        "--reconvert", action="store_true", help="convert anew what a newer converter, or another scrub, would change"
    )
    to.add_argument("--strict", action="store_true", help="exit 1 when anything is set aside")
    to.add_argument("--allow-deletes", action="store_true", help="delete more than max_delete allows, this once")
    _logs(to)
    _json(to)


def _watch(to: argparse.ArgumentParser) -> None:
    to.add_argument("names", nargs="*", metavar="NAME", help="sources (default: every one that can be watched)")
    _logs(to)


def _run(to: argparse.ArgumentParser) -> None:
    to.add_argument("--check", action="store_true", help="say whether a `brain run` is alive: exit 0, else 1")
    _logs(to)


def _status(to: argparse.ArgumentParser) -> None:
    to.add_argument("name", nargs="?", metavar="NAME", help="one source, with everything set aside and its last runs")
    _json(to)


def _search(to: argparse.ArgumentParser) -> None:
    search_arguments.add(to)
    _source(to)
    _limit(to, 10)
    _json(to)


def _show(to: argparse.ArgumentParser) -> None:
    to.add_argument("id", metavar="ID", help="as search and list print it; the first 6 characters or more do")
    _json(to)


def _list(to: argparse.ArgumentParser) -> None:
    _source(to)
    _limit(to, 50)
    _json(to)


def _explore(to: argparse.ArgumentParser) -> None:
    to.add_argument("facet", nargs="?", choices=FACETS, metavar="FACET", help=", ".join(FACETS))
    _source(to)
    _limit(to, 20)
    _json(to)


def _forget(to: argparse.ArgumentParser) -> None:
    to.add_argument("name", nargs="?", metavar="NAME", help="the source")
    to.add_argument("--agent", metavar="A", help="not a source, but what this agent was told in its conversations")
    to.add_argument("--thread", metavar="T", help="with --agent: only this conversation")
    to.add_argument(
        "--before", metavar="DATE", help="with --agent: only turns before 2026-01-31, or a time of RFC 3339"
    )
    to.add_argument("--dry-run", action="store_true", help="with --agent: only count")
    to.add_argument("--yes", action="store_true", help="do not ask")
    _json(to)


def _split(to: argparse.ArgumentParser) -> None:
    to.add_argument("name", metavar="NAME", help="the source")
    _json(to)


def _init(to: argparse.ArgumentParser) -> None:
    to.add_argument(
        "--embedder", metavar="MODEL", help="find by meaning too: minilm, fastembed:NAME, model2vec:NAME, …"
    )
    _json(to)


def _jobs(to: argparse.ArgumentParser) -> None:
    to.add_argument("action", nargs="?", choices=("run",), help="run the waiting jobs in this process")
    to.add_argument(
        "--change-model", action="store_true", help="embed everything again, by the model that brain.toml names now"
    )
    _json(to)


def _config(to: argparse.ArgumentParser) -> None:
    to.add_argument(
        "action",
        choices=("schema", "show"),
        help="schema: JSON Schema of brain.toml; show: what is configured, defaults filled in, secrets masked",
    )
    _json(to)


def _dump(to: argparse.ArgumentParser) -> None:
    to.add_argument("name", nargs="?", metavar="NAME", help="one source")


VERBS = (
    Verb(
        "init",
        "write brain.toml, say what to do next and what leaves this machine",
        "Write a commented brain.toml here, or where --config says. Nothing is overwritten.",
        (
            ("brain init", "here"),
            ("brain init --embedder minilm", "with search by meaning"),
            ("brain init --config ~/brain/brain.toml", "somewhere else"),
        ),
        _init,
    ),
    Verb(
        "add",
        "add a source to brain.toml",
        "Add a source to brain.toml; comments and order of the file stay.",
        (("brain add files ~/handbook", "a folder"), ("brain add files ./docs --name api-docs", "under another name")),
        _add,
    ),
    Verb(
        "sync",
        "make the brain hold what the sources hold",
        "Store what is new or changed, file anew what moved, forget what is gone. What cannot be read is set aside,"
        "\nshown with its reason, and tried again later. Interrupt it at any time: the next run goes on.",
        (
            ("brain sync", "every source of brain.toml"),
            ("brain sync handbook", "one of them"),
            ("brain sync ./some-folder", "a folder that is in no brain.toml"),
            ("brain sync --dry-run", "look first"),
        ),
        _sync,
    ),
    Verb(
        "watch",
        "sync, then keep watching folders",
        "Sync, then sync again whatever changes, within seconds, a line for each document stored. Ctrl-C ends it.",
        (("brain watch", "every folder of brain.toml"), ("brain watch handbook", "one of them")),
        _watch,
    ),
    Verb(
        "run",
        "keep schedules and watch folders until stopped",
        "Sync every source of brain.toml that has watch, every or cron, when it is time; look after the engine in"
        "\nbetween. SIGTERM or Ctrl-C ends it after the current batch. `brain status` shows what comes next.",
        (("brain run", "until stopped"), ("brain run --check", "for a health check")),
        _run,
    ),
    Verb(
        "status",
        "documents, last sync, items set aside and why",
        "Say of each source how many documents are held, when it was last synced, and what is set aside and why.",
        (("brain status", "every source"), ("brain status handbook", "one, in full")),
        _status,
    ),
    Verb(
        "search",
        "find documents",
        "Find the best documents for some words, with the place in each. Everything below [brain] root is searched."
        "\nA terminal is shown page by page.",
        search_arguments.EXAMPLES,
        _search,
    ),
    Verb(
        "show",
        "show one document in full",
        "Show a document: where it is from, how it was read, and its text.",
        (("brain show 3f2a91", "by the beginning of its id"),),
        _show,
    ),
    Verb(
        "list",
        "list documents",
        "List what is held, in no particular order.",
        (("brain list --limit 200", "more of them"), ("brain list --source handbook", "of one source")),
        _list,
    ),
    Verb(
        "explore",
        "count documents by source, folder, language, tag, …",
        "Count what is held by the values of one facet; without one, by the most telling ones.",
        (("brain explore", "an overview"), ("brain explore folder --source handbook", "folders of one source")),
        _explore,
    ),
    Verb(
        "forget",
        "remove one source, or an agent's conversations",
        "Remove every document of one source, and what is known of it. The source itself is not touched, nor is any"
        "\nother source. With --agent, remove the turns of an agent's conversations and what was distilled from them."
        "\nAsks first.",
        (
            ("brain forget handbook", "asks"),
            ("brain forget handbook --yes", "does not"),
            ("brain forget --agent support-01 --before 2026-01-31", "old conversations of one agent"),
        ),
        _forget,
    ),
    Verb(
        "split",
        "give a source's collections nodes of their own",
        "File each collection of a source (of files: each top folder) at a node of its own, and move what is there,"
        "\nfindable all the while. Interrupt it at any time: the next run goes on. The source itself is not read.",
        (("brain split handbook", "from now on, whatever split_over says"),),
        _split,
    ),
    Verb(
        "jobs",
        "list or run background jobs",
        "List the belief builds that syncs left, or run them here, with the engine's upkeep.",
        (("brain jobs", "what waits"), ("brain jobs run", "do it now")),
        _jobs,
    ),
    Verb(
        "config",
        "JSON Schema of brain.toml; what is configured",
        "Print the JSON Schema of brain.toml for an editor, or what is configured with the defaults filled in.",
        (("brain config show", "secrets masked"), ("brain config schema > brain.schema.json", "for an editor")),
        _config,
    ),
    Verb(
        "dump",
        "what engine and state hold, as JSON lines",
        "Print what engine and state hold as canonical JSON lines: equal brains print equal lines.",
        (("brain dump > before.jsonl", "to compare later"), ("brain dump handbook", "one source")),
        _dump,
    ),
    Verb(
        "doctor",
        "what works, what does not, what to do",
        "Look at engine, state, disk, sources and formats; say what works, what does not and what to do about it.",
        (("brain doctor", "exits 1 when something does not work"),),
        _json,
    ),
    *care_arguments.VERBS,
    *agent_arguments.VERBS,
)
