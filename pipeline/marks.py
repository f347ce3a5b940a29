"""Which records a scan has seen."""

_GROWTH = 4096


class Marks:
    """One bit for each held row a scan has seen: flat memory however large the source, 1 MB for eight million."""

    def __init__(self) -> None:
        self.bits = bytearray()
        self.count = 0

    def add(self, row: int) -> bool:
        """Mark a record's row; returns whether it was not marked yet."""
        byte, mask = row >> 3, 1 << (row & 7)
        if byte >= len(self.bits):
            self.bits.extend(bytes(byte + _GROWTH - len(self.bits)))
        if self.bits[byte] & mask:
            return False
        self.bits[byte] |= mask
        self.count += 1
        return True
