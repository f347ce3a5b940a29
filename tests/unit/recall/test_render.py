import pytest

from corebrain.model.instant import Instant
from corebrain.model.meta import ItemKind, MemoryMeta
from corebrain.model.requests import Hit
from corebrain.recall import SectionHits
from corebrain.recall.render import Block, tokens
from corebrain.recall.settle import bullet

SAMPLE = """\
# Memory

## Learnings

- Customers prefer email
- user said Refunds settle within five business days.

## Brain

- Refund policy: Refunds settle within five business days.

## This agent's history

- [2026-09-15 09:01] user: when do refunds settle
"""
OFFSITE = "The offsite moved to Porto and the budget stayed at twenty thousand euros for everyone."


def hit(name: str, kind: ItemKind, text: str, at: str | None = None) -> Hit:
    return Hit(id=name, kind=kind, text=text, meta=MemoryMeta(observed_at=None if at is None else Instant.parse(at)))


def worked() -> Block:
    refunds = "Refunds settle within five business days."
    turn = hit("c", ItemKind.CONVERSATION, "user: when do refunds settle", "2026-09-15T09:01:02.5Z")
    sections = {
        "Learnings": (
            hit("a", ItemKind.LEARNING, "Customers prefer email"),
            hit("b", ItemKind.LEARNING, f"user said {refunds}"),
        ),
        "Brain": (hit("d", ItemKind.DOCUMENT, f"# Refund policy\n\n{refunds}"),),
        "This agent's history": (turn,),
    }
    return Block(
        "Memory",
        [(SectionHits(heading=name, hits=found), tuple(map(bullet, found))) for name, found in sections.items()],
    )


def answered(text: str, *cited: str) -> Block:
    hits = tuple(hit(name, ItemKind.CONVERSATION, name) for name in cited)
    return Block("Memory", [(SectionHits(heading="Earlier in this conversation", answer=text, hits=hits), ())])


def fitted(block: Block, budget: int) -> tuple[int, str]:
    block.fit(budget)
    markdown = block.markdown()
    assert block.characters() == len(markdown)
    return tokens(len(markdown)), markdown


@pytest.mark.parametrize(("characters", "count"), [(0, 0), (1, 1), (4, 1), (5, 2), (249, 63)])
def test_token_is_four_characters_rounded_up(characters: int, count: int) -> None:
    assert tokens(characters) == count


def test_worked_pack_byte_for_byte() -> None:
    assert fitted(worked(), 63) == (63, SAMPLE)
    assert len(SAMPLE) == 249


@pytest.mark.parametrize(
    ("budget", "spent", "last", "refs"),
    [
        (62, 44, "five business days.\n", ("a", "b", "d")),
        (60, 44, "five business days.\n", ("a", "b", "d")),
        (50, 44, "five business days.\n", ("a", "b", "d")),
        (40, 26, "- user said Refunds settle within five business days.\n", ("a", "b")),
        (20, 13, "# Memory\n\n## Learnings\n\n- Customers prefer email\n", ("a",)),
        (5, 0, "", ()),
    ],
)
def test_worked_budgets_trim_from_the_end(budget: int, spent: int, last: str, refs: tuple[str, ...]) -> None:
    block = worked()
    count, markdown = fitted(block, budget)
    assert count == spent
    assert markdown.endswith(last)
    assert block.refs() == refs


@pytest.mark.parametrize(
    ("budget", "spent", "end"),
    [
        (33, 33, "for everyone.\n"),
        (32, 31, "euros for…\n"),
        (30, 28, "twenty thousand…\n"),
        (25, 24, "stayed at…\n"),
        (22, 20, "and the…\n"),
        (20, 0, ""),
    ],
)
def test_worked_answers_are_shortened_to_their_budget(budget: int, spent: int, end: str) -> None:
    count, markdown = fitted(answered(OFFSITE), budget)
    assert (count, markdown[len(markdown) - len(end) :]) == (spent, end)


def test_answer_stands_trimmed_and_keeps_its_citations_while_any_of_it_stays() -> None:
    block = answered(f" \n{OFFSITE}\n\n", "x", "y", "x")
    assert fitted(block, 1000)[1] == f"# Memory\n\n## Earlier in this conversation\n\n{OFFSITE}\n"
    block.fit(25)
    assert block.refs() == ("x", "y")


def test_bullets_go_before_any_answer_even_when_they_stand_above_it() -> None:
    found = SectionHits(heading="L", hits=(hit("a", ItemKind.LEARNING, "x" * 40),))
    cited = SectionHits(heading="S", answer=OFFSITE, hits=(hit("c", ItemKind.LEARNING, ""),))
    block = Block("Memory", [(found, ("x" * 40,)), (cited, ())])
    block.fit(27)
    assert block.refs() == ("c",)
    assert OFFSITE in block.markdown()


def test_last_answer_goes_before_the_first_is_shortened() -> None:
    first, second = (SectionHits(heading=name, answer=OFFSITE) for name in "AB")
    block = Block("Memory", [(first, ()), (second, ())])
    block.fit(30)
    assert "## B" not in block.markdown()
    assert OFFSITE in block.markdown()


def test_refs_name_each_item_once_in_the_order_of_its_first_citation() -> None:
    cited = SectionHits(heading="A", answer="yes", hits=tuple(hit(name, ItemKind.LEARNING, "") for name in "bab"))
    found = SectionHits(heading="B", hits=tuple(hit(name, ItemKind.LEARNING, name) for name in "ac"))
    assert Block("Memory", [(cited, ()), (found, ("a", "c"))]).refs() == ("b", "a", "c")


def test_block_without_sections_is_empty() -> None:
    assert fitted(Block("Memory", []), 1) == (0, "")


def test_thousand_bullets_trim_to_a_small_budget() -> None:
    hits = tuple(hit(str(number), ItemKind.LEARNING, "x" * 600) for number in range(1000))
    block = Block("Memory", [(SectionHits(heading="H", hits=hits), tuple(each.text for each in hits))])
    assert fitted(block, 200)[0] <= 200
    assert block.refs() == ("0",)


def test_braces_in_headings_and_bullets_stay_as_they_are() -> None:
    found = SectionHits(heading="{0}", hits=(hit("a", ItemKind.LEARNING, "{x}"),))
    assert Block("{t}", [(found, ("{x}",))]).markdown() == "# {t}\n\n## {0}\n\n- {x}\n"
