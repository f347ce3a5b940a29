"""The content of a page as plain markdown: one request, and one more for each block that did not come with it.

Notion leaves `<unknown>` where a reply got too long, where a block is of a type its markdown has not (bookmarks,
embeds), and where a synced copy's original is not shared; it does not say which. Asking for the block by its id tells:
its markdown, else the block itself, else nothing, and then a placeholder links to it.
"""

from collections.abc import Iterable, Iterator, Mapping

from connectors.notion.api import NotionApi
from connectors.notion.blocks import Renderer, file_url, placeholder
from connectors.notion.enhanced import Body, plain_markdown, unknown_ids
from connectors.notion.errors import NotShared, Rejected
from connectors.notion.ids import Obj
from connectors.notion.signed import Attachment, file_name

MANY = 30
"""Unknown blocks beyond which the whole page is read as blocks, a hundred a request."""

MOST = 200
"""Requests for unknown blocks of one page; the rest become placeholders."""

_NOT_IN_MARKDOWN = frozenset({"bookmark", "embed", "link_preview"})
_FILES = frozenset({"image", "file", "pdf", "audio", "video"})


def read_body(api: NotionApi, key: str, titles: Mapping[str, str], *, blocks_only: bool = False) -> Body:
    """Return a page's content.

    Args:
        api: Asked.
        key: Id of the page.
        titles: Titles of pages by id, for mentions that carry none.
        blocks_only: Read blocks instead of Notion's markdown: many more requests, for a page whose markdown is wrong.

    Raises:
        NotShared: The page went, or is not shared any more.
        ConnectorError: It could not be read.
    """
    reader = _Reader(api, key, titles)
    if blocks_only:
        return reader.as_blocks()
    try:
        reply = api.markdown(key)
    except Rejected:  # an API that has no such endpoint, or a page it cannot write
        return reader.as_blocks()
    text = str(reply.get("markdown") or "")
    unknown = reply.get("unknown_block_ids")
    count = max(len(unknown) if isinstance(unknown, list) else 0, len(unknown_ids(text)))
    if count > MANY or (reply.get("truncated") and not count):  # what is missing then is named nowhere
        return reader.as_blocks()
    body = plain_markdown(text, page=key, fill=reader.fill, titles=titles)
    missed = [str(one) for one in unknown if str(one) not in reader.asked] if isinstance(unknown, list) else []
    tail = [part for part in (reader.fill(one, "") for one in missed) if part]
    return Body("\n".join([body.markdown, *tail]) if tail else body.markdown, (*body.files, *reader.files))


class _Reader:
    """Reads what the first reply left out.

    Attributes:
        asked: Ids asked for so far.
        files: Files met on the way.
    """

    def __init__(self, api: NotionApi, page: str, titles: Mapping[str, str]) -> None:
        self._api = api
        self._page = page
        self._titles = titles
        self._renderer = Renderer(self._children, titles)
        self.asked: set[str] = {page}
        self.files: list[Attachment] = []

    def as_blocks(self) -> Body:
        """Return the whole page, rendered from its blocks."""
        text = self._renderer.render(self._watched(self._api.children(self._page)))
        return Body(text, tuple(self.files))

    def fill(self, key: str, alt: str) -> str:
        """Return the content of an unknown block."""
        what = alt.replace("_", " ") if alt and alt != "block" else "content"
        if not key or key in self.asked or len(self.asked) > MOST:
            return placeholder(what, key or self._page)
        self.asked.add(key)
        try:
            filled = "" if alt in _NOT_IN_MARKDOWN else self._subtree(key)
            return filled or self._block(key)
        except NotShared:
            return placeholder(f"{what} not shared with the integration", key)
        except Rejected:
            return placeholder(what, key)

    def _subtree(self, key: str) -> str:
        """The block's own markdown; `""` when Notion has none for it, or says again that it is unknown."""
        try:
            reply = self._api.markdown(key)
        except (NotShared, Rejected):
            return ""
        text = str(reply.get("markdown") or "")
        unknown = unknown_ids(text)
        if key in unknown or (reply.get("truncated") and not (unknown or reply.get("unknown_block_ids"))):
            return ""
        body = plain_markdown(text, page=self._page, fill=self.fill, titles=self._titles)
        self.files += body.files
        return body.markdown

    def _block(self, key: str) -> str:
        return self._renderer.render(self._watched([self._api.block(key)])) or placeholder("content", key)

    def _children(self, block: Obj) -> Iterator[Obj]:
        """Children of a block; of a synced copy that Notion does not open, those of its original."""
        key = str(block.get("id"))
        try:
            yield from self._watched(self._api.children(key))
        except NotShared:
            original = (block.get("synced_block") or {}).get("synced_from") or {}
            try:
                yield from self._watched(self._api.children(str(original.get("block_id") or key)))
            except NotShared:
                words = "content not shared with the integration"
                yield {"type": "unsupported", "id": key, "unsupported": {"block_type": words}}

    def _watched(self, blocks: Iterable[Obj]) -> Iterator[Obj]:
        """Pass blocks on, noting the files that Notion keeps."""
        for block in blocks:
            kind = str(block.get("type"))
            content = block.get(kind)
            if kind in _FILES and isinstance(content, dict):
                url, kept = file_url(content)
                if kept:
                    self.files.append(Attachment(kind, url, str(content.get("name") or file_name(url))))
            if not block.get("in_trash"):
                yield block
