"""Is a document found in its own language? Known items over texts in many languages, one store for all.

    python benchmarks/languages.py UDHR_first_article_all.txt
    python benchmarks/languages.py FILE --words 4 --queries 5 --missed

FILE holds a text per language, as the first article of the Universal Declaration of Human Rights stands in "UDHR in
Unicode": a line with the language's name, the text below it, an empty line between two. Each text is a document of
one store. A query is a few words that stand together in a text, drawn with a seed (as many characters of a script
without spaces); of queries that stand in several texts any of these is right. A language is found when its document
is among the first three for most of its queries. The last line is `found in the first three: X %`.
"""

import argparse
import random
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from corebrain.engines.local import LocalEngine
from corebrain.model.filter import MetaFilter
from corebrain.model.item import Body, Document
from corebrain.model.meta import MemoryMeta
from corebrain.model.namespace import Namespace, Reach
from corebrain.model.requests import FetchMode, FetchRequest

NODE = Namespace.parse("source:files")
FIRST = 3
UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
CHARACTERS_A_WORD = 3


@dataclass(frozen=True)
class Text:
    """One language's text."""

    language: str
    text: str


def read(file: Path) -> list[Text]:
    """Return the texts; what stands before a first and after a last line of dashes is none."""
    parts = re.split(r"^-{4,}$", file.read_text("utf-8"), flags=re.MULTILINE)
    body = parts[1] if len(parts) > 1 else parts[0]
    blocks = [block.strip().split("\n", 1) for block in re.split(r"\n\s*\n", body) if block.strip()]
    return [Text(block[0], " ".join(block[1].split())) for block in blocks if len(block) > 1]


def query_of(text: str, words: int, drawn: random.Random) -> str:
    if UNSPACED.search(text) and len(text.split()) < len(text) // 12:
        length = words * CHARACTERS_A_WORD
        start = drawn.randrange(max(1, len(text) - length))
        return text[start : start + length]
    tokens = text.split()
    start = drawn.randrange(max(1, len(tokens) - words))
    return " ".join(tokens[start : start + words])


def measure(texts: Sequence[Text], words: int, queries: int) -> dict[str, float]:
    """Return, per language, the share of its queries that were answered by a text that holds them."""
    drawn = random.Random(3)  # noqa: S311  # the same queries every time
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder, LocalEngine(folder, durability="process") as engine:
        held: dict[str, Text] = {}
        for text in texts:
            receipt = engine.store(Document(body=Body(text=text.text), meta=MemoryMeta(namespace=NODE)))
            held[receipt.id] = text
        for text in texts:
            asked = [query_of(text.text, words, drawn) for _ in range(queries)]
            right = sum(any(query in held[each].text for each in _first(engine, query)) for query in asked)
            found[text.language] = right / queries
    return found


def _first(engine: LocalEngine, query: str) -> list[str]:
    wanted = MetaFilter(reach=Reach.subtree(NODE))
    page = engine.fetch(FetchRequest(query=query, mode=FetchMode.KEYWORD, filter=wanted, limit=FIRST))
    return [hit.id for hit in page.hits]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="texts by language")
    parser.add_argument("--words", type=int, default=4, help="words of a query")
    parser.add_argument("--queries", type=int, default=5, help="queries for each language")
    parser.add_argument("--missed", action="store_true", help="name the languages that are not found")
    given = parser.parse_args()
    found = measure(read(given.file), given.words, given.queries)
    missed = [language for language, share in found.items() if share <= 1 / 2]
    if given.missed:
        print("\n".join(missed))
    print("| languages | found in the first three | queries answered |\n|---|---|---|")
    share = 100 * (1 - len(missed) / len(found))
    print(f"| {len(found)} | {len(found) - len(missed)} | {100 * sum(found.values()) / len(found):.1f} % |\n")
    print(f"found in the first three: {share:.1f} %")


if __name__ == "__main__":
    main()
