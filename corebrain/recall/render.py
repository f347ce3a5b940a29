"""Writes the markdown block and trims it to its budget (spec 03 section 1.5). Pure."""

from collections.abc import Callable, Sequence

from corebrain.model.text import trim
from corebrain.recall.settle import shorten
from corebrain.recall.types import SectionHits

CHARACTERS_A_TOKEN = 4
LEAST_ANSWER = 40
"""Characters below which a shortened answer says too little to stay."""

_HEADING = "\n## {}\n\n"
_BULLET = "- {}\n"


def tokens(characters: int) -> int:
    """Return the estimate for a text of so many code points: a quarter, rounded up."""
    return -(-characters // CHARACTERS_A_TOKEN)


class _Part:
    """One section as it is trimmed: an answer or bullets, with the ids they cite."""

    def __init__(self, found: SectionHits, bullets: Sequence[str]) -> None:
        self.heading = found.heading
        self.answer = None if found.answer is None else trim(found.answer)
        self.bullets = list(bullets)
        self.refs = [hit.id for hit in found.hits]
        self.size = len(self.compose())

    def compose(self) -> str:
        body = "".join(map(_BULLET.format, self.bullets)) if self.answer is None else f"{self.answer}\n"
        return _HEADING.format(self.heading) + body

    def drop_bullet(self) -> None:
        self.refs.pop()
        self.size -= len(_BULLET.format(self.bullets.pop()))

    def shorten_answer(self, answer: str, keep: int) -> None:
        self.answer = shorten(answer, keep)
        self.size = len(self.compose())


class Block:
    """A block under its budget's knife.

    Args:
        title: The `#` heading.
        filled: Sections in order, each with one bullet a hit, or none when it is answered.
    """

    def __init__(self, title: str, filled: Sequence[tuple[SectionHits, Sequence[str]]]) -> None:
        self._head = f"# {title}\n"
        self._parts = [_Part(found, bullets) for found, bullets in filled]

    def markdown(self) -> str:
        """Return the block; empty without a section."""
        if not self._parts:
            return ""
        return self._head + "".join(part.compose() for part in self._parts)

    def characters(self) -> int:
        """Return the length of the block in code points."""
        return len(self._head) + sum(part.size for part in self._parts) if self._parts else 0

    def refs(self) -> tuple[str, ...]:
        """Return the ids the block cites, in the order of their first citation."""
        return tuple(dict.fromkeys(ref for part in self._parts for ref in part.refs))

    def fit(self, budget: int, measure: Callable[["Block"], int] | None = None) -> None:
        """Trim until *measure* (by default the block's own tokens) is at most *budget*; possibly to nothing.

        Bullets go first, the last of the last section; then the last answer is shortened, or dropped when fewer
        than 40 characters of it would stay.
        """
        cost = measure or _own_tokens
        while self._parts and (spent := cost(self)) > budget:
            part = next((part for part in reversed(self._parts) if part.bullets), None)
            if part is not None:
                part.drop_bullet()
                if not part.bullets:
                    self._parts.remove(part)
            else:
                self._shorten_last((spent - budget) * CHARACTERS_A_TOKEN)

    def _shorten_last(self, overflow: int) -> None:
        part = self._parts[-1]
        answer = part.answer or ""
        keep = max(0, len(answer) - (overflow + 3))
        if keep < LEAST_ANSWER:
            self._parts.pop()
        else:
            part.shorten_answer(answer, keep)


def _own_tokens(block: Block) -> int:
    return tokens(block.characters())
