"""How refs, facts and pinned fields stand in the state's JSON columns."""

import json
from datetime import datetime
from typing import Any

from connectors.contract import Ref
from pipeline.state.values import Fact, Pinned

_ENCODE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def ref_to_json(ref: Ref) -> str:
    """Write a ref; unset fields are left out."""
    return _ENCODE(
        {
            name: value.isoformat() if isinstance(value, datetime) else value
            for name in Ref.__slots__
            if (value := getattr(ref, name)) not in (None, "")
        }
    )


def ref_from_json(text: str) -> Ref:
    """Read what `ref_to_json` wrote."""
    fields: dict[str, Any] = json.loads(text)
    if "modified" in fields:
        fields["modified"] = datetime.fromisoformat(fields["modified"])
    return Ref(**{"token": None, **fields})


def pinned_to_json(pinned: Pinned) -> str:
    """Write pinned fields."""
    return _ENCODE({"commit": pinned.commit, "url": pinned.url, "tags": pinned.tags})


def pinned_from_json(text: str) -> Pinned:
    """Read what `pinned_to_json` wrote."""
    fields = json.loads(text)
    return Pinned(fields["commit"], fields["url"], tuple(fields["tags"]))


def facts_to_json(facts: tuple[Fact, ...]) -> str:
    """Write the items of a document, parent first; unset fields are left out."""
    return _ENCODE(
        [
            {name: value for name in Fact.__slots__ if (value := getattr(fact, name)) not in (None, "", ())}
            for fact in facts
        ]
    )


def facts_from_json(text: str) -> tuple[Fact, ...]:
    """Read what `facts_to_json` wrote."""
    return tuple(Fact(**{**fields, "tags": tuple(fields.get("tags", ()))}) for fields in json.loads(text))
