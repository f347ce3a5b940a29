"""Makes the document of a page or database: head, content, comments, attachments."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from connectors.contract import Blob
from connectors.errors import DocumentError, Unavailable
from connectors.notion.api import NotionApi
from connectors.notion.attachments import Wanted, read_attachments
from connectors.notion.body import read_body
from connectors.notion.errors import CapabilityMissing, NotShared, Rejected
from connectors.notion.ids import Obj, page_url
from connectors.notion.names import LookedUp, Remembered
from connectors.notion.properties import attached, cut_properties, head_lines, icon_of, title_of
from connectors.notion.rich_text import inline, user_name
from connectors.notion.schema import schema_markdown
from connectors.notion.settled import moment

if TYPE_CHECKING:
    from connectors.http.client import Client

UNTITLED = "Untitled"


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a document is to hold beside its properties and content.

    Attributes:
        comments: The open comments on the page.
        authors: Who made the page, as a tag `by:<name>`; it asks for the users once.
        attachments: Which files are read.
        blocks_only: Read blocks instead of Notion's markdown.
        max_bytes: Largest attachment.
    """

    comments: bool = False
    authors: bool = False
    attachments: Wanted = "none"
    blocks_only: bool = False
    max_bytes: int = 32 * 2**20


@dataclass(slots=True)
class Reading:
    """Reads documents.

    Attributes:
        api: Asked.
        http: Reads files.
        wishes: What they are to hold.
        titles: Remembered titles by id.
        listed_title: Returns a title that a running listing has, `None` when it has not.
        say: Told which attachments are left out.
    """

    api: NotionApi
    http: "Client"
    wishes: Wishes
    titles: Remembered = field(default_factory=Remembered)
    listed_title: Callable[[str], str | None] = lambda _key: None
    say: Callable[[str], None] = lambda _line: None
    _users: dict[str, str] | None = None
    _mute: bool = False  # the integration may not read comments

    def document(self, thing: Obj, above: tuple[str, ...], token: str | None) -> Blob:
        """Return the document of a page or data source as it was listed or retrieved just now.

        Args:
            thing: The page or data source.
            above: Titles of what it lies in, outermost first.
            token: Its token.

        Raises:
            ConnectorError: It cannot be read.
        """
        if thing.get("object") == "data_source":
            return self._blob(thing, above, token, _joined([_created(thing)], schema_markdown(thing)))
        key = str(thing["id"])
        titles = LookedUp(self.titles, self._title)
        cut = cut_properties(thing)
        whole = self._whole(thing, cut) if cut else thing
        body = read_body(self.api, key, titles, blocks_only=self.wishes.blocks_only)
        icon = icon_of(thing)
        head = [f"- **Icon**: {icon}"] if icon else []
        head += [*head_lines(whole, titles), _created(thing)]
        text = _joined(head, body.markdown, self._comments(key) if self.wishes.comments else "")
        parts: tuple[Blob, ...] = ()
        if self.wishes.attachments != "none":
            files = (*body.files, *attached(thing))
            wanted, most = self.wishes.attachments, self.wishes.max_bytes
            parts = read_attachments(self.http, files, wanted, most, partial(self._left_out, page_url(key)))
        return self._blob(whole, above, token, text, parts)

    def _left_out(self, page: str, name: str, why: str) -> None:
        self.say(f"{name} in {page} is left out: {why}")

    def _blob(
        self, thing: Obj, above: tuple[str, ...], token: str | None, text: str, parts: tuple[Blob, ...] = ()
    ) -> Blob:
        author = self._author(thing) if self.wishes.authors else ""
        return Blob(
            text.encode(),
            media_type="text/markdown",
            token=token,
            title=title_of(thing) or UNTITLED,
            url=page_url(str(thing["id"])),
            modified=edited(thing),
            path=above,
            tags=(f"by:{author}",) if author else (),
            parts=parts,
        )

    def _whole(self, page: Obj, cut: Mapping[str, str]) -> Obj:
        """Return a page whose long properties have all their values."""
        properties = dict(page["properties"])
        for name, key in cut.items():
            value = properties[name]
            kind = str(value["type"])
            try:
                items = [item[kind] for item in self.api.property_items(str(page["id"]), key) if kind in item]
            except (Rejected, NotShared):
                continue  # what the page carries is better than nothing
            properties[name] = {**value, kind: items}
        return {**page, "properties": properties}

    def _title(self, key: str) -> str:
        listed = self.listed_title(key)
        if listed is not None:
            return listed
        try:
            return title_of(self.api.page(key))
        except Unavailable:
            raise
        except DocumentError:
            return ""

    def _comments(self, key: str) -> str:
        """The section of open comments; nothing when the integration may not read them, which is said once."""
        if self._mute:
            return ""
        try:
            lines = [_comment(comment) for comment in self.api.comments(key)]
        except CapabilityMissing:
            self._mute = True
            self.say("comments are left out: give the integration the capability to read them, in its settings")
            return ""
        except NotShared:
            return ""
        return "\n".join(["## Comments", "", *lines]) + "\n" if lines else ""

    def _author(self, thing: Obj) -> str:
        """The name of who made it; nothing when the integration may not know."""
        made_by = thing.get("created_by")
        if not isinstance(made_by, dict):
            return ""
        if self._users is None:
            try:
                self._users = {str(user.get("id")): user_name(user) for user in self.api.users()}
            except CapabilityMissing:
                self._users = {}
        return user_name(made_by) or self._users.get(str(made_by.get("id")), "")


def edited(thing: Obj) -> datetime | None:
    """Return when a thing was last edited, to the minute."""
    return moment(thing.get("last_edited_time"))


def _created(thing: Obj) -> str:
    day = str(thing.get("created_time") or "")[:10]
    return f"- **Created**: {day}" if day else ""


def _joined(head: list[str], *parts: str) -> str:
    """The head as a list, then the parts, an empty line between."""
    texts = ["\n".join(line for line in head if line), *(part.strip("\n") for part in parts)]
    return "\n\n".join(text for text in texts if text) + "\n"


def _comment(comment: Obj) -> str:
    shown = comment.get("display_name")
    name = user_name(comment.get("created_by")) or (
        str(shown.get("resolved_name") or "") if isinstance(shown, dict) else ""
    )
    day = str(comment.get("created_time") or "")[:10]
    words = " ".join(inline(comment.get("rich_text")).split())
    return f"- **{name or 'Somebody'}** ({day}): {words}"
