"""How a web source is configured: `kind = "web"` in `brain.toml`."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ByteSize, ConfigDict, Field, SecretStr

from connectors import document
from connectors.registry import Kind
from connectors.web.connector import AGENT, WebConnector
from connectors.web.rendering import Renderer
from connectors.web.scope import Scope
from connectors.web.site import Habits


class WebConfig(BaseModel):
    """The keys of a web source."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    start: Annotated[
        tuple[str, ...],
        Field(
            min_length=1,
            description="Where it begins: addresses of pages, sitemaps or feeds.",
            json_schema_extra={"variables": True},
        ),
    ]
    include: Annotated[
        tuple[str, ...],
        Field(
            description="Patterns of the pages wanted, such as /docs/** or docs.acme.example/latest/; all when empty."
        ),
    ] = ()
    exclude: Annotated[tuple[str, ...], Field(description="Patterns of the pages not wanted, such as /v1/**.")] = ()
    scope: Annotated[
        Literal["folder", "host"],
        Field(description="How far a start reaches: what lies below its folder, or its whole host."),
    ] = "folder"
    query: Annotated[
        Literal["keep", "drop"] | tuple[str, ...],
        Field(description="Parameters that name a page: keep (all but tracking), drop, or a list of names."),
    ] = "keep"
    follow: Annotated[bool, Field(description="Follow links; false reads the starts, and what they list, alone.")] = (
        True
    )
    sitemaps: Annotated[bool, Field(description="Read the sitemaps that robots.txt names, or /sitemap.xml.")] = True
    trust_lastmod: Annotated[
        bool, Field(description="Take a page for unchanged, unasked, while its sitemap's lastmod stays.")
    ] = False
    robots: Annotated[bool, Field(description="Obey robots.txt; false is for sites of your own.")] = True
    languages: Annotated[
        tuple[str, ...], Field(description="Languages wanted, such as en; pages that declare another are left out.")
    ] = ()
    max_pages: Annotated[int, Field(ge=1, le=1_000_000, description="Most addresses looked at in one sync.")] = 10_000
    max_depth: Annotated[int, Field(ge=0, le=1_000, description="Most links between a start and a page.")] = 20
    interval_s: Annotated[
        float, Field(ge=0, le=3600, description="Seconds between two requests to a host; robots.txt may ask for more.")
    ] = 0.2
    concurrency: Annotated[int, Field(ge=1, le=32, description="Requests under way at once.")] = 4
    collection_depth: Annotated[
        int, Field(ge=0, le=4, description="First folders of the path that are collections of their own.")
    ] = 0
    max_bytes: Annotated[
        ByteSize,
        Field(ge=1, le=document.MAX_BYTES, description="Largest page read, as a number or as 64MiB; at most 100MiB."),
    ] = ByteSize(32 * 2**20)
    content: Annotated[
        Literal["page", "article"],
        Field(description="What of a web page is kept: all but menus and the like, or its article alone."),
    ] = "page"
    render: Annotated[
        Literal["never", "empty"],
        Field(
            description="Whether Chromium draws pages that are empty without their scripts; needs corebrain[browser]."
        ),
    ] = "never"
    browser: Annotated[
        str, Field(description="Chromium's path, where Playwright has none.", json_schema_extra={"variables": True})
    ] = ""
    allow_private: Annotated[
        tuple[str, ...],
        Field(
            description="host:port of servers of yours that may lie on a private network.",
            json_schema_extra={"variables": True},
        ),
    ] = ()
    authorization: Annotated[
        SecretStr | None, Field(description="Authorization header for the hosts of the starts, and for no other.")
    ] = None
    ca: Annotated[
        str | None,
        Field(description="File of certificates to trust as well.", json_schema_extra={"variables": True}),
    ] = None
    proxy: Annotated[SecretStr | None, Field(description="Address of a proxy; the environment is not asked.")] = None
    agent: Annotated[
        str, Field(pattern=r"^[A-Za-z_-]{1,40}$", description="Name for robots.txt and the User-Agent.")
    ] = AGENT


def make(config: WebConfig, name: str, base: Path) -> WebConnector:
    """Make the connector of a configured web source."""
    return WebConnector(
        Scope(config.start, include=config.include, exclude=config.exclude, reach=config.scope, query=config.query),
        Habits(
            follow=config.follow,
            sitemaps=config.sitemaps,
            trust_lastmod=config.trust_lastmod,
            robots=config.robots,
            max_pages=config.max_pages,
            max_depth=config.max_depth,
            interval_s=config.interval_s,
            concurrency=config.concurrency,
            languages=frozenset(tag.partition("-")[0].lower() for tag in config.languages),
            collection_depth=config.collection_depth,
            max_bytes=config.max_bytes,
            content=config.content,
        ),
        name=name,
        allow_private=config.allow_private,
        authorization=config.authorization.get_secret_value() if config.authorization else "",
        ca=str(base / Path(config.ca).expanduser()) if config.ca else None,
        proxy=config.proxy.get_secret_value() if config.proxy else None,
        renderer=Renderer(config.browser) if config.render == "empty" else None,
        agent=config.agent,
    )


KIND = Kind(WebConfig, make)
