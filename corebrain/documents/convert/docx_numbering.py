"""List numbers of a DOCX, counted as Word counts them (ECMA-376 part 1 section 17.9)."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from corebrain.documents.convert.docx_styles import VAL, W, whole
from corebrain.documents.convert.ooxml import Element

_PLACE = re.compile(r"%([1-9])")
_SIMPLE = re.compile(r"%[1-9][.)]?$")
_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"),
          (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))  # fmt: skip


@dataclass(frozen=True, slots=True)
class Level:
    """One level of a list: number format, label with `%1` … for the counters, first number."""

    form: str = "bullet"
    label: str = ""
    start: int = 1


@dataclass(frozen=True, slots=True)
class Label:
    """What stands before an item: a markdown marker such as `- ` or `3. `, and the words of an odd label."""

    marker: str
    text: str = ""


class Numbering:
    """The lists of a document and how far each has counted.

    Args:
        load: Gives the numbering part; called when the first list item is met.
    """

    def __init__(self, load: Callable[[], Element | None]) -> None:
        self._load: Callable[[], Element | None] | None = load
        self._levels: dict[str, dict[int, Level]] = {}
        self._abstract: dict[str, str] = {}
        self._counters: dict[str, dict[int, int]] = {}
        self._restarts: dict[str, dict[int, int]] = {}
        self._begun: set[str] = set()

    def _read(self, root: Element) -> None:
        for node in root.iterchildren(W + "abstractNum"):
            self._levels[node.get(W + "abstractNumId", "")] = {
                whole(level.get(W + "ilvl")): _level(level) for level in node.iterchildren(W + "lvl")
            }
        for node in root.iterchildren(W + "num"):
            self._read_instance(node)

    def _read_instance(self, node: Element) -> None:
        key, abstract = node.get(W + "numId", ""), node.find(W + "abstractNumId")
        self._abstract[key] = abstract.get(VAL, "") if abstract is not None else ""
        for override in node.iterchildren(W + "lvlOverride"):
            start = override.find(W + "startOverride")
            if start is not None:
                self._restarts.setdefault(key, {})[whole(override.get(W + "ilvl"))] = whole(start.get(VAL), 1)

    def knows(self, number_id: str | None) -> bool:
        """Whether a paragraph with this id is in a list."""
        return bool(number_id) and number_id != "0"

    def next(self, number_id: str, level: int) -> Label:
        """Count one item of a list and give its label. Lists of one abstract list share their counters."""
        if self._load is not None:
            root, self._load = self._load(), None
            if root is not None:
                self._read(root)
        abstract = self._abstract.get(number_id, number_id)
        levels = self._levels.get(abstract, {})
        form = levels.get(level, Level())
        counters = self._counters.setdefault(abstract, {})
        if number_id not in self._begun:
            self._begun.add(number_id)
            for at, first in self._restarts.get(number_id, {}).items():
                counters[at] = first - 1
        counters[level] = counters.get(level, form.start - 1) + 1
        for deeper in [at for at in counters if at > level]:
            del counters[deeper]
        if form.form in {"bullet", "none"} or not form.label.strip():
            return Label("- ")
        if form.form == "decimal" and _SIMPLE.match(form.label):
            return Label(f"{counters[level]}. ")
        text = _PLACE.sub(lambda match: self._count(levels, counters, int(match[1]) - 1), form.label).strip()
        return Label("- ", text)

    @staticmethod
    def _count(levels: dict[int, Level], counters: dict[int, int], level: int) -> str:
        form = levels.get(level, Level("decimal"))
        return _written(counters.get(level, form.start), form.form)


def _level(node: Element) -> Level:
    form, label, start = (node.find(W + name) for name in ("numFmt", "lvlText", "start"))
    return Level(
        form.get(VAL, "decimal") if form is not None else "decimal",
        label.get(VAL, "") if label is not None else "",
        whole(start.get(VAL), 1) if start is not None else 1,
    )


def _written(number: int, form: str) -> str:
    if form in {"lowerLetter", "upperLetter"} and number > 0:
        letter = chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1)
        return letter.upper() if form == "upperLetter" else letter
    if form in {"lowerRoman", "upperRoman"} and 0 < number < 4000:
        left, out = number, ""
        for value, sign in _ROMAN:
            out += sign * (left // value)
            left %= value
        return out.upper() if form == "upperRoman" else out
    return f"{number:02d}" if form == "decimalZero" else str(number)
