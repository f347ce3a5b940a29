"""What every value of the contract is: immutable, compared by content, tolerant of unknown keys."""

from typing import TYPE_CHECKING, Any, ClassVar, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    ModelWrapValidatorHandler,
    SerializerFunctionWrapHandler,
    ValidationError,
    model_serializer,
    model_validator,
)
from pydantic_core import PydanticSerializationError

from corebrain.errors import InvalidRequest

_LONGEST = 300
"""Characters of a message: some quote what was given, which may be of any length."""


def told(error: ValidationError) -> str:
    """Return the first thing wrong in one line: the field, when there is one, and what it should have been."""
    first = error.errors(include_input=False, include_url=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    what = first["msg"].lower()[:_LONGEST]
    return f"{where}: {what}" if where else what


class Value(BaseModel):
    """An immutable value with a JSON form.

    Unknown keys are ignored and missing optional keys defaulted, as spec 01 asks of every reader.
    A value of the wrong shape raises `InvalidRequest` that names the field.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True, allow_inf_nan=True)

    omitted: ClassVar[frozenset[str]] = frozenset()
    """Fields left out of the JSON form while they hold their default."""

    if TYPE_CHECKING:  # what a subclass with an `__init__` of its own calls; at run time pydantic's

        def __init__(self, /, **fields: Any) -> None: ...

    @model_validator(mode="wrap")
    @classmethod
    def _refuse(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        try:
            return handler(data)
        except ValidationError as error:
            raise InvalidRequest(f"{cls.__name__}: {told(error)}") from None

    @model_serializer(mode="wrap")
    def _omit(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        written: dict[str, Any] = handler(self)
        fields = type(self).model_fields
        for name in self.omitted:
            if getattr(self, name) == fields[name].default:
                written.pop(name, None)
        return written

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form as plain dicts, lists, strings and numbers, keys in the order of the spec.

        Raises:
            InvalidRequest: a confidence is no finite number, which no JSON can carry.
        """
        try:
            return self.model_dump(mode="json")
        except PydanticSerializationError as error:
            raise self._unwritable(error) from error

    def to_json(self) -> str:
        """Return the JSON form as compact text.

        Raises:
            InvalidRequest: a text holds a lone surrogate, or a confidence is no finite number: no JSON can carry it.
        """
        try:
            return self.model_dump_json()
        except (UnicodeEncodeError, PydanticSerializationError) as error:
            raise self._unwritable(error) from error

    def _unwritable(self, error: Exception) -> InvalidRequest:
        return InvalidRequest(f"{type(self).__name__} cannot be written as JSON: {error}")

    @classmethod
    def from_dict(cls, data: object) -> Self:
        """Read the JSON form; raises `InvalidRequest` for a wrong shape."""
        return cls.model_validate(data)

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Read JSON text; raises `InvalidRequest` for bad JSON or a wrong shape."""
        try:
            return cls.model_validate_json(text)
        except ValidationError as error:
            raise InvalidRequest(f"{cls.__name__}: {told(error)}") from None
