"""Characters of a PDF's text as people type them: ligatures apart, presentation forms folded, controls out."""

import re
import unicodedata

BULLETS = "•‣◦▪▫●○■□◆◇➢➤►▶✓✔❖\u2043∙·\uf0b7\uf0a7\uf0d8\uf0fc\uf076\uf071\uf0a8\uf06e\uf075\u0084\u0095"
"""Signs that open a list item, those of Wingdings and of unmapped fonts included."""

# Latin ligatures, Armenian and Hebrew ligatures, Arabic presentation forms A and B (Unicode blocks FB00 to FEFC).
_PRESENTATION = re.compile("[\ufb00-\ufdfb\ufe70-\ufefc]+")
_CONTROLS = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u0080-\u0083\u0085-\u0094\u0096-\u009f\ufffd\uffff\ufeff\u200b]"
)
_SPACES = re.compile(r"[ \t\u00a0\u2000-\u200a\u202f\u205f\u3000]+")
_AFTER_STOP = re.compile("(?<=[\u3001\u3002]) (?=[\u3040-\u30ff\u3400-\u9fff])")  # where one column goes on in the next
_SOFT_HYPHEN = "\u00ad"
# A sign of a font without names: one character, then a control where its space should be.
_CODED_BULLET = re.compile("^\\S[\x01\x03-\x1f]+\\s+(?=\\S)")
_NEEDS_WORK = re.compile("[^ -~]|  ")


def clean_text(raw: str) -> str:
    r"""One line without controls, its spaces single; `\ufffe` (pdfium's joined hyphen) is kept."""
    if not _NEEDS_WORK.search(raw):
        return raw.strip()
    text = _CODED_BULLET.sub("\u2022 ", raw, count=1)
    text = text.replace("\x02", "\ufffe").replace(_SOFT_HYPHEN, "")
    text = _PRESENTATION.sub(_apart, text)
    text = _CONTROLS.sub("", text)
    return _AFTER_STOP.sub("", _SPACES.sub(" ", text)).strip()


def _apart(match: re.Match[str]) -> str:
    return unicodedata.normalize("NFKC", match[0])


def join_hyphens(text: str, known: frozenset[str]) -> str:
    r"""`text` with each joined line end closed up, or hyphenated when the document writes the word so elsewhere.

    Args:
        text: May hold `\ufffe` between two halves of a word.
        known: Hyphenated words of the document, lower case, from `hyphenated_words`.
    """
    if "\ufffe" not in text:
        return text
    return _BROKEN.sub(lambda match: _closed(match[1], match[2], known), text).replace("\ufffe", "")


_BROKEN = re.compile(r"(\w*)\ufffe(\w*)")
_HYPHENATED = re.compile(r"\w+-\w+")


def _closed(head: str, tail: str, known: frozenset[str]) -> str:
    return f"{head}-{tail}" if f"{head}-{tail}".lower() in known else head + tail


def hyphenated_words(text: str) -> frozenset[str]:
    """The words written with a hyphen inside a line."""
    return frozenset(word.lower() for word in _HYPHENATED.findall(text))
