import pytest

from connectors.contract import Confirms, Connector, Failed, Watches, absent, within
from connectors.errors import (
    AuthError,
    ConfigError,
    ConnectorError,
    DocumentError,
    DocumentGone,
    DocumentRefused,
    Unavailable,
)
from connectors.files.connector import FilesConnector
from connectors.testing.scripted import ConfirmingConnector, ScriptedConnector


@pytest.mark.parametrize(
    ("scope", "key", "inside"),
    [
        ("", "a.md", True),
        ("", "a/", True),
        ("a/", "a/b.md", True),
        ("a/", "a/b/c.md", True),
        ("a/", "a/", True),
        ("a/", "a", False),
        ("a/", "ab/c.md", False),
        ("a", "a", True),
        ("a", "a/b.md", False),
        ("a", "", False),
        ("a/", "", False),
    ],
)
def test_scope_is_everything_a_key_or_a_prefix_ending_in_a_slash(scope: str, key: str, inside: bool) -> None:
    assert within(scope, key) is inside


@pytest.mark.parametrize(
    ("completed", "failed", "gone"),
    [
        ([""], [], True),
        ([], [], False),
        (["a/"], [], True),
        (["b/"], [], False),
        ([""], ["a/"], False),
        ([""], ["a/b.md"], False),
        ([""], ["b/"], True),
        (["", "a/"], [""], False),
        (["a/b.md"], [], True),
    ],
)
def test_unseen_key_is_absent_below_a_complete_and_below_no_failed(
    completed: list[str], failed: list[str], gone: bool
) -> None:
    assert absent("a/b.md", completed, failed) is gone


def test_failed_carries_how_long_the_source_asked_to_wait() -> None:
    assert Failed("a/", Unavailable("slow down", retry_after_s=12.5)).retry_after_s == 12.5
    assert Failed("a/", Unavailable("down")).retry_after_s is None
    assert Failed("a/", AuthError("no")).retry_after_s is None


def test_powers_are_told_by_their_methods() -> None:
    assert isinstance(ScriptedConnector(), Connector)
    assert isinstance(FilesConnector("handbook"), Connector)
    assert not isinstance(ScriptedConnector(), Confirms)
    assert isinstance(ConfirmingConnector(), Confirms)
    assert isinstance(FilesConnector("handbook"), Watches)
    assert not isinstance(ScriptedConnector(), Watches)


def test_error_tree_tells_never_start_stop_pause_and_set_aside_apart() -> None:
    assert {error.__bases__[0] for error in (ConfigError, AuthError, Unavailable, DocumentError)} == {ConnectorError}
    assert {error.__bases__[0] for error in (DocumentGone, DocumentRefused)} == {DocumentError}


def test_refusal_says_why_and_what_to_do() -> None:
    refused = DocumentRefused("a.pdf is too large", "split it")
    assert (str(refused), refused.reason, refused.advice) == ("a.pdf is too large", "a.pdf is too large", "split it")
    assert DocumentGone("a.pdf vanished").advice == ""
