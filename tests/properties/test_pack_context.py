"""`context.md` built on holistic recall agrees with the stand-alone compiler on any memory and any spec."""

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from corebrain.context import ContextCompiler, ContextSpec
from corebrain.model.instant import Instant

UNIT = Path(__file__).parents[1] / "unit" / "context"
AT = "2026-10-04T09:30:00Z"


def _load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, UNIT / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


STANDALONE = _load("standalone_compiler")
CANNED = _load("canned_engine")

NODES = st.sampled_from(["root", "team:acme", "team:acme/agent:a", "team:globex", "team:acme/service:news"])
IDS = st.integers(0, 15).map(lambda number: f"{number:x}" * 40)
TEXTS = st.text(st.sampled_from("ab \n\t\u2003ü日.…#"), max_size=60) | st.text(st.sampled_from("ab ü"), max_size=900)
METAS = st.fixed_dictionaries(
    {"namespace": NODES},
    optional={
        "observed_at": st.sampled_from(
            ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00.000000001Z", "2025-05-05T05:05:05Z"]
        ),
        "turns": st.integers(0, 3).map(lambda turn: {"first": turn, "last": turn}),
    },
)
HITS = st.fixed_dictionaries(
    {"id": IDS, "text": TEXTS, "meta": METAS, "kind": st.sampled_from(["learning", "learning", "document"])},
    optional={"confidence": st.sampled_from([0.0, 0.5, 0.9])},
)
ANSWERS = st.none() | st.fixed_dictionaries(
    {"answer": TEXTS, "citations": st.lists(st.fixed_dictionaries({"id": IDS}), max_size=3)}
)
REACHES = st.fixed_dictionaries({"at": NODES, "inherit": st.booleans(), "descendants": st.booleans()})
QUESTIONS = ("q1", "q2", "q3")


@st.composite
def cases(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    asked = draw(st.lists(st.sampled_from(QUESTIONS), max_size=3, unique=True))
    spec = {
        "budget_tokens": draw(st.integers(1, 400) | st.just(2000)),
        "briefs": [{"heading": f"On {question}", "question": question} for question in asked],
        "learnings_limit": draw(st.integers(0, 6)),
        "reach": draw(st.none() | REACHES | REACHES),
    }
    case = {
        "answers": {question: draw(ANSWERS) for question in asked},
        "learnings": draw(st.lists(HITS, max_size=12)),
        "beliefs": draw(st.none() | st.lists(HITS, max_size=8) | st.lists(HITS, min_size=1, max_size=8)),
    }
    return case, spec


@given(cases())
def test_acceptance_a2_context_agrees_with_the_standalone_compiler(
    drawn: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    case, raw = drawn
    spec = ContextSpec.from_dict(raw)
    expected = STANDALONE.compile_context(CANNED.CannedEngine(case), spec, AT)
    document = ContextCompiler(Instant.parse(AT)).compile(CANNED.CannedEngine(case), spec)
    assert document.markdown == expected
    assert document.tokens == -(-len(expected) // 4) <= spec.budget_tokens
