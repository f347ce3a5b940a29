"""Titles and names that are looked up when a text needs them, remembered for a while."""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping

MOST_ASKED = 25
"""Titles one document may ask for; the rest of its mentions stay without."""


class Remembered(Mapping[str, str]):
    """Texts by id, at most so many, the latest used kept; safe enough between threads: losing one costs a request.

    Args:
        most: Texts kept.
    """

    def __init__(self, most: int = 4096) -> None:
        self._most = most
        self._texts: OrderedDict[str, str] = OrderedDict()

    def put(self, key: str, text: str) -> None:
        """Remember a text."""
        self._texts[key] = text
        if len(self._texts) > self._most:
            self._texts.popitem(last=False)

    def __getitem__(self, key: str) -> str:
        return self._texts[key]

    def __iter__(self) -> Iterator[str]:
        return iter(tuple(self._texts))

    def __len__(self) -> int:
        return len(self._texts)


class LookedUp(Mapping[str, str]):
    """Titles for one document: those remembered, else asked for; `""` for what nobody may see.

    Args:
        known: Remembered ones, added to.
        ask: Returns a title, `""` when it cannot be had.
    """

    def __init__(self, known: Remembered, ask: Callable[[str], str]) -> None:
        self._known = known
        self._ask = ask
        self._left = MOST_ASKED

    def __getitem__(self, key: str) -> str:
        found = self._known.get(key)
        if found is not None:
            return found
        if self._left <= 0:
            raise KeyError(key)
        self._left -= 1
        title = self._ask(key)
        self._known.put(key, title)
        return title

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)
