"""Which files of a repository are documents."""

import hashlib
import json
from collections.abc import Iterable
from fnmatch import fnmatchcase

from connectors.errors import ConfigError
from connectors.globs import Globs

DOCUMENTS = (
    "*.{md,mdx,markdown,mdown,qmd,rst,adoc,asciidoc,txt,org,ipynb,html,htm}",
    "*.{pdf,docx,pptx,xlsx,odt,odp,ods,epub,rtf}",
    "README{,.*}",
    "**/{docs,doc}/**/*.{csv,tsv,rmd,textile,wiki}",
)
"""What is a document anywhere in a repository."""

CODE = (
    "*.{py,pyi,js,jsx,ts,tsx,mjs,go,rs,java,kt,scala,c,h,cc,cpp,hpp,cs,rb,php,swift,sh,sql,proto,graphql}",
    "*.{toml,yaml,yml,json}",
    "{Dockerfile,Makefile}",
)
"""What `code` adds."""

NOT_WANTED = (
    *("node_modules/", "vendor/", "third_party/", "site-packages/", "__pycache__/"),
    *("requirements*.txt", "robots.txt", "CMakeLists.txt", "*.min.*", "package-lock.json"),
)
"""What nobody means by documentation; a pattern of `paths` that spells a name out takes it."""


class Selection:
    """What a person wants of each repository.

    Args:
        paths: Patterns (`connectors.globs`); the usual documents when left out.
        exclude: Patterns of files and folders not wanted.
        code: Add source code.

    Raises:
        ConfigError: A pattern cannot be read.
    """

    def __init__(self, paths: Iterable[str] = (), exclude: Iterable[str] = (), *, code: bool = False) -> None:
        self.paths = tuple(paths)
        self._exclude_given = tuple(exclude)
        self._include = Globs.compile((*(self.paths or DOCUMENTS), *(CODE if code else ())))
        unwanted = tuple(each for each in NOT_WANTED if each.rstrip("/") not in self._include.named)
        self._exclude = Globs.compile((*self._exclude_given, *(() if self.paths else unwanted)))
        self._single = [(pattern, Globs.compile([pattern])) for pattern in self.paths]

    def takes(self, path: str) -> bool:
        """Whether the file is wanted."""
        return self._include.match(path) and not self._exclude.match(path) and not self._leaves(path)

    def _leaves(self, path: str) -> bool:
        parts = path.split("/")
        return any(self._exclude.match_folder("/".join(parts[:count])) for count in range(1, len(parts)))

    def enters(self, folder: str) -> bool:
        """Whether a wanted file may lie below the folder."""
        return self._include.may_match_below(folder) and not self._exclude.match_folder(folder)

    def unmatched(self, patterns: Iterable[str], path: str) -> list[str]:
        """Return those of *patterns* that do not pick *path*."""
        still = set(patterns)
        return [pattern for pattern, globs in self._single if pattern in still and not globs.match(path)]

    def mark(self) -> list[object]:
        """Return what makes another selection another one, as JSON."""
        return [list(self._include.patterns), list(self._exclude.patterns)]


class Wanted:
    """Which repositories: full names, and owners with a pattern of names.

    Args:
        given: Such as `acme/api`, `acme/*` or `acme/docs-*`.
        exclude: Patterns of full names not wanted.

    Raises:
        ConfigError: One of them is neither.
    """

    def __init__(self, given: Iterable[str], exclude: Iterable[str] = ()) -> None:
        names: dict[str, str] = {}
        for name in map(_full_name, given):
            names.setdefault(name.lower(), name)
        self.given = tuple(names.values())
        self._exclude = tuple(one.lower() for one in exclude)
        if not self.given:
            raise ConfigError("no repository is named; write repo = 'owner/name' or repos = ['owner/*']")

    @property
    def named(self) -> list[str]:
        """Full names without a pattern."""
        return [one for one in self.given if not _is_pattern(one)]

    @property
    def owners(self) -> list[str]:
        """Owners whose repositories have to be listed, each once."""
        return list(dict.fromkeys(one.partition("/")[0] for one in self.given if _is_pattern(one)))

    def takes(self, full_name: str) -> bool:
        """Whether a listed repository is wanted; letter case does not count, as for GitHub."""
        name = full_name.lower()
        if any(fnmatchcase(name, pattern) for pattern in self._exclude):
            return False
        return any(fnmatchcase(name, one.lower()) for one in self.given)


def mark_of(*parts: object) -> str:
    """Return a short mark of JSON values, equal for equal ones."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def _is_pattern(name: str) -> bool:
    return any(char in name for char in "*?[")


def _full_name(given: str) -> str:
    text = given.strip()
    for start in ("https://", "http://", "github.com/", "www.github.com/"):
        text = text.removeprefix(start)
    text = text.strip("/").removesuffix(".git")
    owner, _, name = text.partition("/")
    name = name.partition("/")[0]
    bad = not owner or not name or _is_pattern(owner) or not (owner + name).isascii() or " " in text
    if bad or name in {".", ".."} or owner in {".", ".."} or any(char in text for char in "#%\\:"):
        raise ConfigError(f"{given!r} is no repository; write owner/name, or owner/* for all of an owner")
    return f"{owner}/{name}"
