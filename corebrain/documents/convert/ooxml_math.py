"""Office formulas (OMML, ECMA-376 part 1 section 22.1) as LaTeX."""

import re
import unicodedata
from collections.abc import Callable

from corebrain.documents.convert.ooxml import Element

MAX_DEPTH = 60

_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_W_T = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}t"
_OPERATORS = {
    "∑": r"\sum", "∏": r"\prod", "∐": r"\coprod", "∫": r"\int", "∬": r"\iint", "∭": r"\iiint", "∮": r"\oint",
    "∯": r"\oiint", "∰": r"\oiiint", "\u22c3": r"\bigcup", "⋂": r"\bigcap", "⋀": r"\bigwedge", "\u22c1": r"\bigvee",
    "⨁": r"\bigoplus", "⨂": r"\bigotimes",
}  # fmt: skip
_SYMBOLS = {
    "\u00d7": r"\times", "·": r"\cdot", "⋅": r"\cdot",
    "÷": r"\div", "±": r"\pm", "∓": r"\mp", "≤": r"\leq", "≥": r"\geq",
    "≠": r"\neq", "≈": r"\approx", "≡": r"\equiv", "∞": r"\infty", "∂": r"\partial", "∇": r"\nabla", "→": r"\to",
    "⇒": r"\Rightarrow", "⇔": r"\Leftrightarrow", "↔": r"\leftrightarrow", "∈": r"\in", "∉": r"\notin",
    "⊂": r"\subset", "⊆": r"\subseteq", "\u222a": r"\cup", "∩": r"\cap", "∧": r"\wedge", "\u2228": r"\vee",
    "¬": r"\neg",
    "∀": r"\forall", "∃": r"\exists", "…": r"\dots", "⋯": r"\cdots", "∝": r"\propto", "\u223c": r"\sim",
    "∅": r"\emptyset",
    "\u2212": "-", "\u2013": "-", "\u2019": "'", "{": r"\{", "}": r"\}", "%": r"\%", "#": r"\#", "&": r"\&", "$": r"\$",
    **_OPERATORS,
}  # fmt: skip
_ACCENTS = {
    "\u0302": r"\hat", "\u0303": r"\tilde", "\u0304": r"\bar", "\u0305": r"\overline", "\u0307": r"\dot",
    "\u0308": r"\ddot", "\u030c": r"\check", "\u20d7": r"\vec", "\u0306": r"\breve", "\u0301": r"\acute",
    "\u0300": r"\grave",
}  # fmt: skip
_WORDS = re.compile(r"[A-Za-z]{2,} [A-Za-z]{2,}")
_FUNCTIONS = frozenset({
    "sin", "cos", "tan", "cot", "sec", "csc", "sinh", "cosh", "tanh", "coth", "arcsin", "arccos", "arctan", "log",
    "ln", "lg", "exp", "lim", "max", "min", "sup", "inf", "det", "dim", "ker", "gcd", "deg", "arg", "Pr",
})  # fmt: skip


def latex(node: Element) -> str:
    """The LaTeX of an `m:oMath` or `m:oMathPara`, without dollar signs; empty for an empty formula."""
    return " ".join(_children(node, 0).split())


def _children(node: Element | None, depth: int) -> str:
    if node is None:
        return ""
    if depth > MAX_DEPTH:
        return "".join(text.text or "" for text in node.iter(_M + "t"))
    pieces: list[str] = []
    for child in node:
        tag = child.tag
        if not isinstance(tag, str):
            continue
        handler = _HANDLERS.get(tag)
        if handler is not None:
            pieces.append(handler(child, depth + 1))
        elif tag == _M + "r":
            pieces.append(_run(child))
        elif not tag.endswith("Pr"):
            pieces.append(_children(child, depth + 1))
    return "".join(pieces)


def _run(node: Element) -> str:
    text = "".join(child.text or "" for child in node if child.tag in {_M + "t", _W_T})
    if _WORDS.search(text):
        return rf"\text{{{text}}}"
    return "".join(map(_character, text))


def _character(character: str) -> str:
    if character.isascii() and character.isalnum():
        return character
    if "\U0001d400" <= character <= "\U0001d7ff":  # italic, bold and double-struck letters
        character = unicodedata.normalize("NFKC", character)
    symbol = _SYMBOLS.get(character) or _greek(character)
    return f" {symbol} " if symbol.startswith("\\") and symbol[-1].isalpha() else symbol


def _greek(character: str) -> str:
    r"""`\pi` for π and so on; the names of the Unicode standard are LaTeX's but for the capital's case."""
    name = unicodedata.name(character, "")
    if not name.startswith("GREEK ") or name.count(" ") != 3:
        return character
    _, case, _, letter = name.split()
    letter = {"lamda": "lambda"}.get(letter.lower(), letter.lower())
    return "\\" + (letter.capitalize() if case == "CAPITAL" else letter)


def _child(node: Element, name: str) -> Element | None:
    return node.find(_M + name)


def _property(node: Element, holder: str, name: str) -> str | None:
    found = node.find(f"{_M}{holder}/{_M}{name}")
    return found.get(_M + "val", "") if found is not None else None


def _group(node: Element, name: str, depth: int) -> str:
    return _children(_child(node, name), depth).strip()


def _fraction(node: Element, depth: int) -> str:
    over, under = _group(node, "num", depth), _group(node, "den", depth)
    if _property(node, "fPr", "type") == "noBar":
        return rf"\genfrac{{}}{{}}{{0pt}}{{}}{{{over}}}{{{under}}}"
    return rf"\frac{{{over}}}{{{under}}}"


def _scripted(node: Element, depth: int) -> str:
    out = _group(node, "e", depth)
    for name, mark in (("sub", "_"), ("sup", "^")):
        if _child(node, name) is not None:
            out += f"{mark}{{{_group(node, name, depth)}}}"
    return out


def _prescripted(node: Element, depth: int) -> str:
    return f"{{}}_{{{_group(node, 'sub', depth)}}}^{{{_group(node, 'sup', depth)}}}{_group(node, 'e', depth)}"


def _radical(node: Element, depth: int) -> str:
    degree = _group(node, "deg", depth)
    return rf"\sqrt{f'[{degree}]' if degree else ''}{{{_group(node, 'e', depth)}}}"


def _nary(node: Element, depth: int) -> str:
    sign = _property(node, "naryPr", "chr")
    out = _OPERATORS.get(sign or "∫", sign or r"\int")
    for name, mark in (("sub", "_"), ("sup", "^")):
        limit = _group(node, name, depth)
        out += f"{mark}{{{limit}}}" if limit else ""
    return f"{out} {_group(node, 'e', depth)}"


def _delimited(node: Element, depth: int) -> str:
    begin, end = _property(node, "dPr", "begChr"), _property(node, "dPr", "endChr")
    separator = _property(node, "dPr", "sepChr") or "|"
    inner = separator.join(_children(child, depth).strip() for child in node if child.tag == _M + "e")
    left, right = ("(" if begin is None else begin or "."), (")" if end is None else end or ".")
    return rf"\left{_SYMBOLS.get(left, left)}{inner}\right{_SYMBOLS.get(right, right)}"


def _function(node: Element, depth: int) -> str:
    name = _named(_group(node, "fName", depth))
    inner = _group(node, "e", depth)
    return f"{name} {inner}" if name[-1:].isalnum() else f"{name}{inner}"


def _named(name: str) -> str:
    """A function's name as LaTeX's own command where there is one, limits below it kept."""
    word = name.split("_", 1)[0].split("^", 1)[0]
    if word in _FUNCTIONS:
        return "\\" + name
    return rf"\operatorname{{{word}}}{name[len(word) :]}" if word.isalpha() and word.isascii() else name


def _lower_limit(node: Element, depth: int) -> str:
    return f"{_group(node, 'e', depth)}_{{{_group(node, 'lim', depth)}}}"


def _upper_limit(node: Element, depth: int) -> str:
    return rf"\overset{{{_group(node, 'lim', depth)}}}{{{_group(node, 'e', depth)}}}"


def _accent(node: Element, depth: int) -> str:
    command = _ACCENTS.get(_property(node, "accPr", "chr") or "\u0302", r"\hat")
    return f"{command}{{{_group(node, 'e', depth)}}}"


def _bar(node: Element, depth: int) -> str:
    command = r"\overline" if _property(node, "barPr", "pos") == "top" else r"\underline"
    return f"{command}{{{_group(node, 'e', depth)}}}"


def _group_character(node: Element, depth: int) -> str:
    command = r"\overbrace" if _property(node, "groupChrPr", "pos") == "top" else r"\underbrace"
    return f"{command}{{{_group(node, 'e', depth)}}}"


def _rows(node: Element, depth: int) -> str:
    lines = [_children(child, depth).strip() for child in node if child.tag == _M + "e"]
    if len(lines) == 1:
        return lines[0]
    return r"\begin{array}{c}" + r" \\ ".join(lines) + r"\end{array}"


def _matrix(node: Element, depth: int) -> str:
    lines = [
        " & ".join(_children(cell, depth).strip() for cell in row if cell.tag == _M + "e")
        for row in node
        if row.tag == _M + "mr"
    ]
    return r"\begin{matrix}" + r" \\ ".join(lines) + r"\end{matrix}"


_HANDLERS: dict[str, Callable[[Element, int], str]] = {
    _M + name: handler
    for name, handler in {
        "f": _fraction, "sSup": _scripted, "sSub": _scripted, "sSubSup": _scripted, "sPre": _prescripted,
        "rad": _radical, "nary": _nary, "d": _delimited, "func": _function, "limLow": _lower_limit,
        "limUpp": _upper_limit, "acc": _accent, "bar": _bar, "groupChr": _group_character, "eqArr": _rows,
        "m": _matrix,
    }.items()
}  # fmt: skip
