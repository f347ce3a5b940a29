"""Include and exclude patterns as a person writes them, compiled once.

| Pattern | Means |
|---|---|
| `*.pdf` | every PDF, in any folder: a pattern without `/` is a name |
| `docs/*.md` | directly in the top folder `docs`: a pattern with `/` starts at the root, `/` or `./` before it or not |
| `docs/**/*.md` | in `docs` and all folders below it; `**` is any number of folders, none included |
| `docs`, `docs/` | everything in a folder (or the file) called `docs`, wherever it lies; `/docs` only at the top |
| `?`, `[ab]`, `[!ab]` | one character (never `/`), one of these, one not of these |
| `*.{md,txt}` | either ending |

An include pattern picks files. An exclude pattern also takes a folder with everything in it, so `drafts*` excludes
`drafts-2024/a.md`. Letter case does not count (`*.pdf` is also `SCAN.PDF`), nor does the Unicode form. A character
with a meaning stands for itself in brackets: `[*]`. There is no escape and no negation: `exclude` is the negation.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile

from connectors.errors import ConfigError

_SPECIAL = re.compile(r"[*?\[\]{}]")
_FOLDERS = "(?:[^/]+/)*"
_EVERYTHING = frozenset({("**",), ("**", "*")})


@dataclass(frozen=True, slots=True)
class Globs:
    """Patterns in one regular expression.

    Attributes:
        patterns: As given.
        named: Path components that some pattern spells out without a wildcard, in the spelling given.
    """

    patterns: tuple[str, ...]
    named: frozenset[str]
    _files: re.Pattern[str]
    _folders: re.Pattern[str]
    _starts: tuple[str, ...]

    @classmethod
    def compile(cls, patterns: Iterable[str]) -> "Globs":
        """Compile *patterns*; none at all match nothing.

        Raises:
            ConfigError: A pattern is blank, leaves the root, or uses `!` or a backslash.
        """
        given = tuple(patterns)
        split = [_components(pattern) for pattern in given]
        named = frozenset(part for parts in split for part in parts if part and not _SPECIAL.search(part))
        files = [_body(parts) + ("(?:/.*)?" if _names_a_folder(parts) else "") for parts in split]
        folders = [_body(_without_content(parts)) for parts in split]
        starts = tuple(_literal_start(parts) for parts in split)
        return cls(given, named, _either(files), _either(folders), starts)

    @property
    def everything(self) -> bool:
        """Whether some pattern picks every file, so that nobody has to ask."""
        return any(_components(pattern) in _EVERYTHING for pattern in self.patterns)

    def match(self, key: str) -> bool:
        """Whether the file *key* (NFC, relative) is picked."""
        return self._files.fullmatch(key) is not None

    def match_folder(self, key: str) -> bool:
        """Whether the folder *key* itself is named by a pattern, and with it all it holds."""
        return self._folders.fullmatch(key) is not None

    def may_match_below(self, folder: str) -> bool:
        """Whether a file below *folder* (`a/b`, `""` for the root) could be picked; False prunes a walk."""
        inside = f"{folder}/".casefold() if folder else ""
        return any(inside.startswith(start) or start.startswith(inside) for start in self._starts)


def _components(pattern: str) -> tuple[str, ...]:
    """Split a checked pattern; a leading `**` is "in any folder", a trailing `""` "all the folder holds"."""
    text = unicodedata.normalize("NFC", pattern.strip())
    if not text.strip("/."):
        raise ConfigError(f"the pattern {pattern!r} names nothing; write **/* for everything")
    if text.startswith("!"):
        raise ConfigError(f"the pattern {pattern!r} starts with !; put it into exclude without the !")
    if "\\" in text:
        raise ConfigError(f"the pattern {pattern!r} holds a backslash; write / between folders")
    anchored = "/" in text.rstrip("/")
    parts = [part for part in text.rstrip("/").split("/") if part not in {"", "."}]
    if ".." in parts:
        raise ConfigError(f"the pattern {pattern!r} leaves the folder; patterns are relative to it")
    if not anchored:
        parts.insert(0, "**")
    if text.endswith("/"):
        parts.append("")
    return tuple(part for i, part in enumerate(parts) if not (part == "**" and i and parts[i - 1] == "**"))


def _names_a_folder(parts: Sequence[str]) -> bool:
    """Whether the pattern, as an include, also stands for all files below what it names."""
    return bool(parts[-1]) and not _SPECIAL.search(parts[-1])


def _without_content(parts: Sequence[str]) -> Sequence[str]:
    """The folder whose whole content the pattern names, else the pattern itself."""
    return parts[:-1] if len(parts) > 1 and parts[-1] in {"", "**"} else parts


def _body(parts: Sequence[str]) -> str:
    """The pattern as a regular expression over whole keys."""
    written = []
    last = len(parts) - 1
    for i, part in enumerate(parts):
        if part == "**":
            written.append("(?:[^/]+/)*[^/]+" if i == last else _FOLDERS)
        elif part == "":
            written.append(".*")
        else:
            written.append(_component(part) + ("" if i == last else "/"))
    return "".join(written)


def _component(part: str) -> str:
    """One path component as a regular expression that never matches `/`."""
    written = []
    depth = i = 0
    while i < len(part):
        char = part[i]
        i += 1
        if char == "*":
            written.append("[^/]*")
        elif char == "?":
            written.append("[^/]")
        elif char == "[" and (end := part.find("]", i + 2 if part[i : i + 1] == "!" else i + 1)) > 0:
            written.append(_character_set(part[i:end]))
            i = end + 1
        elif char in "{}":
            written.append("(?:" if char == "{" else ")")
            depth += 1 if char == "{" else -1
            if depth < 0:
                break
        else:
            written.append("|" if char == "," and depth else re.escape(char))
    if depth:
        raise ConfigError(
            f"the braces in {part!r} do not pair up within one name; a brace itself is written [{{] or [}}]"
        )
    return "".join(written)


def _character_set(inside: str) -> str:
    negated = inside.startswith("!")
    characters = re.sub(r"[\[\]^&~|]|-(?=-)", r"\\\g<0>", inside[negated:])
    return f"(?!/)[{'^' if negated else ''}{characters}]"


def _either(bodies: Sequence[str]) -> re.Pattern[str]:
    try:
        return re.compile("|".join(bodies) if bodies else r"(?!)", re.IGNORECASE | re.DOTALL)
    except re.error as error:  # such as [z-a]
        raise ConfigError(
            f"a pattern cannot be read: {error.msg}; write a special character in brackets, as [{{]"
        ) from error


def _literal_start(parts: Sequence[str]) -> str:
    """The literal leading folders of a pattern, case-folded, each ending in `/`."""
    folders = parts if _names_a_folder(parts) else parts[:-1]
    return "".join(f"{part}/" for part in takewhile(lambda part: not _SPECIAL.search(part), folders)).casefold()
