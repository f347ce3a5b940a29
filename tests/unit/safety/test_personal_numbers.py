"""Every personal number: one that is redacted, one whose check fails, and what a number may hide behind."""

import pytest

from corebrain.safety import BareCard, Policy, has_likely_email, has_likely_pii, scrub_text

CORROBORATED = Policy(bare_card=BareCard.CORROBORATED)

NUMBERS = [
    ("CPF", "529.982.247-25"),
    ("CPF", "52998224725"),
    ("CPF", "123.456.702-40"),
    ("CPF", "123.456.713-00"),
    ("CNPJ", "11.222.333/0001-81"),
    ("CNPJ", "11222333000181"),
    ("CUIT", "20-12345678-6"),
    ("CUIT", "20-12345684-0"),
    ("IBAN", "DE89370400440532013000"),
    ("IBAN", "GB82 WEST 1234 5698 7654 32"),
    ("CREDIT_CARD", "4111111111111111"),
    ("CREDIT_CARD", "4111 1111 1111 1111"),
    ("CREDIT_CARD", "3782-822463-10005"),
    ("AADHAAR", "2341 2341 2346"),
    ("AADHAAR", "2341-2341-2346"),
    ("DNI", "12345678Z"),
    ("DNI", "X1234567L"),
    ("NINO", "AB123456C"),
    ("NINO", "AB 12 34 56 C"),
    ("SSN", "123-45-6789"),
    ("RRN", "900101-1234567"),
    ("PAN_IN", "ABCDE1234F"),
    ("RFC", "GODE561231GR8"),
    ("RFC", "ÑA&561231GR8"),
    ("PHONE", "+4915112345678"),
    ("PHONE", "+1 (415) 555-2671"),
    ("PHONE", "(415) 555-2671"),
    ("PHONE", "415.555.2671"),
    ("PHONE", "1-415-555-2671"),
    ("PHONE", "+1234567"),
]
NEAR_MISSES = [
    "529.982.247-26",
    "52998224726",
    "111.111.111-11",
    "11.222.333/0001-82",
    "11222333000182",
    "20-12345678-5",
    "DE88370400440532013000",
    "GB82 WEST 1234 5698 7654 33",
    "DE8937040044053",
    "4111111111111112",
    "4111 1111 1111 1112",
    "422222222222",
    "41111111111111111111111",
    "2341 2341 2347",
    "2341 2341-2346",
    "234123412346",
    "12345678A",
    "X1234567A",
    "AB123456E",
    "GB123456C",
    "AB123456 C",
    "DA123456C",
    "AO123456C",
    "000-45-6789",
    "666-45-6789",
    "900-45-6789",
    "123-00-6789",
    "123-45-0000",
    "900101-5234567",
    "ABCD1234F",
    "abcde1234f",
    "GO561231GR8",
    "GODE56123GR8",
    "+123456",
    "+1234567890123456",
    "4155552671",
    "14155552671",
    "115-555-2671",
    "415-155-2671",
    "jane@example.com",
    "2026-12-01T13:50:12Z",
    "192.168.100.200",
]


@pytest.mark.parametrize(("name", "number"), NUMBERS)
def test_a_personal_number_is_redacted(name: str, number: str) -> None:
    sanitized = scrub_text(f"it is {number}, as told")
    assert sanitized.value == f"it is [REDACTED_PII_{name}], as told"
    assert sanitized.report.pii_redactions == 1
    assert sanitized.report.text_redactions == 0


@pytest.mark.parametrize("text", NEAR_MISSES)
def test_what_only_resembles_a_personal_number_stays(text: str) -> None:
    assert scrub_text(f"it is {text}, as told").value == f"it is {text}, as told"


@pytest.mark.parametrize(("name", "number"), [pair for pair in NUMBERS if pair[0] != "PHONE"])
def test_a_number_that_goes_on_as_a_word_stays(name: str, number: str) -> None:
    for text in (f"zz{number}", f"{number}zz"):
        assert f"[REDACTED_PII_{name}]" not in scrub_text(text).value


@pytest.mark.parametrize("word", ["Aadhaar", "aadhar", "आधार", "UIDAI", "uid"])
def test_an_aadhaar_number_without_groups_needs_its_word_nearby(word: str) -> None:
    assert scrub_text(f"{word} no: 234123412346").value == f"{word} no: [REDACTED_PII_AADHAAR]"
    assert scrub_text(f"{word} no: 234123412347").value == f"{word} no: 234123412347"
    assert scrub_text(f"{word} was told to us 234123412346").value.endswith("234123412346")


def test_uid_within_a_word_announces_nothing() -> None:
    assert scrub_text("fluid 234123412346").value == "fluid 234123412346"


@pytest.mark.parametrize("word", ["マイナンバー", "個人番号", "My Number"])
def test_my_number_needs_its_word_nearby(word: str) -> None:
    assert scrub_text(f"{word}: 123456789018").value == f"{word}: [REDACTED_PII_MYNUMBER]"
    assert scrub_text(f"{word} is not known 123456789018").value.endswith("123456789018")
    assert scrub_text(f"{word}: 12345678901").value == f"{word}: 12345678901"


@pytest.mark.parametrize(
    "hidden",
    [
        "1\u200b23-45-67\u200d89",
        "１２３-４５-６７８９",  # noqa: RUF001 - full-width digits are what is tested
        "123\uff0d45\uff0d6789",
        "١٢٣-٤٥-٦٧٨٩",
        "۱۲۳-۴۵-۶۷۸۹",
    ],
)
def test_a_disguised_number_is_redacted_in_place(hidden: str) -> None:
    assert scrub_text(f"é\u200b {hidden} \u200bñ").value == "é\u200b [REDACTED_PII_SSN] \u200bñ"


def test_a_card_is_found_behind_other_groups() -> None:
    assert scrub_text("1234 4111 1111 1111 1111").value == "1234 [REDACTED_PII_CREDIT_CARD]"


def test_the_longer_of_two_cards_goes_whole() -> None:
    assert scrub_text("4222222222222").value == "[REDACTED_PII_CREDIT_CARD]"
    assert scrub_text("4222222222222 105").value == "[REDACTED_PII_CREDIT_CARD]"


def test_an_iban_ends_before_the_prose() -> None:
    text = "DE89 3704 0044 0532 0130 00 is mine"
    assert scrub_text(text).value == "[REDACTED_PII_IBAN] is mine"
    assert scrub_text("DE89370400440532013000です").value == "[REDACTED_PII_IBAN]です"


def test_several_numbers_are_counted_each() -> None:
    sanitized = scrub_text("123-45-6789 and 529.982.247-25; 123-45-6789")
    assert sanitized.value == "[REDACTED_PII_SSN] and [REDACTED_PII_CPF]; [REDACTED_PII_SSN]"
    assert sanitized.report.pii_redactions == 3


def test_of_equal_spans_the_first_in_priority_names_the_token() -> None:
    assert scrub_text("52998224725").value == "[REDACTED_PII_CPF]"
    assert scrub_text("+1 900101-1234567").value == "[REDACTED_PII_PHONE]"


def test_a_corroborated_bare_card_needs_a_network_or_a_word() -> None:
    issued, unissued = "4111111111111111", "1234567812345670"
    assert scrub_text(issued, CORROBORATED).value == "[REDACTED_PII_CREDIT_CARD]"
    assert scrub_text(unissued).value == "[REDACTED_PII_CREDIT_CARD]"
    assert scrub_text(unissued, CORROBORATED).value == unissued
    assert scrub_text("1234 5678 1234 5670", CORROBORATED).value == "[REDACTED_PII_CREDIT_CARD]"
    assert scrub_text(f"card {unissued}", CORROBORATED).value == "card [REDACTED_PII_CREDIT_CARD]"
    assert scrub_text(f"{unissued} is my Visa", CORROBORATED).value == "[REDACTED_PII_CREDIT_CARD] is my Visa"


def test_a_card_word_counts_within_64_bytes_only() -> None:
    number = "1234567812345670"
    near, far = "é" * 29 + " ", "é" * 30 + " "  # 4 bytes of "card" and 59 or 61 of these
    assert scrub_text(f"card{' '}{near}{number}", CORROBORATED).value.endswith("[REDACTED_PII_CREDIT_CARD]")
    assert scrub_text(f"card{' '}{far}{number}", CORROBORATED).value.endswith(number)


def test_without_pii_only_credentials_go() -> None:
    assert scrub_text("123-45-6789 token=a", Policy(pii=False)).value == "123-45-6789 [REDACTED]"


def test_names_and_keys_may_hold_bare_cards_and_phones() -> None:
    bare = {"52998224725", "11222333000181", "4111111111111111"}
    for name, number in NUMBERS:
        assert has_likely_pii(f"user:{number}") == (number not in bare and name != "PHONE")


@pytest.mark.parametrize("text", ["jane@example.com", "write to j.d+x@mail.example.co.uk."])
def test_an_address_is_detected(text: str) -> None:
    assert has_likely_email(text)


@pytest.mark.parametrize("text", ["@example.com", "jane@example", "a @ b.com", "@jane", "x@1.2"])
def test_what_only_resembles_an_address_is_none(text: str) -> None:
    assert not has_likely_email(text)


@pytest.mark.parametrize("piece", ["1", "1 ", "1-", "AB12 ", "+1", "A", "uid ", "@a", "1.", "\u200b1"])
def test_a_hostile_row_of_digits_comes_to_an_end(piece: str) -> None:
    text = piece * 20_000
    assert not has_likely_email(text)
    assert scrub_text(text).report.text_redactions == 0
