import pytest

from connectors.errors import ConfigError
from connectors.globs import Globs


@pytest.mark.parametrize(
    ("pattern", "taken", "left"),
    [
        ("**/*", ["a", "a/b.md", "a/b/c"], []),
        ("**", ["a", "a/b.md"], []),
        ("*", ["a", "a/b.md"], []),
        ("*.md", ["a.md", "x/y/a.md", "A.MD"], ["a.mdx", "md", "a.md/b.txt"]),
        ("docs/*.md", ["docs/a.md", "Docs/a.md"], ["docs/x/a.md", "x/docs/a.md", "a.md"]),
        ("docs/**", ["docs/a", "docs/x/y"], ["docs", "xdocs/a"]),
        ("docs/**/*.md", ["docs/a.md", "docs/x/y/a.md"], ["a.md", "docs/a.txt"]),
        ("docs/*", ["docs/a.md"], ["docs/x/a.md"]),
        ("docs", ["docs", "docs/a", "docs/a\nb", "x/docs/y/a"], ["docs2/a", "xdocs"]),
        ("docs/", ["docs/a", "x/docs/y/a"], ["docs"]),
        ("/docs", ["docs/a"], ["x/docs/a"]),
        ("./docs/", ["docs/a"], ["x/docs/a"]),
        ("/*.md", ["a.md"], ["x/a.md"]),
        ("docs/**/", ["docs/a", "docs/x/a"], ["docs"]),
        ("a/**/b/**/c", ["a/b/c", "a/x/b/y/z/c", "a/b/c/d"], ["a/c", "b/c"]),
        ("**/**/x", ["x", "a/x"], ["y"]),
        ("?.md", ["a.md", "é.md"], [".md", "ab.md"]),
        ("[ab].md", ["a.md", "b.md"], ["c.md"]),
        ("[!ab].md", ["c.md"], ["a.md"]),
        ("[a-c]x[!0-9]", ["bxy"], ["bx1", "dxy"]),
        ("x[!a]y", ["xby"], ["x/y"]),
        ("[*].md", ["*.md"], ["a.md"]),
        ("[]].md", ["].md"], ["[.md"]),
        ("a[--&&~~||b", ["a[--&&~~||b"], ["a"]),
        ("*.{md,txt}", ["a.md", "x/a.txt"], ["a.pdf", "a.{md,txt}"]),
        ("{a,b{1,2}}.md", ["a.md", "b1.md", "b2.md"], ["b.md"]),
        ("a,b", ["a,b"], ["a"]),
        ("a.b+c(d)$", ["a.b+c(d)$"], ["aXb+c(d)$"]),
        ("cafe\u0301.md", ["caf\u00e9.md"], ["cafe.md"]),
        ("a\nb", ["a\nb"], ["a"]),
        ("*.md", ["a\nb.md"], []),
    ],
)
def test_pattern_picks_what_a_person_means(pattern: str, taken: list[str], left: list[str]) -> None:
    globs = Globs.compile([pattern])
    assert [key for key in taken if not globs.match(key)] == []
    assert [key for key in left if globs.match(key)] == []


@pytest.mark.parametrize(
    ("pattern", "taken", "left"),
    [
        ("drafts*", ["drafts-2024", "x/drafts"], ["old-drafts"]),
        ("drafts/", ["drafts", "x/drafts"], ["draft"]),
        ("/drafts", ["drafts"], ["x/drafts"]),
        ("drafts/**", ["drafts"], ["x/drafts"]),
        ("a/b", ["a/b"], ["a", "b"]),
        ("**", ["a", "a/b"], []),
    ],
)
def test_exclude_pattern_takes_a_folder_with_all_it_holds(pattern: str, taken: list[str], left: list[str]) -> None:
    globs = Globs.compile([pattern])
    assert [key for key in taken if not globs.match_folder(key)] == []
    assert [key for key in left if globs.match_folder(key)] == []


@pytest.mark.parametrize(
    ("pattern", "entered", "pruned"),
    [
        ("docs/**/*.md", ["", "docs", "Docs", "docs/x"], ["other", "doc", "docsx"]),
        ("docs/api/*.md", ["docs", "docs/api"], ["docs/other"]),
        ("/docs", ["docs", "docs/x"], ["other"]),
        ("*.md", ["", "any/thing"], []),
        ("a/*/b", ["a", "a/x"], ["b"]),
    ],
)
def test_walk_enters_only_folders_where_something_could_match(
    pattern: str, entered: list[str], pruned: list[str]
) -> None:
    globs = Globs.compile([pattern])
    assert [folder for folder in entered if not globs.may_match_below(folder)] == []
    assert [folder for folder in pruned if globs.may_match_below(folder)] == []


def test_names_spelled_out_are_known_in_their_spelling() -> None:
    assert Globs.compile(["**/*", ".github/**", "Target/*.md", "README.md"]).named == {".github", "Target", "README.md"}


def test_no_pattern_matches_nothing() -> None:
    globs = Globs.compile([])
    assert not globs.match("a")
    assert not globs.match_folder("a")
    assert not globs.may_match_below("")


@pytest.mark.parametrize(("pattern", "everything"), [("**/*", True), ("**", True), ("*", True), ("*.*", False)])
def test_pattern_for_everything_is_recognised(pattern: str, everything: bool) -> None:
    assert Globs.compile([pattern, "docs/*.md"]).everything is everything


@pytest.mark.parametrize(
    ("pattern", "advice"),
    [
        ("", "write \\*\\*/\\* for everything"),
        (" ./ ", "write \\*\\*/\\* for everything"),
        ("!*.md", "put it into exclude"),
        ("a\\b", "write / between folders"),
        ("../a", "relative to it"),
        ("a/../b", "relative to it"),
        ("[z-a]", "in brackets"),
        ("{a,b", "pair up within one name"),
        ("a}", "pair up within one name"),
        ("{a/b,c}", "pair up within one name"),
    ],
)
def test_pattern_that_cannot_be_meant_is_refused_with_advice(pattern: str, advice: str) -> None:
    with pytest.raises(ConfigError, match=advice):
        Globs.compile([pattern])
