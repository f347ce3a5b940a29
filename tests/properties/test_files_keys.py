import os
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from connectors.files.keys import locator_for, name_keys, raw_path_of

# Small alphabets make twins likely: letters in both Unicode forms, lone bytes, the suffix itself.
_pieces = st.sampled_from([b"a", b"K", b"\xe2\x84\xaa", b"e", b"\xcc\x81", b"\xc3\xa9", b"\xe9", b"\xff", b"~", b"0f"])
_names = st.lists(_pieces, min_size=1, max_size=5).map(lambda parts: os.fsdecode(b"".join(parts)))
_folders = st.lists(_names, max_size=12, unique=True)


@given(_folders)
def test_every_name_has_its_own_nfc_key_that_is_valid_text(names: list[str]) -> None:
    keys = name_keys(names)
    assert set(keys) == set(names)
    assert len(set(keys.values())) == len(names)
    for key in keys.values():
        assert unicodedata.is_normalized("NFC", key)
        key.encode("utf-8")


@given(_folders, st.randoms())
def test_keys_do_not_depend_on_the_order_of_the_listing(names: list[str], random: object) -> None:
    shuffled = list(names)
    random.shuffle(shuffled)  # type: ignore[attr-defined]  # Hypothesis hands over a random.Random
    assert name_keys(shuffled) == name_keys(names)


@given(_folders)
def test_ascii_names_and_first_readings_are_their_own_keys(names: list[str]) -> None:
    keys = name_keys(names)
    assert all(keys[name] == name for name in names if name.isascii())


@given(st.lists(_names, min_size=1, max_size=4), st.text(min_size=1))
def test_locator_leads_back_to_the_raw_path(names: list[str], key: str) -> None:
    raw = "/".join(names)
    locator = locator_for(raw, key)
    assert locator.isascii()
    assert raw_path_of(locator, key) == raw


@given(st.binary(min_size=1, max_size=30).filter(lambda raw: b"\0" not in raw))
def test_any_bytes_survive_the_locator(raw: bytes) -> None:
    name = os.fsdecode(raw)
    assert raw_path_of(locator_for(name, "other"), "other") == name
