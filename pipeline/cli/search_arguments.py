"""What `brain search` takes on the command line."""

import argparse

EXAMPLES = (
    ('brain search "parental leave"', "everywhere"),
    ("brain search vpn setup --source handbook", "in one source"),
    ("brain search rollback --kind conversation --since 'last week'", "in what agents said lately"),
    ("""brain search '"exact phrase" beginn* getUserName' --explain""", "what a query may hold, and why it found"),
)


def add(to: argparse.ArgumentParser) -> None:
    """Add the query and the conditions."""
    to.add_argument(
        "query", nargs="+", metavar="QUERY", help='words to look for; "a phrase", the beginning of a word with *'
    )
    to.add_argument("--node", metavar="PATH", help="only at and below this node, such as source:web or agent:coder")
    to.add_argument(
        "--kind",
        action="append",
        choices=("document", "conversation", "learning"),
        help="only this kind, repeatable (default: document)",
    )
    to.add_argument("--since", metavar="WHEN", help="only what is of then or later: 2026-05-01, 'last week'")
    to.add_argument("--until", metavar="WHEN", help="only what is of then or earlier: 2026-05-31, yesterday")
    to.add_argument("--tag", action="append", default=[], metavar="TAG", help="only with this tag, or one of several")
    to.add_argument("--explain", action="store_true", help="say of each hit why it was found")
    to.add_argument("--cursor", metavar="NEXT", help="go on where a search stopped: `next` of its --json")
