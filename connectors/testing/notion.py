"""A made-up Notion workspace behind its API on loopback: `python -m connectors.testing.notion --pages 500 --seed 1`.

```text
curl URL/_log                                          the requests so far
curl -d '{"text": "new words"}' URL/_edit              edit the first page, or {"id": …}
curl -d '{"id": "…"}' URL/_trash                       move a page to the trash
curl -d '{"id": "…"}' URL/_unshare                     take it from the integration
curl -d '{"match": "markdown", "status": 429, "times": 3, "retry_after": "2"}' URL/_fail
```
"""

import argparse
import random
import sys
from datetime import UTC, datetime, timedelta

from connectors.testing import notion_shapes as shapes
from connectors.testing.notion_server import NotionServer
from connectors.testing.notion_shapes import Obj
from connectors.testing.notion_workspace import Workspace

_TOPICS = (
    "Onboarding", "Parental leave", "Expenses", "Incident reviews", "Release train", "Security", "Pricing", "Hiring",
    "Travel", "Customer interviews", "Roadmap", "Backups", "Data retention", "Support hours", "Brand", "Glossary",
)  # fmt: skip
_SENTENCES = (
    "We decide by writing: whoever owns {topic} keeps this page true.",
    "Ask in the channel before you change how {topic} works.",
    "The numbers for {topic} are reviewed in the first week of each quarter.",
    "{topic} is owned by two people, so that one may be away.",
    "What we learned about {topic} last year is further down.",
)
_ROWS_A_DATABASE = 40


def made_up(pages: int, seed: int = 0, now: datetime | None = None) -> Workspace:
    """Return a workspace of exactly *pages* documents, all edited in the past.

    A document is a page, a row or a database; of each hundred one is a database with forty rows.
    """
    end = now or datetime.now(UTC)
    chance = random.Random(seed)  # noqa: S311 - made-up text
    workspace = Workspace((lambda: now) if now else None, seed)
    people = [workspace.add_user(name) for name in ("Ada Example", "Grace Example", "Edsger Example")]
    places: list[str | None] = [None]
    made = 0
    while made < pages:
        at = end - timedelta(days=100) + timedelta(minutes=chance.randrange(99 * 24 * 60))
        if made % 100 == 9:
            made += _database(workspace, chance, min(_ROWS_A_DATABASE, pages - made - 1), places, at, people) + 1
            continue
        topic = _TOPICS[made % len(_TOPICS)] if made < 8 else chance.choice(_TOPICS)
        parent = None if made < 8 else chance.choice(places[1:])
        author = chance.choice(people)
        key = workspace.add_page(f"{topic} {made + 1}", parent, author=author, at=at)
        _fill(workspace, key, topic, chance, at)
        if made < 8 or chance.random() < 0.2:
            places.append(key)
        made += 1
    return workspace


def _database(
    workspace: Workspace, chance: random.Random, rows: int, places: list[str | None], at: datetime, people: list[str]
) -> int:
    options = [{"id": name[:4], "name": name, "color": "default"} for name in ("Planned", "Running", "Done")]
    schema: Obj = {
        "Status": {"id": "stat", "name": "Status", "type": "select", "select": {"options": options}},
        "Owner": {"id": "ownr", "name": "Owner", "type": "people", "people": {}},
        "Due": {"id": "due1", "name": "Due", "type": "date", "date": {}},
    }
    topic = chance.choice(_TOPICS)
    parent = chance.choice(places[1:]) if len(places) > 1 else None
    source = workspace.add_database(f"{topic} register", parent, properties=schema, at=at)
    workspace.things[source]["description"] = [shapes.text(f"Everything open about {topic.lower()}.")]
    for number in range(rows):
        owner = workspace.users[chance.choice(people)]
        due = {"start": f"2026-{chance.randrange(1, 13):02}-{chance.randrange(1, 29):02}", "end": None}
        values: Obj = {
            "Status": {"id": "stat", "type": "select", "select": chance.choice(options)},
            "Owner": {"id": "ownr", "type": "people", "people": [owner]},
            "Due": {"id": "due1", "type": "date", "date": {**due, "time_zone": None}},
        }
        row = workspace.add_page(f"{topic} item {number + 1}", source, properties=values, at=at, author=owner["id"])
        _fill(workspace, row, topic, chance, at)
    return rows


def _fill(workspace: Workspace, key: str, topic: str, chance: random.Random, at: datetime) -> None:
    """Write a few blocks of several types."""

    def words(text: str) -> Obj:
        return {"rich_text": [shapes.text(text)], "color": "default"}

    def add(kind: str, content: Obj) -> None:
        workspace.add_block(key, kind, content, at=at)

    for sentence in chance.sample(_SENTENCES, 2):
        add("paragraph", words(sentence.format(topic=topic)))
    add("heading_2", {**words(f"How {topic.lower()} works"), "is_toggleable": False})
    for step in range(chance.randrange(1, 4)):
        add("bulleted_list_item", words(f"Step {step + 1} of {topic.lower()} {chance.randrange(10_000)}"))
    if chance.random() < 0.3:
        add("to_do", {**words(f"Review {topic.lower()}"), "checked": chance.random() < 0.5})
    if chance.random() < 0.2:
        add("callout", {**words("Ask before you change this."), "icon": {"type": "emoji", "emoji": "💡"}})


def main(arguments: list[str] | None = None) -> int:
    """Serve a made-up workspace until interrupted."""
    parser = argparse.ArgumentParser(prog="python -m connectors.testing.notion", description=__doc__.split("\n")[0])
    parser.add_argument("--pages", type=int, default=50, help="documents in the workspace")
    parser.add_argument("--seed", type=int, default=1, help="another number, another workspace")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    options = parser.parse_args(arguments)
    server = NotionServer(made_up(options.pages, options.seed), port=options.port)
    sys.stdout.write(f"{server.url}\n")
    sys.stdout.flush()
    try:
        server.serve()
    except KeyboardInterrupt:
        return 0
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
