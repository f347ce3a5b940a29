import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from corebrain.contract import EngineDescriptor
from corebrain.engines.reference import ReferenceEngine
from corebrain.model.requests import FetchMode
from corebrain.tools import TOOL_NAMES, WRITE_TOOL_NAMES, MemoryTools
from corebrain.tools.schemas import tool_specs

FROZEN = json.loads(Path(__file__).with_name("schemas.json").read_text(encoding="utf-8"))


class OfModes(ReferenceEngine):
    def __init__(self, *modes: FetchMode) -> None:
        super().__init__()
        self._descriptor = EngineDescriptor(id="modes", label="m", description="d", fetch_modes=modes)


def objects(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        if schema.get("type") == "object":
            yield schema
        for below in schema.values():
            yield from objects(below)


def keys(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        yield from schema
        for below in schema.values():
            yield from keys(below)


def test_specs_are_the_frozen_ones() -> None:
    """Written anew only on purpose, by freeze_schemas.py."""
    assert [spec.to_dict() for spec in MemoryTools(ReferenceEngine()).specs()] == FROZEN


def test_seven_tools_in_their_order() -> None:
    assert [spec["name"] for spec in FROZEN] == list(TOOL_NAMES)
    assert len(TOOL_NAMES) == 7
    assert WRITE_TOOL_NAMES == ("memory_store", "memory_forget")


def test_read_only_tools_offer_no_writes() -> None:
    names = [spec.name for spec in MemoryTools(ReferenceEngine()).read_only().specs()]
    assert names == [name for name in TOOL_NAMES if name not in WRITE_TOOL_NAMES]


@pytest.mark.parametrize(
    ("modes", "default"),
    [
        ((FetchMode.KEYWORD,), "keyword"),
        ((FetchMode.VECTOR, FetchMode.KEYWORD), "vector"),
        ((FetchMode.KEYWORD, FetchMode.HYBRID), "hybrid"),
    ],
)
def test_fetch_offers_exactly_the_declared_modes(modes: tuple[FetchMode, ...], default: str) -> None:
    fetch = MemoryTools(OfModes(*modes)).specs()[1]
    assert fetch.parameters["properties"]["mode"] == {
        "type": "string",
        "enum": [mode.value for mode in modes],
        "default": default,
    }


def test_engine_without_modes_is_offered_without_fetch() -> None:
    assert "memory_fetch" not in [spec.name for spec in MemoryTools(OfModes()).specs()]


def test_every_object_is_closed_and_no_property_chooses_a_node() -> None:
    assert len(list(objects(FROZEN[0]["parameters"]))) == 2
    for spec in FROZEN:
        assert all(each["additionalProperties"] is False for each in objects(spec["parameters"]))
        assert not {"namespace", "reach"} & set(keys(spec["parameters"]))
    assert "namespace" not in FROZEN[4]["parameters"]["properties"]["facet"]["enum"]


def test_paging_tools_mention_the_cursor() -> None:
    assert all("cursor" in spec["description"] for spec in FROZEN if "cursor" in spec["parameters"]["properties"])


def test_what_a_host_does_to_a_schema_changes_nothing_that_is_checked() -> None:
    specs = tool_specs(tuple(FetchMode), writes=True)
    specs[2].parameters["properties"]["filter"]["properties"].clear()
    specs[3].parameters["properties"]["ids"]["maxItems"] = 10**6
    assert [spec.to_dict() for spec in tool_specs(tuple(FetchMode), writes=True)] == FROZEN
