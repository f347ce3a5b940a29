"""What Notion's errors mean for a sync, beside the tree of `connectors.errors`."""

from connectors.errors import AuthError, DocumentError, DocumentGone


class CapabilityMissing(AuthError):
    """The integration may not do this at all: its capabilities say so, whatever is shared with it."""


class NotShared(DocumentGone):
    """Notion does not know it: deleted, or not shared with the integration; the two look alike."""


class Rejected(DocumentError):
    """Notion cannot answer this request as it stands.

    Attributes:
        code: Notion's own word for why, such as `validation_error`.
    """

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code
