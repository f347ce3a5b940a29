"""Payment cards: 13 to 19 digits with a right Luhn digit, grouped or bare."""

import re
from collections.abc import Iterator

from corebrain.safety.check_digits import luhn
from corebrain.safety.policy import BareCard

_GROUPS = re.compile(r"(?<![0-9A-Za-z])[0-9]++(?:[ -][0-9]++)*(?![0-9A-Za-z])")
_GROUP = re.compile(r"[0-9]+")
_FEWEST, _MOST = 13, 19

# Prefixes and lengths as the networks issue them (ISO/IEC 7812 registry, public bank identification ranges).
_ISSUED = re.compile(
    r"4(?:[0-9]{12}|[0-9]{15}|[0-9]{18})"  # Visa
    r"|(?:5[1-5][0-9]{2}|222[1-9]|22[3-9][0-9]|2[3-6][0-9]{2}|27[01][0-9]|2720)[0-9]{12}"  # Mastercard
    r"|3[47][0-9]{13}"  # American Express
    r"|3(?:0[0-5]|[689][0-9])[0-9]{11,16}"  # Diners Club
    r"|(?:6011|64[4-9][0-9]|65[0-9]{2})[0-9]{12,15}"  # Discover
    r"|35(?:2[89]|[3-8][0-9])[0-9]{12,15}"  # JCB
    r"|62[0-9]{14,17}"  # UnionPay
    r"|(?:50|5[6-9]|6[0-9])[0-9]{11,17}"  # Maestro
)
_KEYWORD = re.compile(
    r"\b(?:credit|debit|card|cards|visa|mastercard|amex|american express|maestro|discover|diners|jcb|unionpay"
    r"|cvv|cvc|kreditkarte|tarjeta|cart[aã]o|carte)\b",
    re.IGNORECASE,
)
_NEAR_BYTES = 64


def _near(text: str, start: int, end: int) -> str:
    before = text[max(0, start - _NEAR_BYTES) : start].encode(errors="replace")[-_NEAR_BYTES:]
    after = text[end : end + _NEAR_BYTES].encode(errors="replace")[:_NEAR_BYTES]
    return f"{before.decode(errors='ignore')} {after.decode(errors='ignore')}"


def _bare_card(text: str, start: int, end: int, policy: BareCard) -> bool:
    if policy is BareCard.LUHN_ONLY or _ISSUED.fullmatch(text, start, end):
        return True
    return _KEYWORD.search(_near(text, start, end)) is not None


def _windows(text: str, row: re.Match[str]) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and digits of each run of whole groups within *row* that is as long as a card's number."""
    groups = [group.span() for group in _GROUP.finditer(text, *row.span())]
    for first, (start, _) in enumerate(groups):
        digits = ""
        for group_start, end in groups[first : first + _MOST]:
            digits += text[group_start : min(end, group_start + _MOST + 1)]
            if len(digits) > _MOST:
                break
            if len(digits) >= _FEWEST:
                yield start, end, digits


def cards(text: str, policy: BareCard | None) -> Iterator[tuple[int, int]]:
    """Yield the span of each card number in *text*, spans of one row of groups overlapping; `None` skips bare ones."""
    for row in _GROUPS.finditer(text):
        for start, end, digits in _windows(text, row):
            bare = end - start == len(digits)
            allowed = not bare or (policy is not None and _bare_card(text, start, end, policy))
            if allowed and luhn(digits):
                yield start, end
