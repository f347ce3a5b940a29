"""A Notion workspace that the law of connectors is checked on: pages below one page, written through the public API.

With `NOTION_TOKEN` and `NOTION_PARENT` (a page shared with the integration, which may insert and update content) it is
the real service; without, the stand-in, so that the harness itself is known to work.
"""

import time
import uuid
from typing import Any

from notion_client import Client as Writer

from connectors.http import Client
from connectors.notion.api import VERSION
from connectors.notion.connector import NotionConnector
from connectors.notion.selection import Selection
from connectors.notion.service import notion_http

OWN = "corebrain check"


class WrittenNotion:
    """Below the parent, a page of its own that is left out with its folders; documents are pages below it.

    Args:
        base_url: Where the API is.
        token: Of an integration that may write.
        parent: The page below which everything is made.
        settle_s: Seconds after a change until search knows of it.
        requests_per_minute: 0 is as fast as it goes.
        greeting: An address every new client asks first: a stand-in's thread for it lives before a check counts them.
    """

    tokens_are_listed = True  # markdown comes without a time

    def __init__(
        self, base_url: str, token: str, parent: str, settle_s: float, requests_per_minute: int, greeting: str = ""
    ) -> None:
        self._base_url = base_url
        self._token = token
        self._settle_s = settle_s
        self._pace = requests_per_minute
        self._greeting = greeting
        self._writer: Any = Writer(auth=token, base_url=base_url, notion_version=VERSION)
        self._root = self._page(f"{OWN} {uuid.uuid4().hex[:8]}", parent)
        self._folders: dict[str, str] = {"": self._root}
        self._keys: dict[str, str] = {}
        self._clients: list[Client] = []

    def connector(self) -> NotionConnector:
        http = notion_http(self._base_url, requests_per_minute=self._pace)
        if self._greeting:
            http.get(self._greeting)
        self._clients.append(http)
        selection = Selection.of(roots=[self._root], exclude_titles=[f"{OWN} *"])
        return NotionConnector(self._token, http=http, base_url=self._base_url, selection=selection)

    def put(self, name: str, text: str) -> str:
        folder, _, title = name.rpartition("/")
        if name not in self._keys:
            self._keys[name] = self._page(title, self._folder(folder))
        key = self._keys[name]
        for block in self._writer.blocks.children.list(key)["results"]:
            self._writer.blocks.delete(block["id"])
        paragraph = {"type": "paragraph", "paragraph": {"rich_text": [{"type": "text", "text": {"content": text}}]}}
        self._writer.blocks.children.append(key, children=[paragraph])
        time.sleep(self._settle_s)
        return key

    def rename(self, key: str, name: str) -> str:
        title = {"title": {"title": [{"type": "text", "text": {"content": name.rpartition("/")[2]}}]}}
        self._writer.pages.update(key, properties=title)
        self._keys = {**{old: held for old, held in self._keys.items() if held != key}, name: key}
        time.sleep(self._settle_s)
        return key

    def remove(self, key: str) -> None:
        self._writer.pages.update(key, in_trash=True)
        time.sleep(self._settle_s)

    def unreadable(self, key: str) -> None:
        """Nothing: the service cannot be made to fail."""
        del key

    def close(self) -> None:
        """Move all that was made to the trash."""
        self._writer.pages.update(self._root, in_trash=True)
        self._writer.close()
        for client in self._clients:
            client.close()

    def _folder(self, name: str) -> str:
        if name not in self._folders:
            above = name.rpartition("/")[0]
            self._folders[name] = self._page(f"{OWN} {name}", self._folder(above))
        return self._folders[name]

    def _page(self, title: str, parent: str) -> str:
        made = self._writer.pages.create(
            parent={"type": "page_id", "page_id": parent},
            properties={"title": {"title": [{"type": "text", "text": {"content": title}}]}},
        )
        return str(made["id"])
