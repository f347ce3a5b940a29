"""How well the content of web pages is told from what stands around it, on three public sets of pages with truth.

Usage: python benchmarks/html_extraction.py [--scrapinghub FOLDER] [--readability FOLDER] [--trafilatura FOLDER]

Each FOLDER is a checkout: github.com/scrapinghub/article-extraction-benchmark (shingles of four words of the article,
its own measure), github.com/mozilla/readability (bags of words of its expected pages), github.com/adbar/trafilatura
(its own measure: pieces that must and must not be found). Default and article mode are shown, and trafilatura where it
is installed. Names and numbers of the extraction were chosen on the even pages of each set: `--half 1` is the odd ones.
"""

import argparse
import gzip
import importlib
import importlib.util
import json
import re
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from selectolax.lexbor import LexborHTMLParser

from corebrain.documents.convert.html import html_document
from corebrain.documents.convert.html_charset import decode_html
from corebrain.errors import CorebrainError

Extract: TypeAlias = Callable[[bytes, str], str]
Score: TypeAlias = "tuple[float, float, float]"

_MARKDOWN = re.compile(r"!?\[([^\]]*)\]\([^)]*\)|^[#>\-*+|\s]+|[*_`|\\]+", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Page:
    data: bytes
    url: str
    truth: Any


def f1(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def shared(said: Counter[Any], wanted: Counter[Any]) -> tuple[float, float]:
    common = sum((said & wanted).values())
    return common / max(1, sum(said.values())), common / max(1, sum(wanted.values()))


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


def shingles(text: str) -> Counter[tuple[str, ...]]:
    found = words(text)
    return Counter(tuple(found[place : place + 4]) for place in range(max(1, len(found) - 3)))


def score_shingles(pairs: Iterable[tuple[str, Any]]) -> Score:
    each = [shared(shingles(said), shingles(truth)) for said, truth in pairs]
    precision, recall = (statistics.mean(column) for column in zip(*each, strict=True))
    return precision, recall, f1(precision, recall)


def score_words(pairs: Iterable[tuple[str, Any]]) -> Score:
    each = [shared(Counter(words(said.lower())), Counter(words(truth.lower()))) for said, truth in pairs]
    precision, recall = (statistics.mean(column) for column in zip(*each, strict=True))
    return precision, recall, statistics.mean(f1(*pair) for pair in each)


def score_pieces(pairs: Iterable[tuple[str, Any]]) -> Score:
    right = wrong = wanted = 0
    for said, truth in pairs:
        text = " ".join(said.split())
        right += sum(" ".join(piece.split()) in text for piece in truth["with"])
        wrong += sum(" ".join(piece.split()) in text for piece in truth["without"])
        wanted += len(truth["with"])
    precision, recall = right / max(1, right + wrong), right / max(1, wanted)
    return precision, recall, f1(precision, recall)


def scrapinghub(folder: Path) -> list[Page]:
    truth: dict[str, dict[str, str]] = json.loads((folder / "ground-truth.json").read_text(encoding="utf-8"))
    return [
        Page(
            gzip.decompress((folder / "html" / f"{key}.html.gz").read_bytes()), each.get("url", ""), each["articleBody"]
        )
        for key, each in truth.items()
    ]


def readability(folder: Path) -> list[Page]:
    pages = []
    for place in sorted((folder / "test" / "test-pages").iterdir()):
        tree = LexborHTMLParser((place / "expected.html").read_text(encoding="utf-8"))
        truth = tree.body.text(separator=" ") if tree.body is not None else ""
        pages.append(Page((place / "source.html").read_bytes(), "http://fakehost/test/page.html", truth))
    return pages


def trafilatura(folder: Path) -> list[Page]:
    tests = folder / "tests"
    truth: dict[str, dict[str, Any]] = json.loads((tests / "evaldata.json").read_text(encoding="utf-8"))
    pages = []
    for url, each in truth.items():
        found = [path for part in ("cache", "eval") if (path := tests / part / each["file"]).is_file()]
        pages += [Page(found[0].read_bytes(), url, each)] if found else []
    return pages


def own(*, article_only: bool) -> Extract:
    def extract(data: bytes, url: str) -> str:
        try:
            markdown = html_document(decode_html(data, None), url or None, article_only=article_only)[0]
        except CorebrainError:
            return ""
        return _MARKDOWN.sub(r"\1 ", markdown)

    return extract


def peers() -> dict[str, Extract]:
    if importlib.util.find_spec("trafilatura") is None:
        return {}
    module: Any = importlib.import_module("trafilatura")
    return {"trafilatura": lambda data, _url: module.extract(data, include_comments=False) or ""}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scrapinghub", type=Path)
    parser.add_argument("--readability", type=Path)
    parser.add_argument("--trafilatura", type=Path)
    parser.add_argument("--half", type=int, choices=(0, 1), help="only the even (0) or the odd (1) pages")
    options = parser.parse_args()
    sets: list[tuple[str, Sequence[Page], Callable[[Iterable[tuple[str, Any]]], Score]]] = []
    for name, load, score in (
        ("scrapinghub", scrapinghub, score_shingles),
        ("readability", readability, score_words),
        ("trafilatura", trafilatura, score_pieces),
    ):
        folder: Path | None = getattr(options, name)
        if folder is not None:
            pages = load(folder)
            sets.append((name, pages if options.half is None else pages[options.half :: 2], score))
    if not sets:
        print("give at least one folder; --help says which")
        return
    print(f"{'':18}" + "".join(f"{f'{name} ({len(pages)})':>28}" for name, pages, _ in sets) + f"{'ms CPU a page':>16}")
    lines = []
    for who, extract in {"default": own(article_only=False), "article": own(article_only=True), **peers()}.items():
        began = time.process_time()
        scores = [score([(extract(page.data, page.url), page.truth) for page in pages]) for _, pages, score in sets]
        cost = (time.process_time() - began) * 1000 / sum(len(pages) for _, pages, _ in sets)
        print(f"{who:18}" + "".join(f"{f'P {p:.3f} R {r:.3f} F {f:.3f}':>28}" for p, r, f in scores) + f"{cost:16.1f}")
        lines.append(f"{who} F " + " ".join(f"{f:.3f}" for _, _, f in scores))
    print("; ".join(lines))


if __name__ == "__main__":
    main()
