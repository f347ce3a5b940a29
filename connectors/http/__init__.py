"""The one HTTP client of the connectors: guarded, paced, patient, bounded.

Start at `Client`; `docs/http.md` shows it at work. Its parts: where a request may go (`guard`, `addresses`), how it is
dialled (`network`, `deadline`), one attempt (`transport`, `body`), attempts and their pace (`patience`, `pacing`,
`retry`), redirects, and what a status means (`response`).
"""

from connectors.http.client import Client
from connectors.http.errors import AddressRefused, BodyRefused, CutShort, Stopped, TooManyRedirects, Unreachable
from connectors.http.guard import Guard, Resolver, private_place
from connectors.http.pacing import Pace, Pacer
from connectors.http.redaction import shown
from connectors.http.response import Response
from connectors.http.retry import RetryPolicy, retry_after, usual_limits
from connectors.http.timing import Timing
from connectors.http.transport import Limits

__all__ = [
    "AddressRefused",
    "BodyRefused",
    "Client",
    "CutShort",
    "Guard",
    "Limits",
    "Pace",
    "Pacer",
    "Resolver",
    "Response",
    "RetryPolicy",
    "Stopped",
    "Timing",
    "TooManyRedirects",
    "Unreachable",
    "private_place",
    "retry_after",
    "shown",
    "usual_limits",
]
