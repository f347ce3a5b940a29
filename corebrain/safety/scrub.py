"""Scrub a text, an item of memory or a JSON value; nothing here fails, and nothing leaves the process."""

from typing import Any

from pydantic import JsonValue

from corebrain.model.item import Conversation, Document, Learning
from corebrain.safety.credentials import redact_credentials
from corebrain.safety.personal_numbers import redact_personal_numbers
from corebrain.safety.policy import Policy, SafetyReport, Sanitized

REDACTED_SECRET = "[REDACTED_SECRET]"  # noqa: S105 - the mark that stands in a secret's place
DEEPEST = 128
"""Levels of a JSON value that are read; the root is level 0."""

_SENSITIVE = frozenset(
    {
        "apikey", "authorization", "authorizationcode", "bearer", "codechallenge", "codeverifier", "credential",
        "credentials", "passphrase", "passwd", "secret", "token",
    }
)  # fmt: skip
_DEFAULT = Policy()


class _Scrubber:
    """One scrub: the policy, and the report as it grows."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.report = SafetyReport()

    def text(self, text: str) -> str:
        shown, report = redact_credentials(text)
        if self.policy.pii:
            shown, count = redact_personal_numbers(shown, self.policy)
            report += SafetyReport(pii_redactions=count)
        if report.changed():
            self.report += report
        return shown

    def optional(self, text: str | None) -> str | None:
        return None if text is None else self.text(text)

    def json(self, value: JsonValue, level: int) -> JsonValue:
        if level > DEEPEST:
            self.report += SafetyReport(depth_redactions=1)
            return REDACTED_SECRET
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list | tuple):  # a tuple is no JSON, and no way around either
            return [self.json(part, level + 1) for part in value]
        if isinstance(value, dict):
            return {key: self.under(key, part, level + 1) for key, part in value.items()}
        return value

    def under(self, key: str, value: JsonValue, level: int) -> JsonValue:
        if is_sensitive_key(key):
            self.report += SafetyReport(key_redactions=1)
            return REDACTED_SECRET
        return self.json(value, level)


def is_sensitive_key(key: str) -> bool:
    """Say whether the value under *key* is a secret whatever it is; case and punctuation do not count."""
    plain = "".join(sign for sign in key.lower() if sign.isalnum())
    return (
        plain in _SENSITIVE
        or plain.endswith(("token", "apikey", "clientsecret", "key"))
        or "password" in plain
        or "secret" in plain
    )


def scrub_text(text: str, policy: Policy = _DEFAULT) -> Sanitized[str]:
    """Redact private keys, credentials and, unless *policy* leaves them out, personal numbers from *text*."""
    scrubber = _Scrubber(policy)
    return Sanitized(scrubber.text(text), scrubber.report)


def scrub_item(
    item: Document | Conversation | Learning, policy: Policy = _DEFAULT
) -> Sanitized[Document | Conversation | Learning]:
    """Scrub what *item* says: title and text, turns, a learning with its evidence, and `meta.url`.

    A body's URI and the other metadata stay. An item with nothing to redact is returned as it is; a redacted one has
    another fingerprint.
    """
    scrubber = _Scrubber(policy)
    update: dict[str, Any] = {}
    if isinstance(item, Document):
        body = item.body.model_copy(update={"text": scrubber.optional(item.body.text)})
        update = {"title": scrubber.optional(item.title), "body": body}
    elif isinstance(item, Conversation):
        turns = (turn.model_copy(update={"text": scrubber.text(turn.text)}) for turn in item.turns)
        update = {"turns": tuple(turns)}
    else:
        update = {"text": scrubber.text(item.text), "evidence": scrubber.optional(item.evidence)}
    update["meta"] = item.meta.model_copy(update={"url": scrubber.optional(item.meta.url)})
    if not scrubber.report.changed():
        return Sanitized(item, scrubber.report)
    return Sanitized(item.model_copy(update=update), scrubber.report)


def sanitize_json(value: JsonValue, policy: Policy = _DEFAULT) -> Sanitized[JsonValue]:
    """Scrub every string of *value*; what stands under a sensitive key or below level 128 is replaced unread.

    Keys, numbers, booleans and null stay.
    """
    scrubber = _Scrubber(policy)
    return Sanitized(scrubber.json(value, 0), scrubber.report)
