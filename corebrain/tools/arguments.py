"""Reads a model's arguments strictly by the schema it was shown (spec 06 section 3)."""

from collections.abc import Mapping
from typing import Any

from corebrain.errors import InvalidRequest
from corebrain.model.instant import Instant
from corebrain.model.text import is_blank
from corebrain.tools.schemas import Schema

FORBIDDEN = frozenset({"namespace", "reach"})
"""Keys that would choose whose memory is touched; refused at any depth."""

_SHOWN = 60
_LONGEST_PATH = 300  # a model may nest without end; its path need not


def read_arguments(tool: str, schema: Schema, arguments: object) -> dict[str, Any]:
    """Return *arguments* as *schema* asks: absent and null fields left out, defaults filled in.

    Raises:
        InvalidRequest: what is wrong, led by the tool and the field.
    """
    if arguments is None:
        arguments = {}
    if not isinstance(arguments, Mapping):
        raise InvalidRequest(f"{tool}: the arguments are {_type(arguments)}, an object is needed")
    _confine(tool, arguments)
    try:
        read: dict[str, Any] = _object(schema, arguments, "")
    except _Problem as problem:
        raise InvalidRequest(f"{tool}: {problem}") from None
    return read


class _Problem(Exception):
    """A field and what is wrong with it."""

    def __init__(self, path: str, words: str) -> None:
        super().__init__(f"`{path}` {words}")


def _confine(tool: str, arguments: Mapping[str, Any]) -> None:
    """Refuse a choice of node anywhere, without recursion: a model may nest as deep as it likes."""
    pending: list[tuple[str, Any]] = [("", arguments)]
    while pending:
        path, value = pending.pop()
        chosen = next((key for key in value if key in FORBIDDEN), None) if isinstance(value, Mapping) else None
        if chosen is not None:
            raise InvalidRequest(f"{tool}: `{_join(path, chosen)}` is not yours to choose, the host fixes it")
        pending += _below(path, value)


def _below(path: str, value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, Mapping):
        return [(_join(path, key), below) for key, below in value.items()]
    if isinstance(value, list | tuple):
        return [(f"{path}[{index}]"[:_LONGEST_PATH], below) for index, below in enumerate(value)]
    return []


def _join(path: str, key: object) -> str:
    name = str(key)[:_SHOWN]
    return f"{path}.{name}"[:_LONGEST_PATH] if path else name


def _read(schema: Schema, value: Any, path: str) -> Any:
    match schema["type"]:
        case "object":
            if not isinstance(value, Mapping):
                raise _Problem(path, f"is {_type(value)}, an object is needed")
            return _object(schema, value, path)
        case "array":
            return _array(schema, value, path)
        case "string":
            return _string(schema, value, path)
        case _:
            return _number(schema, value, path)


def _object(schema: Schema, value: Mapping[str, Any], path: str) -> dict[str, Any]:
    properties: dict[str, Schema] = schema["properties"]
    required = schema.get("required", ())
    for key in value:
        if key not in properties:
            raise _Problem(_join(path, key), f"is unknown, the fields are {', '.join(properties)}")
    read: dict[str, Any] = {}
    for name, below in properties.items():
        field = _join(path, name)
        if value.get(name) is not None:
            read[name] = _read(below, value[name], field)
            if name in required and isinstance(read[name], str) and is_blank(read[name]):
                raise _Problem(field, "is blank")
        elif name in required:
            raise _Problem(field, "is missing")
        elif below.get("default") is not None:
            read[name] = below["default"]
    return read


def _array(schema: Schema, value: Any, path: str) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise _Problem(path, f"is {_type(value)}, an array is needed")
    least, most = schema.get("minItems", 0), schema.get("maxItems")
    if len(value) < least:
        raise _Problem(path, f"has {len(value)} entries, at least {least} is needed")
    if most is not None and len(value) > most:
        raise _Problem(path, f"has {len(value)} entries, at most {most} are allowed")
    return [_read(schema["items"], below, f"{path}[{index}]") for index, below in enumerate(value)]


def _string(schema: Schema, value: Any, path: str) -> Any:
    if not isinstance(value, str):
        raise _Problem(path, f"is {_type(value)}, a string is needed")
    known = schema.get("enum")
    if known is not None and value not in known:
        raise _Problem(path, f"is {value[:_SHOWN]!r}, none of {', '.join(known)}")
    if schema.get("format") == "date-time":
        try:
            return Instant.parse(value)
        except InvalidRequest as error:
            raise _Problem(path, f"is {error.message}") from None
    return value


def _number(schema: Schema, value: Any, path: str) -> Any:
    whole = schema["type"] == "integer"
    if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
        raise _Problem(path, f"is {_type(value)}, {'an integer' if whole else 'a number'} is needed")
    if not schema["minimum"] <= value <= schema["maximum"]:
        raise _Problem(path, f"is out of range, from {schema['minimum']} to {schema['maximum']} is allowed")
    return value


def _type(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list() | tuple():
            return "an array"
        case _:
            return "an object" if isinstance(value, Mapping) else "no JSON value"
