"""Where the acceptance criteria of the specification (00) are tests: `pytest -k acceptance` runs what is named here.

A3 is the agent loop over both doubles, A5 needs a real server; both are the CortexDB engine's.
"""

import ast
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]

CRITERIA = {
    "a2": [
        "unit/context/test_golden.py",  # the same golden files by the stand-alone compiler and by corebrain.context
        "properties/test_pack_context.py",  # both agree on whatever Hypothesis draws
    ],
    "a4": ["unit/lifecycle/test_examples.py"],
    "a6": ["unit/lifecycle/test_core.py"],
}
"""File of each criterion's tests, named `test_acceptance_<criterion>_…`."""

VECTORS = {
    "unit/model/test_namespace.py": {
        "test_a_host_id_becomes_a_segment_as_tabled": "01 section 1, host ids",
    },
    "unit/model/test_reach.py": {
        "test_a_reach_admits_what_the_table_says": "01 section 2, reach",
    },
    "unit/model/test_fingerprint.py": {
        "test_each_vector_of_the_spec_reproduces": "01 section 3, F1 to F15",
        "test_there_are_fifteen_vectors": "01 section 3, their number",
        "test_a_confidence_is_the_shortest_single": "01 section 3, singles",
    },
    "unit/model/test_filter.py": {
        "test_phone_numbers_are_found_and_redacted": "01 section 4, phone numbers",
    },
    "unit/engines/test_reference.py": {
        "test_the_keyword_score_is_the_share_of_distinct_words": "01 section 8, keyword score",
        "test_a_build_makes_one_fact_an_item_at_its_node": "01 section 8, F14 of F12",
    },
    "unit/test_layout.py": {
        "test_the_worked_values_reproduce": "02 section 1, worked values",
        "test_the_vectors_of_brain_documents_reproduce": "02 section 3, brain documents",
    },
    "unit/test_brain.py": {
        "test_jobs_have_the_json_of_the_specification": "02 section 6, jobs",
        "test_a_receipt_becomes_its_outcome": "02 section 6, outcomes",
    },
    "unit/recall/test_settle.py": {
        "test_shorten_cuts_at_the_last_space_unless_that_loses_half": "03 section 1.4, shorten",
    },
    "unit/recall/test_render.py": {
        "test_worked_pack_byte_for_byte": "03 section 1.5, pack",
        "test_worked_budgets_trim_from_the_end": "03 section 1.5, budgets",
        "test_worked_answers_are_shortened_to_their_budget": "03 section 1.5, answers",
    },
    "unit/context/test_golden.py": {
        "test_acceptance_a2_standalone_compiler_writes_the_golden_document": "03 section 2, context.md",
    },
    "unit/lifecycle/test_turns.py": {
        "test_user_turn_is_vector_f6_of_the_reference": "03 section 3.2, F6",
        "test_reply_with_time_and_tools_is_vector_f7_of_the_reference": "03 section 3.2, F7",
        "test_gist_of_two_long_turns_is_six_hundred_characters": "03 section 3.2, gist",
    },
    "unit/lifecycle/test_sections.py": {
        "test_core_scopes_stand_between_learnings_and_brain_in_configured_order": "03 section 3.3, example",
    },
    "unit/engines/cortexdb/test_bodies.py": {
        "test_a_body_is_that_of_the_reference": "04 section 4, bodies",
        "test_a_label_digest_is_that_of_the_reference": "04 section 4, labels",
    },
    "unit/engines/cortexdb/test_parts.py": {
        "test_the_legacy_layout_writes_and_reads": "04 section 5, legacy scopes",
        "test_the_rooted_layout_writes_and_reads": "04 section 5, rooted scopes",
    },
    "unit/tools/test_specs.py": {
        "test_specs_are_the_frozen_ones": "06 section 2, schemas",
    },
}
"""A7: the tests that reproduce the vectors of the specification, by file, and where each vector stands."""


@cache
def named_in(file: str) -> frozenset[str]:
    tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))


@pytest.mark.parametrize("criterion", CRITERIA)
def test_acceptance_criterion_has_its_tests(criterion: str) -> None:
    for file in CRITERIA[criterion]:
        assert any(name.startswith(f"test_acceptance_{criterion}_") for name in named_in(file)), file


@pytest.mark.parametrize("file", VECTORS)
def test_acceptance_a7_every_vector_has_its_test(file: str) -> None:
    assert set(VECTORS[file]) <= named_in(file)
