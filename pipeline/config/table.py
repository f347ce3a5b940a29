"""What every table of `brain.toml` is."""

from typing import Any

from pydantic import BaseModel, ConfigDict

EXPANDED: Any = {"variables": True}
"""`json_schema_extra` of a field whose value may hold `${VAR}`; a `SecretStr` may without it."""


class Table(BaseModel):
    """A table of the file: immutable, unknown keys refused, no value in an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)
