"""Where things lie, looked up where it costs least: the listing at hand, notes of an earlier one, then Notion."""

from connectors.contract import Notes
from connectors.errors import DocumentError, Unavailable
from connectors.notion.ancestry import Ancestry, Node, Place, from_note, node_of
from connectors.notion.api import NotionApi
from connectors.notion.ids import Obj
from connectors.notion.names import Remembered
from connectors.notion.properties import title_of
from connectors.notion.spool import Spool

_NOTE = "up:"


class Places:
    """Knows where things lie. What has something below it is noted, so that a listing of changes need not ask again.

    Args:
        api: Asked last.
        titles: Told every title that is met.
    """

    def __init__(self, api: NotionApi, titles: Remembered) -> None:
        self._api = api
        self._titles = titles
        self._notes: Notes | None = None
        self._spool: Spool | None = None
        self._ancestry = Ancestry(self._look_up)

    def begin(self, notes: Notes, spool: Spool | None) -> None:
        """Start a listing; with a spool what was remembered is forgotten, for names and places may have changed."""
        self._notes, self._spool = notes, spool
        if spool is not None:
            self._ancestry = Ancestry(self._look_up)

    def of(self, key: str, thing: Obj) -> Place:
        """Return where a thing lies."""
        return self._ancestry.place(key, thing)

    def listed_title(self, key: str) -> str | None:
        """Return a title as the running listing has it; `None` when it has not. May be called from any thread."""
        spool = self._spool
        thing = spool.get(key) if spool is not None and not spool.closed else None
        return None if thing is None else title_of(thing)

    def renew(self, thing: Obj) -> None:
        """Take over a changed title or place of a thing that has something below it."""
        key = str(thing["id"])
        if self._notes is not None and self._notes.get(_NOTE + key) is not None:
            self._note(key, node_of(thing))
            self._ancestry.learn(key, node_of(thing))

    def _look_up(self, key: str, kind: str) -> Node | None:
        """Return a link of the chain above something."""
        listed = self._spool.get(key) if self._spool is not None and not self._spool.closed else None
        if listed is not None:
            node: Node | None = node_of(listed)
        elif self._spool is None and self._notes is not None and self._notes.get(_NOTE + key) is not None:
            return from_note(self._notes.get(_NOTE + key))
        else:
            node = self._asked(key, kind)
        self._note(key, node)
        if node is not None and node.title:
            self._titles.put(key, node.title)
        return node

    def _note(self, key: str, node: Node | None) -> None:
        if self._notes is None:
            return
        written = node.as_note() if node is not None else []
        if self._notes.get(_NOTE + key) != written:
            self._notes.put(_NOTE + key, written)

    def _asked(self, key: str, kind: str) -> Node | None:
        """Ask Notion; `None` for what nobody may see, and for what Notion cannot give."""
        ask = {"data_source": self._api.data_source, "database": self._api.database, "block": self._api.block}
        try:
            return node_of(ask.get(kind, self._api.page)(key))
        except Unavailable:
            raise
        except DocumentError:
            return None
