"""What stands inside a line of a web page: text, emphasis, links, images, code, formulas."""

import contextlib
import re
from typing import ClassVar
from urllib.parse import urljoin

from selectolax.lexbor import LexborNode

from corebrain.documents.escape import escape_start, escape_tags

BREAK = "\x00"
"""Stands for `<br>` until the line is finished; decoded pages hold no NUL."""
MAX_INLINE_DEPTH = 200
"""Nesting of inline elements, counted with the blocks around them."""

_ROOTED = re.compile(r"/(?!/)[A-Za-z0-9_~%=&./-]*\Z")
_ROOT = re.compile(r"https?://[A-Za-z0-9.:-]+(?=[/?#]|\Z)")
_UNSAFE_SCHEME = re.compile(r"\s*(?:javascript|vbscript|data|blob|about)\s*:", re.IGNORECASE)
_URL_SPACE = re.compile(r"[\s<>]")
_TIGHT_SUPERSCRIPT = re.compile(r"[+\u2212-]?(?:\d{1,6}|[a-z])$")

_PAGE_PARTS = frozenset({"body", "header", "nav", "main", "div", "section", "form"})
_ANCHORS = frozenset({"", "¶", "#", "§", "\uf0c1", "🔗"})  # a heading's link to itself
_SKIP_LINK = re.compile(r"(?:skip|jump) to (?:main |page )?(?:content|navigation|search)\b", re.IGNORECASE)


def one_line(text: str) -> str:
    """`text` with every run of white space as one space."""
    return " ".join(text.replace(BREAK, " ").split())


class InlineWriter:
    """Writes inline nodes into a list of pieces, and finishes pieces into text.

    Args:
        base: The URL relative links are joined to; without one they stay as written.
        skipped: `mem_id` of the nodes to leave out.

    Attributes:
        around: Target of a link that stands around whole blocks, put on each line while it is set.
    """

    DROPPED: ClassVar[frozenset[str]] = frozenset(
        {
            "script",
            "style",
            "noscript",
            "template",
            "svg",
            "head",
            "title",
            "iframe",
            "object",
            "embed",
            "canvas",
            "audio",
            "video",
            "map",
            "button",
            "select",
            "textarea",
            "datalist",
            "option",
            "meta",
            "link",
            "base",
        }
    )  # fmt: skip
    TRANSPARENT: ClassVar[frozenset[str]] = frozenset(
        {
            "a",
            "span",
            "b",
            "strong",
            "em",
            "i",
            "font",
            "small",
            "label",
            "u",
            "s",
            "ins",
            "del",
            "mark",
            "big",
            "abbr",
            "time",
            "center",
        }
    )  # fmt: skip
    _MARKS: ClassVar[dict[str, str]] = {
        "b": "**", "strong": "**", "i": "*", "em": "*", "cite": "*", "s": "~~", "del": "~~", "strike": "~~",
    }  # fmt: skip
    _SPACED: ClassVar[frozenset[str]] = frozenset(
        {
            "p",
            "div",
            "section",
            "article",
            "li",
            "ul",
            "ol",
            "dl",
            "dt",
            "dd",
            "tr",
            "td",
            "th",
            "table",
            "h1",
            "h2",
            "h3",
            "h4",
            "h5",
            "h6",
            "blockquote",
            "figure",
            "figcaption",
            "pre",
            "header",
            "footer",
            "details",
            "summary",
        }
    )  # fmt: skip

    def __init__(self, base: str | None, skipped: frozenset[int] = frozenset()) -> None:
        self.around: str | None = None
        self.skipped = skipped
        self._base = base
        root = _ROOT.match(base or "")
        self._root = root[0] if root else ""
        self._targets: dict[str, str] = {}
        self._open: set[str] = set()

    def finish(self, pieces: list[str], *, at_start: bool = True) -> str:
        """The line the pieces make, its breaks as hard breaks, a leading mark that is only text escaped."""
        text = "".join(pieces)
        if BREAK in text:
            lines = [line for part in text.split(BREAK) if (line := " ".join(part.split()))]
        else:
            text = " ".join(text.split())
            lines = [text] if text else []
        if at_start:
            lines = [escape_start(line) for line in lines]
        done = "  \n".join(lines)
        return f"[{done}]({self.around})" if self.around and done and "](" not in done else done

    def plain(self, node: LexborNode) -> str:
        """The text below `node` as it stands, line breaks kept; safe at any depth."""
        pieces: list[str] = []
        for inner in node.traverse(include_text=True):
            if inner.tag == "-text":
                parent = inner.parent
                if parent is None or parent.tag not in self.DROPPED:
                    pieces.append(inner.text_content or "")
            elif inner.tag == "br":
                pieces.append("\n")
        return "".join(pieces)

    def write_children(self, node: LexborNode, out: list[str], depth: int, *, bold: bool = False) -> None:
        """Write everything below `node`; with `bold`, strong emphasis inside it is not marked again."""
        added = bold and "**" not in self._open
        if added:
            self._open.add("**")
        child = node.child
        while child is not None:
            if not self.skipped or child.mem_id not in self.skipped:
                self.write(child, out, depth)
            child = child.next
        if added:
            self._open.discard("**")

    def write(self, node: LexborNode, out: list[str], depth: int) -> None:
        """Write one inline node."""
        tag = node.tag or ""
        if tag == "-text":
            out.append(escape_tags(node.text_content or ""))
        elif tag == "br":
            out.append(BREAK)
        elif tag == "img":
            out.append(self._image(node))
        elif tag == "input":
            out.append(_checkbox(node))
        elif tag in self.DROPPED or tag[:1] in "-!_":  # "" is a processing instruction (`<?php … ?>`)
            pass
        elif depth > MAX_INLINE_DEPTH:
            out.append(escape_tags(self.plain(node)))
        elif tag in {"code", "tt", "kbd", "samp"}:
            out.append(_code(self.plain(node)))
        elif tag == "math":
            out.append(self._formula(node))
        else:
            self._write_element(node, tag, out, depth)

    def _write_element(self, node: LexborNode, tag: str, out: list[str], depth: int) -> None:
        mark = self._MARKS.get(tag)
        opened = mark is not None and mark not in self._open
        if opened and mark:
            self._open.add(mark)
        inner: list[str] = []
        self.write_children(node, inner, depth + 1)
        if opened and mark:
            self._open.discard(mark)
        text = "".join(inner)
        if not text.strip():
            out.append(text and " ")
        elif tag == "a":
            out.append(self._link(node, text))
        elif opened and mark:
            out.append(_wrapped(text, mark))
        elif tag == "sup" and out and out[-1][-1:].isalnum() and _TIGHT_SUPERSCRIPT.match(text):
            out.append("^" + text)
        elif tag == "q":
            out.append(f'"{text}"')
        elif tag in self._SPACED:
            out.append(f" {text} ")
        else:
            out.append(text)

    def target(self, node: LexborNode) -> str:
        """Where a link leads, absolute when there is a base; empty for none or one that runs code."""
        href = node.attributes.get("href")
        return self._absolute(href) if href else ""

    def _absolute(self, href: str) -> str:
        known = self._targets.get(href)
        if known is not None:
            return known
        url = href.strip()
        if _UNSAFE_SCHEME.match(url):
            url = ""
        elif self._base and not url.startswith(("http://", "https://", "mailto:")):
            with contextlib.suppress(ValueError):  # such as a broken IPv6 host: the link stays as written
                # most links of a site; joining takes ten times as long
                plain = self._root and "/." not in url and _ROOTED.match(url)
                url = self._root + url if plain else urljoin(self._base, url)
        url = _URL_SPACE.sub(lambda match: f"%{ord(match[0]):02X}", url)
        if url.count("(") != url.count(")"):
            url = url.replace("(", "%28").replace(")", "%29")
        self._targets[href] = url
        return url

    def _link(self, node: LexborNode, text: str) -> str:
        label = text.strip().replace(BREAK, " ")
        if label.strip("\u200b") in _ANCHORS or _SKIP_LINK.match(label):
            return ""
        url = self.target(node)
        if not url or self.around or ("](" in label and not label.startswith("![")):
            return text
        lead = " " if text[0].isspace() else ""
        tail = " " if text[-1].isspace() else ""
        return f"{lead}[{one_line(label)}]({url}){tail}"

    def _image(self, node: LexborNode) -> str:
        attributes = node.attributes
        alt = one_line(attributes.get("alt") or "").replace("[", "(").replace("]", ")")
        if not alt:
            return ""
        source = self._absolute(attributes.get("src") or attributes.get("data-src") or "")
        return f"![{alt}]({source})" if source else alt

    def _formula(self, node: LexborNode) -> str:
        """MathML: the TeX its author's program left in it, else its text."""
        tex = node.css_first('annotation[encoding="application/x-tex"]')
        text = one_line(self.plain(tex if tex is not None else node))
        return f"${text}$" if text and tex is not None else text


def _wrapped(text: str, mark: str) -> str:
    """Emphasis with its outer spaces outside, as markdown needs it."""
    inner = text.strip()
    start = text.index(inner)
    if "\n\n" in inner or inner.strip(BREAK) != inner:
        return text
    return f"{text[:start]}{mark}{inner}{mark}{text[start + len(inner) :]}"


def _code(text: str) -> str:
    code = one_line(text)
    if not code:
        return ""
    fence = "``" if "`" in code else "`"
    pad = " " if "`" in (code[0], code[-1]) else ""
    return f"{fence}{pad}{code}{pad}{fence}"


def _checkbox(node: LexborNode) -> str:
    attributes = node.attributes
    if (attributes.get("type") or "").lower() != "checkbox":
        return ""
    if node.parent is not None and node.parent.tag in _PAGE_PARTS:  # a switch of the page itself, such as its menu's
        return ""
    return "[x] " if "checked" in attributes else "[ ] "
