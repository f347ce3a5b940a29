"""The one error tree of the memory library (spec 01 section 6).

```text
CorebrainError
├── Unsupported            the engine does not offer this operation, mode or format
│   └── UnsupportedFormat  no converter for this format here
├── InvalidRequest         malformed call: fix it, do not retry
│   └── Encrypted · NeedsOcr · TooLarge · Damaged · Empty      a document that cannot be read as it is
├── Unauthorized           credential missing, expired or refused
├── NotFound               addressed thing or route missing
├── Conflict               the write conflicts with what is held
├── Unavailable            transient: try again later
├── EngineError            the engine's own, already sanitised failure
│   └── TimedOut · ParserDied                                   a parser that hung or died
└── ConfigError            configured wrongly: nothing was started
```

Messages are lower-case, without a final full stop, and never hold a credential.
"""

from typing import ClassVar


class CorebrainError(Exception):
    """Any failure of the library; `str()` is the class prefix and the message.

    Attributes:
        message: The text without the prefix.
    """

    prefix: ClassVar[str] = "error"
    is_transient: ClassVar[bool] = False

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    def __str__(self) -> str:
        return f"{self.prefix}: {self.message}"


class Unsupported(CorebrainError):
    """The engine does not offer this operation or mode; use another one."""

    prefix = "unsupported"


class InvalidRequest(CorebrainError):
    """A malformed call; nothing was touched. Fix the call, do not retry.

    Attributes:
        index: Position of the offending item in a batch, when known.
    """

    prefix = "invalid request"

    def __init__(self, message: str, *, index: int | None = None) -> None:
        super().__init__(message)
        self.index = index


class Unauthorized(CorebrainError):
    """A credential is missing, expired or refused; renew it."""

    prefix = "unauthorized"


class NotFound(CorebrainError):
    """The addressed thing or route does not exist."""

    prefix = "not found"


class Conflict(CorebrainError):
    """The write conflicts with what is held."""

    prefix = "conflict"


class Unavailable(CorebrainError):
    """Transient: the same call may succeed later.

    Attributes:
        retry_after_s: Seconds the other side asked to wait, when it said so.
    """

    prefix = "unavailable"
    is_transient = True

    def __init__(self, message: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class EngineError(CorebrainError):
    """The engine's own failure, already free of credentials."""

    prefix = "engine error"


class ConfigError(CorebrainError):
    """Something is configured wrongly; nothing was started."""

    prefix = "configuration error"


class Refusal(CorebrainError):
    """Why one document cannot be converted; costs only that document.

    Catch this to set a document aside. Every refusal is also one of the contract's kinds.

    Attributes:
        advice: What a person can do about it, one sentence.
    """

    advice: str = ""

    def __init__(self, message: str, *, advice: str = "") -> None:
        super().__init__(message)
        if advice:
            self.advice = advice


class Encrypted(Refusal, InvalidRequest):
    """The document needs a password that was not given."""

    advice = "save a copy without a password, or exclude the file"


class NeedsOcr(Refusal, InvalidRequest):
    """The document holds pictures of text and no text."""

    advice = "run it through OCR and save the searchable copy"


class TooLarge(Refusal, InvalidRequest):
    """The document, or what it unpacks to, is over a limit."""

    advice = "split it, or raise max_bytes of the source"


class Damaged(Refusal, InvalidRequest):
    """The bytes are not a whole document of their format."""

    advice = "open and save it again with the program that made it"


class Empty(Refusal, InvalidRequest):
    """The document holds no text."""

    advice = "nothing to do, unless the file should not be empty"


class UnsupportedFormat(Refusal, Unsupported):
    """No converter for this format is installed here."""

    advice = "convert it to PDF, DOCX, HTML or text, or exclude it"


class TimedOut(Refusal, EngineError):
    """The converter did not finish within its time limit."""

    advice = "split the document, or exclude it"


class ParserDied(Refusal, EngineError):
    """The converter's process died or ran out of memory on this document."""

    advice = "open and save it again with the program that made it, or exclude it"
