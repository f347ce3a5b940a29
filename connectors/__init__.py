"""Where documents come from: the contract of connectors, the connectors, and `pull` for people who embed them."""

from connectors.contract import (
    Blob,
    Checkpoint,
    Complete,
    Confirms,
    Connector,
    Event,
    Failed,
    Gone,
    Hooked,
    Json,
    Notes,
    Ref,
    Seen,
    Unchanged,
    Watches,
    WebhookRequest,
)
from connectors.document import SetAside
from connectors.errors import (
    AuthError,
    ConfigError,
    ConnectorError,
    DocumentError,
    DocumentGone,
    DocumentRefused,
    Unavailable,
)
from connectors.files.connector import FilesConnector
from connectors.pull import pull

__all__ = [
    "AuthError",
    "Blob",
    "Checkpoint",
    "Complete",
    "ConfigError",
    "Confirms",
    "Connector",
    "ConnectorError",
    "DocumentError",
    "DocumentGone",
    "DocumentRefused",
    "Event",
    "Failed",
    "FilesConnector",
    "Gone",
    "Hooked",
    "Json",
    "Notes",
    "Ref",
    "Seen",
    "SetAside",
    "Unavailable",
    "Unchanged",
    "Watches",
    "WebhookRequest",
    "pull",
]
