"""One spelling and one key for each page."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.errors import ConfigError
from connectors.web.addresses import MAX_LENGTH, address
from connectors.web.asking import name_of, private_place
from connectors.web.scope import Scope
from connectors.web.traps import MOST_ALIKE, MOST_QUERIES, Traps

BASE = "https://docs.example/guide/start.html"


@pytest.mark.parametrize(
    ("href", "url", "key"),
    [
        ("HTTPS://Docs.EXAMPLE:443/A", "https://docs.example/A", "docs.example/A"),
        ("../x/./y/../z", "https://docs.example/x/z", "docs.example/x/z"),
        ("next.html#part", "https://docs.example/guide/next.html", "docs.example/guide/next.html"),
        ("//other.example/", "https://other.example/", "other.example"),
        ("/a//b///c/", "https://docs.example/a/b/c/", "docs.example/a/b/c"),
        ("/%7euser/%c3%a9", "https://docs.example/~user/%C3%A9", "docs.example/~user/%C3%A9"),
        ("/é t", "https://docs.example/%C3%A9%20t", "docs.example/%C3%A9%20t"),
        ("/p?b=2&a=1&utm_source=x&gclid=y", "https://docs.example/p?a=1&b=2", "docs.example/p?a=1&b=2"),
        ("/p?utm_medium=x", "https://docs.example/p", "docs.example/p"),
        ("/p;jsessionid=AB12/q?PHPSESSID=9", "https://docs.example/p/q", "docs.example/p/q"),
        ("/p?next=/../a/", "https://docs.example/p?next=/../a/", "docs.example/p?next=%2F..%2Fa%2F"),
        ("https://docs.example./x", "https://docs.example/x", "docs.example/x"),
        ("http://docs.example:8080/x", "http://docs.example:8080/x", "docs.example:8080/x"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/", "xn--bcher-kva.example"),
        ("\\windows\\path", "https://docs.example/windows/path", "docs.example/windows/path"),
        (" spaced \n", "https://docs.example/guide/spaced", "docs.example/guide/spaced"),
    ],
)
def test_address_has_one_spelling_and_key(href: str, url: str, key: str) -> None:
    found = address(href, BASE)
    assert found is not None
    assert (found.url, found.key) == (url, key)
    assert address(found.url) == found


@pytest.mark.parametrize(
    "href",
    ["mailto:a@b.example", "javascript:void(0)", "ftp://h/x", "data:text/html,x", "http://", "https://u:p@h.example/",
     "http://[::1", "https://h:99999/", "/" + "x" * MAX_LENGTH],
)  # fmt: skip
def test_what_is_no_page_has_no_address(href: str) -> None:
    assert address(href, BASE) is None


def test_parameters_are_kept_by_rule() -> None:
    href = "/p?id=1&view=print&utm_source=x"
    kept = {rule: address(href, BASE, rule) for rule in ("keep", "drop")}
    assert [each.query for each in kept.values() if each] == ["id=1&view=print", ""]
    named = address(href, BASE, ("id",))
    assert named is not None
    assert named.query == "id=1"


@given(st.text(max_size=60))
def test_keys_are_keys_and_spelling_twice_changes_nothing(text: str) -> None:
    found = address(text, BASE)
    if found is not None:
        assert not found.key.startswith("/")
        assert not found.key.endswith("/")
        assert not {".", ".."} & set(found.key.split("/"))
        assert found.key.isascii()
        assert address(found.url) == found


@pytest.mark.parametrize(
    ("start", "taken", "left"),
    [
        ("https://a.example/", ["/x", "/x/y.pdf"], ["/a.png", "/s.css", "/app.js"]),
        ("https://a.example/docs/", ["/docs", "/docs/x"], ["/", "/blog", "/docs2"]),
        ("https://a.example/docs/index.html", ["/docs/x", "/docs/index.html"], ["/other"]),
        ("https://a.example/sitemap.xml", ["/", "/x"], []),
    ],
)
def test_start_reaches_what_lies_below_its_folder(start: str, taken: list[str], left: list[str]) -> None:
    scope = Scope([start])
    assert [path for path in taken + left if scope.address(f"https://a.example{path}")] == taken
    assert scope.address("https://www.a.example/docs/x") is not None
    assert scope.address("https://b.example/docs/x") is None


def test_patterns_choose_pages() -> None:
    scope = Scope(
        ["https://a.example/"], include=["/latest/", "/v*/api/**"], exclude=["**/print/*", "a.example/latest/old"]
    )
    urls = ["/latest/x/y", "/v2/api/x", "/v2/x", "/latest/print/x", "/latest/print/x/y", "/latest/old", "/"]
    taken = ["/latest/x/y", "/v2/api/x", "/latest/print/x/y", "/"]  # a start is always taken
    assert [url for url in urls if scope.address(f"https://a.example{url}")] == taken


@pytest.mark.parametrize(
    ("pattern", "matched", "other"),
    [
        ("/blog/**", ["/blog", "/blog/", "/blog/a/b"], ["/blogs", "/a/blog"]),
        ("/blog/", ["/blog/a"], ["/blogs"]),
        ("**/tags/**", ["/docs/tags", "/docs/tags/x"], ["/docs/tagsx"]),
        ("**.md", ["/a.md", "/a/b.md"], ["/a.html"]),
        ("/a/**/c", ["/a/b/c", "/a/b/b/c"], ["/a/b/d"]),
        ("a.example/old/**", ["/old", "/old/x"], ["/older"]),
    ],
)
def test_pattern_is_held_against_whole_paths(pattern: str, matched: list[str], other: list[str]) -> None:
    scope = Scope(["https://a.example/start/"], reach="host", exclude=[pattern])
    assert [path for path in (*matched, *other) if not scope.address(f"https://a.example{path}")] == matched


def test_rules_have_a_fingerprint() -> None:
    marks = {
        Scope(["https://a.example/"]).rules_mark,
        Scope(["https://a.example/x/"]).rules_mark,
        Scope(["https://a.example/"], exclude=["/x"]).rules_mark,
        Scope(["https://a.example/"], query="drop").rules_mark,
        Scope(["https://a.example/", "https://www.a.example/"]).rules_mark,
    }
    assert len(marks) == 4


@pytest.mark.parametrize("start", [[], ["docs.example"], ["ftp://docs.example/"], [""]])
def test_start_that_is_no_address_is_a_config_error(start: list[str]) -> None:
    with pytest.raises(ConfigError):
        Scope(start)
    with pytest.raises(ConfigError):
        Scope(["https://a.example/"], include=[" "])


def trapped(traps: Traps, path: str) -> bool:
    found = address(f"https://a.example{path}")
    assert found is not None
    return traps.holds(found)


def test_endless_paths_are_traps() -> None:
    traps = Traps()
    assert trapped(traps, "/a/b/a/b/a/b")
    assert trapped(traps, "/x/again/again/again/")
    assert trapped(traps, "/" + "/".join(f"d{number}x" for number in range(30)))
    assert not trapped(traps, "/en/docs/en/guide")
    assert not trapped(traps, "/2024/01/01/post")


def test_calendars_and_filters_are_bounded() -> None:
    traps = Traps()
    assert sum(not trapped(traps, f"/cal/{year}/{month}") for year in range(200) for month in range(12)) == MOST_ALIKE
    assert sum(not trapped(traps, f"/shop?page={page}&sort=x") for page in range(500)) == MOST_QUERIES
    assert not any(trapped(traps, f"/guide/topic-{chr(97 + number)}") for number in range(26))


def test_person_is_told_what_is_private() -> None:
    places = [
        "http://127.0.0.1:8000/x",
        "http://wiki/",
        "https://docs.example/",
        "https://a.internal/",
        "http://[::1]:80/",
    ]
    assert [private_place(place) for place in places] == [
        "127.0.0.1:8000",
        "wiki:80",
        None,
        "a.internal:443",
        "[::1]:80",
    ]
    assert [name_of(url) for url in ("https://www.docs.example/x", "http://127.0.0.1:80/", "nonsense")] == [
        "docs.example", "127.0.0.1", "site",
    ]  # fmt: skip
