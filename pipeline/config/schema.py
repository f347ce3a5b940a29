"""The JSON Schema of `brain.toml`, for editors."""

from typing import Any

from connectors import registry
from connectors.errors import ConfigError
from corebrain.documents.registry import CHOICES, PARSERS
from pipeline.config.engine_tables import ENGINES
from pipeline.config.load import MAX_NAME
from pipeline.config.models import BrainTable, ContextTable, DocumentsTable, SourceTable

DRAFT = "https://json-schema.org/draft/2020-12/schema"


def json_schema() -> dict[str, Any]:
    """Return the schema of the whole file: every table, every kind of source that is installed."""
    return {
        "$schema": DRAFT,
        "title": "brain.toml",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "brain": BrainTable.model_json_schema(),
            "engine": {"oneOf": [model.model_json_schema() for model in ENGINES.values()]},
            "context": ContextTable.model_json_schema(),
            "documents": _documents(),
            "sources": {
                "type": "object",
                "propertyNames": {"pattern": "^[\\p{L}\\p{N}][\\p{L}\\p{N}_.-]*$", "maxLength": MAX_NAME},
                "additionalProperties": {"oneOf": [_source(kind) for kind in _kinds()]},
            },
        },
    }


def _documents() -> dict[str, Any]:
    schema = DocumentsTable.model_json_schema()
    schema["properties"].pop("parsers", None)
    for name, parsers in PARSERS.items():
        choices = [parser.name for parser in (*parsers, *CHOICES.get(name, ()))]
        schema["properties"][name] = {"enum": ["auto", *choices], "description": f"The parser of {name} files."}
    return schema


def _kinds() -> list[str]:
    """Return the kinds whose packages can be loaded; a broken one costs only itself."""
    usable = []
    for kind in registry.kinds():
        try:
            registry.config_model(kind)
        except ConfigError:
            continue
        usable.append(kind)
    return usable


def _source(kind: str) -> dict[str, Any]:
    ours, theirs = SourceTable.model_json_schema(), registry.config_model(kind).model_json_schema()
    schema: dict[str, Any] = {
        "title": kind,
        "type": "object",
        "additionalProperties": False,
        "properties": {**ours["properties"], **theirs["properties"], "kind": {"const": kind}},
        "required": ["kind", *theirs.get("required", [])],
    }
    definitions = {**ours.get("$defs", {}), **theirs.get("$defs", {})}
    return {**schema, "$defs": definitions} if definitions else schema
