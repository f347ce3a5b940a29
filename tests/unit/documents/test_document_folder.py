"""Every file of a folder of real and hostile documents has the outcome it should have.

The folder is not part of the project: `../shared/data/documents` beside the checkout, with `samples` and `nasty`.
"""

from pathlib import Path

import pytest

from corebrain.documents.brain_document import BrainDocuments, brain_documents
from corebrain.documents.default_converter import RegistryConverter
from corebrain.documents.types import RawDocument
from corebrain.errors import Damaged, Empty, Encrypted, NeedsOcr, Refusal, UnsupportedFormat
from corebrain.model.meta import MemoryMeta

FOLDER = Path(__file__).parents[4] / "shared" / "data" / "documents"
FILES = [path for part in ("samples", "nasty") for path in sorted((FOLDER / part).rglob("*")) if path.is_file()]
pytestmark = pytest.mark.skipif(not FILES, reason="the folder of real documents is not here")

# Needs a program (pandoc) that may be missing; everything else works from a plain install or the extra.
PROGRAMS = {".rtf"}
REFUSED: dict[str, tuple[type[Refusal], ...]] = {
    "empty.txt": (Empty,),
    "random.bin": (UnsupportedFormat,),
    "zero_bytes.pdf": (Empty,),
    "encrypted_both_pw.pdf": (Encrypted,),
    "password.xlsx": (Encrypted,),
    "scan_no_text.pdf": (NeedsOcr,),
    "billion_laughs.xlsx": (Damaged,),
    "truncated.docx": (Damaged,),
    "xxe.docx": (Damaged,),
    "not_a_zip.odt": (Damaged,),
}
# A sentence that only a right reading gives.
HOLDS = {
    "utf16be_nobom.txt": "This is a test document to use for unit tests.",
    "utf32.txt": "This is a test document to use for unit tests.",
    "misleading_charset.html": "في قرية",
    "smime_encrypted.eml": "body of this message is encrypted",
    "umlauts-non-utf8.md": "können",
    "fake-html-cp1252.html": "köstlich",
    "test_mskanji.csv": "髙橋淳",
    "factbook-utf-16.xml": "<capital>Washington, DC</capital>",
    "fake-email-attachment.msg": "Little to no content",
    "test_notebook.ipynb": "markitdown",
    "owner_locked_ok.pdf": "pdf encryption test",
    "form_fields.pdf": "- First Name: Alice",
    "inflated_docx_32x.docx": "Предмет контракта",
    "macro.docm": "This is a macro word processing document",
    "rotated_page_90.pdf": "Second line of text here",
    "not_a_pdf_header.pdf": "Bug 1606566",
    "test.epub": "Chapter 1: Test Content",
}


def _outcome(path: Path, converter: RegistryConverter) -> BrainDocuments | Refusal:
    raw = RawDocument(path, path.name)
    try:
        return brain_documents(converter, raw, meta=MemoryMeta(file_path=path.name))
    except Refusal as refusal:
        return refusal


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_file_has_its_outcome(path: Path, converter: RegistryConverter) -> None:
    outcome = _outcome(path, converter)
    allowed = REFUSED.get(path.name, ())
    if path.suffix in PROGRAMS and path.name not in REFUSED and isinstance(outcome, UnsupportedFormat):
        assert "pandoc" in outcome.advice
        return
    if isinstance(outcome, Refusal):
        assert isinstance(outcome, allowed), f"{type(outcome).__name__}: {outcome}"
        assert outcome.advice
        return
    assert not allowed, f"should be refused, gave {outcome.document.text[:80]!r}"
    assert outcome.document.text.strip()
    assert outcome.document.title
    assert outcome.refused == ()
    assert HOLDS.get(path.name, "") in outcome.document.text
