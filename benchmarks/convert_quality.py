"""Quality of the converters against expected markdown.

Usage: python benchmarks/convert_quality.py PAIRS_FOLDER [--format html] [--files]

`PAIRS_FOLDER/<format>/<source>` has its expected markdown beside it as `<source>.expected.md`.

Measure: F is the F1 of the bags of tokens (NFKC, lower case, markdown marks removed, CJK by character), B the F1 of
their bigrams (a stand-in for reading order), both averaged over files. Headings, table rows, links (absolute) and list
items are the share of the expected ones found as such, pooled over all files of a format.
"""

import argparse
import importlib
import importlib.util
import re
import statistics
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from corebrain.documents.types import RawDocument
from corebrain.errors import Refusal

GOALS = {
    "html": {"F": 0.96, "rows": 0.86},
    "docx": {"F": 0.95, "headings": 0.97, "rows": 0.86, "items": 0.93},
    "xlsx": {"F": 0.90},
    "pdf": {"F": 0.955, "headings": 0.70, "rows": 0.40},
}
MODULES = {"xls": "xlsx", "xlsb": "xlsx", "ods": "xlsx"}
MIN_FILES = 5  # a cell with fewer files is printed, not gated

_CJK = "぀-ヿ㐀-鿿가-힯"
_TOKEN = re.compile(rf"[{_CJK}]|[^\W_{_CJK}]+")
_NOISE = (
    (re.compile(r"<!--.*?-->", re.DOTALL), " "),
    (re.compile(r"!\[([^\]]*)\]\([^)]*\)"), r"\1"),
    (re.compile(r"\]\([^)\s]*(?:\s\"[^\"]*\")?\)"), " "),
    (re.compile(r"<[^>\n]{1,300}>"), " "),
    (re.compile(r"&(?:amp|lt|gt|quot|nbsp|#\d+);"), " "),
    (re.compile(r"\\"), ""),
)
_LINK = re.compile(r"(?<!!)\[(?:[^\[\]]|\[[^\]]*\]|!\[[^\]]*\]\([^)]*\))*\]\(<?([^)\s>]+)")
_ITEM = re.compile(r"\s*(?:>\s*)*(?:[-*+•]|\d+[.)])\s+(.*)")
_RULE_ROW = re.compile(r"^\|[\s:|-]+\|?$")


def tokens(text: str) -> list[str]:
    for pattern, replacement in _NOISE:
        text = pattern.sub(replacement, text)
    text = unicodedata.normalize("NFKC", text).lower().replace("\u00ad", "")
    return _TOKEN.findall(re.sub(r"(\w)-\n(\w)", r"\1\2", text))


def normal(text: str) -> str:
    return " ".join(tokens(text))


def unfenced(markdown: str) -> list[str]:
    lines, fenced = [], False
    for line in markdown.split("\n"):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            lines.append(line)
    return lines


def headings(markdown: str) -> list[str]:
    found = [normal(match[1]) for line in unfenced(markdown) if (match := re.match(r"#{1,6}\s+(.*)", line))]
    return [text for text in found if text]


def rows(markdown: str) -> list[str]:
    found = []
    for raw_line in markdown.split("\n"):
        line = re.sub(r"^(>\s*|-\s+)+", "", raw_line.strip())
        if not line.startswith("|") or line.count("|") < 2 or _RULE_ROW.match(line):
            continue
        cells = [text for cell in re.split(r"(?<!\\)\|", line.strip("|")) if (text := normal(cell))]
        if cells:
            found.append(" / ".join(cells))
    return found


def links(markdown: str) -> list[str]:
    urls = [url for url in _LINK.findall(markdown) if url.startswith(("http", "mailto", "//"))]
    return [re.sub(r"[/#]+$", "", url) for url in urls]


def items(markdown: str) -> list[str]:
    found = [normal(match[1])[:60] for line in unfenced(markdown) if (match := _ITEM.match(line))]
    return [text for text in found if text]


PARTS: dict[str, Callable[[str], list[str]]] = {"headings": headings, "rows": rows, "links": links, "items": items}


def f1(expected: Sequence[object], got: Sequence[object]) -> float:
    common = sum((Counter(expected) & Counter(got)).values())
    return 2 * common / (len(expected) + len(got)) if common else float(not expected and not got)


@dataclass
class Score:
    files: int = 0
    f: list[float] = field(default_factory=list)
    b: list[float] = field(default_factory=list)
    found: Counter[str] = field(default_factory=Counter)
    expected: Counter[str] = field(default_factory=Counter)
    holders: Counter[str] = field(default_factory=Counter)

    def add(self, expected: str, got: str) -> None:
        wanted, have = tokens(expected), tokens(got)
        self.files += 1
        self.f.append(f1(wanted, have))
        self.b.append(f1(list(pairwise(wanted)), list(pairwise(have))))
        for name, part in PARTS.items():
            want, found = Counter(part(expected)), Counter(part(got))
            self.found[name] += sum((want & found).values())
            self.expected[name] += sum(want.values())
            self.holders[name] += bool(want)

    def value(self, name: str) -> float | None:
        if name == "F":
            return statistics.mean(self.f)
        return self.found[name] / self.expected[name] if self.expected[name] else None


def markdown_of(source: Path) -> str:
    format_name = source.suffix[1:].lower()
    module = importlib.import_module(f"corebrain.documents.convert.{MODULES.get(format_name, format_name)}")
    try:
        return str(module.convert(RawDocument(data=source.read_bytes(), filename=source.name), format_name).markdown)
    except Refusal as refusal:
        print(f"  {source.name}: {type(refusal).__name__}: {refusal.message}")
        return ""


def report(format_name: str, sources: list[Path], *, per_file: bool) -> bool:
    """Print one format's line; False when a gated goal is missed."""
    total = Score()
    for source in sources:
        expected, got = Path(f"{source}.expected.md").read_text("utf-8"), markdown_of(source)
        total.add(expected, got)
        if per_file:
            one = Score()
            one.add(expected, got)
            cells = " ".join(f"{name}={one.found[name]}/{one.expected[name]}" for name in PARTS if one.expected[name])
            print(f"  {source.name:44} F={one.f[0]:.3f} B={one.b[0]:.3f} {cells}")
    line = f"{format_name:5} n={total.files:3} F={statistics.mean(total.f):.3f} median={statistics.median(total.f):.3f}"
    line += f" B={statistics.mean(total.b):.3f}"
    for name in PARTS:
        value = total.value(name)
        line += f" {name}={'-' if value is None else f'{value:.3f}'}({total.holders[name]})"
    missed = []
    for name, goal in GOALS.get(format_name, {}).items():
        value = total.value(name)
        gated = name == "F" or total.holders[name] >= MIN_FILES
        if value is not None and value < goal:
            missed.append(f"{name} {value:.3f} < {goal}" + ("" if gated else " (not gated)"))
    print(line + (f"   below goal: {', '.join(missed)}" if missed else ""))
    return all("not gated" in text for text in missed)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("--format", action="append", help="only this format (repeatable)")
    parser.add_argument("--files", action="store_true", help="print every file's score too")
    options = parser.parse_args()
    good = True
    for folder in sorted(path for path in options.pairs.iterdir() if path.is_dir()):
        if options.format and folder.name not in options.format:
            continue
        sources = [Path(str(path)[: -len(".expected.md")]) for path in sorted(folder.glob("*.expected.md"))]
        if sources and importlib.util.find_spec(f"corebrain.documents.convert.{MODULES.get(folder.name, folder.name)}"):
            good = report(folder.name, sources, per_file=options.files) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
