"""How well does the lifecycle serve an agent? Nine scenarios, 39 probes, one report.

    python benchmarks/memory_eval.py
    python benchmarks/memory_eval.py --engine local --engine reference --json packs.json
    python benchmarks/memory_eval.py --config brain.toml
    python benchmarks/memory_eval.py --engine mypackage.engines:build
    python benchmarks/memory_eval.py --model-url http://127.0.0.1:8080/v1 --model small --model-key-env API_KEY

Every scenario is written through the calls of a live agent below a root of its own, probed, consolidated, probed
again and forgotten. A probe is one call of the lifecycle: what it asks is logged as of any turn, and found by the
probes after it; probed again, it is the same turn, a replay. Of a configuration the engine alone is used, one that
keeps its memory on this machine at a fresh place.

Offline by default; a model reads the packs only when an OpenAI-compatible endpoint is named. Exits 1 when a pack
leaks, or when the reference engine misses its gates. The last line is a summary.
"""

import argparse
import importlib
import json
import os
import re
import secrets
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import mean, quantiles
from typing import Any

from corebrain.contract import MemoryEngine
from corebrain.engines.reference import ReferenceEngine
from corebrain.jobs import BuildBeliefs, IngestBrain
from corebrain.layout import BrainDocument, BrainSource, MemoryLayout
from corebrain.lifecycle import AgentMemory, RecallPolicy
from corebrain.model.filter import MetaFilter
from corebrain.model.instant import Instant
from corebrain.model.item import LearningKind, Role, StoreItem, Turn
from corebrain.model.meta import MemoryMeta, ToolCallRef
from corebrain.model.namespace import Namespace, Reach, Segment, SegmentKind
from corebrain.model.requests import ConsolidateRequest, ForgetTarget, GetRequest
from corebrain.recall import ContextPack

SCENARIOS = Path(__file__).with_suffix(".toml")
IN_PROMPT = 8  # turns of a thread that the prompt still holds
DAY_NS = 86_400 * 1_000_000_000
MINUTE_NS = 60 * 1_000_000_000
START = Instant.parse("2026-03-02T09:00:00Z")
PHASES = ("recall", "synthesis")
GRADES = {"Extractive answer": "extractive", "Model answer": "model", "Fresh first": "fresh_first", "Leaks": "leak"}
GATES = {"pack_hit": 92.0, "pre_turn_p95_ms": 20.0, "post_turn_p50_ms": 2.0}  # on the reference engine
SETTLE_LIMIT_S = 120.0
MODEL_PAUSE_S = 5.0
ENRICH_WAIT_S = 20.0  # what a server has, unless told otherwise, between writes and builds
OWN = frozenset({"reference", "local"})  # engines that start empty here

Json = dict[str, Any]
Reader = Callable[[str, str], str]


@dataclass
class Run:
    """What one engine did: every probe's outcome, and how long every call took in milliseconds."""

    engine: str
    outcomes: list[Json] = field(default_factory=list)
    latencies: dict[str, list[float]] = field(default_factory=dict)
    beliefs: int = 0

    @contextmanager
    def timed(self, call: str) -> Iterator[None]:
        started = time.perf_counter()
        yield
        self.latencies.setdefault(call, []).append((time.perf_counter() - started) * 1000)


class Stage:
    """One scenario on one engine: every tenant below a root of its own."""

    def __init__(self, engine: MemoryEngine, scenario: Json, run: Run, stamp: str = "") -> None:
        self._engine, self._scenario, self._run = engine, scenario, run
        kinds = ("document", "learning", "thread", "probe")
        tenants = sorted({each.get("tenant", "eval") for kind in kinds for each in scenario.get(kind, ())})
        name = Segment.sanitized(SegmentKind.WORKSPACE, f"eval-{scenario['name']}{stamp}")
        self._layouts = {
            tenant: MemoryLayout(Namespace((name, Segment.sanitized(SegmentKind.TEAM, tenant)))) for tenant in tenants
        }
        self._jobs: list[tuple[AgentMemory, BuildBeliefs | IngestBrain]] = []
        self._written: list[tuple[Reach, str]] = []

    def play(self, reader: Reader | None, enrich_wait_s: float) -> None:
        try:
            self._write()
            self._settle()
            self._probe("recall", reader)
            time.sleep(enrich_wait_s)
            self._synthesise()
            self._probe("synthesis", reader)
        finally:
            self._forget()

    def _forget(self) -> None:
        for layout in self._layouts.values():
            everything = MetaFilter(reach=Reach.subtree(layout.root))
            self._engine.forget(ForgetTarget.of_filter(everything))

    def _agent(self, entry: Json, default: str = "host") -> AgentMemory:
        return AgentMemory(self._engine, self._layouts[entry.get("tenant", "eval")], entry.get("agent", default))

    def _note(self, memory: AgentMemory, *item_ids: str) -> None:
        self._written += [(Reach.subtree(memory.layout.root), item_id) for item_id in item_ids]

    def _write(self) -> None:
        for entry in self._scenario.get("document", ()):
            memory = self._agent(entry)
            document = BrainDocument(source=BrainSource(entry["source"]), title=entry["title"], text=entry["text"])
            with self._run.timed("ingest"):
                ingested = memory.brain().ingest(document)
            self._note(memory, ingested.receipt.id)
            if ingested.job is not None:
                self._jobs.append((memory, ingested.job))
        for entry in self._scenario.get("learning", ()):
            memory = self._agent(entry)
            meta = MemoryMeta(namespace=memory.layout.learnings())
            learning = StoreItem.learning(entry["text"], LearningKind(entry["kind"]), entry["confidence"], meta)
            self._note(memory, self._engine.store(learning).id)
        for entry in self._scenario.get("thread", ()):
            self._converse(self._agent(entry), entry)

    def _converse(self, memory: AgentMemory, thread: Json) -> None:
        begins = START.ns + thread["day"] * DAY_NS
        for number, exchange in enumerate(thread["exchanges"]):
            index = 2 * number
            in_prompt_from = max(0, index - IN_PROMPT)
            at = Instant(begins + index * MINUTE_NS)
            with self._run.timed("pre_turn"):
                turn = memory.pre_turn(thread["id"], index, exchange["user"], in_prompt_from, at)
            if turn.logged is None:
                raise SystemExit(f"{self._run.engine} did not log a turn: {turn.log_error}")
            tools = exchange.get("tools", ())
            calls = [ToolCallRef(name=tool["name"], id=f"call-{place}") for place, tool in enumerate(tools, 1)]
            reply = "\n".join(tool["result"] for tool in tools) or "Noted."
            with self._run.timed("post_turn"):
                report = memory.post_turn(thread["id"], index + 1, reply, calls, Instant(at.ns + MINUTE_NS))
            self._note(memory, turn.logged.id, report.receipt.id)
            self._jobs += [(memory, job) for job in report.jobs]

    def _settle(self) -> None:
        """Wait until every write can be read; an engine with upkeep of its own, such as embedding, does it now."""
        with self._run.timed("settle"):
            maintain = getattr(self._engine, "maintain", None)
            while maintain is not None and maintain(1.0).left:
                pass
            give_up = time.monotonic() + SETTLE_LIMIT_S
            for reach, item_id in self._written:
                while not self._engine.get(GetRequest(ids=(item_id,), reach=reach)):
                    if time.monotonic() > give_up:
                        raise SystemExit(f"{self._run.engine} did not show {item_id} within {SETTLE_LIMIT_S:.0f} s")
                    time.sleep(0.05)

    def _synthesise(self) -> None:
        """Run every job that a call handed back, and one build over each tenant's whole tree."""
        jobs = list(self._jobs)
        for layout in self._layouts.values():
            whole = BuildBeliefs(request=ConsolidateRequest(reach=Reach.subtree(layout.root)))
            jobs.append((AgentMemory(self._engine, layout, "host"), whole))
        for memory, job in jobs:
            with self._run.timed("build"):
                report = memory.run_background(job)
            if report.consolidation is not None:
                self._run.beliefs += report.consolidation.built or 0

    def _probe(self, phase: str, reader: Reader | None) -> None:
        for probe in self._scenario["probe"]:
            pack = self._asked(probe)
            graded = grade(probe, pack.markdown, reader)
            named = {"scenario": self._scenario["name"], "probe": probe["name"], "style": probe["style"]}
            self._run.outcomes.append(named | {"phase": phase, **graded, "pack": pack.markdown})

    def _asked(self, probe: Json) -> ContextPack:
        memory = self._agent(probe)
        at = Instant(START.ns + 30 * DAY_NS)
        match probe.get("via", "ask"):
            case "resume":
                with self._run.timed("start_session"):
                    return memory.start_session(probe["thread"], probe.get("focus"))
            case "compact":
                dropped = [Turn(role=Role.USER, text=text) for text in probe["dropped"]]
                with self._run.timed("recall_for_compaction"):
                    return memory.recall_for_compaction(probe["thread"], dropped, probe.get("focus"))
            case "continue":
                thread, index, window = probe["thread"], probe["index"], probe["in_prompt_from"]
            case _:
                thread, index, window = f"probe-{probe['name']}", 0, 0
        with self._run.timed("pre_turn"):
            return memory.pre_turn(thread, index, probe["question"], window, at).pack


def holds(text: str, wanted: str) -> bool:
    return wanted.lower() in text.lower()


def pieces(markdown: str) -> list[str]:
    """Bullets and prose paragraphs in reading order."""
    found: list[str] = []
    prose: list[str] = []
    for line in [*markdown.splitlines(), ""]:
        if line and not line.startswith(("- ", "#")):
            prose.append(line)
            continue
        if prose:
            found.append(" ".join(prose))
            prose = []
        if line.startswith("- "):
            found.append(line)
    return found


def extracted(question: str, markdown: str) -> str:
    """The line that shares most words with the question; the first of several."""
    asked = set(re.findall(r"\w+", question.lower()))
    lines = [line for line in markdown.splitlines() if line and not line.startswith("#")]
    return max(lines, key=lambda line: len(asked & set(re.findall(r"\w+", line.lower()))), default="")


def grade(probe: Json, markdown: str, reader: Reader | None) -> Json:
    expects, stale, forbids = (probe.get(key, []) for key in ("expects", "stale", "forbids"))
    graded: Json = {}
    if forbids:
        graded["leak"] = any(holds(markdown, text) for text in forbids)
    if not expects:
        return graded
    right = _right(expects, stale)
    graded["hit"] = all(holds(markdown, text) for text in expects)
    places = [place for place, piece in enumerate(pieces(markdown), 1) if holds(piece, expects[0])]
    graded["reciprocal_rank"] = 1 / places[0] if places else 0.0
    graded["extractive"] = right(extracted(probe["question"], markdown))
    if reader is not None:
        answer = reader(probe["question"], markdown)
        graded |= {"model": right(answer), "answer": answer}
    if stale:
        lowered = markdown.lower()
        current = lowered.find(expects[0].lower())
        graded["fresh_first"] = current >= 0 and not 0 <= _first(lowered, stale) < current
    return graded


def _right(expects: Sequence[str], stale: Sequence[str]) -> Callable[[str], bool]:
    return lambda text: all(holds(text, each) for each in expects) and not any(holds(text, each) for each in stale)


def _first(text: str, wanted: Sequence[str]) -> int:
    places = [place for each in wanted if (place := text.find(each.lower())) >= 0]
    return min(places, default=-1)


def model_reader(url: str, model: str, key: str | None, pause_s: float = MODEL_PAUSE_S) -> Reader:
    """Let a model answer from the pack alone, at temperature 0, through an OpenAI-compatible endpoint.

    One that is busy is asked again, twice; one that fails otherwise ends the run with what it said.
    """
    import httpx  # noqa: PLC0415  # only a run with a model needs it

    client = httpx.Client(timeout=120, headers={"authorization": f"Bearer {key}"} if key else {})
    system = "Answer the question in one short sentence from the notes alone. Newer notes win over older ones."

    def read(question: str, markdown: str) -> str:
        messages = [
            {"role": "system", "content": system},
            {"role": "user", "content": f"{markdown}\n\nQuestion: {question}"},
        ]
        body = {"model": model, "temperature": 0, "messages": messages}
        for pause in (pause_s, 2 * pause_s, None):
            try:
                reply = client.post(f"{url.rstrip('/')}/chat/completions", json=body)
            except httpx.HTTPError as error:
                raise SystemExit(f"the model at {url} cannot be asked: {error}") from error
            if pause is None or (reply.status_code != 429 and reply.status_code < 500):
                break
            time.sleep(pause)
        if reply.is_error:
            raise SystemExit(f"the model at {url} answered {reply.status_code}: {reply.text[:300]}")
        return str(reply.json()["choices"][0]["message"]["content"])

    return read


def share(outcomes: Sequence[Json], key: str) -> str:
    graded = [outcome[key] for outcome in outcomes if key in outcome]
    return f"{100 * mean(graded):.0f} % ({sum(graded)}/{len(graded)})" if graded else "none"


def percent(outcomes: Sequence[Json], key: str) -> float:
    graded = [outcome[key] for outcome in outcomes if key in outcome]
    return 100.0 * mean(graded) if graded else 0.0


def rank(outcomes: Sequence[Json]) -> str:
    graded = [outcome["reciprocal_rank"] for outcome in outcomes if "reciprocal_rank" in outcome]
    return f"{mean(graded):.2f}" if graded else "none"


def spread(values: Sequence[float]) -> tuple[float, float, float]:
    """p50, p95 and the longest."""
    cuts = quantiles(values, n=100, method="inclusive") if len(values) > 1 else [*values] * 99
    return cuts[49], cuts[94], max(values)


def row(label: str, cells: Iterable[str]) -> str:
    return f"| {label} | {' | '.join(cells)} |"


def report(run: Run) -> str:
    phases = [[each for each in run.outcomes if each["phase"] == phase] for phase in PHASES]
    lines = [f"## {run.engine}", "", "| | recall | synthesis |", "|---|---|---|"]
    lines.append(row("Pack hit", (share(found, "hit") for found in phases)))
    for style in ("lexical", "paraphrase"):
        split = [[each for each in found if each["style"] == style] for found in phases]
        lines.append(row(f"{style.capitalize()} pack hit", (share(found, "hit") for found in split)))
    for label, key in GRADES.items():
        lines.append(row(label, (share(found, key) for found in phases)))
    lines.append(row("MRR", map(rank, phases)))
    lines += ["", "| Scenario | Pack hit | MRR |", "|---|---|---|"]
    for name in dict.fromkeys(each["scenario"] for each in run.outcomes):
        split = [[each for each in found if each["scenario"] == name] for found in phases]
        lines.append(row(name, (" → ".join(share(each, "hit") for each in split), " → ".join(map(rank, split)))))
    lines += ["", "| Call | times | p50 ms | p95 ms | max ms |", "|---|---|---|---|---|"]
    for call, values in run.latencies.items():
        lines.append(row(call, (str(len(values)), *(f"{value:.1f}" for value in spread(values)))))
    missed = [
        f"{each['scenario']}/{each['probe']} ({each['phase']})" for each in run.outcomes if not each.get("hit", True)
    ]
    lines += ["", f"Beliefs built: {run.beliefs}. Missed: {', '.join(missed) or 'none'}."]
    return "\n".join(lines)


def summary(run: Run) -> Json:
    recall, synthesis = ([each for each in run.outcomes if each["phase"] == phase] for phase in PHASES)
    pre, post = (spread(run.latencies[call]) for call in ("pre_turn", "post_turn"))
    return {
        "engine": run.engine,
        "pack_hit": round(percent(recall, "hit"), 1),
        "pack_hit_synthesis": round(percent(synthesis, "hit"), 1),
        "leaks": sum(each.get("leak", False) for each in run.outcomes),
        "pre_turn_p50_ms": round(pre[0], 2),
        "pre_turn_p95_ms": round(pre[1], 2),
        "post_turn_p50_ms": round(post[0], 2),
    }


def misses_a_gate(found: Json) -> bool:
    if found["leaks"]:
        return True
    if found["engine"] != "reference":
        return False
    late = any(found[call] > GATES[call] for call in ("pre_turn_p95_ms", "post_turn_p50_ms"))
    return late or bool(found["pack_hit"] < GATES["pack_hit"])


@contextmanager
def opened(name: str) -> Iterator[MemoryEngine]:
    """Build an engine by name, by `module:factory`, or as a `brain.toml` says; what it needs here goes afterwards."""
    if name == "reference":
        yield ReferenceEngine()
    elif name.endswith(".toml"):
        with configured(Path(name)) as engine:
            yield engine
    elif name == "local":
        from corebrain.engines.local import LocalEngine  # noqa: PLC0415  # only this choice needs its database library

        with tempfile.TemporaryDirectory() as folder, LocalEngine(Path(folder) / "memory.db") as engine:
            yield engine
    else:
        module, _, factory = name.partition(":")
        if not factory:
            raise SystemExit(f"engine {name!r} is none of reference, local, module:factory")
        built: MemoryEngine = getattr(importlib.import_module(module), factory)()
        with built as engine:
            yield engine


@contextmanager
def configured(file: Path) -> Iterator[MemoryEngine]:
    """Open the engine of a configuration beside a state of its own: what is synced there is neither read nor locked."""
    from pipeline.assembly import OpenBrain  # noqa: PLC0415  # only this choice needs the pipeline
    from pipeline.config.load import reading_only  # noqa: PLC0415
    from pipeline.source_set import SourceSet  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as folder:
        config = reading_only(file)
        fresh = replace(config, brain=config.brain.model_copy(update={"data": folder}))
        with OpenBrain(SourceSet(fresh)) as brain:
            yield brain.engine


def evaluate(name: str, scenarios: Sequence[Json], reader: Reader | None, enrich_wait_s: float | None) -> Run:
    """Play *scenarios* on one engine; without a wait given, a hosted or served engine has its default."""
    with opened(name) as engine:
        run = Run(engine.descriptor.id if name.endswith(".toml") else name)
        served = engine.descriptor.hosted or engine.descriptor.needs_endpoint
        wait = (ENRICH_WAIT_S if served else 0.0) if enrich_wait_s is None else enrich_wait_s
        stamp = "" if name in OWN else f"-{secrets.token_hex(4)}"  # others may hold what a broken run left behind
        for scenario in scenarios:
            Stage(engine, scenario, run, stamp).play(reader, wait)
    return run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", action="append", help="reference (default), local, or module:factory; repeatable")
    parser.add_argument("--scenarios", type=Path, default=SCENARIOS, help="the TOML file of scenarios")
    parser.add_argument("--only", action="append", help="play only this scenario; repeatable")
    parser.add_argument(
        "--config", action="append", default=[], metavar="FILE", help="the engine of a brain.toml; repeatable"
    )
    parser.add_argument("--enrich-wait", type=float, help="seconds an engine has to enrich (20 on a server, else 0)")
    parser.add_argument("--json", type=Path, help="write every probe's pack and grades to this file")
    parser.add_argument("--model-url", help="OpenAI-compatible endpoint of a model that reads the packs")
    parser.add_argument("--model", default="default", help="that model's name")
    parser.add_argument("--model-key-env", help="environment variable that holds its key")
    given = parser.parse_args()
    scenarios = tomllib.loads(given.scenarios.read_text(encoding="utf-8"))["scenario"]
    if given.only:
        scenarios = [scenario for scenario in scenarios if scenario["name"] in given.only]
    key = os.environ.get(given.model_key_env) if given.model_key_env else None
    reader = model_reader(given.model_url, given.model, key) if given.model_url else None
    chosen = [*(given.engine or []), *given.config] or ["reference"]
    runs = [evaluate(name, scenarios, reader, given.enrich_wait) for name in chosen]
    print(f"# Memory eval\n\nPolicy: {RecallPolicy().to_dict()}\n")
    for run in runs:
        print(report(run), "\n")
    if given.json:
        packs = [{**summary(run), "latencies_ms": run.latencies, "probes": run.outcomes} for run in runs]
        given.json.write_text(json.dumps(packs, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    found = [summary(run) for run in runs]
    print("; ".join(" ".join(f"{key} {value}" for key, value in each.items()) for each in found))
    sys.exit(any(map(misses_a_gate, found)))


if __name__ == "__main__":
    main()
