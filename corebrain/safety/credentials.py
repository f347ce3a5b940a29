"""Stages 1 to 3 of a scrub: private keys, secrets in URLs and headers, and the shapes of credentials.

Every pattern takes time linear in the text: runs are possessive or bounded, because a text may be hostile.
"""

import re

from corebrain.safety.policy import SafetyReport

REDACTED = "[REDACTED]"
PRIVATE_KEY = "[REDACTED_PRIVATE_KEY]"

# ASCII: a letter of another script beside a credential is no part of it, so that \b holds there.
_FOLDED = re.ASCII | re.IGNORECASE
_KEY_LABEL = r" (?:[^\s-]{1,40} )?PRIVATE KEY(?: BLOCK)?-----"
_BEGIN = re.compile(f"-----BEGIN{_KEY_LABEL}", _FOLDED)
_END = re.compile(f"-----END{_KEY_LABEL}", _FOLDED)

_URL = re.compile(r"\b[a-z][a-z0-9+.-]{1,20}+://[^\s\"'<>]++", _FOLDED)
_SECRET_SEGMENT = re.compile(r"(?<=/secret/)[^\s/?#&\"'<>()\[\]]+")

_QUOTE = r"\\?[\"']?"
_BLANK = r"[ \t\u00a0\u3000]"
_SEPARATOR = rf"{_QUOTE}(?:{_BLANK}*+[=:\uff1a\uff1d]++>?{_BLANK}*+|{_BLANK}++){_QUOTE}"
_NOT_YET = r"(?!\[REDACTED(?:_[A-Z_]+)?\](?:[\s\"'&]|\Z))"

_AUTHORIZATION = re.compile(
    rf"(?P<kept>\bauthorization{_SEPARATOR}bearer{_BLANK}+)(?!\[REDACTED\])[A-Za-z0-9._~+/=-]+", _FOLDED
)
# Prose ("ring bearer", "bearer bond") has letters only; a short token shows a digit or a sign that prose has not.
_SHORT_BEARER = re.compile(
    r"(?P<kept>\bbearer\s{1,8})(?=[A-Za-z./-]{0,7}[0-9_~+=])[A-Za-z0-9._~+/=-]+",
    _FOLDED,
)

_NAMED = (
    r"(?:access[_-]?token|refresh[_-]?token|client[_-]?secret|token|password|secret"
    r"|id_token|authorization_code|code_verifier|code_challenge)"
)
# A secret may be announced twice ("secret password: x"); the bound keeps a hostile row of keywords linear.
_ANNOUNCED = rf"(?:\b{_NAMED}{_SEPARATOR})"
_SHAPES = (
    re.compile(r"(?P<kept>\bbearer\s{1,8})[A-Za-z0-9._~+/=-]{8,}", _FOLDED),
    re.compile(
        rf"(?P<kept>\bapi[_-]?key{_SEPARATOR}{_ANNOUNCED}{{0,4}}+){_NOT_YET}[^\s\"'\u00a0\u3000]+",
        _FOLDED,
    ),
    re.compile(rf"(?P<kept>){_ANNOUNCED}{{1,4}}+{_NOT_YET}[^\s\"'&\u00a0\u3000]+", _FOLDED),
    re.compile(
        r"(?P<kept>)\b(?:"
        r"sk-ant-[A-Za-z0-9_-]{16,}"
        r"|sk-(?:proj|org)-[A-Za-z0-9_-]{12,}"
        r"|sk-[A-Za-z0-9]{20,}"
        r"|gh[pousr]_[A-Za-z0-9_]{20,}"
        r"|github_pat_[A-Za-z0-9_]{20,}"
        r"|glpat-[A-Za-z0-9_-]{16,}"
        r"|A(?:KI|SI)A[0-9A-Z]{16}(?![A-Za-z0-9_])"
        r"|AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])"
        r"|xox[abpsr]-[A-Za-z0-9-]{10,}"
        r"|[sr]k_(?:live|test)_[A-Za-z0-9]{16,}"
        r"|npm_[A-Za-z0-9]{20,}"
        r"|SG\.[A-Za-z0-9_-]{16,}+\.[A-Za-z0-9_-]{16,}"
        r")",
        re.ASCII,
    ),
    # The first look proves all three parts of a JWT once for each run, however often the run says "eyJ".
    re.compile(
        r"(?<![\w-])(?=[\w-]{11,}+\.[\w-]{8,}+\.[\w-]{8})"
        r"(?P<kept>[\w-]*?\b)eyJ[\w-]{8,}+\.[\w-]{8,}+\.[\w-]{8,}",
        re.ASCII,
    ),
)


def redact_private_keys(text: str) -> tuple[str, int]:
    """Return *text* with each block from `BEGIN … PRIVATE KEY` to its `END` replaced, and how many there were."""
    pieces: list[str] = []
    at = 0
    while (begin := _BEGIN.search(text, at)) and (end := _END.search(text, begin.end())):
        pieces += [text[at : begin.start()], PRIVATE_KEY]
        at = end.end()
    return "".join(pieces) + text[at:], len(pieces) // 2


def _redact_url_secrets(text: str) -> tuple[str, int]:
    found = 0

    def without(url: re.Match[str]) -> str:
        nonlocal found
        shown, count = _SECRET_SEGMENT.subn(REDACTED, url.group())
        found += count
        return shown

    return _URL.sub(without, text), found


def _redact_all(text: str, shapes: tuple[re.Pattern[str], ...]) -> tuple[str, int]:
    found = 0
    for shape in shapes:
        text, count = shape.subn(rf"\g<kept>{REDACTED}", text)
        found += count
    return text, found


def redact_credentials(text: str) -> tuple[str, SafetyReport]:
    """Return *text* after stages 1 to 3 of spec 07 section 3, and what they redacted."""
    text, blocks = redact_private_keys(text)
    text, in_urls = _redact_url_secrets(text)
    text, in_headers = _redact_all(text, (_AUTHORIZATION, _SHORT_BEARER))
    text, shaped = _redact_all(text, _SHAPES)
    return text, SafetyReport(blocked_secret_hits=blocks, text_redactions=in_urls + in_headers + shaped)


def has_likely_secret(text: str) -> bool:
    """Say whether *text* holds a private-key block or the shape of a credential (stages 1 and 3)."""
    begin = _BEGIN.search(text)
    if begin and _END.search(text, begin.end()):
        return True
    return any(shape.search(text) for shape in _SHAPES)
