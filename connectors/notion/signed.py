"""Files that Notion keeps: addresses that are signed, die within the hour and must never count for a fingerprint."""

import re
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

_SIGNED = re.compile(r"[?&](?:X-Amz-Signature|X-Amz-Expires|expirationTimestamp|signature)=", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file inside a page.

    Attributes:
        kind: `pdf`, `file`, `image`, `audio` or `video`.
        url: Where it can be read now.
        name: Its name for people.
    """

    kind: str
    url: str
    name: str


def is_signed(url: str) -> bool:
    """Whether an address is one of Notion's that die: the file lies with Notion, not out in the web."""
    return _SIGNED.search(url) is not None


def file_name(url: str) -> str:
    """Return the name at the end of an address, decoded; `""` when it has none."""
    return unquote(urlsplit(url).path.rpartition("/")[2])
