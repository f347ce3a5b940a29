"""The program git, run without anybody's settings and with the credential where other users cannot see it."""

import os
import re
import shutil
import ssl
import subprocess
import tempfile
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import IO

from connectors.errors import AuthError, ConfigError, DocumentError, Unavailable
from connectors.github.errors import NotThere
from connectors.http.errors import Stopped

_LOOK_S = 0.25
_LOOKS = 2400  # ten minutes
_QUIET = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "",
    "HOME": os.devnull,
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_NO_LAZY_FETCH": "1",
    "LC_ALL": "C",
}
# whole phrases: a repository or a port may be called 404
_REFUSED = re.compile(
    r"Authentication failed|could not read Username|terminal prompts disabled|returned error: 40[13]\b", re.IGNORECASE
)
_MISSING = re.compile(
    r"repository '[^']*' (?:not found|does not exist)|repository not found"
    r"|does not appear to be a git repository|returned error: 404\b",
    re.IGNORECASE,
)


class GitProgram:
    """Runs it for one server.

    Args:
        git_url: The server.
        authorisation: Gives the headers that prove the source.
        proxy: Address of a proxy; empty goes without one.
        ca: File of certificates to trust beside the usual ones.

    Attributes:
        stop: Set it to end what runs within a second.

    Raises:
        ConfigError: It is not installed.
    """

    def __init__(
        self, git_url: str, authorisation: Callable[[], dict[str, str]], *, proxy: str = "", ca: Path | None = None
    ) -> None:
        program = shutil.which("git")
        if program is None:
            raise ConfigError("git is not installed, which transport = 'git' needs; install it, or use the api")
        self._program = program
        self._git_url = git_url
        self._authorisation = authorisation
        self._proxy = proxy
        self._ca = ca
        self._trusted: Path | None = None
        self.stop = threading.Event()

    def run(self, *arguments: str, at: Path) -> bytes:
        """Run a command that asks nobody, and return what it said.

        Raises:
            DocumentError: It failed.
        """
        ran = self.tried(*arguments, at=at)
        if ran.returncode:
            said = ran.stderr.decode(errors="replace").strip()[:200]
            raise DocumentError(f"git {arguments[0]} failed: {said}")
        return ran.stdout

    def ask(self, what: str, *arguments: str, at: Path | None = None, stdin: bytes = b"") -> bytes:
        """Run a command that asks the server about *what*, and return what it said.

        Raises:
            AuthError: The credential is refused.
            NotThere: There is no such repository.
            Unavailable: It cannot be reached.
        """
        ran = self.tried(*arguments, at=at, stdin=stdin, proven=True)
        if ran.returncode == 0:
            return ran.stdout
        said = ran.stderr.decode(errors="replace")
        if _MISSING.search(said):
            raise NotThere(f"{what} is not there: deleted, or the credential may not see it")
        if _REFUSED.search(said) and not self._authorisation():  # so GitHub answers for what is not there
            raise NotThere(f"{what} is not there, or not to be read without a credential")
        if _REFUSED.search(said):
            raise AuthError(f"git is refused for {what}; check the credential and what it may read")
        raise Unavailable(f"git cannot read {what} (exit {ran.returncode}); it is tried again at the next sync")

    def tried(
        self,
        *arguments: str,
        at: Path | None = None,
        stdin: bytes = b"",
        into: IO[bytes] | None = None,
        proven: bool = False,
    ) -> "subprocess.CompletedProcess[bytes]":
        """Run a command and return how it ended.

        Args:
            arguments: Of the program.
            at: Where it is run.
            stdin: What it reads.
            into: A file that gets its output, for what may be much.
            proven: Give it the credential.

        Raises:
            Stopped: `stop` was set.
            Unavailable: It took too long.
        """
        process = subprocess.Popen(  # noqa: S603 - our own arguments; names are checked where they are configured
            [self._program, *arguments],
            cwd=at,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE if into is None else into,
            stderr=subprocess.PIPE,
            env=self._environment(proven=proven),
        )
        with process:
            given: bytes | None = stdin
            for _ in range(_LOOKS):
                try:
                    out, said = process.communicate(given, timeout=_LOOK_S)
                except subprocess.TimeoutExpired:
                    given = None  # it has been taken
                    if self.stop.is_set():
                        break
                else:
                    return subprocess.CompletedProcess(arguments, process.returncode, out, said)
            _ended(process)
        if self.stop.is_set():
            raise Stopped("git was stopped; the next sync goes on where this one was")
        raise Unavailable(f"git took more than {_LOOKS * _LOOK_S:.0f} s; it is tried again at the next sync")

    def _environment(self, *, proven: bool) -> dict[str, str]:
        secret = self._authorisation() if proven and not self._git_url.startswith("file://") else {}
        told = [(f"http.{self._git_url}/.extraHeader", f"{name}: {value}") for name, value in secret.items()]
        told += [("http.proxy", self._proxy)] if self._proxy else []
        told += [("http.sslCAInfo", str(self._certificates(self._ca)))] if self._ca else []
        names = {f"GIT_CONFIG_KEY_{i}": name for i, (name, _) in enumerate(told)}
        values = {f"GIT_CONFIG_VALUE_{i}": value for i, (_, value) in enumerate(told)}
        path = f"{Path(self._program).parent}{os.pathsep}{os.defpath}"
        return {"PATH": path, **_QUIET, **names, **values, "GIT_CONFIG_COUNT": str(len(told))}

    def _certificates(self, ca: Path) -> Path:
        """A file of the usual certificates and the given ones: git trusts one file only.

        Raises:
            ConfigError: The given file holds none that can be read.
        """
        if self._trusted is None:
            usual = ssl.get_default_verify_paths().cafile
            try:
                ssl.create_default_context().load_verify_locations(cafile=ca)
                pem = (Path(usual).read_bytes() if usual else b"") + b"\n" + ca.read_bytes()
            except OSError as error:
                raise ConfigError(
                    f"the ca file {ca} holds no certificates that can be read; correct its path"
                ) from error
            place, name = tempfile.mkstemp(prefix="corebrain-git-", suffix=".pem")
            with os.fdopen(place, "wb") as file:
                file.write(pem)
            self._trusted = Path(name)
            weakref.finalize(self, self._trusted.unlink, missing_ok=True)
        return self._trusted


def _ended(process: "subprocess.Popen[bytes]") -> None:
    """End git and, by its own hand, the helpers it runs; they may hold its pipes, so nothing is read any more."""
    process.terminate()
    try:
        process.wait(2)
    except subprocess.TimeoutExpired:
        process.kill()
