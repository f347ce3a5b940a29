"""Stage 4 of a scrub: numbers that identify a person, each by its shape and its check (spec 07 section 3)."""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from corebrain.safety import check_digits
from corebrain.safety.cards import cards
from corebrain.safety.folding import fold
from corebrain.safety.policy import BareCard, Policy

_ALONE = r"(?<![0-9A-Za-z])"
_ENDS = r"(?![0-9A-Za-z])"
_NOT_DIGIT = re.compile(r"[^0-9]")


class _Shape(NamedTuple):
    """A token's suffix, its pattern (group `it` is redacted), the gate, and whether names and keys may hold it."""

    name: str
    pattern: re.Pattern[str]
    gate: Callable[[str], bool] = lambda _: True
    in_names: bool = True


def _digits(check: Callable[[str], bool]) -> Callable[[str], bool]:
    return lambda found: check(_NOT_DIGIT.sub("", found))


def _lone(pattern: str, flags: int = 0) -> re.Pattern[str]:
    return re.compile(f"{_ALONE}(?P<it>{pattern}){_ENDS}", flags | re.ASCII)


def _upper(check: Callable[[str], bool]) -> Callable[[str], bool]:
    return lambda found: check(found.upper())


def _ssn(found: str) -> bool:
    area, group, serial = found.split("-")
    return area not in {"000", "666"} and area[0] != "9" and group != "00" and serial != "0000"


def _nino(found: str) -> bool:
    prefix = found[:2].upper()
    reserved = prefix in {"BG", "GB", "KN", "NK", "NT", "TN", "ZZ"}
    return not (reserved or prefix[0] in "DFIQUV" or prefix[1] in "DFIOQUV")


def _not_bare(found: str) -> bool:
    return not found.isdigit()  # a run of 10 or 11 digits alone is more often an id than a phone


# No \b: the Devanagari word ends in no ASCII letter.
_AADHAAR_WORD = r"(?:(?<![A-Za-z])(?:aadhaar|aadhar|uidai|uid)(?![A-Za-z])|आधार)"

_BEFORE_CARDS = (
    _Shape("CPF", _lone(r"[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2}"), _digits(check_digits.cpf)),
    _Shape("CPF", _lone(r"[0-9]{11}"), check_digits.cpf, in_names=False),
    _Shape("CNPJ", _lone(r"[0-9]{2}\.[0-9]{3}\.[0-9]{3}/[0-9]{4}-[0-9]{2}"), _digits(check_digits.cnpj)),
    _Shape("CNPJ", _lone(r"[0-9]{14}"), check_digits.cnpj, in_names=False),
    _Shape("CUIT", _lone(r"[0-9]{2}-[0-9]{8}-[0-9]"), _digits(check_digits.cuit)),
)
_AFTER_CARDS = (
    _Shape(
        "AADHAAR",
        _lone(r"(?<![0-9][ -])[0-9]{4}(?P<gap>[ -])[0-9]{4}(?P=gap)[0-9]{4}(?![ -][0-9])"),
        _digits(check_digits.verhoeff),
    ),
    _Shape(
        "AADHAAR",
        re.compile(rf"{_AADHAAR_WORD}[^0-9]{{0,10}}(?P<it>[0-9]{{12}}){_ENDS}", re.IGNORECASE),
        check_digits.verhoeff,
    ),
    _Shape("DNI", _lone(r"(?:[0-9]{8}|[XYZ][0-9]{7})[A-Z]", re.IGNORECASE), _upper(check_digits.dni)),
    _Shape(
        "NINO", _lone(r"[A-Z]{2}(?P<gap> ?)[0-9]{2}(?P=gap)[0-9]{2}(?P=gap)[0-9]{2}(?P=gap)[A-D]", re.IGNORECASE), _nino
    ),
    _Shape("SSN", _lone(r"[0-9]{3}-[0-9]{2}-[0-9]{4}"), _ssn),
    _Shape("RRN", _lone(r"[0-9]{6}-[1-4][0-9]{6}")),
    # Ungated letters: as issued only, in capitals, or many an identifier in code would go.
    _Shape("PAN_IN", _lone(r"[A-Z]{5}[0-9]{4}[A-Z]")),
    _Shape("RFC", re.compile(rf"(?<![0-9A-Za-zÑ&])(?P<it>[A-ZÑ&]{{3,4}}[0-9]{{6}}[A-Z0-9]{{3}}){_ENDS}")),
    _Shape(
        "MYNUMBER",
        re.compile(
            r"(?:マイナンバー|個人番号|\bMy Number)[^0-9]{0,12}"
            rf"(?P<it>[0-9]{{4}}[ -]?[0-9]{{4}}[ -]?[0-9]{{4}}){_ENDS}",
            re.IGNORECASE,
        ),
    ),
    _Shape("PHONE", _lone(r"\+[0-9](?:[ ().-]{0,2}[0-9]){6,14}"), in_names=False),
    _Shape(
        "PHONE",
        _lone(r"(?<!\+)(?:1[ .-]?)?(?:\([2-9][0-9]{2}\) ?|[2-9][0-9]{2}[ .-]?)[2-9][0-9]{2}[ .-]?[0-9]{4}"),
        _not_bare,
        in_names=False,
    ),
)

_IBAN = re.compile(rf"{_ALONE}(?=(?P<it>[A-Z]{{2}}[0-9]{{2}}(?: ?[A-Z0-9]){{11,30}}))", re.IGNORECASE | re.ASCII)
_IBAN_FEWEST = 15
_OVER = re.compile(_ENDS)


def _ibans(text: str) -> Iterator[tuple[int, int]]:
    """Yield each IBAN: the longest run of groups with a right check, since prose may go on behind the last group."""
    for found in _IBAN.finditer(text):
        start, end = found.span("it")
        while end > start:
            compact = text[start:end].replace(" ", "")
            if len(compact) < _IBAN_FEWEST:
                break
            if _OVER.match(text, end) and check_digits.mod_97(compact.upper()):
                yield start, end
                break
            end = text.rfind(" ", start, end)


class Finding(NamedTuple):
    """A personal number: where it stands in the original text and the suffix of the token that replaces it."""

    start: int
    end: int
    name: str


def _shaped(text: str, shapes: tuple[_Shape, ...], *, for_names: bool) -> Iterator[Finding]:
    for shape in shapes:
        if for_names and not shape.in_names:
            continue
        for found in shape.pattern.finditer(text):
            if shape.gate(found["it"]):
                yield Finding(*found.span("it"), shape.name)


def _candidates(text: str, bare_card: BareCard | None, *, for_names: bool) -> Iterator[Finding]:
    """Yield everything that may be redacted, in the order of priority, overlaps included."""
    yield from _shaped(text, _BEFORE_CARDS, for_names=for_names)
    yield from (Finding(start, end, "IBAN") for start, end in _ibans(text))
    yield from (Finding(start, end, "CREDIT_CARD") for start, end in cards(text, bare_card))
    yield from _shaped(text, _AFTER_CARDS, for_names=for_names)


def redact_personal_numbers(text: str, policy: Policy) -> tuple[str, int]:
    """Return *text* with each personal number replaced by `[REDACTED_PII_<kind>]`, and how many there were."""
    folded = fold(text)
    found = list(_candidates(folded.text, policy.bare_card, for_names=False))
    found.sort(key=lambda finding: (finding.start, -finding.end))  # stable: equal spans stay in priority
    pieces: list[str] = []
    taken = at = 0
    for finding in found:
        if finding.start < taken:
            continue
        start, end = folded.original(finding.start, finding.end)
        pieces += [text[at:start], f"[REDACTED_PII_{finding.name}]"]
        taken, at = finding.end, end
    return "".join(pieces) + text[at:], len(pieces) // 2


def has_likely_pii(text: str) -> bool:
    """Say whether *text*, a name or a key, holds a personal number; bare cards, CPF, CNPJ and phones do not count."""
    return any(True for _ in _candidates(fold(text).text, None, for_names=True))


_MAIL_DOMAIN = re.compile(r"(?<=[A-Za-z0-9._%+-])@(?:[A-Za-z0-9-]{1,63}\.){1,20}[A-Za-z]{2,}")


def has_likely_email(text: str) -> bool:
    """Say whether *text* holds an e-mail address; a scrub leaves addresses alone."""
    return _MAIL_DOMAIN.search(text) is not None
