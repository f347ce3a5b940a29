"""Times that a question names in English or as a date: `yesterday`, `last week`, `in May 2023`, `2023-05-07`.

Days are those of UTC. A month or a day without a year is the latest one that has begun. What lies ahead (`tomorrow`,
`next week`) names no time here: nothing was observed then.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from corebrain.errors import InvalidRequest
from corebrain.model.instant import Instant

_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_MONTH = r"(?P<month>" + "|".join(f"{name}|{name[:3]}" for name in _MONTHS) + r"|sept)\.?"
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "couple": 2, "three": 3, "few": 3, "four": 4, "five": 5, "six": 6}
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_UNIT = r"(?P<unit>day|week|weekend|month|year)"
_ONE_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Period:
    """A time that a question names.

    Attributes:
        since: Its first moment.
        until: The first moment after it.
        is_asked: Whether the question asks for this time, and not merely for today's or this week's doings.
        spans: Where in the question it is named by words that mean another time in a text (`yesterday`).
    """

    since: Instant
    until: Instant
    is_asked: bool = True
    spans: tuple[tuple[int, int], ...] = ()

    def without(self, question: str) -> str:
        """Return *question* without the words that name the time and would mean another in a text."""
        for start, end in self.spans:
            question = f"{question[:start]} {question[end:]}"
        return question


_Range = tuple[datetime, datetime]
_Reader = Callable[[re.Match[str], datetime], _Range]


def period(question: str, now: Instant) -> Period | None:
    """Return the time that *question* names, the first of several in the order of `_FORMS`; `None` without one."""
    today = datetime.fromtimestamp(now.ns // 1_000_000_000, UTC).replace(hour=0, minute=0, second=0)
    named = (_named(form, match, today) for form in _FORMS for match in form[0].finditer(question))
    return next((found for found in named if found is not None), None)


def _named(form: "_Form", match: re.Match[str], today: datetime) -> Period | None:
    """Return the time that a match names, `None` for none that there is: 31 February, the year 0."""
    _, reader, is_relative, is_asked = form
    try:
        first, last = reader(match, today)
        since, until = Instant.of(first), Instant.of(last)
    except (ValueError, OverflowError, InvalidRequest):
        return None
    return Period(since, until, is_asked=is_asked, spans=(match.span(),) if is_relative else ())


def _date(match: re.Match[str], today: datetime) -> _Range:
    del today
    day = datetime(int(match["year"]), int(match["number"]), int(match["day"]), tzinfo=UTC)
    return day, day + _ONE_DAY


def _named_day(match: re.Match[str], today: datetime) -> _Range:
    month = _month(match)
    year = match["year"]
    if year is not None:
        day = datetime(int(year), month, int(match["day"]), tzinfo=UTC)
    else:
        day = today.replace(month=month, day=int(match["day"]))
        if day > today:
            day = day.replace(year=day.year - 1)
    return day, day + _ONE_DAY


def _named_month(match: re.Match[str], today: datetime) -> _Range:
    month = _month(match)
    year = int(match["year"]) if match["year"] else today.year - (month > today.month)
    first = datetime(year, month, 1, tzinfo=UTC)
    return first, _next_month(first)


def _named_year(match: re.Match[str], today: datetime) -> _Range:
    del today
    year = int(match["year"])
    return datetime(year, 1, 1, tzinfo=UTC), datetime(year + 1, 1, 1, tzinfo=UTC)


def _yesterday(match: re.Match[str], today: datetime) -> _Range:
    back = 2 if match[0].lower().startswith("the") else 1
    return today - back * _ONE_DAY, today - (back - 1) * _ONE_DAY


def _last_unit(match: re.Match[str], today: datetime) -> _Range:
    return _unit_before(match["unit"].lower(), 1, today)


def _this_unit(match: re.Match[str], today: datetime) -> _Range:
    return _unit_before(match["unit"].lower(), 0, today)


def _units_ago(match: re.Match[str], today: datetime) -> _Range:
    return _unit_before(match["unit"].lower(), _count(match["count"]), today)


def _last_units(match: re.Match[str], today: datetime) -> _Range:
    return _unit_before(match["unit"].lower(), _count(match["count"]), today)[0], today + _ONE_DAY


def _last_weekday(match: re.Match[str], today: datetime) -> _Range:
    back = (today.weekday() - _WEEKDAYS.index(match["weekday"].lower())) % 7 or 7
    day = today - back * _ONE_DAY
    return day, day + _ONE_DAY


def _today(match: re.Match[str], today: datetime) -> _Range:
    del match
    return today, today + _ONE_DAY


def _unit_before(unit: str, count: int, today: datetime) -> _Range:
    """Return the day, week, month or year that lies *count* of them before today's."""
    if unit == "day":
        day = today - count * _ONE_DAY
        return day, day + _ONE_DAY
    if unit == "week":
        monday = today - (today.weekday() + 7 * count) * _ONE_DAY
        return monday, monday + 7 * _ONE_DAY
    if unit == "weekend":
        saturday = today - ((today.weekday() - 5) % 7 + 7 * (count - (today.weekday() < 5))) * _ONE_DAY
        return saturday, saturday + 2 * _ONE_DAY
    if unit == "year":
        return datetime(today.year - count, 1, 1, tzinfo=UTC), datetime(today.year - count + 1, 1, 1, tzinfo=UTC)
    months = today.year * 12 + today.month - 1 - count
    first = datetime(months // 12, months % 12 + 1, 1, tzinfo=UTC)
    return first, _next_month(first)


def _next_month(first: datetime) -> datetime:
    return (first + 31 * _ONE_DAY).replace(day=1)


def _month(match: re.Match[str]) -> int:
    return next(number for number, name in enumerate(_MONTHS, 1) if name.startswith(match["month"].lower()[:3]))


def _count(text: str) -> int:
    word = text.lower().removesuffix(" of").removeprefix("a ")
    return int(word) if word.isdecimal() else _NUMBERS[word]


_Form = tuple[re.Pattern[str], _Reader, bool, bool]


def _form(pattern: str, reader: _Reader, *, is_relative: bool = False, is_asked: bool = True) -> _Form:
    return re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE), reader, is_relative, is_asked


_COUNT = r"(?P<count>\d{1,3}|an?|one|two|three|four|five|six|a few|a couple of)"
_FORMS = (
    _form(r"(?P<year>\d{4})-(?P<number>\d\d)-(?P<day>\d\d)", _date),
    _form(rf"{_DAY}(?: of)? {_MONTH},?(?: {_YEAR})?", _named_day),
    _form(rf"{_MONTH} {_DAY}(?:,? {_YEAR})?", _named_day),
    _form(rf"{_MONTH},? {_YEAR}", _named_month),
    _form(r"the day before yesterday|yesterday|last night", _yesterday, is_relative=True),
    _form(rf"{_COUNT} {_UNIT}s? ago", _units_ago, is_relative=True),
    _form(rf"(?:last|past|previous) {_COUNT} {_UNIT}s", _last_units, is_relative=True),
    _form(rf"(?:last|previous) {_UNIT}", _last_unit, is_relative=True),
    _form(rf"last (?P<weekday>{'|'.join(_WEEKDAYS)})", _last_weekday, is_relative=True),
    _form(rf"(?:in|during|since|of) {_MONTH}(?P<year>(?!))?", _named_month),
    _form(rf"(?:in|during) {_YEAR}", _named_year),
    _form(r"today|this morning|this afternoon|tonight", _today, is_relative=True, is_asked=False),
    _form(rf"this {_UNIT}", _this_unit, is_relative=True, is_asked=False),
)
