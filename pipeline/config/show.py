"""What is configured, defaults filled in; nothing a variable or a secret holds is shown."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from pipeline.config.models import Config, SourceConfig
from pipeline.config.variables import holds_variables, is_secret

MASK = "**********"


def resolved(config: Config) -> dict[str, Any]:
    """Return the tables in force: keys with their defaults, unset ones left out.

    A field that may hold variables is shown as it is written, so that a variable's value stays out of sight; a secret
    that is written out is masked.
    """
    written = config.written
    documents = _table(config.documents, _part(written, "documents"))
    return {
        "brain": _table(config.brain, _part(written, "brain")),
        "engine": _table(config.engine, _part(written, "engine")),
        "context": _table(config.context, _part(written, "context")),
        "documents": {**documents, **config.documents.parsers},
        "sources": {name: _source(source) for name, source in config.sources.items()},
    }


def _part(written: Mapping[str, object], name: str) -> Mapping[str, object]:
    table = written.get(name, {})
    return table if isinstance(table, Mapping) else {}


def _source(source: SourceConfig) -> dict[str, Any]:
    return {**_table(source.keys, source.written), **_table(source.own, source.written)}


def _table(model: BaseModel, written: Mapping[str, object]) -> dict[str, Any]:
    plain = {name: value for name, value in model.model_dump(mode="json").items() if value is not None}
    for name, field in type(model).model_fields.items():
        if name in plain and holds_variables(field):
            plain[name] = _hidden(written.get(name, plain[name]), secret=is_secret(field.annotation))
    return plain


def _hidden(value: object, *, secret: bool) -> object:
    """Return the value as written; a secret only when it is nothing but variables."""
    if not secret:
        return value
    if isinstance(value, list):
        return [_hidden(part, secret=secret) for part in value]
    text = str(value)
    bare = text.startswith("${") and text.endswith("}") and text.count("{") == 1 and ":-" not in text
    return text if bare else MASK
