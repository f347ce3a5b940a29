from types import ModuleType
from typing import Any

from corebrain.context import ContextCompiler, ContextSpec
from corebrain.model.instant import Instant

Golden = tuple[dict[str, Any], str]


def test_acceptance_a2_standalone_compiler_writes_the_golden_document(
    golden: Golden, standalone: ModuleType, canned: ModuleType
) -> None:
    case, expected = golden
    engine = canned.CannedEngine(case)
    assert standalone.compile_context(engine, ContextSpec.from_dict(case["spec"]), case["at"]) == expected


def test_acceptance_a2_context_built_on_holistic_recall_writes_the_same_document(
    golden: Golden, canned: ModuleType
) -> None:
    case, expected = golden
    compiler = ContextCompiler(Instant.parse(case["at"]))
    document = compiler.compile(canned.CannedEngine(case), ContextSpec.from_dict(case["spec"]))
    assert document.markdown == expected
    assert document.tokens == -(-len(expected) // 4)
    assert len(document.markdown) <= case["spec"].get("budget_tokens", 1500) * 4
