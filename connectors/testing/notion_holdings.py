"""What a made-up Notion workspace holds, and who may see it: the part of the stand-in that only reads."""

import random
import threading
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

from connectors.testing import notion_shapes as shapes
from connectors.testing.notion_shapes import Obj

Clock = Callable[[], datetime]


class Holdings:
    """Everything in a workspace, empty at first.

    Args:
        clock: Tells the time of edits; the system's when left out.
        seed: Makes the ids; the same seed, the same ids.

    Attributes:
        things: Pages, data sources and databases by id, as the API gives them.
        blocks: Child blocks by the id of the page or block they are in.
        comments: By the id of the page or block they are on.
        users: By id.
        files: Bytes by name; their addresses are signed and die.
        unsearched: Ids that search leaves out though they exist and are shared, as its index does for a while.
        unshared: Ids that are not shared with the integration, with everything below them.
    """

    def __init__(self, clock: Clock | None = None, seed: int = 0) -> None:
        self.clock = clock or (lambda: datetime.now(UTC))
        self.lock = threading.RLock()
        self._random = random.Random(seed)  # noqa: S311 - ids of a test workspace are no secrets
        self.things: dict[str, Obj] = {}
        self.blocks: dict[str, list[Obj]] = {}
        self.block_of: dict[str, Obj] = {}
        self.comments: dict[str, list[Obj]] = {}
        self.users: dict[str, Obj] = {}
        self.files: dict[str, bytes] = {}
        self.unsearched: set[str] = set()
        self.unshared: set[str] = set()

    def new_id(self) -> str:
        """Return an id nobody has."""
        return str(uuid.UUID(int=self._random.getrandbits(128), version=4))

    def visible(self, key: str) -> bool:
        """Whether the integration may see it: shared itself or through what it lies in; the trash included."""
        return key in self.things and not any(one in self.unshared for one in [key, *self.above(key)])

    def above(self, key: str) -> Iterator[str]:
        """Ids of what it lies in, innermost first: pages, data sources, databases, and blocks between them."""
        seen = {key}
        thing = self.things.get(key) or self.block_of.get(key)
        while thing is not None:
            parent = thing["parent"]
            up = parent.get(parent["type"]) if parent["type"] != "workspace" else None
            if not isinstance(up, str) or up in seen:
                return
            seen.add(up)
            yield up
            thing = self.things.get(up) or self.block_of.get(up)

    def below(self, key: str) -> list[str]:
        """Ids of the pages and databases below it."""
        return [one for one in self.things if key in self.above(one)]

    def parent_of(self, parent: str | None) -> Obj:
        """Return how the API names a parent: the workspace, a page, a data source or a block."""
        if parent is None:
            return {"type": "workspace", "workspace": True}
        thing = self.things.get(parent)
        if thing is None:
            return {"type": "block_id", "block_id": parent}
        if thing["object"] == "data_source":
            database = thing["parent"]["database_id"]
            return {"type": "data_source_id", "data_source_id": parent, "database_id": database}
        return {"type": "page_id", "page_id": parent}

    def title_name(self, parent: str | None) -> str:
        """Return what the title property of a page with that parent is called."""
        thing = self.things.get(parent or "")
        if thing is None or thing["object"] != "data_source":
            return "title"
        return next(str(name) for name, value in thing["properties"].items() if value["type"] == "title")

    def link(self, page: str, key: str, kind: str, title: str, at: datetime) -> None:
        """Put the block of a child page or database into a page."""
        above = {"type": "page_id", "page_id": page}
        made = shapes.block(key, kind, {"title": title}, parent=above, at=at)
        made["has_children"] = kind == "child_page"
        self.blocks.setdefault(page, []).append(made)
        self.block_of[key] = made
