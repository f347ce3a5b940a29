"""Where a page lies: the titles above it, the top-level page or database it belongs to."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from connectors.contract import Json
from connectors.notion.ids import Obj
from connectors.notion.properties import title_of

MAX_LEVELS = 100
"""Levels that are climbed; a chain that bites its own tail ends there too."""


@dataclass(frozen=True, slots=True)
class Node:
    """A thing as a link in a chain.

    Attributes:
        title: Empty for a block, and for what has none.
        up: Id of what it lies in; `None` at the top of what can be seen.
        kind: `page`, `data_source`, `database` or `block`.
        database: Id of the database that a data source is in; `None` for everything else.
        up_kind: What kind of thing it lies in; empty at the top.
        away: Whether it lies in the trash.
    """

    title: str
    up: str | None
    kind: str
    database: str | None = None
    up_kind: str = ""
    away: bool = False

    def as_note(self) -> list[Json]:
        """Return it as JSON."""
        return [self.title, self.up, self.kind, self.database, self.up_kind, self.away]


def from_note(note: Json) -> Node | None:
    """Read what `Node.as_note` wrote; `None` when nobody may see the thing."""
    if not isinstance(note, list) or len(note) != 6:
        return None
    title, up, kind, database, up_kind, away = note
    return Node(
        str(title), str(up) if up else None, str(kind), str(database) if database else None, str(up_kind), bool(away)
    )


@dataclass(frozen=True, slots=True)
class Place:
    """Where a thing lies.

    Attributes:
        line: Its id, then the ids of all it lies in, outwards; a data source is followed by its database.
        titles: Titles of the pages and databases it lies in, outermost first.
        collection: Id of the top-level page or database above it; `None` when it is at the top itself.
        away: Whether something it lies in is in the trash.
    """

    line: tuple[str, ...]
    titles: tuple[str, ...]
    collection: str | None
    away: bool = False


def is_away(thing: Obj) -> bool:
    """Whether a thing itself is in the trash."""
    return bool(thing.get("in_trash") or thing.get("archived"))  # the older word for the same


def node_of(thing: Obj) -> Node:
    """Return a thing as a link in a chain."""
    return Node(
        title_of(thing),
        parent_id(thing),
        str(thing.get("object") or "page"),
        _database(thing),
        _up_kind(thing),
        is_away(thing),
    )


def parent_id(thing: Obj) -> str | None:
    """Return the id of what a thing lies in, a data source before its database; `None` at the top.

    A data source's own place is its database's: the database is no document and has the same title, so the chain
    climbs straight to what the database lies in when Notion tells (`database_parent`).
    """
    above = thing.get("database_parent") if thing.get("object") == "data_source" else None
    for parent in (above, thing.get("parent")):
        if isinstance(parent, dict):
            kind = str(parent.get("type"))
            found = parent.get(kind)
            return str(found) if kind != "workspace" and isinstance(found, str) else None
    return None


class Ancestry:
    """Climbs chains, remembering the links it met lately.

    Args:
        look_up: Returns a link by id and kind, `None` when nobody may see it.
        most: Links remembered.
    """

    def __init__(self, look_up: Callable[[str, str], Node | None], most: int = 4096) -> None:
        self._look_up = look_up
        self._most = most
        self._known: OrderedDict[str, Node | None] = OrderedDict()

    def learn(self, key: str, node: Node | None) -> None:
        """Remember a link, or that nobody may see it."""
        self._known[key] = node
        self._known.move_to_end(key)
        if len(self._known) > self._most:
            self._known.popitem(last=False)

    def place(self, key: str, thing: Obj) -> Place:
        """Return where a thing lies; what cannot be seen above it ends the chain."""
        line, titles = [key], list[str]()
        line += [database] if (database := _database(thing)) else []
        top: str | None = None
        away = False
        up, kind = parent_id(thing), _up_kind(thing)
        while up is not None and up not in line and len(line) < MAX_LEVELS:
            node = self._node(up, kind)
            line.append(up)
            if node is None:
                break
            away = away or node.away
            if node.database is not None:
                line.append(node.database)
            if node.kind != "block":
                titles.append(node.title or "Untitled")
                top = node.database or up
            up, kind = node.up, node.up_kind
        return Place(tuple(line), tuple(reversed(titles)), top, away)

    def _node(self, key: str, kind: str) -> Node | None:
        if key not in self._known:
            self.learn(key, self._look_up(key, kind))
        return self._known[key]


def _up_kind(thing: Obj) -> str:
    parent = thing.get("database_parent") if thing.get("object") == "data_source" else None
    parent = parent if isinstance(parent, dict) else thing.get("parent")
    return str(parent.get("type") or "").removesuffix("_id") if isinstance(parent, dict) else ""


def _database(thing: Obj) -> str | None:
    parent = thing.get("parent")
    if thing.get("object") != "data_source" or not isinstance(parent, dict):
        return None
    return str(parent["database_id"]) if parent.get("database_id") else None
