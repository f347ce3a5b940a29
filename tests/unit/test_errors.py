"""The error tree: kinds, prefixes, what may be retried, and what a refusal advises."""

import copy
import pickle

import pytest

from corebrain import errors
from corebrain.errors import (
    ConfigError,
    Conflict,
    CorebrainError,
    Damaged,
    Empty,
    Encrypted,
    EngineError,
    InvalidRequest,
    NeedsOcr,
    NotFound,
    ParserDied,
    Refusal,
    TimedOut,
    TooLarge,
    Unauthorized,
    Unavailable,
    Unsupported,
    UnsupportedFormat,
)

KINDS = {
    Unsupported: "unsupported: ",
    InvalidRequest: "invalid request: ",
    Unauthorized: "unauthorized: ",
    NotFound: "not found: ",
    Conflict: "conflict: ",
    Unavailable: "unavailable: ",
    EngineError: "engine error: ",
    ConfigError: "configuration error: ",
}
REFUSALS = {
    Encrypted: InvalidRequest,
    NeedsOcr: InvalidRequest,
    TooLarge: InvalidRequest,
    Damaged: InvalidRequest,
    Empty: InvalidRequest,
    UnsupportedFormat: Unsupported,
    TimedOut: EngineError,
    ParserDied: EngineError,
}


def test_there_are_eight_kinds_and_every_other_error_is_one_of_them() -> None:
    every = {kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, CorebrainError)}
    assert set(CorebrainError.__subclasses__()) == {*KINDS, Refusal}
    assert every == {*KINDS, *REFUSALS, CorebrainError, Refusal}


@pytest.mark.parametrize(("kind", "prefix"), KINDS.items())
def test_an_error_prints_its_kind_and_its_message(kind: type[CorebrainError], prefix: str) -> None:
    error = kind("no such thing")
    assert str(error) == f"{prefix}no such thing"
    assert error.message == "no such thing"
    assert error.is_transient is (kind is Unavailable)


@pytest.mark.parametrize(("kind", "parent"), REFUSALS.items())
def test_a_refusal_is_of_its_kind_and_advises(kind: type[Refusal], parent: type[CorebrainError]) -> None:
    error = kind("page 3 is damaged")
    assert isinstance(error, parent)
    assert isinstance(error, Refusal)
    assert str(error) == f"{parent.prefix}: page 3 is damaged"
    assert error.advice == kind.advice != ""
    assert kind("x", advice="do this").advice == "do this"
    assert not error.advice.endswith(".")
    assert error.advice[0].islower()
    assert not error.is_transient


@pytest.mark.parametrize(
    "error",
    [
        InvalidRequest("x", index=3),
        Unavailable("x", retry_after_s=1.5),
        TooLarge("x", advice="split it"),
        NotFound("x"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_survives_being_copied_and_sent(error: CorebrainError) -> None:
    for again in (copy.copy(error), pickle.loads(pickle.dumps(error))):  # noqa: S301  # our own bytes
        assert type(again) is type(error)
        assert str(again) == str(error)
        assert vars(again) == vars(error)


def test_what_is_known_of_a_failure_stands_on_it() -> None:
    assert InvalidRequest("x").index is None
    assert InvalidRequest("x", index=0).index == 0
    assert Damaged("x").index is None
    assert Unavailable("x").retry_after_s is None
