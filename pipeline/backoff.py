"""When something that failed is tried again."""

FIRST_S = 60.0
LONGEST_S = 24 * 3600.0
_JITTER = 0.2


def is_over(next_try: float, now: float) -> bool:
    """Whether the time of the next try has come; one that lies further ahead than any was set by a wrong clock."""
    return not now < next_try <= now + LONGEST_S * (1 + _JITTER)


def delay_s(attempts: int, chance: float) -> float:
    """Return the seconds until the next try: doubling from a minute to a day, up to a fifth more or less.

    Args:
        attempts: Failures so far, at least 1.
        chance: From 0 to 1; spreads tries that failed together.
    """
    plain = min(LONGEST_S, FIRST_S * 2.0 ** min(attempts - 1, 16))
    return plain * (1 - _JITTER + 2 * _JITTER * chance)
