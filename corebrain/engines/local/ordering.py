"""The order of what was found: what the words alone do not say.

The best of a ranking are looked at again, `WINDOW` of them, whatever page is asked for:

- what was observed in the time that the question names comes first (`times`);
- a turn gains by a speaker the question names, and by how much of its thread was found;
- to a question a turn that only asks falls behind: it is like the question and answers nothing;
- newer gains a little over older, and where two answer with the same words about as well, the newer one takes the
  better place: it is likely to correct the older.

Weights are measured with `benchmarks/locomo.py` (recall@10 on half of LoCoMo: 77.6 without, 81.3 with all of
them; 81.0 when each conversation is asked with the weights the other four choose).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import apsw

from corebrain.engines.local import listing
from corebrain.engines.local.function_words import FUNCTION_WORDS
from corebrain.engines.local.languages import ENGLISH
from corebrain.engines.local.ranking import Found
from corebrain.engines.local.times import Period
from corebrain.model.filter import MetaFilter

WINDOW = 60
"""Items looked at again; the rest keep their order behind them."""

_SPEAKER = 0.15  # of the best score, as all of these
_THREAD = 0.25
_ASKED_TIME = 1.0
_TODAY = 0.3
_ASKING = 0.3  # part of its score that a turn keeps which only asks
_RECENT = 0.03  # of an item's own score, for the newest of the window
_ALIKE = 0.8  # a newer item takes an older one's place from this part of its score on
_THREADS_OF = 20  # best items whose threads count
_OPENING = 600  # characters of a text that are looked at
_SHORTEST = 3
_MOST_WORDS = 16
_LEAST_SHARE = 0.5  # of the question's words that two items must share to be about the same

_NAME = r"[^\W\d_a-z][\w.'-]*"
_SPEAKER_NAME = re.compile(rf"\s*({_NAME}(?: {_NAME}){{0,2}}):\s")
_ASKS = re.compile(r'\[\{"role":"\w+","text":"[^.!?"]*\?"[^\[]*\]')  # one question, no call of a tool, no other turn
_FIRST_TURN = re.compile(r'\[\{"role":"\w+","text":"')
_SECOND = 1_000_000_000
_COLUMNS = (
    f"i.observed_s, i.observed_ns, i.thread_id, i.node, CASE WHEN i.passages = 1 THEN substr(i.text, 1, {_OPENING}) END"
)
_WORD = re.compile(r"[^\W_]+")
_FUNCTION = FUNCTION_WORDS[ENGLISH]


@dataclass(frozen=True, slots=True)
class Asked:
    """The question that items were found for.

    Attributes:
        text: Its words.
        period: The time that it names.
        by_words: Whether items were found by words alone, so that those without one of its telling words are all alike.
    """

    text: str
    period: Period | None = None
    by_words: bool = True


@dataclass(frozen=True, slots=True)
class Seen:
    """What is looked at of a ranked item.

    Attributes:
        found: The item.
        at: When it was observed, in seconds and nanoseconds.
        thread: Its thread and node.
        speaker: Who speaks it, in lower case; empty when nobody is named.
        opening: The beginning of its text, in lower case; empty for a text of several passages.
        asks: Whether it is a turn that asks and says nothing.
    """

    found: Found
    at: tuple[int, int] | None
    thread: tuple[str, int] | None = None
    speaker: str = ""
    opening: str = ""
    asks: bool = False


def ordered(
    connection: apsw.Connection,
    question: Asked,
    found: Sequence[Found],
    within: Sequence[Found] = (),
) -> list[Found]:
    """Return ranked items, best first, in the order that all of them taken together deserve.

    *within* are the best of the time that the question names: they are looked at however far down they rank.
    """
    first = {each.item: each for each in (*within, *found[:WINDOW])}
    looked_at = sorted(first.values(), key=lambda each: each.order)
    if not looked_at or looked_at[0].score <= 0:
        return list(found)
    rest = [each for each in found[WINDOW:] if each.item not in first]
    return [*arranged(question, _read(connection, looked_at)), *rest]


def arranged(question: Asked, seen: Sequence[Seen]) -> list[Found]:
    """Return what was seen, ranked with scores above 0, in the order it deserves; at least one item."""
    words = list(dict.fromkeys(_WORD.findall(question.text.lower())))
    raised = _raised(seen, words, question)
    telling = [word for word in words if word not in _FUNCTION and len(word) >= _SHORTEST]
    _newer_first(raised, telling, by_words=question.by_words)
    return [Found(each.found.item, each.found.passage, score) for score, each in raised]


def inside(wanted: MetaFilter, period: Period) -> MetaFilter:
    """Narrow a filter to what was observed in a time."""
    since = period.since if wanted.observed_after is None else max(period.since, wanted.observed_after)
    until = period.until if wanted.observed_before is None else min(period.until, wanted.observed_before)
    return wanted.model_copy(update={"observed_after": since, "observed_before": until})


def _read(connection: apsw.Connection, found: Sequence[Found]) -> list[Seen]:
    held = listing.read(connection, [each.item for each in found], _COLUMNS)
    return [
        Seen(
            found=each,
            at=None if seconds is None else (seconds, nanoseconds),
            thread=None if thread is None else (thread, node),
            speaker=_speaker(opening) if opening and thread is not None else "",
            opening=_FIRST_TURN.sub("", opening or "").lower(),
            asks=opening is not None and _ASKS.match(opening) is not None,
        )
        for each, (seconds, nanoseconds, thread, node, opening) in zip(found, held, strict=True)
    ]


def _raised(seen: Sequence[Seen], words: Sequence[str], question: Asked) -> list[tuple[float, Seen]]:
    """Return what was seen with its score and gains, best first."""
    best = max((each.found.score for each in seen if not each.asks), default=seen[0].found.score)
    threads = _threads(seen)
    moments = sorted({each.at for each in seen if each.at is not None})
    recency = {at: _RECENT * place / max(1, len(moments) - 1) for place, at in enumerate(moments)}
    asked = frozenset(words)
    period, asking = question.period, _ASKING if "?" in question.text else 1.0
    raised = []
    for each in seen:
        own = each.found.score * (1 + (0.0 if each.at is None else recency[each.at])) * (asking if each.asks else 1.0)
        gain = 0.0
        if each.thread is not None:
            gain = min(own, best * _THREAD * threads.get(each.thread, 0.0))  # lifts only what answers by itself
            gain += best * _SPEAKER if _is_named(each.speaker, asked) else 0.0
        if period is not None and each.at is not None and _within(each.at, period):
            gain += best * (_ASKED_TIME if period.is_asked else _TODAY)
        raised.append((own + gain, each))
    raised.sort(key=lambda pair: (-pair[0], pair[1].found.item))
    return raised


def _threads(seen: Sequence[Seen]) -> dict[tuple[str, int], float]:
    """Return how much of each thread the best items are, the strongest as 1."""
    weights: dict[tuple[str, int], float] = {}
    for each in seen[:_THREADS_OF]:
        if each.thread is not None and not each.asks:
            weights[each.thread] = weights.get(each.thread, 0.0) + each.found.score
    strongest = max(weights.values(), default=1.0)
    return {thread: weight / strongest for thread, weight in weights.items()}


def _speaker(opening: str) -> str:
    """Return who speaks a turn that begins as transcripts do, `Ada Byron: …`, in lower case."""
    named = _SPEAKER_NAME.match(_FIRST_TURN.sub("", opening, count=1))
    return "" if named is None else named[1].lower()


def _is_named(speaker: str, asked: frozenset[str]) -> bool:
    return any(len(name) >= _SHORTEST and name in asked for name in _WORD.findall(speaker))


def _within(at: tuple[int, int], period: Period) -> bool:
    since, until = (divmod(moment.ns, _SECOND) for moment in (period.since, period.until))
    return since <= at < until


def _newer_first(raised: list[tuple[float, Seen]], words: Sequence[str], *, by_words: bool) -> None:
    """Let the newer of two items that answer with the same words about as well take the better place and score."""
    asked = [_root(word) for word in words[:_MOST_WORDS]]
    sharing = [() if each.asks else tuple(root for root in asked if root in each.opening) for _, each in raised]
    least = min(_LEAST_SHARE * len(asked), max(map(len, sharing)))
    groups: dict[tuple[str, ...], list[int]] = {}
    for place, (shared, (_, each)) in enumerate(zip(sharing, raised, strict=True)):
        is_grouped = len(shared) >= least if shared else by_words
        if is_grouped and each.at is not None and not each.asks:
            groups.setdefault(shared, []).append(place)
    for places in groups.values():
        for alike in _runs(places, raised):
            newest = sorted((raised[place][1] for place in alike), key=lambda each: each.at or (0, 0), reverse=True)
            for place, each in zip(alike, newest, strict=True):
                raised[place] = (raised[place][0], each)


def _runs(places: Sequence[int], raised: Sequence[tuple[float, Seen]]) -> list[list[int]]:
    """Cut places into runs of several whose scores are about alike."""
    runs: list[list[int]] = []
    for place in places:
        if runs and raised[place][0] >= _ALIKE * raised[runs[-1][0]][0]:
            runs[-1].append(place)
        else:
            runs.append([place])
    return [run for run in runs if len(run) > 1]


def _root(word: str) -> str:
    """Return a word without its commonest endings: enough to tell whether two texts speak of the same."""
    for ending in ("ing", "ies", "ly", "es", "ed", "s", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST:
            return word[: -len(ending)]
    return word
