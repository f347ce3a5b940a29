"""How a files source is configured: `kind = "files"` in `brain.toml`."""

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ByteSize, ConfigDict, Field

from connectors import document
from connectors.files.connector import MAX_BYTES, FilesConnector
from connectors.registry import Kind


class FilesConfig(BaseModel):
    """The keys of a files source."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    path: Annotated[
        str,
        Field(
            min_length=1,
            description="The folder; ~ is your home, a relative path starts here.",
            json_schema_extra={"variables": True},  # the configuration fills ${VAR} into fields that say so
        ),
    ]
    include: Annotated[
        tuple[str, ...],
        Field(min_length=1, description="Patterns of the files wanted, such as *.pdf, docs/**/*.md or handbook/."),
    ] = ("**/*",)
    exclude: Annotated[tuple[str, ...], Field(description="Patterns of the files and folders not wanted.")] = ()
    max_bytes: Annotated[
        ByteSize,
        Field(ge=1, le=document.MAX_BYTES, description="Largest file read, as a number or as 64MiB; at most 100MiB."),
    ] = ByteSize(MAX_BYTES)
    hidden: Annotated[bool, Field(description="Also take hidden files and folders.")] = False
    follow_links: Annotated[bool, Field(description="Follow symbolic links inside the folder.")] = True
    hydrate: Annotated[bool, Field(description="Also read, and so download, files that lie in the cloud only.")] = False


def make(config: FilesConfig, name: str, base: Path) -> FilesConnector:
    """Make the connector of a configured files source."""
    relative = config.path.strip() and not config.path.startswith("~")
    return FilesConnector(
        base / config.path if relative else config.path,
        name=name,
        include=config.include,
        exclude=config.exclude,
        max_bytes=config.max_bytes,
        hidden=config.hidden,
        follow_links=config.follow_links,
        hydrate=config.hydrate,
    )


KIND = Kind(FilesConfig, make)
