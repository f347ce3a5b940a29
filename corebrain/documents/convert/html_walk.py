"""The walk from a parsed web page to markdown blocks: headings, paragraphs, lists, quotes, code."""

import re
from collections.abc import Callable
from typing import ClassVar

from selectolax.lexbor import LexborNode

from corebrain.documents.convert.html_inline import InlineWriter, one_line
from corebrain.documents.convert.html_tables import table_blocks
from corebrain.documents.escape import escape_tags

MAX_DEPTH = 120
"""Nesting the walk follows; what lies deeper is written as plain text (a browser page rarely passes 40)."""
MAX_INDENT = 12
"""Nesting of lists and quotes that is shown by indentation."""

_LANGUAGE = re.compile(r"(?:^|\s)(?:language-|lang-|highlight-source-|brush:\s*|highlight-)([A-Za-z0-9_+#.-]+)")
_FENCE = re.compile(r"`{3,}")


class ListBlock(str):
    """A block of list lines: joined to its neighbour item without a blank line."""

    __slots__ = ()


class HtmlWalk:
    """Writes the content below a node as markdown blocks.

    Args:
        inline: Writes what stands inside a line, and knows which nodes to leave out.
    """

    def __init__(self, inline: InlineWriter) -> None:
        self.inline = inline
        self.skipped = inline.skipped
        self.in_cell = False
        self._indent = 0

    def blocks(self, parent: LexborNode, depth: int = 0) -> list[str]:
        """The blocks below `parent`, none of them blank."""
        if depth > MAX_DEPTH:
            text = one_line(self.inline.plain(parent))
            return [text] if text else []
        out: list[str] = []
        line: list[str] = []
        handlers = self._HANDLERS
        child = parent.child
        while child is not None:
            tag = child.tag or ""
            handler = handlers.get(tag)
            if tag == "-text":
                line.append(escape_tags(child.text_content or ""))
            elif self.skipped and child.mem_id in self.skipped:
                pass
            elif handler is not None:
                self._flush(line, out)
                out.extend(handler(self, child, depth + 1))
            elif tag not in InlineWriter.DROPPED and child.child is not None and self._holds_blocks(child, depth):
                self._flush(line, out)
                out.extend(self._linked(child, depth) if tag == "a" else self.blocks(child, depth + 1))
            else:
                self.inline.write(child, line, depth)
            child = child.next
        self._flush(line, out)
        return out

    def _flush(self, line: list[str], out: list[str]) -> None:
        if line:
            text = self.inline.finish(line)
            line.clear()
            if text:
                out.append(text)

    def _holds_blocks(self, node: LexborNode, depth: int) -> bool:
        """Whether a block element stands inside an inline one, not looking below other blocks."""
        child = node.child
        while child is not None:
            tag = child.tag or ""
            if tag in self._HANDLERS:
                return True
            looked_through = tag in InlineWriter.TRANSPARENT and depth < MAX_DEPTH
            if looked_through and child.child is not None and self._holds_blocks(child, depth + 1):
                return True
            child = child.next
        return False

    def _linked(self, node: LexborNode, depth: int) -> list[str]:
        """A link around blocks: each line of text in it becomes the link."""
        outer, self.inline.around = self.inline.around, self.inline.target(node) or self.inline.around
        found = self.blocks(node, depth + 1)
        self.inline.around = outer
        return found

    def _heading(self, node: LexborNode, depth: int) -> list[str]:
        line: list[str] = []
        self.inline.write_children(node, line, depth, bold=True)
        text = one_line(self.inline.finish(line, at_start=False))
        return [f"{'#' * int((node.tag or 'h1')[1])} {text}"] if text else []

    def _plain_block(self, node: LexborNode, depth: int) -> list[str]:
        return self.blocks(node, depth)

    def _rule(self, node: LexborNode, depth: int) -> list[str]:  # noqa: ARG002 - every handler is called alike
        return ["---"]

    def _quote(self, node: LexborNode, depth: int) -> list[str]:
        if self._indent >= MAX_INDENT:
            return self.blocks(node, depth)
        self._indent += 1
        inner = "\n\n".join(self.blocks(node, depth))
        self._indent -= 1
        return ["\n".join(f"> {line}" if line else ">" for line in inner.split("\n"))] if inner else []

    def _preformatted(self, node: LexborNode, depth: int) -> list[str]:  # noqa: ARG002 - every handler is called alike
        code = self.inline.plain(node).replace("\r\n", "\n").strip("\n").rstrip()
        if not code.strip():
            return []
        longest = max(map(len, _FENCE.findall(code)), default=2)
        fence = "`" * (longest + 1)
        return [f"{fence}{_code_language(node)}\n{code}\n{fence}"]

    def _table(self, node: LexborNode, depth: int) -> list[str]:
        return table_blocks(self, node, depth)

    def _list(self, node: LexborNode, depth: int) -> list[str]:
        lines: list[str] = []
        number = _whole(node.attributes.get("start"), 1) if node.tag == "ol" else None
        child = node.child
        while child is not None:
            tag = child.tag or ""
            if tag in {"ul", "ol", "menu"}:  # a list directly in a list belongs to the item above it
                lines.extend(_indented(block, 4 if lines else 0) for block in self._list(child, depth + 1))
            elif tag[:1] not in "-!" and child.mem_id not in self.skipped:
                if number is not None and tag == "li":
                    number = _whole(child.attributes.get("value"), number)
                item = self._item(child, "- " if number is None else f"{number}. ", depth)
                lines.extend(item)
                number = number + 1 if number is not None and item else number
            child = child.next
        return [ListBlock("\n".join(lines))] if lines else []

    def _item(self, node: LexborNode, marker: str, depth: int) -> list[str]:
        shown = self._indent < MAX_INDENT and depth <= MAX_DEPTH
        self._indent += 1
        found = self.blocks(node, depth + 1)
        self._indent -= 1
        if not found:
            return []
        width = len(marker) if shown else 0
        if isinstance(found[0], ListBlock):  # nothing but a deeper list
            return [_indented(block, width) for block in found]
        text = found[0]
        for block in found[1:]:
            text += ("\n" if isinstance(block, ListBlock) else "\n\n") + block
        return [marker + _indented(text, width)[width:]] if shown else [marker + text]

    def _definitions(self, node: LexborNode, depth: int) -> list[str]:
        lines: list[str] = []
        for child in _definition_children(node, 0):
            if child.tag == "dt":
                line: list[str] = []
                self.inline.write_children(child, line, depth, bold=True)
                term = one_line(self.inline.finish(line, at_start=False))
                lines.extend([f"- **{term}**"] if term else [])
            else:
                lines.extend(_indented(item, 2 if lines else 0) for item in self._item(child, "- ", depth))
        return [ListBlock("\n".join(lines))] if lines else []

    def _nothing(self, node: LexborNode, depth: int) -> list[str]:  # noqa: ARG002 - every handler is called alike
        return []

    _HANDLERS: ClassVar[dict[str, Callable[["HtmlWalk", LexborNode, int], list[str]]]] = {
        **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), _heading),
        **dict.fromkeys(
            ("p", "div", "section", "article", "main", "header", "figure", "figcaption", "address", "fieldset",
             "details", "summary", "body", "html", "center", "hgroup", "form", "legend", "nav", "footer", "aside",
             "li", "dd", "dt", "td", "th", "tr", "tbody", "caption", "search", "dialog"),
            _plain_block,
        ),
        **dict.fromkeys(("ul", "ol", "menu", "dir"), _list),
        "dl": _definitions, "pre": _preformatted, "listing": _preformatted, "xmp": _preformatted,
        "blockquote": _quote, "table": _table, "hr": _rule, "head": _nothing,
    }  # fmt: skip


def _definition_children(node: LexborNode, depth: int) -> list[LexborNode]:
    """The `dt` and `dd` of a list, also those grouped in `div` (HTML Living Standard 4.4.9)."""
    found: list[LexborNode] = []
    child = node.child
    while child is not None:
        if child.tag in {"dt", "dd"}:
            found.append(child)
        elif child.tag == "div" and depth < 3:
            found.extend(_definition_children(child, depth + 1))
        child = child.next
    return found


def _indented(text: str, width: int) -> str:
    if not width:
        return text
    pad = " " * width
    return "\n".join(pad + line if line else line for line in text.split("\n"))


def _whole(value: str | None, default: int) -> int:
    try:
        return int(value) if value else default
    except ValueError:
        return default


def _code_language(node: LexborNode) -> str:
    """The language a page's highlighter names on the block, its `code`, or the box around it."""
    inner = node.css_first("code")
    for holder in (inner, node, node.parent):
        if holder is None or holder.tag in {"body", "-document"}:
            continue
        attributes = holder.attributes
        match = _LANGUAGE.search(attributes.get("class") or "")
        name = match[1] if match else attributes.get("data-lang") or attributes.get("data-language") or ""
        if name and name.lower() not in {"none", "plaintext", "text", "default", "source"} and " " not in name:
            return name.lower()
    return ""
