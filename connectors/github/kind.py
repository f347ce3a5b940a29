"""How a GitHub source is configured: `kind = "github"` in `brain.toml`."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ByteSize, ConfigDict, Field, SecretStr, model_validator

from connectors import document
from connectors.errors import ConfigError
from connectors.github.api import ApiTransport
from connectors.github.budget import RESERVE, Budget
from connectors.github.connector import GitHubConnector
from connectors.github.credentials import Anonymous, AppInstallation, Credential, Netrc, Token
from connectors.github.edits import Edits
from connectors.github.git import GitTransport
from connectors.github.lfs import Lfs, basic
from connectors.github.owners import Owners
from connectors.github.reading import MAX_BYTES, Reading
from connectors.github.selection import Selection, Wanted
from connectors.github.sending import Sender
from connectors.github.service import BASE_URL, github_http, pages_url
from connectors.github.talk import Talk
from connectors.github.transport import Transport
from connectors.github.wiki import Wiki
from connectors.http import Client
from connectors.registry import Kind

_VARIABLES = {"variables": True}  # the configuration fills ${VAR} into fields that say so


class GitHubConfig(BaseModel):
    """The keys of a GitHub source."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    repo: Annotated[
        str, Field(description="One repository: owner/name or its address.", json_schema_extra=_VARIABLES)
    ] = ""
    repos: Annotated[
        tuple[str, ...], Field(description="Many: owner/name, owner/* for all of an owner, owner/docs-*.")
    ] = ()
    exclude_repos: Annotated[tuple[str, ...], Field(description="Patterns of repositories not wanted.")] = ()
    archived: Annotated[bool, Field(description="Take archived repositories of an owner too.")] = False
    forks: Annotated[bool, Field(description="Take forks of an owner too.")] = False
    branch: Annotated[str, Field(description="Branch or tag; the default branch when left out.")] = ""
    paths: Annotated[
        tuple[str, ...], Field(description="Patterns of the files wanted, such as docs/**; all documents if left out.")
    ] = ()
    exclude: Annotated[tuple[str, ...], Field(description="Patterns of the files and folders not wanted.")] = ()
    code: Annotated[bool, Field(description="Read source code too.")] = False
    also: Annotated[
        tuple[Literal["issues", "pulls", "releases", "discussions", "wiki", "about"], ...],
        Field(description="What else: issues, pulls, releases, discussions, wiki, about (its description)."),
    ] = ()
    transport: Annotated[
        Literal["api", "git"],
        Field(description="How files are read: over the API, or by git, which must be installed."),
    ] = "api"
    edits: Annotated[
        bool, Field(description="Time and author of the last edit (by:Name); one more request a document.")
    ] = False
    lfs: Annotated[bool, Field(description="Read files that lie in git LFS.")] = True
    max_bytes: Annotated[
        ByteSize, Field(ge=1, le=document.MAX_BYTES, description="Largest file read, as a number or as 64MiB.")
    ] = ByteSize(MAX_BYTES)
    token: Annotated[SecretStr, Field(description="A token, such as ${GITHUB_TOKEN}; none reads what is public.")] = (
        SecretStr("")
    )
    app_id: Annotated[int | None, Field(description="Of a GitHub App, instead of a token.")] = None
    private_key: Annotated[SecretStr, Field(description="The app's PEM, such as ${file:/run/secrets/app.pem}.")] = (
        SecretStr("")
    )
    installation_id: Annotated[int | None, Field(description="Of the app; found by the owner when left out.")] = None
    netrc: Annotated[bool, Field(description="Take the credential from ~/.netrc.")] = False
    reserve: Annotated[float, Field(ge=0, lt=1, description="Part of the hourly limit left to others.")] = RESERVE
    requests_per_minute: Annotated[
        int | None, Field(ge=0, description="The pace; 0 is as fast as it goes. 800 at GitHub, 0 at another base_url.")
    ] = None
    webhook_secret: Annotated[SecretStr, Field(description="The secret given to GitHub with the webhook.")] = SecretStr(
        ""
    )
    base_url: Annotated[
        str,
        Field(
            min_length=1, description="Another API: https://HOST/api/v3 of Enterprise.", json_schema_extra=_VARIABLES
        ),
    ] = BASE_URL
    git_url: Annotated[
        str, Field(description="Where git and LFS are; that of base_url if left out.", json_schema_extra=_VARIABLES)
    ] = ""
    ca: Annotated[str, Field(description="File of certificates to trust beside the usual ones.")] = ""
    proxy: Annotated[str, Field(description="Address of a proxy.", json_schema_extra=_VARIABLES)] = ""
    allow_private: Annotated[
        tuple[str, ...], Field(description="host:port pairs that may lie on a private network.")
    ] = ()

    @model_validator(mode="after")
    def _one_of_each(self) -> "GitHubConfig":
        if bool(self.repo) == bool(self.repos):
            raise ValueError("write either repo or repos")
        given = [bool(self.token.get_secret_value()), self.app_id is not None, self.netrc]
        if sum(given) > 1:
            raise ValueError("write one of token, app_id and netrc")
        if (self.app_id is None) != (not self.private_key.get_secret_value()):
            raise ValueError("app_id and private_key belong together")
        return self


def make(config: GitHubConfig, name: str, base: Path) -> GitHubConnector:
    """Make the connector of a configured GitHub source."""
    wanted = Wanted(config.repos or (config.repo,), config.exclude_repos)
    http = github_http(
        config.base_url,
        requests_per_minute=config.requests_per_minute,
        allow_private=config.allow_private,
        ca=base / config.ca if config.ca else None,
        proxy=config.proxy or None,
    )
    return connector_over(http, config, wanted, name, base=base)


def connector_over(
    http: Client,
    config: GitHubConfig,
    wanted: Wanted,
    name: str,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
    *,
    base: Path = Path(),
) -> GitHubConnector:
    """Make a connector that asks by *http* and has the time from *now*; paths are those of *base*."""
    web = pages_url(config.base_url)
    git_url = config.git_url or web
    credential = _credential(http, config, wanted)
    sender = Sender(config.base_url, http, credential, Budget(config.reserve))
    transport: Transport = ApiTransport(sender)
    git: GitTransport | None = None
    if config.transport == "git" or "wiki" in config.also:
        ca = base / config.ca if config.ca else None
        git = GitTransport(git_url, lambda: basic(credential.headers()), proxy=config.proxy, ca=ca)
    if config.transport == "git" and git is not None:
        transport = git
    large = Lfs(sender, git_url) if config.lfs else None
    return GitHubConnector(
        wanted,
        transport,
        lambda supply: Reading(
            supply,
            web,
            max_bytes=config.max_bytes,
            lfs=large.get if large else None,
            edits=Edits(sender) if config.edits else None,
        ),
        owners=Owners(sender, wanted, archived=config.archived, forks=config.forks) if wanted.owners else None,
        name=name,
        selection=Selection(config.paths, config.exclude, code=config.code),
        ref=config.branch or "HEAD",
        web=web,
        talk=Talk(sender, config.also, Wiki(git, web, now=now) if git else None, now=now) if config.also else None,
        requests=lambda: sender.requests + (git.requests if git else 0),
        http=http,
        git=git,
        webhook_secret=config.webhook_secret.get_secret_value(),
        now=now,
    )


def _credential(http: Client, config: GitHubConfig, wanted: Wanted) -> Credential:
    if config.netrc:
        return Netrc(config.base_url)
    if config.token.get_secret_value():
        return Token(config.token.get_secret_value())
    if config.app_id is None:
        return Anonymous()
    accounts = {one.partition("/")[0].lower() for one in wanted.given}
    if config.installation_id is None and len(accounts) > 1:
        raise ConfigError("an app is installed once for each owner; write installation_id, or a source for each owner")
    nobody = Sender(config.base_url, http, Anonymous(), Budget(0.0))
    return AppInstallation(
        config.app_id,
        config.private_key.get_secret_value(),
        installation_id=config.installation_id,
        account=wanted.given[0].partition("/")[0],
        ask=lambda verb, path, proof: nobody.call(verb, path, "the app's installation", proof),
    )


KIND = Kind(GitHubConfig, make)
"""The github kind, for the registry."""
