"""Which pages and databases of a workspace are wanted: below roots, not excluded, by title."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from connectors.errors import ConfigError
from connectors.notion.ids import id_of


@dataclass(frozen=True, slots=True)
class Selection:
    """What is wanted; everything when nothing is said.

    Attributes:
        roots: Ids of pages, databases or data sources; only these and what is below them.
        exclude: Ids left out with everything below them.
        titles: Patterns as in file names, without regard to case; a document's own title has to match one.
        exclude_titles: Patterns of titles left out; what is below them stays.
    """

    roots: tuple[str, ...] = ()
    exclude: frozenset[str] = frozenset()
    titles: tuple[str, ...] = ()
    exclude_titles: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        *,
        roots: Iterable[str] = (),
        exclude: Iterable[str] = (),
        titles: Iterable[str] = (),
        exclude_titles: Iterable[str] = (),
    ) -> "Selection":
        """Read ids or addresses, and patterns.

        Raises:
            ConfigError: There is no id in one of them.
        """
        return cls(
            tuple(dict.fromkeys(_id(root, "roots") for root in roots)),
            frozenset(_id(one, "exclude") for one in exclude),
            tuple(pattern.casefold() for pattern in titles),
            tuple(pattern.casefold() for pattern in exclude_titles),
        )

    def takes(self, title: str, line: Sequence[str]) -> bool:
        """Whether a document is wanted.

        Args:
            title: Its own.
            line: Its id, and the ids of everything it lies in.
        """
        if self.exclude.intersection(line) or (self.roots and not set(self.roots).intersection(line)):
            return False
        name = title.casefold()
        if self.titles and not any(fnmatchcase(name, pattern) for pattern in self.titles):
            return False
        return not any(fnmatchcase(name, pattern) for pattern in self.exclude_titles)

    def mark(self) -> str:
        """Return a text that differs when what is wanted differs."""
        return repr((sorted(self.roots), sorted(self.exclude), self.titles, self.exclude_titles))


def _id(text: str, key: str) -> str:
    found = id_of(text)
    if found is None:
        raise ConfigError(f"{key}: no Notion id in {text!r}; copy the link of the page or database from its ⋯ menu")
    return found
