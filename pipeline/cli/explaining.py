"""Why a hit was found: which words of the query stand where in it, and which time it is of."""

from dataclasses import asdict, dataclass
from typing import Any

from corebrain.engines.local import times
from corebrain.engines.local.matching import Matcher
from corebrain.model.instant import Instant
from corebrain.model.requests import FetchMode, Hit
from pipeline.cli.printable import printable
from pipeline.cli.snippets import Snippet, title_and_body


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a hit was found.

    Attributes:
        title: Words of the query in its title.
        heading: Words of the query in the heading above the snippet.
        text: Words of the query in its text, or in the passage that was found.
        name: Words of the query in its file's name.
        missing: Words of the query that stand nowhere in it.
        time: The time that the query names, when the hit is of it.
        mode: How was searched.
    """

    title: tuple[str, ...]
    heading: tuple[str, ...]
    text: tuple[str, ...]
    name: tuple[str, ...]
    missing: tuple[str, ...]
    time: str | None
    mode: str

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return asdict(self)

    def line(self, score: float) -> str:
        """Return it as one line for people."""
        places = (("title", self.title), ("heading", self.heading), ("text", self.text), ("file name", self.name))
        said = [f"{place}: {', '.join(map(printable, words))}" for place, words in places if words]
        if not said:
            said.append("by meaning" if self.mode != FetchMode.KEYWORD.value else "by the words around it")
        if self.missing:
            said.append(f"not in it: {', '.join(map(printable, self.missing))}")
        if self.time is not None:
            said.append(f"of the time asked for ({self.time})")
        return f"why: {'; '.join(said)}; score {score:.3g} ({self.mode})"


def explained(hit: Hit, part: Snippet, query: str, matcher: Matcher, mode: FetchMode, now: Instant) -> Explanation:
    """Say why *hit* was found for *query*."""
    in_title, text = title_and_body(hit)
    title, heading = _words(matcher, in_title, hit), _words(matcher, part.heading or "", hit)
    body, name = _words(matcher, text, hit), _words(matcher, (hit.meta.file_path or "").rpartition("/")[2], hit)
    found = {*title, *heading, *body, *name}
    return Explanation(
        title=title,
        heading=heading,
        text=body,
        name=name,
        missing=tuple(word for word in matcher.words if word not in found),
        time=_time(hit, query, now),
        mode=mode.value,
    )


def _words(matcher: Matcher, text: str, hit: Hit) -> tuple[str, ...]:
    return tuple(dict.fromkeys(span.word for span in matcher.spans(text, hit.meta.language)))


def _time(hit: Hit, query: str, now: Instant) -> str | None:
    named, seen = times.period(query, now), hit.meta.observed_at
    if named is None or seen is None or not named.since <= seen < named.until:
        return None
    return str(seen)[:10]
