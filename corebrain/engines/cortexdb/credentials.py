"""Who the engine is towards CortexDB: a key, or a source that is asked for a token at every attempt."""

from collections.abc import Callable

from corebrain.engines.cortexdb.endpoint import is_header_value
from corebrain.errors import ConfigError, Unauthorized


class Credential:
    """What gives a bearer token; its representation never holds one.

    Args:
        bearer: Called inside every attempt, from whatever thread makes it.
    """

    def __init__(self, bearer: Callable[[], str]) -> None:
        self._bearer = bearer

    @classmethod
    def static(cls, key: str) -> "Credential":
        """Keep one key; a blank one is `ConfigError`."""
        if not key.strip():
            raise ConfigError("the key is blank; give the one CortexDB issued")
        return cls(lambda: key)

    @classmethod
    def of(cls, given: "str | Credential") -> "Credential":
        """Take a credential, or keep one key."""
        return cls.static(given) if isinstance(given, str) else given

    def header(self) -> str:
        """Return the authorization header.

        Raises:
            Unauthorized: the source fails, or gives what no header may carry. Nothing of it is in the message.
        """
        try:
            token = self._bearer().strip()
        except Exception:  # noqa: BLE001  # the border to a host's code, whose words may hold the token
            raise Unauthorized("the credential source failed; renew the credential") from None
        if not token or not is_header_value(token):
            raise Unauthorized("the credential is blank or holds what a header may not carry; renew it")
        return f"Bearer {token}"

    def __repr__(self) -> str:
        return "Credential(<redacted>)"
