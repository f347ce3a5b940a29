"""Which parser converts which format: one visible list.

A format's parsers are tried in order: the next one when a parser is not installed, hung or died, never when it refused
the document (spec 07). Parsers are named by module; only a worker imports them.
"""

import importlib.util
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from corebrain.documents.formats import FORMATS, IMAGES
from corebrain.documents.worker_limits import OFFICE
from corebrain.errors import ConfigError, Encrypted, Refusal, UnsupportedFormat

IN_PROCESS: Final = "here"
LIGHT: Final = "light"
UNSTRUCTURED: Final = "unstructured"

_CONVERT = "corebrain.documents.convert."
_PIP_NAMES: Final = {"oxmsg": "python-oxmsg", "docx": "python-docx", "pptx": "python-pptx"}
_HOMES: Final = {
    "pandoc": "pandoc.org",
    "soffice": "LibreOffice, libreoffice.org",
    "tesseract": "tesseract-ocr.github.io",
}
_EXTRA_PACKAGES: Final = frozenset({"unstructured", "oxmsg"})


@dataclass(frozen=True, slots=True)
class Parser:
    """One way to convert some formats.

    Attributes:
        name: What `[documents]` in `brain.toml` calls it, and `brain show` shows.
        module: Imported late; has `NAME`, `VERSION` and `convert(raw, format)`.
        version: Equal to the module's `VERSION`, known here without importing it.
        lane: Where it runs: in this process, or in a worker of the kind of that name.
        packages: Import names that must be installed.
        programs: Programs that must be on the path.
        argument: Passed to `convert` as a third one, unless it is empty.
    """

    name: str
    module: str
    version: int = 1
    lane: str = LIGHT
    packages: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    argument: str = ""

    def missing(self) -> tuple[str, ...]:
        """Packages and programs that are not there; nothing is imported to find out."""
        packages = tuple(name for name in self.packages if importlib.util.find_spec(name) is None)
        return packages + tuple(name for name in self.programs if shutil.which(name) is None)

    def advice(self) -> str:
        """What to install of what is missing; empty when nothing is."""
        missing = self.missing()
        extra = ['"corebrain[unstructured]"'] if _EXTRA_PACKAGES.intersection(missing) else []
        pip = extra + [
            _PIP_NAMES.get(name, name) for name in self.packages if name in missing and name not in _EXTRA_PACKAGES
        ]
        steps = [f"pip install {' '.join(pip)}"] if pip else []
        steps += [f"install {name} ({_HOMES[name]})" for name in self.programs if name in missing]
        return " and ".join(steps)


def _unstructured(*packages: str, program: str = "") -> Parser:
    return Parser(
        "unstructured",
        _CONVERT + "unstructured",
        version=2,
        lane=OFFICE if program == "soffice" else UNSTRUCTURED,
        packages=("unstructured", *packages),
        programs=(program,) if program else (),
    )


_PANDOC = _unstructured("pypandoc", program="pandoc")
_ODT = _unstructured("pypandoc", "docx", program="pandoc")

_TEXT = Parser("text", _CONVERT + "text", lane=IN_PROCESS)
_MARKDOWN = Parser("markdown", _CONVERT + "markdown", lane=IN_PROCESS)
_CSV = Parser("csv", _CONVERT + "csv_table")
_ODF = Parser("lxml", _CONVERT + "odf", packages=("lxml",))
_XLSX = Parser("calamine", _CONVERT + "xlsx", version=2, packages=("python_calamine",))

PARSERS: Final[dict[str, tuple[Parser, ...]]] = {
    "markdown": (_MARKDOWN,),
    "plain_text": (_TEXT,),
    "code": (_TEXT,),
    "html": (Parser("selectolax", _CONVERT + "html", version=2, packages=("selectolax",)),),
    "pdf": (
        Parser("pdfium", _CONVERT + "pdf", version=2, packages=("pypdfium2", "pypdf")),
        Parser("pypdf", _CONVERT + "pypdf_only", packages=("pypdf",)),
    ),
    "docx": (Parser("lxml", _CONVERT + "docx", packages=("lxml",)),),
    "pptx": (Parser("lxml", _CONVERT + "pptx", packages=("lxml",)),),
    "xlsx": (_XLSX,),
    "xls": (_XLSX,),
    "xlsb": (_XLSX,),
    "ods": (_XLSX,),
    "csv": (_CSV,),
    "tsv": (_CSV,),
    "ipynb": (Parser("notebook", _CONVERT + "ipynb"),),
    "eml": (Parser("email", _CONVERT + "eml"),),
    "msg": (_unstructured("oxmsg"),),
    "rtf": (_PANDOC,),
    "rst": (_PANDOC, _TEXT),  # readable as it is, where there is no pandoc
    "org": (_PANDOC, _TEXT),
    "zip": (Parser("zip", _CONVERT + "zip_archive"),),
    "epub": (Parser("selectolax", _CONVERT + "epub", packages=("selectolax", "lxml")),),
    "odt": (_ODF,),
    "odp": (_ODF,),
    "doc": (_unstructured("docx", program="soffice"),),
    "ppt": (_unstructured("pptx", program="soffice"),),
    **dict.fromkeys(sorted(IMAGES), (Parser("image", _CONVERT + "image"),)),
}

OCR: Final = Parser("tesseract", _CONVERT + "ocr", lane="ocr", packages=("pypdfium2",), programs=("tesseract",))

# Parsers that a person may choose by name, and that are never tried by themselves.
CHOICES: Final[dict[str, tuple[Parser, ...]]] = {
    "html": (_unstructured(),),
    "docx": (_unstructured("docx"),),
    "pptx": (_unstructured("pptx"),),
    "odt": (_ODT,),
}


def parsers_for(format: str, choices: Mapping[str, str] | None = None) -> tuple[Parser, ...]:  # noqa: A002 - the contract's word
    """The parsers of a format, in the order they are tried; empty when none is known.

    Args:
        format: A name of `FORMATS`.
        choices: `{format: parser}` as `[documents]` has it; `auto` is the default order.

    Raises:
        ConfigError: The choice names no parser of that format.
    """
    default = PARSERS.get(format, ())
    choice = (choices or {}).get(format, "auto")
    if choice == "auto":
        return default
    chosen = tuple(parser for parser in (*default, *CHOICES.get(format, ())) if parser.name == choice)
    if not chosen:
        names = ", ".join(["auto", *(parser.name for parser in (*default, *CHOICES.get(format, ())))])
        raise ConfigError(f"[documents] {format} = {choice!r}: choose one of {names}")
    return chosen


def check_choices(choices: Mapping[str, str]) -> None:
    """Refuse a `[documents]` table that names an unknown format or parser.

    Raises:
        ConfigError: Names the key and what it may be.
    """
    for name in choices:
        if name not in PARSERS:
            raise ConfigError(f"[documents] {name}: no such format; known are {', '.join(sorted(PARSERS))}")
        parsers_for(name, choices)


def refusal_for(format: str, choices: Mapping[str, str] | None = None) -> Refusal:  # noqa: A002 - the contract's word
    """Why no document of this format can be converted here, with what to do about it."""
    if format == "encrypted":
        return Encrypted("an Office document under a password")
    parsers = parsers_for(format, choices)
    if parsers:
        lacking = ", ".join(parsers[0].missing()) or parsers[0].name
        return UnsupportedFormat(f"{format} needs {lacking}, not installed here", advice=parsers[0].advice())
    if format == "unknown" or format not in FORMATS:
        return UnsupportedFormat("binary content of no known format")
    return UnsupportedFormat(f"no converter for {format}", advice="save it as PDF, DOCX or HTML")
