"""Notion blocks to markdown: a pure function of the blocks, for every type the API knows and those it will know.

Blocks come as the API gives them (`https://developers.notion.com/reference/block`); the children of one that
`has_children` come from a callable, so that a reader may fetch them as they are needed. A type nobody knows yet is
rendered by the text, link and children it carries, or named with a link to it in Notion: nothing is dropped silently.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from connectors.notion.ids import Obj, page_url
from connectors.notion.rich_text import inline, link_target, plain, verbatim
from connectors.notion.signed import file_name
from corebrain.documents.escape import escape_start

Children = Callable[[Obj], Iterable[Obj]]
"""Returns the children of a block that has some."""

MAX_DEPTH = 60
"""Levels of nesting that are followed; Notion's own editor stops far below."""


def _embedded(block: Obj) -> Sequence[Obj]:
    payload = block.get(str(block.get("type")))
    inner = payload.get("children") if isinstance(payload, dict) else None
    found = block.get("children") or inner
    return [child for child in found if isinstance(child, dict)] if isinstance(found, list) else ()


@dataclass(frozen=True, slots=True)
class Renderer:
    """Renders blocks.

    Attributes:
        children: Where the children of a block come from; by default those embedded in it as `children`.
        titles: Titles of pages by id, for links that carry none.
    """

    children: Children = _embedded
    titles: Mapping[str, str] = field(default_factory=dict)

    def render(self, blocks: Iterable[Obj]) -> str:
        """Return the markdown of sibling blocks, ending in one line break; `""` when they hold nothing."""
        text = "\n".join(self._lines(blocks, 0, frozenset())).strip("\n")
        return f"{text}\n" if text.strip() else ""

    def _lines(self, blocks: Iterable[Obj], depth: int, above: frozenset[str]) -> list[str]:
        """The lines of siblings: items of one list stand close, all else has an empty line between."""
        lines: list[str] = []
        before, number = "", 0
        for block in blocks:
            kind = str(block.get("type"))
            number = _number(block, number, before) if kind == "numbered_list_item" else 0
            own = self._block(block, kind, number, depth, above)
            if not own:
                continue
            close = kind in _ITEMS and before in _ITEMS
            lines += own if close or not lines else ["", *own]
            before = kind
        return lines

    def _block(self, block: Obj, kind: str, number: int, depth: int, above: frozenset[str]) -> list[str]:
        payload = block.get(kind)
        content: Obj = payload if isinstance(payload, dict) else {}
        if kind == "table":
            return _table(self._below(block), content)
        own = _own_lines(block, kind, content, number, self.titles)
        below = self._nested(block, kind, depth, above)
        if kind in _ITEMS:
            pad = " " * (len(str(number)) + 2 if kind == "numbered_list_item" else 2)
            return [*own, *_gap(own, below, pad)]
        if kind in {"quote", "callout"}:
            return [f"> {line}".rstrip() for line in (*own, *_apart(own, below))]
        return [*own, *_apart(own, below)]

    def _nested(self, block: Obj, kind: str, depth: int, above: frozenset[str]) -> list[str]:
        if not block.get("has_children") or kind in _PAGES:
            return []
        key = str(block.get("id") or "")
        if key in above or depth >= MAX_DEPTH:  # a synced copy inside itself, or a nest without end
            return [_named("content nested in itself" if key in above else "content nested deeper", block)]
        return self._lines(self._below(block), depth + 1, above | {key} if key else above)

    def _below(self, block: Obj) -> Iterable[Obj]:
        return self.children(block) if block.get("has_children") else ()


_ITEMS = frozenset({"bulleted_list_item", "numbered_list_item", "to_do"})
_PAGES = frozenset({"child_page", "child_database"})
_SILENT = frozenset({"column_list", "column", "tab", "breadcrumb", "table_of_contents", "synced_block", "table"})
_HEADINGS = {"heading_1": "#", "heading_2": "##", "heading_3": "###", "heading_4": "####"}
_FILES = frozenset({"image", "video", "audio", "file", "pdf"})
_ADDRESSES = frozenset({"embed", "bookmark", "link_preview"})


def _own_lines(block: Obj, kind: str, content: Obj, number: int, titles: Mapping[str, str]) -> list[str]:
    """The lines of a block itself, without its children."""
    if kind in _SILENT:
        return []
    if kind in _HEADINGS:
        text = " ".join(inline(content.get("rich_text")).split())
        return [f"{_HEADINGS[kind]} {text}"] if text else []
    if kind in _ITEMS:
        return _item(content, kind, number)
    if kind == "callout":
        return _callout(content)
    if kind == "code":
        return _code(content)
    if kind == "equation":
        expression = str(content.get("expression") or "").strip()
        return ["$$", *expression.splitlines(), "$$"] if expression else []
    if kind == "divider":
        return ["---"]
    if kind in _FILES:
        return [_file(block, kind, content)]
    if kind in _ADDRESSES:
        return [_address(content)] if content.get("url") else [_named(kind, block)]
    if kind in _PAGES:
        return [f"[{_safe(str(content.get('title') or 'Untitled'))}]({page_url(str(block.get('id') or ''))})"]
    if kind == "link_to_page":
        return [_link_to_page(content, titles)]
    if kind in {"meeting_notes", "transcription"}:
        title = plain(content.get("title"))
        return [f"**{title}**"] if title else []
    if kind == "table_row":  # outside its table, as a block read alone
        return _row_alone(content)
    return _text_or_name(block, kind, content)


def _text_or_name(block: Obj, kind: str, content: Obj) -> list[str]:
    """A paragraph, quote, toggle, template, or a type nobody knows yet."""
    text = inline(content.get("rich_text"))
    if text.strip():
        return _paragraph(text)
    if "rich_text" in content or kind in _KNOWN_TEXT:
        return []
    if content.get("url"):
        return [_address(content)]
    caption = inline(content.get("caption")) or plain(content.get("title"))
    if caption:
        return _paragraph(caption)
    return [] if block.get("has_children") else [_named(str(content.get("block_type") or kind), block)]


_KNOWN_TEXT = frozenset({"paragraph", "quote", "toggle", "template"})


def _paragraph(text: str) -> list[str]:
    """Lines of running text; a line break of the author stays one."""
    return [escape_start(line.rstrip()) for line in text.strip("\n").split("\n")]


def _item(content: Obj, kind: str, number: int) -> list[str]:
    mark = f"{number}." if kind == "numbered_list_item" else "-"
    if kind == "to_do":
        mark = "- [x]" if content.get("checked") else "- [ ]"
    pad = " " * (len(mark) + 1 if kind == "numbered_list_item" else 2)
    first, *rest = inline(content.get("rich_text")).strip("\n").split("\n")
    return [f"{mark} {first}".rstrip(), *(f"{pad}{line}".rstrip() for line in rest)]


def _number(block: Obj, number: int, before: str) -> int:
    content = block.get("numbered_list_item")
    start = content.get("list_start_index") if isinstance(content, dict) else None
    if isinstance(start, int) and start > 0:
        return start
    return number + 1 if before == "numbered_list_item" else 1


def _callout(content: Obj) -> list[str]:
    icon = content.get("icon")
    emoji = str(icon.get("emoji") or "") if isinstance(icon, dict) else ""
    text = inline(content.get("rich_text")).strip("\n")
    return [line.rstrip() for line in f"{emoji} {text}".strip().split("\n")] if emoji or text else []


def _code(content: Obj) -> list[str]:
    text = verbatim(content.get("rich_text"))
    fence = "```"
    while fence in text:
        fence += "`"
    language = str(content.get("language") or "")
    word = "" if language == "plain text" else language.replace(" ", "-")
    caption = inline(content.get("caption"))
    return [f"{fence}{word}", *text.split("\n"), fence, *(["", *_paragraph(caption)] if caption.strip() else [])]


def file_url(content: Obj) -> tuple[str, bool]:
    """Return the address in a file, image, video, audio or PDF, and whether Notion keeps it (then it dies soon)."""
    for kept in ("file", "file_upload"):
        target = content.get(kept)
        if isinstance(target, dict) and target.get("url"):
            return str(target["url"]), True
    external = content.get("external")
    return (str(external.get("url") or ""), False) if isinstance(external, dict) else ("", False)


def _file(block: Obj, kind: str, content: Obj) -> str:
    url, kept = file_url(content)
    caption = " ".join(inline(content.get("caption")).split())
    name = str(content.get("name") or "") or (file_name(url) if kept or kind == "file" else "")
    text = _safe(caption or name or (kind if kept else url) or kind)
    target = page_url(str(block.get("id") or "")) if kept else link_target(url)  # a signed address dies within the hour
    if not target:
        return _named(kind, block)
    return f"![{text}]({target})" if kind == "image" and not kept else f"[{text}]({target})"


def _address(content: Obj) -> str:
    url = str(content.get("url") or "")
    caption = " ".join(inline(content.get("caption")).split())
    return f"[{_safe(caption or url)}]({link_target(url)})"


def _link_to_page(content: Obj, titles: Mapping[str, str]) -> str:
    key = str(content.get(str(content.get("type"))) or "")
    kind = str(content.get("type") or "page").removesuffix("_id").replace("_", " ")
    return f"[{_safe(titles.get(key) or f'linked {kind}')}]({page_url(key)})"


def _named(what: str, block: Obj) -> str:
    """The placeholder of what cannot be shown: what it is, with a link to it."""
    return placeholder(what.replace("_", " "), str(block.get("id") or ""))


def placeholder(what: str, key: str) -> str:
    """Return the line that stands for content that is not here, linked to the place in Notion."""
    return f"[{_safe(what)} in Notion]({page_url(key)})" if key else f"({what} in Notion)"


def _safe(text: str) -> str:
    """Text that may stand between the brackets of a link."""
    return text.replace("[", "(").replace("]", ")")


def _table(rows: Iterable[Obj], content: Obj) -> list[str]:
    """A table; the first row is its head, as everywhere in the house, whether or not Notion marks it."""
    del content
    cells = [_cells(row) for row in rows]
    width = max((len(row) for row in cells), default=0)
    if not width:
        return []
    padded = [[*row, *[""] * (width - len(row))] for row in cells]
    head, *body = ("| " + " | ".join(row) + " |" for row in padded)
    return [head, "|" + " - |" * width, *body]


def _cells(row: Obj) -> list[str]:
    content = row.get("table_row")
    cells = content.get("cells") if isinstance(content, dict) else None
    texts = (inline(cell).strip() for cell in cells) if isinstance(cells, list) else ()
    return [text.replace("|", "\\|").replace("\n", "<br>") for text in texts]


def _row_alone(content: Obj) -> list[str]:
    cells = _cells({"table_row": content})
    return ["| " + " | ".join(cells) + " |"] if cells else []


def _gap(own: list[str], below: list[str], pad: str) -> Iterator[str]:
    """A list item's children, indented; a block that is no list needs an empty line before it."""
    if below and own and not below[0].lstrip().startswith(("- ", "1. ")):
        yield ""
    yield from (f"{pad}{line}" if line else "" for line in below)


def _apart(own: list[str], below: list[str]) -> list[str]:
    return ["", *below] if own and below else below
