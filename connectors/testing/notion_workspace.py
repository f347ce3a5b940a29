"""A Notion workspace in memory, for the stand-in of its API: pages, blocks, data sources, users, comments, sharing.

Everything may be changed while it is read. Times are kept to the minute, as Notion's are.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime

from connectors.testing import notion_shapes as shapes
from connectors.testing.notion_holdings import Holdings
from connectors.testing.notion_shapes import Obj


class Additions(Holdings):
    """A workspace that can be added to."""

    def add_user(self, name: str) -> str:
        """Add a person."""
        key = self.new_id()
        self.users[key] = shapes.user(key, name)
        return key

    def add_page(
        self,
        title: str,
        parent: str | None = None,
        *,
        paragraphs: Sequence[str] = (),
        properties: Obj | None = None,
        author: str = shapes.BOT,
        at: datetime | None = None,
    ) -> str:
        """Add a page at the top, below a page or block, or as a row of a data source; return its id."""
        moment = at or self.clock()
        with self.lock:
            key = self.new_id()
            above = self.parent_of(parent)
            name = self.title_name(parent)
            values = {name: shapes.title_property(title), **(properties or {})}
            self.things[key] = shapes.page(key, title, above, moment, values, author)
            self.blocks[key] = []
            for paragraph in paragraphs:
                self.add_block(key, "paragraph", {"rich_text": [shapes.text(paragraph)], "color": "default"}, at=moment)
            if above["type"] == "page_id":
                self.link(above["page_id"], key, "child_page", title, moment)
            return key

    def add_database(
        self, title: str, parent: str | None = None, *, properties: Obj | None = None, at: datetime | None = None
    ) -> str:
        """Add a database with one data source; return the data source's id (the database's is in its parent)."""
        moment = at or self.clock()
        with self.lock:
            database, source = self.new_id(), self.new_id()
            above = self.parent_of(parent)
            schema: Obj = {"Name": {"id": "title", "name": "Name", "description": None, "type": "title", "title": {}}}
            schema |= properties or {}
            self.things[source] = shapes.data_source(source, database, title, above, moment, schema)
            self.things[database] = shapes.database(database, title, above, moment, [self.things[source]])
            if above["type"] == "page_id":
                self.link(above["page_id"], database, "child_database", title, moment)
            return source

    def add_block(self, parent: str, kind: str, content: Obj, *, at: datetime | None = None) -> str:
        """Append a block to a page or block; return its id."""
        with self.lock:
            inside_page = parent in self.things
            above = {"type": "page_id", "page_id": parent} if inside_page else {"type": "block_id", "block_id": parent}
            key = self.new_id()
            made = shapes.block(key, kind, content, parent=above, at=at or self.clock())
            self.blocks.setdefault(parent, []).append(made)
            self.block_of[key] = made
            if parent in self.block_of:
                self.block_of[parent]["has_children"] = True
            return key

    def add_paragraph(self, parent: str, words: str) -> str:
        """Append a paragraph."""
        return self.add_block(parent, "paragraph", {"rich_text": [shapes.text(words)], "color": "default"})

    def add_comment(self, on: str, words: str, author: str = "") -> str:
        """Comment on a page or block."""
        with self.lock:
            key = self.new_id()
            name = self.users[author]["name"] if author in self.users else "somebody"
            moment = shapes.minute(self.clock())
            self.comments.setdefault(on, []).append(
                {
                    "object": "comment",
                    "id": key,
                    "parent": {"type": "page_id", "page_id": on},
                    "discussion_id": self.new_id(),
                    "created_time": moment,
                    "last_edited_time": moment,
                    "created_by": {"object": "user", "id": author or shapes.BOT},
                    "rich_text": [shapes.text(words)],
                    "display_name": {"type": "user", "resolved_name": name},
                }
            )
            return key


class Workspace(Additions):
    """A workspace that people work in."""

    def write(self, key: str, paragraphs: Iterable[str]) -> None:
        """Replace what a page says; child pages and databases in it stay."""
        with self.lock:
            self.blocks[key] = [one for one in self.blocks.get(key, []) if one["type"].startswith("child_")]
            for words in paragraphs:
                self.add_paragraph(key, words)
            self.touch(key)

    def rename(self, key: str, title: str) -> None:
        """Give a page or database another title."""
        with self.lock:
            thing = self.things[key]
            if thing["object"] == "page":
                name = next(name for name, value in thing["properties"].items() if value["type"] == "title")
                thing["properties"][name] = shapes.title_property(title)
                thing["url"] = shapes.url_of(title, key)
            else:
                thing["title"] = [shapes.text(title)]
            if key in self.block_of:
                child = self.block_of[key]
                child[child["type"]]["title"] = title
            self.touch(key)

    def move(self, key: str, parent: str | None) -> None:
        """Move a page; its block goes with it."""
        with self.lock:
            for blocks in self.blocks.values():
                blocks[:] = [one for one in blocks if one["id"] != key]
            above = self.parent_of(parent)
            self.things[key]["parent"] = above
            if above["type"] == "page_id":
                title = "".join(item["plain_text"] for item in _title_items(self.things[key]))
                self.link(above["page_id"], key, "child_page", title, self.clock())
            self.touch(key)

    def touch(self, key: str) -> None:
        """Say that it was edited now."""
        with self.lock:
            self.things[key]["last_edited_time"] = shapes.minute(self.clock())

    def trash(self, key: str, *, into: bool = True, deep: bool = True) -> None:
        """Move a page or database to the trash, or take it out again; *deep* says so of everything below it too."""
        with self.lock:
            for one in [key, *(self.below(key) if deep else ())]:
                self.things[one]["in_trash"] = into
            for blocks in self.blocks.values():
                for one_block in blocks:
                    if one_block["id"] == key:
                        one_block["in_trash"] = into

    def unshare(self, key: str, *, away: bool = True) -> None:
        """Take a page or database and what is below it from the integration, or give it back."""
        (self.unshared.add if away else self.unshared.discard)(key)


def _title_items(thing: Obj) -> list[Obj]:
    values = thing["properties"].values()
    return next((value["title"] for value in values if value["type"] == "title"), [])
