"""How a source proves itself to GitHub: not at all, by a token, as an installed app, or by `.netrc`."""

import netrc
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from connectors.errors import AuthError, ConfigError, Unavailable

_EARLY = timedelta(minutes=5)


class Credential(Protocol):
    """Gives the headers of a request."""

    def headers(self) -> dict[str, str]:
        """Return what proves the source now; `{}` when it asks as nobody.

        Raises:
            AuthError: There is no usable credential.
        """
        ...


class Anonymous:
    """Asks as nobody: public repositories only, 60 requests an hour."""

    def headers(self) -> dict[str, str]:
        return {}


class Token:
    """A personal access token, classic or fine-grained.

    Args:
        token: The secret.

    Raises:
        ConfigError: It holds what no header can.
    """

    def __init__(self, token: str) -> None:
        if not token.strip().isascii() or any(char.isspace() for char in token.strip()):
            raise ConfigError("the token holds blanks or letters that no token has; copy it once more")
        self._token = token.strip()

    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._token}"}


class Netrc:
    """The entry of a `.netrc` for the host of the API, or for the host of its pages.

    Args:
        base_url: The API.
        path: The file; the one in the home folder when left out.
    """

    def __init__(self, base_url: str, path: Path | None = None) -> None:
        host = urlsplit(base_url).hostname or ""
        self._hosts = (host, host.removeprefix("api."))
        self._path = path

    def headers(self) -> dict[str, str]:
        path = self._path or Path("~/.netrc").expanduser()
        try:
            entries = netrc.netrc(str(path)).hosts
        except FileNotFoundError:
            raise AuthError(f"there is no {path}; write one, or give a token") from None
        except (netrc.NetrcParseError, OSError) as error:
            raise AuthError(f"{path} cannot be read: {type(error).__name__}; correct it, or give a token") from None
        found = next((entries[host] for host in self._hosts if host in entries), None)
        if found is None:
            raise AuthError(f"{path} has no entry for {' or '.join(self._hosts)}; add one, or give a token")
        return {"Authorization": f"Bearer {found[2]}"}


class AppInstallation:
    """A GitHub App as it is installed for an account; its token lives an hour and is renewed before that.

    Args:
        app_id: Of the app.
        private_key: Its PEM.
        installation_id: Which installation; looked up by *account* when left out.
        account: Login whose installation is meant.
        ask: Sends `(method, path, headers)` to the API and returns its JSON.
        now: The wall clock, aware.
    """

    def __init__(
        self,
        app_id: int,
        private_key: str,
        *,
        installation_id: int | None,
        account: str,
        ask: Callable[[str, str, dict[str, str]], Any],
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._app_id = app_id
        self._private_key = private_key
        self._installation_id = installation_id
        self._account = account
        self._ask = ask
        self._now = now
        self._lock = threading.Lock()
        self._token = ""
        self._until = datetime.min.replace(tzinfo=UTC)

    def headers(self) -> dict[str, str]:
        with self._lock:
            if self._now() + _EARLY >= self._until:
                self._renew()
            return {"Authorization": f"Bearer {self._token}"}

    def _renew(self) -> None:
        proof = {"Authorization": f"Bearer {self._signed()}"}
        try:
            if self._installation_id is None:
                found = self._ask("GET", f"/users/{self._account}/installation", proof)
                self._installation_id = int(found["id"])
            given = self._ask("POST", f"/app/installations/{self._installation_id}/access_tokens", proof)
            self._token, self._until = str(given["token"]), datetime.fromisoformat(given["expires_at"])
        except (KeyError, TypeError, ValueError):
            raise Unavailable("what answers for GitHub gives no token to the app; check base_url") from None

    def _signed(self) -> str:
        from github.Auth import AppAuth  # noqa: PLC0415 - heavy: requests and cryptography
        from jwt.exceptions import PyJWTError  # noqa: PLC0415 - heavy: cryptography

        try:
            return AppAuth(self._app_id, self._private_key).create_jwt()
        except (PyJWTError, ValueError):
            raise AuthError("the app's private key cannot be used; give the PEM file that GitHub made") from None
