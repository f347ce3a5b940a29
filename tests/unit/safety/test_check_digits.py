"""Check digits against numbers that others published with their schemes."""

import pytest

from corebrain.safety.check_digits import cnpj, cpf, dni, luhn, mod_97, verhoeff


@pytest.mark.parametrize("digits", ["2363", "123451", "1428570", "1234567890120", "847364309548372845678922"])
def test_verhoeff_accepts_the_examples_of_its_descriptions(digits: str) -> None:
    assert verhoeff(digits)
    assert not verhoeff(digits[1] + digits[0] + digits[2:])  # a swap of neighbours is what the scheme is for


def test_luhn_accepts_the_example_of_its_standard() -> None:
    assert luhn("79927398713")
    assert not luhn("79927398710")


@pytest.mark.parametrize("iban", ["GB82WEST12345698765432", "DE89370400440532013000", "FR1420041010050500013M02606"])
def test_mod_97_accepts_the_examples_of_the_registry(iban: str) -> None:
    assert mod_97(iban)
    assert not mod_97(iban[:4] + iban[5] + iban[4] + iban[6:])


def test_letters_and_digits_of_the_other_schemes() -> None:
    assert dni("12345678Z")
    assert dni("Y1234567X")
    assert dni("Z1234567R")
    assert cpf("52998224725")
    assert not cpf("52998224735")
    assert cnpj("11222333000181")
    assert not cnpj("11222333000191")
