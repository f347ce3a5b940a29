"""How a Notion source is configured: `kind = "notion"` in `brain.toml`."""

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ByteSize, ConfigDict, Field, SecretStr

from connectors import document
from connectors.notion.attachments import Wanted
from connectors.notion.connector import BASE_URL, FULL_EVERY_HOURS, NotionConnector
from connectors.notion.reading import Wishes
from connectors.notion.selection import Selection
from connectors.notion.service import REQUESTS_PER_MINUTE, notion_http
from connectors.registry import Kind


class NotionConfig(BaseModel):
    """The keys of a Notion source."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    token: Annotated[SecretStr, Field(description="The integration's secret, such as ${NOTION_TOKEN}.")]
    roots: Annotated[
        tuple[str, ...],
        Field(description="Links or ids of pages and databases: only these and what is below them."),
    ] = ()
    exclude: Annotated[tuple[str, ...], Field(description="Links or ids left out, with everything below them.")] = ()
    titles: Annotated[tuple[str, ...], Field(description="Patterns of titles wanted, such as 'RFC *'; any case.")] = ()
    exclude_titles: Annotated[tuple[str, ...], Field(description="Patterns of titles not wanted.")] = ()
    comments: Annotated[bool, Field(description="Add the open comments of a page; one more request a page.")] = False
    authors: Annotated[bool, Field(description="Tag documents with who made them (by:Name).")] = False
    attachments: Annotated[
        Wanted, Field(description="Read files inside pages too: none, files (PDFs and others), or all (images too).")
    ] = "none"
    max_bytes: Annotated[
        ByteSize, Field(ge=1, le=document.MAX_BYTES, description="Largest file read, as a number or as 64MiB.")
    ] = ByteSize(32 * 2**20)
    blocks: Annotated[
        bool, Field(description="Read pages block by block instead of as Notion's markdown; many more requests.")
    ] = False
    full_every_hours: Annotated[
        float, Field(ge=0, description="How often everything is listed, to find what was deleted.")
    ] = FULL_EVERY_HOURS
    requests_per_minute: Annotated[
        int | None, Field(ge=0, description="The pace; 0 is as fast as it goes. 180 at Notion, 0 at another base_url.")
    ] = None
    webhook_secret: Annotated[SecretStr, Field(description="Verification token of the webhook subscription.")] = (
        SecretStr("")
    )
    base_url: Annotated[
        str,
        Field(min_length=1, description="Another host for the API.", json_schema_extra={"variables": True}),
    ] = BASE_URL
    allow_private: Annotated[
        tuple[str, ...], Field(description="host:port pairs that may lie on a private network.")
    ] = ()


def make(config: NotionConfig, name: str, base: Path) -> NotionConnector:
    """Make the connector of a configured Notion source."""
    del base
    pace = config.requests_per_minute
    if pace is None:
        pace = REQUESTS_PER_MINUTE if config.base_url == BASE_URL else 0
    http = notion_http(
        config.base_url,
        requests_per_minute=pace,
        allow_private=config.allow_private,
        max_bytes=config.max_bytes,
    )
    return NotionConnector(
        config.token.get_secret_value(),
        http=http,
        name=name,
        selection=Selection.of(
            roots=config.roots,
            exclude=config.exclude,
            titles=config.titles,
            exclude_titles=config.exclude_titles,
        ),
        wishes=Wishes(
            comments=config.comments,
            authors=config.authors,
            attachments=config.attachments,
            blocks_only=config.blocks,
            max_bytes=config.max_bytes,
        ),
        full_every_hours=config.full_every_hours,
        webhook_secret=config.webhook_secret.get_secret_value(),
        base_url=config.base_url,
    )


KIND = Kind(NotionConfig, make)
"""The notion kind, for the registry."""
