import os

import pytest

from connectors.files.keys import locator_for, name_keys, raw_path_of, readable

NFC, NFD = "caf\u00e9.md", "cafe\u0301.md"


def fnv1a(raw: bytes) -> str:
    value = 0x811C9DC5
    for byte in raw:
        value = ((value ^ byte) * 0x01000193) % 2**32
    return f"{value:08x}"


def test_name_becomes_nfc() -> None:
    assert name_keys([NFD]) == {NFD: NFC}


def test_later_twin_in_byte_order_gets_the_hash_of_its_raw_bytes() -> None:
    assert NFD.encode() < NFC.encode()
    assert name_keys([NFC, NFD]) == {NFD: NFC, NFC: f"{NFC}~{fnv1a(NFC.encode())}"}


def test_broken_bytes_become_the_replacement_character_and_stay_apart() -> None:
    first, second = os.fsdecode(b"caf\xe8.md"), os.fsdecode(b"caf\xe9.md")
    assert name_keys([second, first]) == {
        first: "caf\ufffd.md",
        second: f"caf\ufffd.md~{fnv1a(b'caf' + bytes([0xE9]) + b'.md')}",
    }


def test_byte_order_is_that_of_the_disk_not_of_the_surrogates() -> None:
    literal, broken, low = "\ufffd", os.fsdecode(b"\xff"), os.fsdecode(b"\x80")
    keys = name_keys([broken, literal, low])
    assert list(keys) == [low, literal, broken]
    assert keys[low] == "\ufffd"


def test_ascii_name_keeps_its_key_whatever_reads_like_it() -> None:
    kelvin = "\u212a.md"  # NFC of the Kelvin sign is the letter K
    suffixed = f"K.md~{fnv1a(kelvin.encode())}"
    keys = name_keys([kelvin, "K.md", suffixed])
    assert keys["K.md"] == "K.md"
    assert keys[suffixed] == suffixed
    assert keys[kelvin] == f"{suffixed}~{fnv1a(kelvin.encode())}"


def test_readable_never_holds_a_surrogate() -> None:
    assert readable(os.fsdecode(b"\xff\xfe")) == "\ufffd\ufffd"


@pytest.mark.parametrize("raw", ["a/b.md", NFC, "100%.md", "a%20b"])
def test_key_that_is_the_raw_path_needs_no_locator(raw: str) -> None:
    assert locator_for(raw, raw) == ""
    assert raw_path_of("", raw) == raw


def test_locator_is_the_raw_path_percent_encoded() -> None:
    raw = os.fsdecode(b"a b/caf\xe9%.md")
    locator = locator_for(raw, "a b/caf\ufffd%.md")
    assert locator == "a%20b/caf%E9%25.md"
    assert raw_path_of(locator, "a b/caf\ufffd%.md") == raw
