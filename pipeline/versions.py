"""What would convert a document today: kept with each record, so that an update's effect is known beforehand."""

from collections.abc import Iterable

from corebrain.documents.default_converter import default_converter
from corebrain.documents.formats import FORMATS
from corebrain.documents.types import DocumentConverter
from corebrain.layout import BrainDocument
from pipeline.scrubbing import Scrubbing

_FORMAT_OF = {entry.mime: name for name, entry in FORMATS.items()}


class Versions:
    """Names what turns bytes into stored text: the parsers of each format with their versions, and the scrub.

    Args:
        converter: What converts; `None` is the default registry.
        scrubbing: What is redacted afterwards; `None` is nothing.
    """

    def __init__(self, converter: DocumentConverter | None, scrubbing: Scrubbing | None = None) -> None:
        self._converter = converter
        self._scrub = scrubbing.version if scrubbing is not None else ""
        self._known: dict[str, str] = {}

    def of(self, documents: Iterable[BrainDocument]) -> str:
        """Return the version of a document with its parts, as `html=selectolax/1;scrub=secrets/1`."""
        return self._joined({_FORMAT_OF.get(document.mime or "", "unknown") for document in documents})

    def is_current(self, version: str) -> bool:
        """Tell whether converting anew would use the same parsers and the same scrub."""
        formats = {name for entry in version.split(";") if (name := entry.partition("=")[0]) in FORMATS}
        return bool(formats) and self._joined(formats) == version

    def _joined(self, formats: set[str]) -> str:
        parsers = [f"{name}={self._parsers(name)}" for name in sorted(formats)]
        return ";".join(parsers + [f"scrub={self._scrub}"] * bool(self._scrub))

    def _parsers(self, name: str) -> str:
        if name not in self._known:
            converter = self._converter or default_converter()
            version_of = getattr(converter, "version_of", None)  # a power that a host's own converter need not have
            self._known[name] = version_of(name) if version_of else f"{converter.name}/{converter.version}"
        return self._known[name]
