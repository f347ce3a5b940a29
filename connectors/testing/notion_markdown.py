"""Blocks to enhanced markdown, as Notion's own endpoint writes it: the stand-in's side of the format.

Written by the format's description, apart from the reader in `connectors.notion.enhanced`. No recording holds a reply
with `unknown_block_ids`; those follow the description alone.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from connectors.testing.notion_shapes import Obj, url_of

UNSUPPORTED = frozenset({"bookmark", "embed", "link_preview", "unsupported"})
"""Types that come as `<unknown>`."""

_TABS = "\t"


@dataclass(slots=True)
class Writing:
    """One reply in the making.

    Attributes:
        page: Id of the page.
        children: Child blocks by id.
        readable: Whether the integration may read what lies behind a block (a synced copy's original).
        left: Blocks that still fit.
        unknown: Ids that did not make it.
        truncated: Whether any of them is for want of room.
    """

    page: str
    children: Callable[[str], Sequence[Obj]]
    readable: Callable[[Obj], bool]
    left: int
    unknown: list[str] = field(default_factory=list)
    truncated: bool = False

    def write(self, blocks: Sequence[Obj], depth: int = 0) -> list[str]:
        """Return the lines of sibling blocks."""
        return [line for one in blocks for line in self._block(one, depth)]

    def _block(self, block: Obj, depth: int) -> list[str]:
        kind = block["type"]
        tabs = _TABS * depth
        if block.get("in_trash"):
            return []
        if self.left <= 0:
            self.truncated = True
            return [self._unknown(block, tabs)]
        self.left -= 1
        if kind in UNSUPPORTED or not self.readable(block):
            return [self._unknown(block, tabs)]
        writer = _WRITERS.get(kind, _paragraph)
        return writer(self, block, block[kind], depth)

    def inner(self, block: Obj, depth: int) -> list[str]:
        """Return the lines of a block's children."""
        if not block["has_children"] or block["type"].startswith("child_"):
            return []
        return self.write(self.children(block["id"]), depth)

    def _unknown(self, block: Obj, tabs: str) -> str:
        self.unknown.append(block["id"])
        url = f"{url_of('', self.page)}#{block['id'].replace('-', '')}"
        alt = block["type"] if block["type"] in UNSUPPORTED else "block"
        return f'{tabs}<unknown url="{url}" alt="{alt}"/>'


def rich(items: Sequence[Obj]) -> str:
    """Return enhanced inline markdown."""
    return "".join(_item(item) for item in items)


def _item(item: Obj) -> str:
    if item["type"] == "equation":
        return f"$`{item['equation']['expression']}`$"
    if item["type"] == "mention":
        return _mention(item, item["mention"])
    words = str(item["plain_text"])
    notes = item["annotations"]
    if notes["code"]:
        return f"`{words}`"
    words = "".join(f"\\{sign}" if sign in "\\*~`$[]<>{}|^" else sign for sign in words).replace("\n", "<br>")
    for on, mark in (("strikethrough", "~~"), ("italic", "*"), ("bold", "**")):
        words = f"{mark}{words}{mark}" if notes[on] else words
    if notes["underline"]:
        words = f'<span underline="true">{words}</span>'
    if notes.get("color", "default") != "default":
        words = f'<span color="{notes["color"]}">{words}</span>'
    return f"[{words}]({item['href']})" if item.get("href") else words


def _mention(item: Obj, mention: Obj) -> str:
    kind = mention["type"]
    target = mention[kind]
    if kind == "date":
        end = f' end="{target["end"]}"' if target.get("end") else ""
        return f'<mention-date start="{target["start"]}"{end}/>'
    url = f"user://{target['id']}" if kind == "user" else url_of("", target["id"])
    return f'<mention-{kind} url="{url}">{item["plain_text"].removeprefix("@")}</mention-{kind}>'


Content = Obj


def _paragraph(writing: Writing, block: Obj, content: Content, depth: int) -> list[str]:
    words = rich(content.get("rich_text") or [])
    line = f"{_TABS * depth}{words}" if words else f"{_TABS * depth}<empty-block/>"
    return [line, *writing.inner(block, depth + 1)]


def _marked(mark: str) -> Callable[[Writing, Obj, Content, int], list[str]]:
    def write(writing: Writing, block: Obj, content: Content, depth: int) -> list[str]:
        return [f"{_TABS * depth}{mark} {rich(content['rich_text'])}", *writing.inner(block, depth + 1)]

    return write


def _to_do(writing: Writing, block: Obj, content: Content, depth: int) -> list[str]:
    mark = "- [x]" if content["checked"] else "- [ ]"
    return _marked(mark)(writing, block, content, depth)


def _heading(level: int) -> Callable[[Writing, Obj, Content, int], list[str]]:
    def write(writing: Writing, block: Obj, content: Content, depth: int) -> list[str]:
        toggle = ' {toggle="true"}' if content.get("is_toggleable") else ""
        line = f"{_TABS * depth}{'#' * level} {rich(content['rich_text'])}{toggle}"
        return [line, *writing.inner(block, depth + 1)]

    return write


def _toggle(writing: Writing, block: Obj, content: Content, depth: int) -> list[str]:
    tabs = _TABS * depth
    summary = f"{tabs}<summary>{rich(content['rich_text'])}</summary>"
    return [f"{tabs}<details>", summary, *writing.inner(block, depth + 1), f"{tabs}</details>"]


def _callout(writing: Writing, block: Obj, content: Content, depth: int) -> list[str]:
    icon = content.get("icon") or {}
    mark = f' icon="{icon["emoji"]}"' if icon.get("emoji") else ""
    tabs = _TABS * depth
    words = [f"{tabs}\t{rich(content['rich_text'])}"] if content["rich_text"] else []
    return [f"{tabs}<callout{mark}>", *words, *writing.inner(block, depth + 1), f"{tabs}</callout>"]


def _code(writing: Writing, block: Obj, content: Content, depth: int) -> list[str]:
    del writing, block
    tabs = _TABS * depth
    words = "".join(item["plain_text"] for item in content["rich_text"])
    lines = [f"{tabs}{line}" for line in words.split("\n")]
    return [f"{tabs}```{content.get('language', '')}", *lines, f"{tabs}```"]


def _equation(writing: Writing, block: Obj, content: Content, depth: int) -> list[str]:
    del writing, block
    tabs = _TABS * depth
    return [f"{tabs}$$", f"{tabs}{content['expression']}", f"{tabs}$$"]


def _divider(writing: Writing, block: Obj, content: Content, depth: int) -> list[str]:
    del writing, block, content
    return [f"{_TABS * depth}---"]


def _wrapped(tag: str) -> Callable[[Writing, Obj, Content, int], list[str]]:
    def write(writing: Writing, block: Obj, content: Content, depth: int) -> list[str]:
        del content
        tabs = _TABS * depth
        return [f"{tabs}<{tag}>", *writing.inner(block, depth + 1), f"{tabs}</{tag.split(maxsplit=1)[0]}>"]

    return write


def _table(writing: Writing, block: Obj, content: Content, depth: int) -> list[str]:
    tabs = _TABS * depth
    head = ' header-row="true"' if content.get("has_column_header") else ""
    rows = []
    for row in writing.children(block["id"]):
        writing.left -= 1
        cells = [f"<td>{rich(cell)}</td>" for cell in row["table_row"]["cells"]]
        rows += [f"{tabs}<tr>", *(f"{tabs}{cell}" for cell in cells), f"{tabs}</tr>"]
    return [f"{tabs}<table{head}>", *rows, f"{tabs}</table>"]


def _child(tag: str) -> Callable[[Writing, Obj, Content, int], list[str]]:
    def write(writing: Writing, block: Obj, content: Content, depth: int) -> list[str]:
        del writing
        url = url_of(content["title"] if tag == "page" else "", block["id"])
        return [f'{_TABS * depth}<{tag} url="{url}">{content["title"]}</{tag}>']

    return write


def _file(writing: Writing, block: Obj, content: Content, depth: int) -> list[str]:
    del writing
    kind = block["type"]
    url = content[content["type"]]["url"]
    caption = rich(content.get("caption") or [])
    if kind == "image":
        return [f"{_TABS * depth}![{caption}]({url})"]
    return [f'{_TABS * depth}<{kind} src="{url}">{caption}</{kind}>']


def _contents(writing: Writing, block: Obj, content: Content, depth: int) -> list[str]:
    del writing, block, content
    return [f"{_TABS * depth}<table_of_contents/>"]


def _nothing(writing: Writing, block: Obj, content: Content, depth: int) -> list[str]:
    del writing, block, content, depth
    return []


def _linked(writing: Writing, block: Obj, content: Content, depth: int) -> list[str]:
    del writing, block
    tag = content["type"].removesuffix("_id")
    return [f'{_TABS * depth}<mention-{tag} url="{url_of("", content[content["type"]])}"/>']


_WRITERS: dict[str, Callable[[Writing, Obj, Content, int], list[str]]] = {
    "heading_1": _heading(1),
    "heading_2": _heading(2),
    "heading_3": _heading(3),
    "heading_4": _heading(4),
    "bulleted_list_item": _marked("-"),
    "numbered_list_item": _marked("1."),
    "to_do": _to_do,
    "quote": _marked(">"),
    "toggle": _toggle,
    "callout": _callout,
    "code": _code,
    "equation": _equation,
    "divider": _divider,
    "column_list": _wrapped("columns"),
    "column": _wrapped("column"),
    "synced_block": _wrapped("synced_block"),
    "tab": _wrapped("tabs"),
    "meeting_notes": _wrapped("meeting-notes"),
    "table": _table,
    "child_page": _child("page"),
    "child_database": _child("database"),
    "image": _file,
    "file": _file,
    "pdf": _file,
    "audio": _file,
    "video": _file,
    "table_of_contents": _contents,
    "breadcrumb": _nothing,
    "link_to_page": _linked,
}
