"""Title, tags and language from the head of a markdown file.

Read are TOML between `+++` lines (Hugo, Zola; by `tomllib`), one JSON object (Hugo; by `json`), `Title: …` lines before
the first blank one (MultiMarkdown, as MkDocs takes them), and a small part of YAML between `---` lines (Docusaurus,
MkDocs, Hugo, Jekyll), which is what people write there: `key: value`, quoted or not, `[a, b]` lists and `- item` lists,
at the top level. Anything else in it (nested maps, block scalars, anchors) is passed over; a value is never evaluated.
"""

import json
import re
import tomllib
from dataclasses import dataclass
from typing import Any

_YAML = re.compile(r"---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_TOML = re.compile(r"\+\+\+[ \t]*\r?\n(.*?)^\+\+\+[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_LINES = re.compile(r"(?:[A-Za-z][\w -]*:[ \t]+\S[^\n]*\n|[ \t]+\S[^\n]*\n)+(?=[ \t]*\r?\n)")
_LABEL = re.compile(r"label:[ \t]+(.*)$")
_KEY = re.compile(r"([A-Za-z_][\w-]*):(?:[ \t]+(.*))?$")
_ITEM = re.compile(r"[ \t]*-[ \t]+(.*)$")
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{1,8})*$")
_QUOTED = re.compile(r"""\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^']|'')*)'|([^,]*))\s*(?:,|$)""")
_MAX_CHARACTERS = 64 * 1024
_MAX_TAGS = 100

_Value = str | list[str]


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What the head of a file says about it.

    Attributes:
        title: `title`.
        tags: `tags`, as a list, with commas or (as Jekyll has them) blanks between; a leading `#` left out.
        language: `language` or `lang`, when it looks like a language tag.
        length: Characters it takes, 0 when the file has none.
    """

    title: str | None = None
    tags: tuple[str, ...] = ()
    language: str | None = None
    length: int = 0


def front_matter(text: str) -> FrontMatter:
    """The front matter of a markdown text; empty when it has none, or none that can be read."""
    head = text[:_MAX_CHARACTERS]
    if head.startswith("---") and (match := _YAML.match(head)):
        return _of(_yaml_fields(match[1]), match.end())
    if head.startswith("+++") and (match := _TOML.match(head)):
        return _of(_toml_fields(match[1]), match.end())
    if head.startswith("{"):
        return _of(*_json_fields(head))
    if head[:1].isalpha() and (match := _LINES.match(head)):
        fields = _yaml_fields(match[0]) or {}
        return _of(fields if "title" in fields else None, match.end())
    return FrontMatter()


def _of(fields: dict[str, _Value] | None, length: int) -> FrontMatter:
    if fields is None:
        return FrontMatter()
    title, tags = fields.get("title"), fields.get("tags", [])
    language = fields.get("language") or fields.get("lang")
    listed = tags.split("," if "," in tags else None) if isinstance(tags, str) else tags
    clean = dict.fromkeys(tag.strip().removeprefix("#") for tag in listed)
    return FrontMatter(
        title=title if isinstance(title, str) and title.strip() else None,
        tags=tuple(tag for tag in clean if tag)[:_MAX_TAGS],
        language=language if isinstance(language, str) and _LANGUAGE.match(language) else None,
        length=length,
    )


def _yaml_fields(block: str) -> dict[str, _Value] | None:
    """Top-level scalars and lists of strings; `None` when the block holds no key at all, so is no front matter."""
    fields: dict[str, _Value] = {}
    key = ""
    for line in block.splitlines():
        if match := _KEY.match(line):
            key = match[1].lower()
            fields[key] = _yaml_value((match[2] or "").strip())
        elif key and (item := _ITEM.match(line)):
            held, text = fields[key], item[1].strip()
            label = _LABEL.match(text)  # of a tag of Docusaurus, whose permalink follows
            value = _scalar(label[1].strip() if label else text)
            if held == "":
                fields[key] = [value]
            elif isinstance(held, list):
                held.append(value)
    return fields or None


def _yaml_value(text: str) -> _Value:
    if text.startswith("[") and text.endswith("]"):
        return [
            _scalar(item.group().strip().removesuffix(",")) for item in _QUOTED.finditer(text[1:-1]) if item.group()
        ]
    return "" if text[:1] in {"|", ">", "{", "&", "*"} else _scalar(text)


def _scalar(text: str) -> str:
    if text[:1] in {'"', "'"} and (match := _QUOTED.match(text)):
        double, single, _ = match.groups()
        if double is not None:
            return re.sub(r"\\(.)", r"\1", double)
        if single is not None:
            return single.replace("''", "'")
    return re.split(r"(?:^|[ \t])#", text, maxsplit=1)[0].strip() if "#" in text[1:] else text


def _toml_fields(block: str) -> dict[str, _Value] | None:
    try:
        table = tomllib.loads(block.replace("\r\n", "\n"))
    except (tomllib.TOMLDecodeError, RecursionError):
        return None
    taxonomies = table.get("taxonomies")  # where Zola keeps the tags
    return _strings_of({**taxonomies, **table} if isinstance(taxonomies, dict) else table)


def _json_fields(head: str) -> tuple[dict[str, _Value] | None, int]:
    try:
        table, end = json.JSONDecoder().raw_decode(head)
    except (ValueError, RecursionError):
        return None, 0
    if (
        not isinstance(table, dict)
        or not isinstance(table.get("title"), str)
        or head[end:].lstrip(" \t")[:1] not in "\r\n"
    ):
        return None, 0
    return _strings_of(table), end


def _strings_of(fields: dict[str, Any]) -> dict[str, _Value]:
    strings = {key.lower(): value for key, value in fields.items() if isinstance(value, str)}
    lists = {
        key.lower(): [item for item in value if isinstance(item, str)]
        for key, value in fields.items()
        if isinstance(value, list)
    }
    return {**strings, **lists}
