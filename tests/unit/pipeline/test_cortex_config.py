"""`[engine] kind = "cortexdb"` and `"tinyhumans"`: what may be written, what is refused, what is never shown."""

import json
from pathlib import Path

import pytest

from corebrain.engines.cortexdb.engine import CortexEngine
from corebrain.engines.cortexdb.hosted import TinyHumansEngine
from corebrain.engines.registry import build_engine
from pipeline.config.engine_tables import CortexEngineTable, TinyHumansEngineTable
from pipeline.config.load import parsed
from pipeline.config.models import Config
from pipeline.config.schema import json_schema
from pipeline.config.show import resolved
from pipeline.errors import SetupError

VARIABLES = {"KEY": "canary-key", "TENANT": "canary-tenant", "URL": "http://127.0.0.1:9"}


def config(engine: str) -> Config:
    return parsed(f"[engine]\n{engine}\n", Path("brain.toml"), variables=VARIABLES)


def test_a_cortexdb_table_makes_its_engine_and_shows_no_secret() -> None:
    read = config(
        'kind = "cortexdb"\nkey = "${KEY}"\nendpoint = "${URL}/base"\nscope_root = "org:42"\n'
        'retired_scope_root = "org:1"\nscope_owner = "user:7"\nconsolidation = "none"\n'
        'headers = { X-Tenant = "${TENANT}" }'
    )
    assert isinstance(read.engine, CortexEngineTable)
    settings = read.engine.settings(read.data)
    assert settings["credential"] == "canary-key"
    assert settings["headers"] == {"X-Tenant": "canary-tenant"}
    assert read.engine.place == "http://127.0.0.1:9/base org:42"
    with build_engine(read.engine.kind, **settings) as engine:
        assert isinstance(engine, CortexEngine)
        assert engine.descriptor.consolidation.value == "none"
    shown = json.dumps(resolved(read)) + repr(read) + read.engine.model_dump_json()
    assert "canary" not in shown
    assert '"key": "${KEY}"' in shown


def test_a_tinyhumans_table_makes_its_engine() -> None:
    read = config('kind = "tinyhumans"\ntoken = "${KEY}"\ntenant_root = true')
    assert isinstance(read.engine, TinyHumansEngineTable)
    assert read.engine.place == "the managed API the tenant's root"
    with build_engine(read.engine.kind, **read.engine.settings(read.data)) as engine:
        assert isinstance(engine, TinyHumansEngine)


@pytest.mark.parametrize(
    ("engine", "told"),
    [
        ('kind = "cortexdb"', r"\[engine\] needs the key key"),
        ('kind = "cortexdb"\nkey = " "', "it is blank"),
        ('kind = "cortexdb"\nkey = "${ABSENT}"', "variable ABSENT is not set"),
        ('kind = "cortexdb"\nkey = "k"\nend_point = "x"', "end_point is no known key; did you mean 'endpoint'"),
        ('kind = "tinyhumans"\nkey = "k"', "key is no known key"),
        ('kind = "cortex"', "no engine 'cortex'; did you mean 'cortexdb'"),
    ],
)
def test_what_is_wrong_is_named_with_its_key(engine: str, told: str) -> None:
    with pytest.raises(SetupError, match=told):
        config(engine)


def test_the_schema_knows_every_engine() -> None:
    kinds = [engine["properties"]["kind"]["const"] for engine in json_schema()["properties"]["engine"]["oneOf"]]
    assert kinds == ["local", "reference", "cortexdb", "tinyhumans"]
