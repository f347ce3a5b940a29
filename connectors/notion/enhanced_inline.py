"""The inline half of Notion's enhanced markdown: mentions, colours, links and equations as plain markdown has them.

Format: `https://developers.notion.com/guides/data-apis/enhanced-markdown`.
"""

import re
from collections.abc import Callable, Mapping
from html import unescape

from connectors.notion.ids import block_of, page_url
from connectors.notion.rich_text import date_text, link_target
from connectors.notion.signed import Attachment, file_name, is_signed

_CODE_SPAN = re.compile(r"(\$`.+?`\$|(?<![`\\])(`+)(?!`).+?(?<!`)\2(?!`))")
_ATTRIBUTE = re.compile(r'([\w-]+)="([^"]*)"')
_SPAN = re.compile(r"</?span(?:\s[^<>]*)?>")
_TAG = re.compile(
    r"<(mention-[a-z-]+|page|database|data-source|file|pdf|audio|video|bookmark|embed|link-preview)"
    r"((?:\s+[\w-]+=\"[^\"]*\")*)\s*(?:/>|>(.*?)</\1>)",
    re.DOTALL,
)
_LINK = re.compile(r"(!?)\[((?:\\.|[^\[\]\\])*)\]\((\S*?(?:\([^\s()]*\)\S*?)*)\)")
_CITATION = re.compile(r"\s?\[\^[^\]\s]*\]")
_EMOJI_TAG = re.compile(r"<emoji(?:\s[^<>]*)?/?>")
_NEEDLESS_ESCAPE = re.compile(r"\\([${}|^>])")
_ATTRIBUTES_AT_END = re.compile(r'\s*(?<!\\)\{(?:\s*[\w-]+="[^"]*")+\s*\}\s*$')
_FILES = frozenset({"file", "pdf", "audio", "video"})


def attributes(text: str) -> dict[str, str]:
    """Return the `name="value"` pairs of a tag."""
    return {name: unescape(value) for name, value in _ATTRIBUTE.findall(text)}


def without_block_attributes(text: str) -> str:
    """Return the text of a block without the `{color="…"}` that may end it."""
    return _ATTRIBUTES_AT_END.sub("", text) if text.endswith("}") else text


class Inline:
    """Turns inline text into plain markdown and collects the files it meets.

    Args:
        page: Id of the page; files that Notion keeps are linked to it, for their own address dies.
        titles: Titles of pages by id, for mentions that carry none.
        files: Collected here, in order.
    """

    def __init__(self, page: str, titles: Mapping[str, str], files: list[Attachment]) -> None:
        self._page = page
        self._titles = titles
        self._files = files

    def convert(self, text: str) -> str:
        """Return plain inline markdown; code spans stay literal."""
        if not _NEEDS_WORK.search(text):
            return text
        parts = _CODE_SPAN.split(text)  # text, span, its ticks, text, …
        return "".join(
            self._outside(parts[i]) + (_span(parts[i + 1]) if i + 1 < len(parts) else "")
            for i in range(0, len(parts), 3)
        )

    def _outside(self, text: str) -> str:
        text = _SPAN.sub("", text)
        text = _EMOJI_TAG.sub("", _CITATION.sub("", text))
        text = _LINK.sub(self._link, text)
        return _NEEDLESS_ESCAPE.sub(r"\1", _TAG.sub(self._tag, text))

    def _link(self, match: re.Match[str]) -> str:
        mark, text, url = match.groups()
        url = unescape(url)
        if not is_signed(url):
            return f"{mark}[{text}]({link_target(url)})"
        name = file_name(url)
        self._files.append(Attachment("image" if mark else "file", url, name or text))
        return f"[{text or name}]({page_url(self._page)})"

    def _tag(self, match: re.Match[str]) -> str:
        name, raw, text = match[1], match[2], (match[3] or "").strip()
        found = attributes(raw)
        if name in _FILES:
            return self._file(name, found.get("src") or found.get("url") or "", text)
        url = found.get("url") or found.get("src") or ""
        handle = _MENTIONS.get(name)
        if handle is not None:
            return handle(found, text)
        title = text or self._titles.get(block_of(url) or "", "") or name.removeprefix("mention-").replace("-", " ")
        return f"[{title}]({link_target(url)})" if url else title

    def _file(self, kind: str, url: str, caption: str) -> str:
        name = file_name(url)
        if not url:
            return caption
        if not is_signed(url):
            return f"[{caption or name or url}]({link_target(url)})"
        self._files.append(Attachment(kind, url, name or caption))
        return f"[{caption or name or kind}]({page_url(self._page)})"


def _user(found: Mapping[str, str], text: str) -> str:
    del found
    return f"@{text.removeprefix('@')}" if text else "@someone"


def _date(found: Mapping[str, str], text: str) -> str:
    start, end = found.get("start", ""), found.get("end", "")
    if found.get("startTime"):
        start = f"{start}T{found['startTime']}"
    if end and found.get("endTime"):
        end = f"{end}T{found['endTime']}"
    return date_text({"start": start, "end": end, "time_zone": found.get("timeZone")}) or text


_MENTIONS: Mapping[str, Callable[[Mapping[str, str], str], str]] = {"mention-user": _user, "mention-date": _date}
_NEEDS_WORK = re.compile(r"[<\[\\$]")


def _span(text: str) -> str:
    """A code span as it is, an equation without its ticks."""
    return f"${text[2:-2]}$" if text.startswith("$`") else text
