"""Chunks, scopes, narrowing labels, cursors and failures."""

from bisect import bisect_right

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corebrain.engines.cortexdb.advice import advice_for
from corebrain.engines.cortexdb.chunking import heading_title, json_size, split
from corebrain.engines.cortexdb.cursors import FetchCursor, ListCursor
from corebrain.engines.cortexdb.digests import label_digest
from corebrain.engines.cortexdb.direct_wire import Page
from corebrain.engines.cortexdb.events import WHOLE_BYTES, encode_item
from corebrain.engines.cortexdb.failures import error_code, failure, is_insufficient_credits, message_head
from corebrain.engines.cortexdb.labels import narrowing_labels
from corebrain.engines.cortexdb.recency import Recency
from corebrain.engines.cortexdb.scopes import KindScope, LegacyLayout, RootedLayout
from corebrain.errors import (
    ConfigError,
    Conflict,
    CorebrainError,
    EngineError,
    InvalidRequest,
    NotFound,
    Unauthorized,
    Unavailable,
)
from corebrain.model.filter import MetaFilter, redacted_id
from corebrain.model.item import StoreItem
from corebrain.model.meta import ItemKind, SourceKind
from corebrain.model.namespace import Namespace

DOCUMENT, CONVERSATION, LEARNING = ItemKind


@given(st.text(alphabet='ab \n\f#é"\x00'), st.integers(min_value=6, max_value=40))
def test_pieces_put_together_are_the_text_and_fit(text: str, pack: int) -> None:
    pieces = split(text, pack)
    assert "".join(piece.text for piece in pieces) == text
    assert all(json_size(piece.text) <= pack for piece in pieces)
    assert [piece.first_page for piece in pieces] == sorted(piece.first_page for piece in pieces)


def test_a_text_is_cut_before_pages_and_headings() -> None:
    text = "intro\n# One\nfirst\n\f\nsecond\n## Two ##\nthird\n"
    pieces = split(text, 18)
    assert [piece.text for piece in pieces] == ["intro\n", "# One\nfirst\n", "\f\nsecond\n", "## Two ##\nthird\n"]
    assert [piece.section for piece in pieces] == [None, "One", "One", "Two"]
    assert [(piece.first_page, piece.last_page) for piece in pieces] == [(1, 1), (1, 1), (2, 2), (2, 2)]


def test_units_that_fit_together_share_a_piece() -> None:
    (piece,) = split("# A\nx\n\f# B\ny\n\f", 1000)
    assert (piece.first_page, piece.last_page, piece.section) == (1, 2, "A")


def test_blank_text_joins_what_follows_and_at_the_end_what_precedes() -> None:
    assert [piece.text for piece in split("\f\n \f# A\n" + "x" * 9 + "\n\f\f", 27)] == ["\f\n \f# A\nxxxxxxxxx\n\f\f"]
    assert [piece.text for piece in split(" \n\f", 100)] == [" \n\f"]


def test_a_long_unit_is_cut_after_blank_lines_then_lines_then_characters() -> None:
    assert [piece.text for piece in split("aa\n\nbb\n\ncc", 10)] == ["aa\n\n", "bb\n\ncc"]
    assert [piece.text for piece in split("aaaa\nbbbb\ncccc", 7)] == ["aaaa\n", "bbbb\n", "cccc"]
    assert [piece.text for piece in split("abcdefgh", 3)] == ["abc", "def", "gh"]


def test_the_lines_of_a_long_paragraph_fill_no_piece_before_it() -> None:
    assert [piece.text for piece in split("aa\n\nbbbb\ncccc\ndddd", 12)] == ["aa\n\n", "bbbb\ncccc\n", "dddd"]
    assert [piece.text for piece in split("aa\n\nbb\n\ncccccccccccccccccc\n\ndd", 12)] == [
        "aa\n\nbb\n\n",
        "cccccccccccc",
        "cccccc\n\ndd",
    ]


def test_a_heading_goes_on_to_the_end_of_its_line_over_a_page_break() -> None:
    (piece,) = split("# One\fmore\ntext", 100)
    assert piece.section == "One\fmore"


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("# A\n", "A"),
        ("   ###### Deep ##  \n", "Deep"),
        ("    # code\n", None),
        ("####### seven", None),
        ("#tag", None),
        ("# \n", None),
        ("# C # #", "C #"),
        ("#  C##\r\n", "C"),
        ("# ##", None),
        ("# " + "x" * 200, "x" * 120),
    ],
)
def test_headings_are_those_of_markdown(line: str, title: str | None) -> None:
    assert heading_title(line) == title


def test_a_document_just_short_enough_is_one_event_and_one_byte_more_is_two() -> None:
    def events(length: int) -> int:
        item = StoreItem.document("x" * length)
        return len(encode_item(item, item.fingerprint(), "s"))

    whole = bisect_right(range(WHOLE_BYTES), 1, WHOLE_BYTES - 1_500, key=events) - 1
    assert (events(whole), events(whole + 1)) == (1, 2)


@pytest.mark.parametrize(
    ("node", "kind", "path"),
    [
        ("root", LEARNING, "app:tinymemory/app:learnings"),
        ("source:files", DOCUMENT, "app:tinymemory/source:files/app:documents"),
        ("ws:a/agent:b", CONVERSATION, "app:tinymemory/ws:a/agent:b/app:conversations"),
    ],
)
def test_the_legacy_layout_writes_and_reads(node: str, kind: ItemKind, path: str) -> None:
    layout = LegacyLayout()
    assert layout.path(Namespace.parse(node), kind) == path
    for spelled in (path, f"org:7/user:x/{path}"):
        held = layout.parse(spelled)
        assert held is not None
        assert (held.kind, held.node, held.path) == (kind, Namespace.parse(node), spelled)


@pytest.mark.parametrize("path", ["", "app:tinymemory", "app:learnings", "app:tinymemory/odd:x/app:documents", "a/b"])
def test_scopes_of_others_are_not_read(path: str) -> None:
    assert LegacyLayout().parse(path) is None


ROOTED = [
    ("root", LEARNING, "org:42/app:learnings"),
    ("source:github/project:api", DOCUMENT, "org:42/app:brain/source:github/project:api"),
    ("ws:main", CONVERSATION, "org:42/ws:main/app:conversations"),
    ("ws:main/service:newsletter", LEARNING, "org:42/ws:main/app:flows/service:newsletter/app:learnings"),
    ("service:digest", DOCUMENT, "org:42/app:flows/service:digest/app:documents"),
]


@pytest.mark.parametrize(("node", "kind", "path"), ROOTED)
def test_the_rooted_layout_writes_and_reads(node: str, kind: ItemKind, path: str) -> None:
    layout = RootedLayout("org:42")
    assert layout.path(Namespace.parse(node), kind) == path
    held = layout.parse(path)
    assert held is not None
    assert (held.kind, held.node) == (kind, Namespace.parse(node))
    assert layout.parse(f"team:x/{path}") is None
    assert RootedLayout("org:42", anywhere=True).parse(f"team:x/{path}") is not None
    assert LegacyLayout().parse(path) is None


@pytest.mark.parametrize("path", ["org:42/source:a/app:documents", "org:42/app:brain/app:documents", "org:42"])
def test_only_the_canonical_spelling_is_read(path: str) -> None:
    assert RootedLayout("org:42").parse(path) is None


def test_a_node_that_repeats_the_root_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="repeats the scope root"):
        RootedLayout("team:a").path(Namespace.parse("team:a/agent:b"), LEARNING)


@pytest.mark.parametrize("root", ["", "odd:x", "org:a b", "org:1/app:tinymemory", "org:"])
def test_a_wrong_root_is_a_configuration_error(root: str) -> None:
    with pytest.raises(ConfigError):
        RootedLayout(root)


def test_prefixes_name_both_groupings_of_a_source() -> None:
    node = Namespace.parse("ws:m/source:s/service:n")
    assert RootedLayout("org:1").prefixes(node) == [
        "org:1/ws:m/source:s/app:flows/service:n",
        "org:1/ws:m/app:brain/source:s/app:flows/service:n",
    ]
    assert RootedLayout("", anywhere=True).prefixes(Namespace.ROOT) == [""]
    assert LegacyLayout().prefixes(Namespace.ROOT) == ["app:tinymemory"]


def test_a_read_is_narrowed_by_one_field() -> None:
    phone = "user:+15551234567"
    assert narrowing_labels(MetaFilter(thread_id="t1", repo="r")) == [f"tm:t:{label_digest('t1')}"]
    assert narrowing_labels(MetaFilter(source_id=phone)) == [
        f"tm:s:{label_digest(phone)}",
        f"tm:s:{label_digest(redacted_id(phone))}",
    ]
    kinds = (SourceKind.FILE, SourceKind.AGENT)
    assert narrowing_labels(MetaFilter(sources=kinds)) == [f"tm:k:{label_digest(kind)}" for kind in kinds]
    assert narrowing_labels(MetaFilter(commit="c")) == []


def test_cursors_are_those_of_the_reference() -> None:
    listing = ListCursor(scope="app:tinymemory/app:documents", offset=0)
    assert listing.write() == (
        "l7b2273636f7065223a226170703a74696e796d656d6f72792f6170703a646f63756d656e7473222c226f6666736574223a307d"
    )
    assert ListCursor.read(listing.write()) == listing
    assert FetchCursor(offset=10).write() == "f7b226f6666736574223a31307d"


@pytest.mark.parametrize("text", ["", "l", "f7b", "l7b7d", "f7b226f6666736574223a31307d", "7b7d", "lzz", "l00"])
def test_a_foreign_cursor_is_an_invalid_request(text: str) -> None:
    with pytest.raises(InvalidRequest, match="unknown cursor"):
        ListCursor.read(text)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        *[(status, Unauthorized) for status in (401, 403)],
        (404, NotFound),
        *[(status, InvalidRequest) for status in (400, 413, 422)],
        (409, Conflict),
        *[(status, Unavailable) for status in (408, 429, 500, 502, 503, 504)],
        *[(status, EngineError) for status in (302, 402, 418, 501, 505)],
    ],
)
@pytest.mark.parametrize("hosted", [False, True])
def test_a_status_is_its_error(status: int, kind: type[CorebrainError], hosted: bool) -> None:
    error = failure("POST v1/experience at host", status, "<html>no", hosted=hosted)
    assert type(error) is kind
    assert message_head(error).endswith(f"answered {status} (the server's words are withheld)")


@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        (401, "", "UNAUTHORIZED"),
        (402, "{}", "USER_INSUFFICIENT_CREDITS"),
        (429, '{"error":{"message":"slow"}}', "RATE_LIMITED"),
        (500, "oops", "HTTP_500"),
        (500, '{"success":false,"errorCode":"od d-code"}', "ODDCODE"),
        (500, '{"errorCode":"' + "x" * 99 + '"}', "X" * 64),
    ],
)
def test_a_hosted_failure_has_a_code(status: int, body: str, code: str) -> None:
    error = failure("GET memory/events at host", status, body, hosted=True)
    assert error_code(error) == code
    assert is_insufficient_credits(error) is (code == "USER_INSUFFICIENT_CREDITS")


def test_direct_prefixes_one_code_only() -> None:
    changed = failure("w", 503, '{"error_code":"AUTHORIZATION_STATE_CHANGED"}', hosted=False)
    assert error_code(changed) == "AUTHORIZATION_STATE_CHANGED"
    assert error_code(failure("w", 503, '{"error_code":"OTHER"}', hosted=False)) is None


def test_a_hosted_conflict_relayed_as_400_is_a_conflict() -> None:
    said = '{"success":false,"error":"taken","errorCode":"CONFLICT"}'
    assert type(failure("w", 400, said, hosted=True)) is Conflict
    assert type(failure("w", 400, said, hosted=False)) is InvalidRequest


def test_at_most_300_characters_of_a_server_are_quoted() -> None:
    error = failure("w", 500, "y" * 1000, hosted=False)
    assert error.message == "w answered 500 — " + "y" * 300 + "…"


@pytest.mark.parametrize(("length", "shown"), [(299, "x" * 299), (300, "x" * 300), (301, "x" * 300 + "…")])
def test_the_300th_character_is_the_last_that_is_quoted(length: int, shown: str) -> None:
    assert failure("GET x at y", 418, "x" * length, hosted=False).message == f"GET x at y answered 418 — {shown}"


def test_how_old_a_scope_is_is_remembered_for_ten_minutes() -> None:
    asked: list[str] = []
    now = [0.0]

    class Listing:
        def page(self, scope: str, *, limit: int) -> Page:
            asked.append(scope)
            assert limit == 20
            return Page([{"context": {"observed_at": f"2026-01-0{len(scope)}T00:00:00Z"}}], None)

    recency = Recency(Listing(), lambda: now[0], lambda: 0)  # type: ignore[arg-type]  # all it asks of a wire
    scopes = [KindScope(DOCUMENT, Namespace.agent(name), name) for name in ("a", "bb")]
    assert recency.chosen(scopes, "?", 1) == scopes[1:]
    now[0] = 599.9
    assert recency.chosen(scopes, "?", 1) == scopes[1:]
    assert sorted(asked) == ["a", "bb"]
    now[0] = 600.0
    recency.chosen(scopes, "?", 1)
    assert sorted(asked) == ["a", "a", "bb", "bb"]
    assert recency.chosen(scopes, "what of a-b is it?", 1) == scopes[1:]  # too short to name anything
    assert recency.chosen(scopes, "?", 2) == scopes


def test_an_engines_own_write_makes_a_scope_the_newest() -> None:
    class Listing:
        def page(self, scope: str, *, limit: int) -> Page:
            del limit
            return Page([{"context": {"observed_at": f"2026-01-0{len(scope)}T00:00:00Z"}}], None)

    recency = Recency(Listing(), lambda: 0.0, lambda: 2**62)  # type: ignore[arg-type]  # all it asks of a wire
    scopes = [KindScope(DOCUMENT, Namespace.agent(name), name) for name in ("a", "bb", "ccc")]
    recency.written("a")
    assert recency.chosen(scopes, "?", 1) == scopes[:1]
    assert recency.chosen(scopes, "?", 2) == [scopes[0], scopes[2]]


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (Unauthorized("x answered 401"), "the key is refused"),
        (InvalidRequest('x answered 422 — {"error_code":"UNREGISTERED_SCOPE_TYPE"}'), "does not know a scope type"),
        (InvalidRequest("x answered 422"), "check that endpoint names a CortexDB server"),
        (NotFound("x answered 404"), "too old"),
        (EngineError("x answered 405"), "too old"),
        (EngineError("[USER_INSUFFICIENT_CREDITS] x answered 402"), "run out of credits"),
        (EngineError("x answered no JSON"), "check that endpoint names a CortexDB server"),
        (Unavailable("x timed out"), "check endpoint and network"),
    ],
)
def test_each_failure_has_its_own_advice(error: CorebrainError, told: str) -> None:
    assert told in advice_for(error)
