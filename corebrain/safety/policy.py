"""What a scrub looks for, and what it says it found."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

from corebrain.model.value import Value

T = TypeVar("T")


class BareCard(StrEnum):
    """What a card number without spaces or dashes must show besides its Luhn digit."""

    LUHN_ONLY = "luhn_only"
    CORROBORATED = "corroborated"


class Policy(Value):
    """How a text is scrubbed.

    `bare_card` is `LUHN_ONLY` by default; `CORROBORATED` also wants a real network prefix at an issued length, or a
    card keyword within 64 bytes. `pii` switched off leaves stage 4 out: only credentials are redacted.
    """

    bare_card: BareCard = BareCard.LUHN_ONLY
    pii: bool = True


class SafetyReport(Value):
    """How much was redacted, and of what sort.

    `blocked_secret_hits` counts whole private-key blocks, `text_redactions` credentials within texts,
    `pii_redactions` personal numbers, `key_redactions` JSON values under a sensitive key, `depth_redactions` JSON
    values nested too deep to be read.
    """

    blocked_secret_hits: int = 0
    text_redactions: int = 0
    pii_redactions: int = 0
    key_redactions: int = 0
    depth_redactions: int = 0

    def changed(self) -> bool:
        """Say whether anything at all was redacted."""
        return self != SafetyReport()

    def __add__(self, other: "SafetyReport") -> "SafetyReport":
        return SafetyReport(
            blocked_secret_hits=self.blocked_secret_hits + other.blocked_secret_hits,
            text_redactions=self.text_redactions + other.text_redactions,
            pii_redactions=self.pii_redactions + other.pii_redactions,
            key_redactions=self.key_redactions + other.key_redactions,
            depth_redactions=self.depth_redactions + other.depth_redactions,
        )


@dataclass(frozen=True, slots=True)
class Sanitized(Generic[T]):
    """A value that was scrubbed, and the report on it."""

    value: T
    report: SafetyReport
