"""Scrubbing any text: it never fails, changes nothing unreported and is done after one pass."""

import re

from hypothesis import given
from hypothesis import strategies as st

from corebrain.safety import Policy, has_likely_secret, sanitize_json, scrub_text
from corebrain.safety.check_digits import luhn, mod_97, verhoeff
from corebrain.safety.folding import fold

WORDS = ["token", "password", "api_key", "secret", "bearer", "Authorization", "sk-", "eyJ", "AKIA", "SG.", "+1", "4111"]
SIGNS = ["=", ":", " ", '"', "&", "\n", ".", "-", ",", "\u200b", "\u0661", "\u00e9", "[REDACTED]"]
WHOLES = ["a1b2c3d4e5f6g7h8", "https://h.example/secret/", "123-45-6789"]
KEYS = ["-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----"]
PIECES = st.sampled_from([*WORDS, *SIGNS, *WHOLES, *KEYS])
TEXTS = st.lists(PIECES | st.text(max_size=4), max_size=14).map("".join)
JSONS = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda parts: st.lists(parts, max_size=3) | st.dictionaries(TEXTS, parts, max_size=3),
)
MARK = re.compile(r"\[REDACTED(?:_[A-Z_]+)?\]")
SECRETS = Policy(pii=False)


@given(TEXTS)
def test_a_text_changes_exactly_when_the_report_says_so(text: str) -> None:
    sanitized = scrub_text(text)
    assert (sanitized.value != text) == sanitized.report.changed()


@given(TEXTS)
def test_a_second_scrub_finds_no_credential(text: str) -> None:
    once = scrub_text(text, SECRETS).value
    assert scrub_text(once, SECRETS).value == once
    assert not has_likely_secret(once)


@given(TEXTS)
def test_what_stays_is_the_original_piece_by_piece(text: str) -> None:
    kept = iter(text)
    if "[REDACTED" not in text:
        assert all(sign in kept for sign in MARK.sub("", scrub_text(text).value))


@given(JSONS)
def test_a_json_value_keeps_its_shape(value: object) -> None:
    sanitized = sanitize_json(value).value  # type: ignore[arg-type]  # Hypothesis cannot name the recursion
    assert type(sanitized) is type(value) or isinstance(sanitized, str)
    if isinstance(value, dict):
        assert isinstance(sanitized, dict)
        assert list(sanitized) == list(value)


@given(st.text())
def test_a_span_of_the_folded_copy_leads_back_to_its_text(text: str) -> None:
    folded = fold(text)
    for place in range(len(folded.text)):
        start, end = folded.original(place, place + 1)
        assert fold(text[start:end]).text == folded.text[place]


@given(st.text("0123456789", min_size=11, max_size=18), st.integers(0, 17), st.integers(1, 9))
def test_one_wrong_digit_never_passes_a_check(digits: str, place: int, by: int) -> None:
    place %= len(digits)
    for check in (luhn, verhoeff):
        [right] = [digits + last for last in "0123456789" if check(digits + last)]
        wrong = right[:place] + str((int(right[place]) + by) % 10) + right[place + 1 :]
        assert not check(wrong)


@given(st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ", min_size=2, max_size=2), st.text("0123456789", min_size=11, max_size=20))
def test_an_iban_passes_with_one_pair_of_check_digits_from_02_to_98(country: str, account: str) -> None:
    assert sum(mod_97(f"{country}{check:02}{account}") for check in range(2, 99)) == 1
