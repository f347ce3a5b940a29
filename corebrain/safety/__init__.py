"""On-device redaction of credentials and personal numbers, by patterns and check digits."""

from typing import Final

from corebrain.safety.credentials import has_likely_secret
from corebrain.safety.personal_numbers import has_likely_email, has_likely_pii
from corebrain.safety.policy import BareCard, Policy, SafetyReport, Sanitized
from corebrain.safety.scrub import sanitize_json, scrub_item, scrub_text

VERSION: Final = 1
"""Grows whenever a text may come out otherwise than before."""

__all__ = [
    "VERSION",
    "BareCard",
    "Policy",
    "SafetyReport",
    "Sanitized",
    "has_likely_email",
    "has_likely_pii",
    "has_likely_secret",
    "sanitize_json",
    "scrub_item",
    "scrub_text",
]
