"""Addresses of files at a commit, and relative links of a markdown text made absolute by them.

GitHub resolves links of a rendered file against the file's folder, those that start with `/` against the top of the
repository (docs.github.com, "Relative links and image paths in README files"). Links to places within the text, to
other hosts and within code stay as they are, as do includes and everything that is no link.
"""

import posixpath
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.parse import quote, unquote

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_TICKS = re.compile(r"`+")
_MARK = re.compile("\x00(\\d+)\x00")
_SCHEME = re.compile(r"//|[A-Za-z][A-Za-z0-9+.-]*:")
_LONGEST_LINE = 20_000  # a longer one is no prose
_INLINE = re.compile(
    r"(?P<head>(?P<image>!?)\[(?:[^\[\]\\]|\\.|\[(?:[^\[\]\\]|\\.)*\](?:\([^()\s]*\))?)*\]\(\s*)"
    r"(?P<target><[^<>\n]*>|(?:[^\s()\\<]|\\.|\((?:[^\s()\\]|\\.)*\))+)"
)
_IMAGE_IN_LINK = re.compile(r"(?<=\[)!\[[^\]]*\]\([^()\s]*\)")
_DEFINITION = re.compile(r"^(?P<head> {0,3}\[[^\]^][^\]]*\]:[ \t]*)(?P<target><[^<>\n]*>|\S+)")
_ATTRIBUTE = re.compile(
    r"""(?P<head><(?:a|img|source|video)\b[^<>]*?\b(?P<name>href|src)=["'])(?P<target>[^"'<>\r\n]*)"""
)
_IMAGES = frozenset({"png", "jpg", "jpeg", "gif", "svg", "webp", "avif", "bmp", "ico", "mp4", "webm", "mov"})


@dataclass(frozen=True, slots=True)
class Place:
    """A file of a repository at a commit.

    Attributes:
        web: Address of the repository for people, such as `https://github.com/acme/api`.
        commit: The full SHA.
        path: From the top of the repository.
    """

    web: str
    commit: str
    path: str

    @property
    def url(self) -> str:
        """The file's permalink."""
        return self.at(self.path)

    def at(self, path: str, *, raw: bool = False, folder: bool = False) -> str:
        """Return the permalink of another file or folder at the same commit."""
        kind = "raw" if raw else "tree" if folder else "blob"
        return f"{self.web}/{kind}/{self.commit}/{quote(path)}".rstrip("/")

    def absolute(self, link: str, *, image: bool = False) -> str:
        """Return *link*, found in the file, as a permalink; as it is when it is absolute or leads out."""
        if "{" in link or "\x00" in link or _SCHEME.match(link):  # `{{ }}`, `{% %}`: a site's own templates
            return link
        rest, hash_mark, fragment = link.partition("#")
        written, question_mark, query = rest.partition("?")
        if not written:
            return link
        folder = "" if written.startswith("/") else self.path.rpartition("/")[0]
        path = posixpath.normpath(f"{folder}/{unquote(written).lstrip('/')}".lstrip("/"))
        if path == ".." or path.startswith("../"):
            return link
        _, dot, suffix = path.rpartition(".")
        raw = image or (dot == "." and suffix.lower() in _IMAGES)
        address = self.at("" if path == "." else path, raw=raw, folder=written.endswith("/"))
        return f"{address}{question_mark}{query}{hash_mark}{fragment}"


def with_permalinks(text: str, place: Place) -> str:
    """Return a markdown text with its relative links and images as permalinks; everything else byte for byte."""
    if not _may_hold_links(text):
        return text
    written: list[str] = []
    fence = ""
    for line in text.splitlines(keepends=True):
        opened = _FENCE.match(line) if "```" in line or "~~~" in line else None
        if fence:
            closes = opened and opened[1].startswith(fence) and not line[opened.end() :].strip()
            fence = "" if closes else fence
            written.append(line)
        elif opened:
            fence = opened[1]
            written.append(line)
        elif not _may_hold_links(line):
            written.append(line)
        else:
            written.append(_outside_code(line, lambda part: _rewritten(part, place)))
    return "".join(written)


def _may_hold_links(text: str) -> bool:
    return "](" in text or "]:" in text or "href=" in text or "src=" in text


def _outside_code(line: str, rewrite: Callable[[str], str]) -> str:
    """Rewrite a line but for its code spans (CommonMark §6.1: between runs of equally many backticks)."""
    if len(line) > _LONGEST_LINE:
        return line
    spans = list(_code_spans(line)) if "`" in line else []
    if not spans:
        return rewrite(line)
    hidden, end = "", 0
    for number, (start, stop) in enumerate(spans):
        hidden += f"{line[end:start]}\x00{number}\x00"
        end = stop
    shown = rewrite(hidden + line[end:])
    return _MARK.sub(lambda found: line[slice(*spans[int(found[1])])] if int(found[1]) < len(spans) else "", shown)


def _code_spans(line: str) -> Iterator[tuple[int, int]]:
    runs = [found.span() for found in _TICKS.finditer(line)]
    last = {stop - start: i for i, (start, stop) in enumerate(runs)}
    i = 0
    while i < len(runs):
        start, stop = runs[i]
        if last[stop - start] > i:
            close = next(j for j in range(i + 1, len(runs)) if runs[j][1] - runs[j][0] == stop - start)
            yield start, runs[close][1]
            i = close
        i += 1


def _rewritten(line: str, place: Place) -> str:
    if "](" in line:
        line = _INLINE.sub(lambda found: _link(found, place, image=bool(found["image"])), line)
    if "[![" in line:  # an image within a link: the pattern took it as the link's text, and its target stands inside
        line = _IMAGE_IN_LINK.sub(lambda found: _rewritten_image(found.group(), place), line)
    if "]:" in line:
        line = _DEFINITION.sub(lambda found: _link(found, place), line)
    if "<" in line and "=" in line:
        line = _ATTRIBUTE.sub(lambda found: _link(found, place, image=found["name"] == "src"), line)
    return line


def _rewritten_image(image: str, place: Place) -> str:
    return _INLINE.sub(lambda found: _link(found, place, image=True), image)


def _link(found: re.Match[str], place: Place, *, image: bool = False) -> str:
    target = found["target"]
    bare = (target[1:-1] if target.startswith("<") else target).strip()
    absolute = place.absolute(bare, image=image)
    return found.group() if absolute == bare else f"{found['head']}{absolute}"
