"""A moment in UTC that keeps nanoseconds (spec 01 section 3: they are hashed)."""

import operator
import re
from datetime import UTC, datetime, timedelta
from functools import total_ordering
from typing import Any, Self

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from corebrain.errors import InvalidRequest

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND = 1_000_000_000
_TEXT = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9})\d*)?(?:[Zz]|([+-])([01]\d|2[0-3]):?([0-5]\d))",
    re.ASCII,
)
_FIRST = int((datetime(1, 1, 1, tzinfo=UTC) - _EPOCH).total_seconds()) * _SECOND
_LAST = int((datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC) - _EPOCH).total_seconds()) * _SECOND + _SECOND - 1


@total_ordering
class Instant:
    """Integer nanoseconds since 1970-01-01T00:00:00Z, between the years 1 and 9999.

    Raises:
        InvalidRequest: the moment is outside those years, or not counted in whole nanoseconds.
    """

    __slots__ = ("ns",)
    ns: int

    def __init__(self, ns: int) -> None:
        try:
            whole = operator.index(ns)
        except TypeError as error:
            raise InvalidRequest(f"an instant is a whole number of nanoseconds, not a {type(ns).__name__}") from error
        if not _FIRST <= whole <= _LAST:
            raise InvalidRequest("instant is outside the years 1 to 9999")
        object.__setattr__(self, "ns", whole)

    @classmethod
    def of(cls, moment: datetime) -> Self:
        """Take an aware `datetime`; a naive one raises `InvalidRequest`."""
        if moment.utcoffset() is None:
            raise InvalidRequest("a time without a zone is not an instant")
        since = moment - _EPOCH
        return cls((since.days * 86_400 + since.seconds) * _SECOND + since.microseconds * 1_000)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read RFC 3339 text with a zone; digits beyond nanoseconds are dropped."""
        match = _TEXT.fullmatch(text)
        if match is None:
            raise InvalidRequest(f"not an RFC 3339 time with a zone: {text[:40]!r}")
        year, month, day, hour, minute, second, fraction, sign, off_hours, off_minutes = match.groups()
        try:
            leap = second == "60"  # read as the second after, as chrono does
            moment = datetime(
                int(year), int(month), int(day), int(hour), int(minute), 59 if leap else int(second), tzinfo=UTC
            )
        except ValueError as error:
            raise InvalidRequest(f"not a time: {text[:40]!r}") from error
        since = moment - _EPOCH
        seconds = since.days * 86_400 + since.seconds + (1 if leap else 0)
        if sign:
            offset = int(off_hours) * 3600 + int(off_minutes) * 60
            seconds -= offset if sign == "+" else -offset
        return cls(seconds * _SECOND + int((fraction or "").ljust(9, "0")))

    def to_datetime(self) -> datetime:
        """Return an aware UTC `datetime`; what is below a microsecond is dropped."""
        return _EPOCH + timedelta(seconds=self.ns // _SECOND, microseconds=self.ns % _SECOND // 1_000)

    def __str__(self) -> str:
        """`YYYY-MM-DDTHH:MM:SS[.fff|.ffffff|.fffffffff]Z`, the fewest digits that lose nothing."""
        whole, fraction = divmod(self.ns, _SECOND)
        text = (_EPOCH + timedelta(seconds=whole)).strftime("%m-%dT%H:%M:%S")
        year = f"{(_EPOCH + timedelta(seconds=whole)).year:04d}"
        if fraction == 0:
            tail = ""
        elif fraction % 1_000_000 == 0:
            tail = f".{fraction // 1_000_000:03d}"
        elif fraction % 1_000 == 0:
            tail = f".{fraction // 1_000:06d}"
        else:
            tail = f".{fraction:09d}"
        return f"{year}-{text}{tail}Z"

    def __repr__(self) -> str:
        return f"Instant({self})"

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("an Instant is immutable")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Instant) and self.ns == other.ns

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, Instant):
            return NotImplemented
        return self.ns < other.ns

    def __hash__(self) -> int:
        return hash(self.ns)

    def __reduce__(self) -> tuple[type[Self], tuple[int]]:
        return type(self), (self.ns,)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        def read(value: Any) -> Instant:
            if isinstance(value, Instant):
                return value
            if isinstance(value, datetime):
                return cls.of(value)
            if isinstance(value, str):
                return cls.parse(value)
            raise InvalidRequest("an instant is RFC 3339 text or an aware datetime")

        return core_schema.no_info_plain_validator_function(
            read, serialization=core_schema.plain_serializer_function_ser_schema(str)
        )
