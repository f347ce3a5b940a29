"""A filter against a naive reading of its table, and phone numbers against a naive scan."""

import hashlib
import re
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from corebrain.model.facet import Facet
from corebrain.model.filter import MetaFilter, holds_phone_number, is_under, redacted_id, same_id
from corebrain.model.instant import Instant
from corebrain.model.meta import ItemKind, MemoryMeta, SourceKind, SourceRef, ToolCallRef, TurnRange
from corebrain.model.namespace import Namespace, Reach

WORDS = st.sampled_from(["a", "b", "", "15551234567", redacted_id("15551234567")])
PATHS = st.sampled_from(["/a", "/a/", "/a/b", "/a/bc", "/a/b/c", "a", "a/b", "/", ""])
NODES = st.sampled_from(["root", "team:a", "team:a/agent:b", "team:a/service:s"]).map(Namespace.parse)
MOMENTS = st.integers(0, 3).map(Instant)
TURNS = st.builds(TurnRange, first=st.integers(0, 1), last=st.integers(0, 1))


def maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


PLAIN = ("workspace", "language", "repo", "commit", "url")
IDS = ("thread_id", "agent_id")
FOLDERS = ("folder", "file_path")
METAS = st.builds(
    MemoryMeta,
    namespace=NODES,
    **{name: maybe(WORDS) for name in PLAIN + IDS},
    **{name: maybe(PATHS) for name in FOLDERS},
    turns=maybe(TURNS),
    tool_call=maybe(st.builds(ToolCallRef, name=WORDS, id=maybe(WORDS))),
    source=st.builds(SourceRef, kind=st.sampled_from(SourceKind), id=maybe(WORDS)),
    tags=st.lists(WORDS, max_size=3),
    observed_at=maybe(MOMENTS),
)
FILTER_FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "reach": st.builds(Reach, at=NODES, inherit=st.booleans(), descendants=st.booleans()),
    **dict.fromkeys(PLAIN + IDS, WORDS),
    **dict.fromkeys(FOLDERS, PATHS),
    "turns": TURNS,
    "tool_call": WORDS,
    "kinds": st.lists(st.sampled_from(ItemKind), max_size=2),
    "sources": st.lists(st.sampled_from(SourceKind), max_size=3),
    "source_id": WORDS,
    "tags_any": st.lists(WORDS, max_size=2),
    "observed_after": MOMENTS,
    "observed_before": MOMENTS,
}


@st.composite
def filters(draw: st.DrawFn) -> MetaFilter:
    names = draw(st.sets(st.sampled_from(sorted(FILTER_FIELDS)), max_size=3))  # few, so that many match
    return MetaFilter(**{name: draw(FILTER_FIELDS[name]) for name in sorted(names)})


def holds_naively(wanted: MetaFilter, kind: ItemKind, meta: MemoryMeta) -> bool:
    """The table of the specification, one row at a time."""
    rows = [Reach.admitted_by(wanted.reach, meta.namespace)]
    rows += [getattr(meta, name) == getattr(wanted, name) for name in PLAIN if getattr(wanted, name) is not None]
    rows += [_same(getattr(meta, name), getattr(wanted, name)) for name in IDS if getattr(wanted, name) is not None]
    if wanted.source_id is not None:
        rows.append(_same(meta.source.id, wanted.source_id))
    for name in FOLDERS:
        if getattr(wanted, name) is not None:
            rows.append(_below(getattr(meta, name), getattr(wanted, name)))
    if wanted.turns is not None:
        rows.append(meta.turns is not None and meta.turns.to_dict() == wanted.turns.to_dict())
    if wanted.tool_call is not None:
        rows.append(meta.tool_call is not None and meta.tool_call.name == wanted.tool_call)
    if wanted.kinds:
        rows.append(kind in wanted.kinds)
    if wanted.sources:
        rows.append(meta.source.kind in wanted.sources)
    if wanted.tags_any:
        rows.append(bool(set(wanted.tags_any) & set(meta.tags)))
    if wanted.observed_after is not None:
        rows.append(meta.observed_at is not None and wanted.observed_after.ns <= meta.observed_at.ns)
    if wanted.observed_before is not None:
        rows.append(meta.observed_at is not None and meta.observed_at.ns < wanted.observed_before.ns)
    return all(rows)


def _same(held: str | None, wanted: str) -> bool:
    return held in {wanted, "tm-redacted:" + hashlib.sha256(wanted.encode()).hexdigest()[:32]}


def _below(held: str | None, wanted: str) -> bool:
    return held is not None and (held == wanted or f"{held}/".startswith(f"{wanted.rstrip('/')}/"))


@given(filters(), st.sampled_from(ItemKind), METAS)
def test_a_filter_matches_what_its_table_says(wanted: MetaFilter, kind: ItemKind, meta: MemoryMeta) -> None:
    assert wanted.matches(kind, meta) == holds_naively(wanted, kind, meta)


@given(filters())
def test_a_filter_is_written_without_what_is_unset_and_reads_back(wanted: MetaFilter) -> None:
    assert MetaFilter.from_json(wanted.to_json()) == wanted
    written = wanted.to_dict()
    assert all(value not in (None, []) for value in written.values())
    assert wanted.is_empty == (written == {})


@given(PATHS, PATHS)
def test_a_path_is_under_itself_and_every_folder_above(held: str, wanted: str) -> None:
    assert is_under(held, wanted) == _below(held, wanted)
    assert not is_under(None, wanted)


@given(st.sampled_from(Facet), st.sampled_from(ItemKind), METAS, filters())
def test_an_item_is_in_every_bucket_of_its_own_values(
    facet: Facet, kind: ItemKind, meta: MemoryMeta, wanted: MetaFilter
) -> None:
    for value in facet.values(kind, meta):
        if value:  # a blank value is counted but cannot be narrowed to
            narrowed = facet.narrow(MetaFilter(reach=Reach.exact(meta.namespace)), value)
            assert narrowed.matches(kind, meta)
            changed = {
                name for name in MetaFilter.model_fields if getattr(narrowed, name) != getattr(MetaFilter(), name)
            }
            assert len(changed - {"reach"}) == (facet is not Facet.NAMESPACE)
            assert (
                len(
                    {field for field in MetaFilter.model_fields if _differs(facet.narrow(wanted, value), wanted, field)}
                )
                <= 1
            )


def _differs(one: MetaFilter, other: MetaFilter, field: str) -> bool:
    return bool(getattr(one, field) != getattr(other, field))


UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
RUN = re.compile(rb"[0-9][0-9 .()+\-]*")


def holds_naively_a_phone(value: str) -> bool:
    """The rule read as a pattern: maximal runs from a digit over digits and spacers, judged by what stands around."""
    if value.startswith("tm-redacted:"):
        return False
    data = UUID.sub("_", value).encode()
    for run in RUN.finditer(data):
        before, after = data[run.start() - 1 : run.start()], data[run.end() : run.end() + 1]
        digits = sum(byte in b"0123456789" for byte in run.group())
        ends_in_letter = after.isalpha() and run.group()[-1:].isdigit()
        if digits >= 7 and not before.isalpha() and not ends_in_letter:
            return True
    return False


@example("a1234567")
@example("a 1234567")
@example("1234567a")
@example("1234567 a")
@example("123-45+67é")
@example("0f8fad5b-d9cb-469f-a165-708677289500-1234567")
@example("123456780f8fad5b-d9cb-469f-a165-708677289500")
@given(st.text(st.sampled_from("0123456789 -.()+aAzZ@[`{_é:f"), max_size=30))
def test_a_phone_number_is_what_the_rule_says(value: str) -> None:
    assert holds_phone_number(value) == holds_naively_a_phone(value)


@given(st.text(max_size=30))
def test_a_redacted_id_stands_for_its_value_alone(value: str) -> None:
    redacted = redacted_id(value)
    assert same_id(redacted, value)
    assert not same_id(redacted, value + "x")
    assert not holds_phone_number(redacted)
    assert len(redacted) == len("tm-redacted:") + 32


@given(st.sampled_from("AZaz"), st.sampled_from("@[`{é_:"))
def test_a_letter_glues_at_either_end_of_the_alphabet_and_nothing_else_does(letter: str, other: str) -> None:
    assert not holds_phone_number(f"{letter}1234567")
    assert not holds_phone_number(f"1234567{letter}")
    assert holds_phone_number(f"{other}1234567{other}")
    assert not holds_phone_number(f"{other}123456{other}")
