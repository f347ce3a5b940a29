"""The eval is whole, its grades mean what they say, and the reference engine keeps its gates (times apart)."""

import importlib.util
import json
import subprocess
import sys
import threading
import tomllib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from corebrain.contract import Item
from corebrain.engines.reference import ReferenceEngine
from corebrain.errors import EngineError
from corebrain.model.requests import (
    ConsolidateReceipt,
    ConsolidateRequest,
    ForgetReport,
    ForgetTarget,
    StoreReceipt,
    WriteOptions,
)

ROOT = Path(__file__).parents[3]
SCRIPT = ROOT / "benchmarks" / "memory_eval.py"
SCENARIOS = tomllib.loads(SCRIPT.with_suffix(".toml").read_text(encoding="utf-8"))["scenario"]


@pytest.fixture(scope="module")
def evaluation() -> ModuleType:
    spec = importlib.util.spec_from_file_location("memory_eval", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["memory_eval"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def test_nine_scenarios_hold_the_probes_the_reference_counts() -> None:
    probes = [probe for scenario in SCENARIOS for probe in scenario["probe"]]
    scored = [probe for probe in probes if probe.get("expects")]
    assert (len(SCENARIOS), len(probes), len(scored)) == (9, 39, 38)
    assert sum(probe["style"] == "lexical" for probe in scored) == 25
    assert sum("forbids" in probe for probe in probes) == 3
    assert sum("stale" in probe for probe in probes) == 5


def test_reference_engine_keeps_its_gates(evaluation: ModuleType) -> None:
    found = evaluation.summary(evaluation.evaluate("reference", SCENARIOS, None, 0))
    assert found["leaks"] == 0
    assert found["pack_hit"] >= 92
    assert found["pack_hit_synthesis"] >= 92


def test_local_engine_leaks_nothing_and_finds_whatever_shares_words_with_the_question(evaluation: ModuleType) -> None:
    run = evaluation.evaluate("local", SCENARIOS, None, 0)
    lexical = [outcome for outcome in run.outcomes if outcome["style"] == "lexical"]
    assert evaluation.summary(run)["leaks"] == 0
    assert evaluation.percent(lexical, "hit") >= 92


def test_grades_of_a_pack(evaluation: ModuleType) -> None:
    pack = (
        "# Memory\n\n## A\n\nThe budget was\n4000 dollars.\n\n## B\n\n- Budget of 7200 dollars\n- the current budget\n"
    )
    probe: dict[str, Any] = {"question": "What is the budget in dollars?", "expects": ["7200"], "stale": ["4000"]}
    assert evaluation.pieces(pack) == [
        "The budget was 4000 dollars.",
        "- Budget of 7200 dollars",
        "- the current budget",
    ]
    assert evaluation.grade(probe | {"forbids": ["CURRENT"]}, pack, lambda *_: "7200 then 4000") == {
        "leak": True,
        "hit": True,
        "reciprocal_rank": 0.5,
        "extractive": False,
        "model": False,
        "answer": "7200 then 4000",
        "fresh_first": False,
    }
    assert evaluation.grade({**probe, "forbids": ["x"]}, "- dollars: 7200", None) == {
        "leak": False,
        "hit": True,
        "reciprocal_rank": 1.0,
        "extractive": True,
        "fresh_first": True,
    }
    assert evaluation.grade({"question": "q", "expects": ["x"]}, "", None)["reciprocal_rank"] == 0.0


def test_model_that_is_named_reads_every_pack(evaluation: ModuleType) -> None:
    asked: list[dict[str, Any]] = []

    class Model(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            asked[-1]["key"] = self.headers["authorization"]
            if len(asked) == 2:
                self.send_error(429)
                return
            body = json.dumps(
                {"choices": [{"message": {"content": "Check the customer's region, in euros."}}]}
            ).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the base class's name
            """Stay silent."""

    scenarios = [scenario for scenario in SCENARIOS if scenario["name"] == "learnings"]
    with ThreadingHTTPServer(("127.0.0.1", 0), Model) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            reader = evaluation.model_reader(f"http://127.0.0.1:{server.server_port}/v1/", "small", "k3y", 0.0)
            run = evaluation.evaluate("reference", scenarios, reader, 0)
        finally:
            server.shutdown()
            thread.join()
    assert evaluation.percent(run.outcomes, "model") == 100
    assert len(asked) == 5, "one was busy and asked again"
    assert (asked[0]["model"], asked[0]["temperature"], asked[0]["key"]) == ("small", 0, "Bearer k3y")
    assert asked[0]["messages"][1]["content"].startswith("# Memory\n")
    assert asked[0]["messages"][1]["content"].endswith("Question: Can you promise a delivery date?")


def test_probe_is_one_call_that_is_a_replay_when_probed_again(evaluation: ModuleType) -> None:
    class Counting(ReferenceEngine):
        def __init__(self) -> None:
            super().__init__()
            self.probed: list[bool] = []
            self.forgets = 0

        def store_with(self, item: Item, options: WriteOptions) -> StoreReceipt:
            receipt = super().store_with(item, options)
            if (item.meta.thread_id or "").startswith("probe-"):
                self.probed.append(receipt.replayed)
            return receipt

        def forget(self, target: ForgetTarget) -> ForgetReport:
            self.forgets += 1
            return super().forget(target)

    engine = Counting()
    (learnings,) = [scenario for scenario in SCENARIOS if scenario["name"] == "learnings"]
    evaluation.Stage(engine, learnings, evaluation.Run("counting")).play(None, 0)
    assert engine.probed == [False, False, True, True]
    assert (engine.forgets, len(engine)) == (1, 0)


def test_engine_that_breaks_midway_is_left_empty(evaluation: ModuleType) -> None:
    class Broken(ReferenceEngine):
        def consolidate(self, request: ConsolidateRequest) -> ConsolidateReceipt:
            raise EngineError(f"no build of {request.reach.at}")

    engine = Broken()
    with pytest.raises(EngineError):
        evaluation.Stage(engine, SCENARIOS[0], evaluation.Run("broken")).play(None, 0)
    assert len(engine) == 0


def test_engine_of_a_configuration_is_measured_at_a_fresh_place(evaluation: ModuleType, tmp_path: Path) -> None:
    file = tmp_path / "brain.toml"
    file.write_text('[brain]\ndata = "held"\n\n[engine]\nkind = "local"\n\n[sources.gone]\nkind = "none"\n')
    scenarios = [scenario for scenario in SCENARIOS if scenario["name"] == "learnings"]
    run = evaluation.evaluate(str(file), scenarios, None, None)
    assert run.engine == "local"
    assert evaluation.percent(run.outcomes, "hit") == 100
    assert list(tmp_path.iterdir()) == [file]


def test_leak_fails_a_run(evaluation: ModuleType) -> None:
    clean = {"engine": "other", "leaks": 0}
    good = {"engine": "reference", "leaks": 0, "pack_hit": 95, "pre_turn_p95_ms": 1, "post_turn_p50_ms": 1}
    assert not evaluation.misses_a_gate(clean)
    assert evaluation.misses_a_gate(clean | {"leaks": 1})
    assert not evaluation.misses_a_gate(good)
    for bad in ({"pack_hit": 91.9}, {"pre_turn_p95_ms": 21}, {"post_turn_p50_ms": 3}):
        assert evaluation.misses_a_gate(good | bad)


def test_script_prints_a_report_and_writes_every_pack(tmp_path: Path) -> None:
    written = tmp_path / "packs.json"
    command = [sys.executable, str(SCRIPT), "--only", "learnings", "--json", str(written)]
    done = subprocess.run(
        command, capture_output=True, check=False, encoding="utf-8", env={"PYTHONPATH": str(ROOT)}, timeout=120
    )
    assert done.stderr == ""  # the exit status also judges times, which no test does
    assert "| learnings | 100 % (2/2)" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("engine reference pack_hit 100.0 ")
    (run,) = json.loads(written.read_text(encoding="utf-8"))
    assert [(probe["probe"], probe["phase"]) for probe in run["probes"]] == [
        ("delivery", "recall"),
        ("currency", "recall"),
        ("delivery", "synthesis"),
        ("currency", "synthesis"),
    ]
    assert all(probe["pack"].startswith("# Memory\n") for probe in run["probes"])
