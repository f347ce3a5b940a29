"""The append-only log the CortexDB doubles serve: what the real one does, nothing made easy (spec 05 section 4)."""

import copy
import json
import re
import threading
import time
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]
TEXT_BYTES = 1_048_576
PACK = "pack_test"
_TRIM = re.compile(r"^[\W_]+|[\W_]+$")


class Refused(Exception):
    """A reply that is no success."""

    def __init__(self, status: int, code: str) -> None:
        super().__init__(f"{status} {code}")
        self.status = status
        self.code = code


@dataclass
class EventLog:
    """Events in the order they were written, the beliefs built from them, and the members of registered scopes.

    One lock makes every call one step.
    """

    events: list[Json] = field(default_factory=list)
    beliefs: list[Json] = field(default_factory=list)
    registered: dict[str, list[Any]] = field(default_factory=dict)
    keys: dict[str, Json] = field(default_factory=dict)
    lock: threading.RLock = field(default_factory=threading.RLock)
    counter: int = 0
    indexed_at: dict[str, float] = field(default_factory=dict)  # monotonic seconds, of events that were only accepted
    keeps_forgotten: bool = False  # whether a forget without a cascade leaves events where they are, as 0.10.5 does

    def append(self, body: Json) -> Json:
        """Add an event unless its key is known: the same text is a replay, another one a conflict."""
        text = body["content"]["text"]
        key = body.get("idempotency_key")
        if key is not None and len(key) > 64:
            raise Refused(422, "INVALID_ENVELOPE")
        if key is not None and key in self.keys:
            held = self.keys[key]
            if held["content"]["text"] != text:
                raise Refused(409, "IDEMPOTENCY_CONFLICT")
            return {"event_id": held["id"], "replayed_from_idempotency": True}
        if len(text.encode("utf-8")) > TEXT_BYTES:
            raise Refused(422, "INVALID_ENVELOPE")
        self.counter += 1
        event = copy.deepcopy(body)
        event["id"] = f"evt_{self.counter}"
        event["context"] = {**event.get("context", {}), "recorded_at": "2026-09-01T09:00:00Z"}
        self.events.append(event)
        if key is not None:
            self.keys[key] = event
        return {"event_id": event["id"], "status": "captured", "replayed_from_idempotency": False}

    def listing(self, scope: str, labels: list[str], limit: int, cursor: int) -> Json:
        """Return a page, newest first, every event twice; `limit` counts copies."""
        found = [event for event in self._readable() if event["scope"] == scope and _labelled(event, labels)]
        copies = [event for event in found for _ in range(2)]
        end = cursor + limit
        more = end < len(copies)
        return {"items": copies[cursor:end], "has_more": more, "next_cursor": str(end) if more else None}

    def pack(self, body: Json) -> Json:
        """Return a pack: the events that hold most of the query's words, newest first among equals."""
        limits = body.get("budgets", {}).get("per_layer_limits", {})
        labels = body.get("filters", {}).get("metadata", {}).get("labels", [])
        wanted = body.get("include", ["events"])
        scope, descends = body["scope"], body.get("view") == "descend"
        events = [each for each in self._readable() if _within(each["scope"], scope, descends=descends)]
        layers: Json = {}
        if "events" in wanted:
            kept = [each for each in events if _labelled(each, labels)]
            layers["events"] = _ranked(body["query"], kept, limits.get("events", 10))
        if "beliefs" in wanted and limits.get("beliefs"):
            held = [each for each in reversed(self.beliefs) if each["scope"] == scope]
            layers["beliefs"] = held[: limits["beliefs"]]
        return {"pack_id": PACK, "layers": layers}

    def _readable(self) -> list[Json]:
        """Return the events that are indexed, newest first."""
        now = time.monotonic()
        return [event for event in reversed(self.events) if self.indexed_at.get(event["id"], 0.0) <= now]

    def forget(self, body: Json) -> Json:
        """Remove named events of a scope; anything but `memory_ids` is an empty selector."""
        selector = body.get("selector") or {}
        ids, everything = selector.get("memory_ids") or [], body.get("confirm_all", False)
        if not ids and not everything:
            raise Refused(422, "EMPTY_SELECTOR_WITHOUT_CONFIRMATION")
        if ids and everything:
            raise Refused(400, "AMBIGUOUS_SELECTOR_CONFIRM_ALL")
        doomed = [e for e in self.events if e["scope"] == body["scope"] and (everything or e["id"] in ids)]
        if not self.keeps_forgotten or body.get("cascade") == "redact_events":
            self._remove(doomed)
        return {"forgotten": len(doomed)}

    def erase(self, scope: str) -> None:
        """Remove everything of a scope; its keys are free again."""
        self._remove([event for event in self.events if event["scope"] == scope])

    def _remove(self, doomed: list[Json]) -> None:
        ids = {event["id"] for event in doomed}
        self.events = [event for event in self.events if event["id"] not in ids]
        self.beliefs = [belief for belief in self.beliefs if belief["id"].removeprefix("belief_") not in ids]
        self.keys = {key: event for key, event in self.keys.items() if event["id"] not in ids}

    def build(self, scope: str) -> Json:
        """Add one belief for every event of the scope that has none."""
        if not scope.strip():
            raise Refused(422, "INVALID_SCOPE")
        held = {belief["id"] for belief in self.beliefs}
        sources = [event for event in self.events if event["scope"] == scope]
        built = [_belief(event) for event in sources if f"belief_{event['id']}" not in held]
        self.beliefs += built
        return {"built": len(built), "items": [], "facts_scanned": 0, "events_scanned": len(sources)}

    def scopes(self, prefix: str, limit: int) -> list[str]:
        """Return the scopes that hold events at or below *prefix*, sorted, and the empty registered ones."""
        held = {event["scope"] for event in self.events} | set(self.registered)
        return sorted(scope for scope in held if not prefix or _within(scope, prefix, descends=True))[:limit]

    def register(self, path: str, owner: str) -> None:
        """Register a scope with its owner; a registered one is a conflict."""
        if path in self.registered:
            raise Refused(409, "SCOPE_REGISTRATION_EXISTS")
        self.registered[path] = [owner]

    def pad(self, number: int) -> None:
        """Register this many empty scopes."""
        for each in range(number):
            self.registered[f"app:tinymemory/agent:pad-{each:04d}/app:learnings"] = []

    def lose_last(self, scope: str) -> None:
        """Drop the last event of a scope and its key, as a store that failed part way leaves it."""
        with self.lock:
            self._remove([[event for event in self.events if event["scope"] == scope][-1]])


def _labelled(event: Json, labels: list[str]) -> bool:
    return not labels or any(label in event["context"].get("labels", []) for label in labels)


def _within(scope: str, prefix: str, *, descends: bool) -> bool:
    return scope == prefix or (descends and scope.startswith(f"{prefix}/"))


def _ranked(query: str, events: list[Json], limit: int) -> list[Json]:
    words = [word for word in (_TRIM.sub("", part).lower() for part in query.split()) if len(word) >= 3]
    if not words:
        return events[:limit]
    scored = [(sum(word in event["content"]["text"].lower() for word in words), event) for event in events]
    scored.sort(key=lambda pair: -pair[0])
    return [event for score, event in scored if score > 0][:limit]


def _belief(event: Json) -> Json:
    return {
        "id": f"belief_{event['id']}",
        "scope": event["scope"],
        "claim": {
            "subject": {"name": "user"},
            "predicate": "said",
            "object": {"value": _own_text(event["content"]["text"])},
        },
        "stance": "supported",
        "confidence": 0.9,
        "valid_from": "2026-09-01T09:00:00Z",
    }


def _own_text(text: str) -> str:
    """Return the item's text: an envelope that stands in the event's text holds it."""
    if not text.startswith('{"v":2,'):
        return text
    return str(json.loads(text)["text"])
