"""Pictures: what kind, how large, and the words that were put into them; their name says the rest."""

from corebrain.documents.convert.image_head import read_head
from corebrain.documents.escape import escape_start, escape_tags
from corebrain.documents.types import ConvertedDocument, Json, RawDocument

NAME = "image"
VERSION = 1

_SHOWN = {"png": "PNG", "jpeg": "JPEG", "gif": "GIF", "tiff": "TIFF", "bmp": "BMP", "webp": "WebP", "heic": "HEIC"}


def convert(raw: RawDocument, format: str) -> ConvertedDocument:  # noqa: A002 - the contract's word
    """A line such as `JPEG image, 4032 x 3024 pixels`, then title, description, author and time, each a line.

    The title is the one written into the picture. Nothing is decoded, so a damaged picture is described all the same.
    """
    data = raw.read()
    head = read_head(data, format)
    size = f", {head.width} x {head.height} pixels" if head.width and head.height else ""
    title = head.texts.get("title") or head.texts.get("description")
    said = [f"{key.capitalize()}: {text}" for key, text in head.texts.items()]
    metadata: dict[str, Json] = {"width": head.width, "height": head.height} if size else {}
    return ConvertedDocument(
        markdown="\n\n".join(
            [
                f"{_SHOWN[format]} image{size}",
                *(["  \n".join(escape_start(escape_tags(line)) for line in said)] * bool(said)),
            ]
        ),
        title=title,
        format=format,
        language=None,
        converter=NAME,
        pages=None,
        size=len(data),
        metadata=metadata,
    )
