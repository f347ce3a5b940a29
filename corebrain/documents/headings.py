"""The first heading of a markdown text, for documents that name no title themselves."""

import re

from corebrain.documents.convert.front_matter import front_matter

_ATX = re.compile(r" {0,3}#{1,6}(?=[ \t]|$)")
_SETEXT = re.compile(r" {0,3}=+[ \t]*$")
_ANY = re.compile(r"^ {0,3}(?:#{1,6}[ \t]|=+[ \t]*$)", re.MULTILINE)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_LINK = re.compile(r"!?\[([^\]\[]*)\]\([^()\s]*(?:[ \t]+\"[^\"]*\")?\)")
_MARKS = re.compile(r"(\*\*|__|`+)(?=\S)(.+?)(?<=\S)\1")
_LONGEST = 500  # characters; the patterns above take quadratic time in the worst case
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")


def first_heading(markdown: str) -> str | None:
    """The text of the first heading (`# …`, or underlined with `=`), outside of fences and front matter.

    Links become their text, bold and code marks and backslash escapes go; `None` when there is no heading with text.
    """
    if not _ANY.search(markdown):
        return None
    fence = ""
    previous = ""
    for line in markdown[front_matter(markdown).length :].splitlines():
        mark = _FENCE.match(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence) and not line.strip(" `~"):
            fence = ""
        elif not fence:
            if plain := _heading(line, previous):
                return plain
            previous = line
            continue
        previous = ""
    return None


def _heading(line: str, previous: str) -> str:
    """The text of the heading that `line` is, or that it makes of the line before it; empty when it is neither."""
    if start := _ATX.match(line):
        text = line[start.end() :].strip()
        bare = text.rstrip("#")
        return _plain(text if bare and not bare[-1].isspace() else bare)
    return _plain(previous) if _SETEXT.match(line) else ""


def _plain(heading: str) -> str:
    heading = heading.strip()[:_LONGEST]
    text = _MARKS.sub(r"\2", _LINK.sub(r"\1", heading))
    return _ESCAPED.sub(r"\1", text).strip()
