"""The check digits of personal numbers. Every function takes ASCII digits (and letters where the number has them)."""

_LUHN_DOUBLED = str.maketrans("0123456789", "0246813579")
_IBAN_NUMBERS = {ord(sign): str(int(sign, 36)) for sign in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}
_VERHOEFF_TIMES = (
    "0123456789", "1234067895", "2340178956", "3401289567", "4012395678",
    "5987604321", "6598710432", "7659821043", "8765932104", "9876543210",
)  # fmt: skip
_VERHOEFF_PLACES = (
    "0123456789", "1576283094", "5803796142", "8916043527",
    "9453126870", "4286573901", "2793806415", "7046913258",
)  # fmt: skip
_DNI_LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE"


def luhn(digits: str) -> bool:
    """Say whether the last of *digits* is right by ISO/IEC 7812-1 (Luhn)."""
    doubled = digits[-2::-2].translate(_LUHN_DOUBLED)
    return (sum(map(int, digits[-1::-2])) + sum(map(int, doubled))) % 10 == 0


def verhoeff(digits: str) -> bool:
    """Say whether the last of *digits* is right by Verhoeff's dihedral scheme."""
    check = 0
    for place, digit in enumerate(reversed(digits)):
        check = int(_VERHOEFF_TIMES[check][int(_VERHOEFF_PLACES[place % 8][int(digit)])])
    return check == 0


def _weighted(digits: str, weights: tuple[int, ...]) -> int:
    return sum(int(digit) * weight for digit, weight in zip(digits, weights, strict=True)) % 11


def _brazilian(digits: str, first: tuple[int, ...], second: tuple[int, ...]) -> bool:
    if len(set(digits)) == 1:  # the sums hold, and no such number is issued
        return False
    for weights in (first, second):
        rest = _weighted(digits[: len(weights)], weights)
        if int(digits[len(weights)]) != (0 if rest < 2 else 11 - rest):
            return False
    return True


def cpf(digits: str) -> bool:
    """Say whether both check digits of a CPF's 11 digits are right (mod 11)."""
    return _brazilian(digits, tuple(range(10, 1, -1)), tuple(range(11, 1, -1)))


def cnpj(digits: str) -> bool:
    """Say whether both check digits of a CNPJ's 14 digits are right (mod 11)."""
    tail = tuple(range(9, 1, -1))
    return _brazilian(digits, (5, 4, 3, 2, *tail), (6, 5, 4, 3, 2, *tail))


def cuit(digits: str) -> bool:
    """Say whether the check digit of a CUIT's 11 digits is right (mod 11)."""
    rest = _weighted(digits[:10], (5, 4, 3, 2, 7, 6, 5, 4, 3, 2))
    return int(digits[10]) == (11 - rest) % 11


def mod_97(iban: str) -> bool:
    """Say whether the check digits of an upper-case IBAN without spaces are right (ISO 13616)."""
    return int((iban[4:] + iban[:4]).translate(_IBAN_NUMBERS)) % 97 == 1


def dni(number: str) -> bool:
    """Say whether the letter of a Spanish DNI or NIE (9 signs, upper case) is right."""
    digits = number[:-1].translate(str.maketrans("XYZ", "012"))
    return _DNI_LETTERS[int(digits) % 23] == number[-1]
