"""A web source in `brain.toml`."""

from pathlib import Path

import pytest

from connectors.contract import Confirms, Connector
from connectors.errors import ConfigError
from connectors.registry import config_model, make
from connectors.web.connector import WebConnector

START = {"start": ["https://docs.example/"]}


def test_kind_is_made_from_its_table(tmp_path: Path) -> None:
    made = make("web", "docs", {**START, "languages": ["EN-gb"], "query": ["id"], "ca": "own.pem"}, base=tmp_path)
    assert isinstance(made, WebConnector)
    assert isinstance(made, Connector)
    assert isinstance(made, Confirms)
    assert (made.name, str(made.source), made.requests) == ("docs", "web", 0)
    assert made._habits.languages == {"en"}


@pytest.mark.parametrize(
    "table",
    [
        {},
        {"start": []},
        {"start": ["docs"]},
        {**START, "allow_private": ["wiki"]},
        {**START, "proxy": "socks://p:1"},
        {**START, "interval_s": -1},
        {**START, "incude": ["x"]},
        {**START, "agent": "two words"},
    ],
)
def test_wrong_table_is_a_config_error(table: dict[str, object]) -> None:
    with pytest.raises(ConfigError):
        make("web", "docs", table)


def test_secrets_are_never_shown() -> None:
    model = config_model("web").model_validate({**START, "authorization": "canary", "proxy": "http://u:canary@p:1"})
    assert "canary" not in f"{model!r} {model}"
    connector = make("web", "docs", {**START, "authorization": "canary"})
    assert "canary" not in repr(vars(connector))
