"""The error tree of connectors: what went wrong decides what the caller does next.

```text
ConnectorError
├── ConfigError       never start: nothing was asked of the source
├── AuthError         stop this source until a person renews the credential
├── Unavailable       pause this source and come back later; everything held is kept
└── DocumentError     set this one document aside and go on; it is tried again with back-off
    ├── DocumentGone      it vanished between listing and fetching; the next scan decides
    └── DocumentRefused   it cannot be taken as it is; `advice` says what a person can do
```

The tree is apart from `corebrain.errors`, where the refusals of conversion live. Messages are lower-case, without a
final full stop, name the item and never hold a credential.
"""


class ConnectorError(Exception):
    """Any failure of a connector. A bare one stops its source, as an unexpected failure would.

    Attributes:
        message: The text, also what `str()` gives.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class ConfigError(ConnectorError):
    """The connector is configured wrongly: never start, correct the configuration."""


class AuthError(ConnectorError):
    """A credential is missing, expired or refused: stop this source until a person renews it."""


class Unavailable(ConnectorError):
    """The source cannot be reached now: pause it, keep what is held, try again later.

    Attributes:
        retry_after_s: Seconds the source asked to wait, when it said so.
    """

    def __init__(self, message: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class DocumentError(ConnectorError):
    """One document could not be read: set it aside, go on with the rest, try it again with back-off.

    Attributes:
        advice: What a person can do about it, one sentence; empty when the next attempt needs nobody.
    """

    def __init__(self, message: str, advice: str = "") -> None:
        super().__init__(message)
        self.advice = advice


class DocumentGone(DocumentError):
    """The document vanished between listing and fetching: set it aside; the next scan says whether it is gone."""


class DocumentRefused(DocumentError):
    """The document cannot be taken as it is: set it aside until it changes or a person acts on the advice.

    Attributes:
        reason: Why, naming the document; also the message.
    """

    def __init__(self, reason: str, advice: str) -> None:
        super().__init__(reason, advice)
        self.reason = reason
