"""What GitHub's errors mean for a sync, beside the tree of `connectors.errors`."""

from connectors.errors import AuthError, ConfigError, DocumentError, DocumentGone, DocumentRefused, Unavailable
from connectors.http.errors import Stopped, Unreachable


class BudgetSpent(Unavailable):
    """GitHub's limit, or the reserve kept of it, is reached: everything waits until it is renewed."""


class NotThere(DocumentGone):
    """GitHub does not know it: deleted, renamed away, or not to be seen with this credential; the three look alike."""


class EmptyRepository(DocumentError):
    """The repository has no commit yet, or none any more."""


class RefMissing(DocumentRefused):
    """The repository has no such branch or tag."""


class AccessRefused(DocumentRefused):
    """The credential may not read this repository, whatever else it may."""


ENDING = (AuthError, BudgetSpent, ConfigError, Stopped, Unreachable)
"""What concerns the whole source; any other failure is one repository's, folder's or document's."""
