"""What can go wrong with one HTTP request, as kinds of the connectors' errors."""

from connectors.errors import DocumentError, DocumentRefused, Unavailable


class AddressRefused(DocumentRefused):
    """The URL leads where this source may not go: another scheme, a private address. Nothing was sent there."""


class BodyRefused(DocumentRefused):
    """The reply is over a limit or in a coding that was not asked for."""


class CutShort(DocumentError):
    """The reply ended before it was whole."""


class TooManyRedirects(DocumentError):
    """The redirects form a circle, have no end, or lead nowhere."""


class Unreachable(Unavailable):
    """No whole reply came: no address, no connection, no trust, no answer in time."""


class TooSlow(Unreachable):
    """The host was reached, and no whole reply came in time: it may be this one request that takes it too long."""


class Stopped(Unavailable):
    """The caller wants to end; a wait was cut short and nothing was sent."""
