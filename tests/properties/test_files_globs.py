import re

from hypothesis import given
from hypothesis import strategies as st

from connectors.globs import Globs

_names = st.text(alphabet="abAB.é", min_size=1, max_size=4).filter(lambda name: name.strip("."))
_keys = st.lists(_names, min_size=1, max_size=4).map("/".join)
_wild = st.sampled_from(["*", "**", "?", "a*", "*.b", "[ab]", "[!a]?", "{a,b.}", "a"])
_patterns = st.lists(st.one_of(_names, _wild), min_size=1, max_size=4).map("/".join)


def slow(pattern: list[str], key: list[str]) -> bool:
    """The meaning of an anchored pattern, component by component, obvious by inspection."""
    if not pattern:
        return not key
    head, rest = pattern[0], pattern[1:]
    if head == "**":
        if not rest:
            return bool(key)
        return any(slow(rest, key[i:]) for i in range(len(key) + 1))
    if not key:
        return False
    spelled = head.replace("[!", "[^").replace(".", r"\.").replace("*", ".*").replace("?", ".")
    spelled = spelled.replace("{a,b\\.}", "(a|b\\.)")
    return re.fullmatch(spelled, key[0], re.IGNORECASE) is not None and slow(rest, key[1:])


@given(_patterns, _keys)
def test_pattern_means_what_its_components_mean(pattern: str, key: str) -> None:
    parts, names = pattern.split("/"), key.split("/")
    anchored = parts if len(parts) > 1 else ["**", *parts]
    expected = slow(anchored, names)
    if not set(parts[-1]) & set("*?[]{}"):  # a spelled-out last name also stands for the folder's content
        expected = expected or any(slow(anchored, names[:i]) for i in range(1, len(names)))
    assert Globs.compile([f"/{pattern}" if len(parts) > 1 else pattern]).match(key) is expected


@given(st.lists(_patterns, min_size=1, max_size=3), _keys)
def test_pruning_never_loses_a_match(patterns: list[str], key: str) -> None:
    globs = Globs.compile(patterns)
    if globs.match(key):
        names = key.split("/")
        assert all(globs.may_match_below("/".join(names[:i])) for i in range(len(names)))
        assert globs.match(key.swapcase()) or "é" in key


@given(_keys)
def test_key_itself_is_a_pattern_for_it(key: str) -> None:
    assert Globs.compile([f"/{key}"]).match(key)
