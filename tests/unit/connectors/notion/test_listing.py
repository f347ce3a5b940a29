"""What a scan of Notion lists, what it costs, and what it never believes."""

from datetime import timedelta
from typing import Any

import pytest

from connectors.contract import Failed, Gone, Ref, Seen
from connectors.errors import AuthError, ConfigError, DocumentRefused, Unavailable
from connectors.notion.selection import Selection
from connectors.testing.loopback import Reply
from connectors.testing.notion import made_up


def titles(listing: Any) -> list[str]:
    return sorted(ref.title for ref in listing.refs.values())


def test_everything_shared_is_listed_with_its_place(office: Any) -> None:
    top = office.workspace.add_page("Handbook")
    inner = office.workspace.add_page("Leave", top)
    source = office.workspace.add_database("Requests", inner)
    row = office.workspace.add_page("Ada's leave", source)
    office.later(hours=1)
    refs = office.scan(office.connector()).refs
    assert set(refs) == {top, inner, source, row}
    assert refs[top].collection is None
    assert {refs[key].collection for key in (inner, source, row)} == {top}
    assert refs[row].url == f"https://www.notion.so/{row.replace('-', '')}"
    assert '"in":["Handbook","Leave","Requests"]' in refs[row].locator


def test_a_database_at_the_top_is_the_collection_of_its_rows(office: Any) -> None:
    source = office.workspace.add_database("Requests")
    row = office.workspace.add_page("One", source)
    refs = office.scan(office.connector()).refs
    assert refs[row].collection == office.workspace.things[source]["parent"]["database_id"]
    assert refs[source].collection is None


def test_first_sync_costs_a_request_a_page_and_one_for_each_hundred_and_each_database(office: Any) -> None:
    office.server.api.workspace = made_up(250, 5, now=office.now)
    connector = office.connector()
    listing = office.scan(connector)
    assert len(listing.refs) == 250
    assert listing.complete
    assert connector.requests == 3 + len(listing.blobs)
    for key in [*listing.refs][:40]:
        if key not in listing.blobs:
            connector.fetch(listing.refs[key], None)
    assert connector.requests == 3 + len(listing.blobs) + 40 - len(
        [k for k in [*listing.refs][:40] if k in listing.blobs]
    )


def test_nothing_changed_costs_one_request(office: Any) -> None:
    office.server.api.workspace = made_up(250, 5, now=office.now)
    connector = office.connector()
    first = office.scan(connector)
    before = connector.requests
    again = office.scan(connector, first.cursor)
    assert connector.requests - before == 1
    assert len(again.refs) == 100
    assert all(first.refs[key] == ref for key, ref in again.refs.items())
    assert not again.complete


def test_one_edit_costs_one_listing_and_one_page(office: Any) -> None:
    page = office.workspace.add_page("Deep", office.workspace.add_page("Up", office.workspace.add_page("Top")))
    office.later(hours=1)
    connector = office.connector()
    first = office.scan(connector)
    office.later(hours=1)
    office.workspace.write(page, ["new words"])
    again = office.connector()  # after a restart, with nothing but cursor and notes
    changed = office.scan(again, first.cursor).refs[page]
    assert changed.token != first.refs[page].token
    assert b"new words" in again.fetch(changed, first.refs[page].token).data
    assert again.requests == 2


def test_edits_in_the_minute_of_the_last_scan_are_not_lost(office: Any) -> None:
    page = office.workspace.add_page("Plan", paragraphs=["one"])
    connector = office.connector()
    first = office.scan(connector)
    office.later(seconds=5)  # the same minute: Notion tells the same time
    office.workspace.write(page, ["two"])
    assert first.refs[page].token is None
    office.later(minutes=10)
    settled = office.scan(connector, first.cursor).refs[page]
    assert settled.token is not None
    assert b"two" in connector.fetch(settled, None).data


def test_pages_that_search_knows_late_are_found_by_the_overlap(office: Any) -> None:
    office.workspace.add_page("Old")
    office.later(hours=1)
    late = {office.workspace.add_page(f"Late {number}") for number in range(6)}
    office.workspace.unsearched |= late
    office.later(minutes=1)
    office.workspace.add_page("Newer")
    first = office.scan(office.connector())
    assert not late & set(first.refs)
    office.workspace.unsearched.clear()
    office.later(minutes=5)
    for number in range(98):  # with Newer and one of the late ones a page of the listing
        office.workspace.add_page(f"Newest {number}")
    assert late <= set(office.scan(office.connector(), first.cursor).refs)


def test_rows_that_search_does_not_know_are_listed_by_their_database(office: Any) -> None:
    source = office.workspace.add_database("Register")
    rows = {office.workspace.add_page(f"Row {number}", source) for number in range(130)}
    office.workspace.unsearched |= rows
    listing = office.scan(office.connector())
    assert set(listing.refs) == {source, *rows}
    assert office.requests(of="/query") == 2


def test_a_capped_database_is_walked_in_windows_of_time(office: Any) -> None:
    office.server.api.limits.query_cap = 10
    source = office.workspace.add_database("Register")
    rows = set()
    for number in range(35):
        rows.add(office.workspace.add_page(f"Row {number}", source))
        office.later(seconds=30)
    office.workspace.unsearched |= rows
    listing = office.scan(office.connector())
    assert rows <= set(listing.refs)
    assert listing.complete


def test_more_rows_of_one_minute_than_notion_gives_are_told_and_nothing_is_complete(office: Any) -> None:
    office.server.api.limits.query_cap = 10
    source = office.workspace.add_database("Register")
    rows = {office.workspace.add_page(f"Row {number}", source) for number in range(30)}
    office.workspace.unsearched |= rows
    listing = office.scan(office.connector())
    assert [failure.scope for failure in listing.failed] == [f"{source}/"]
    assert not listing.complete
    assert len(listing.refs) == 11


def test_a_capped_search_is_asked_from_both_ends(office: Any) -> None:
    office.server.api.limits.search_cap = 30
    pages = set()
    for number in range(50):
        pages.add(office.workspace.add_page(f"Page {number}"))
        office.later(minutes=1)
    listing = office.scan(office.connector())
    assert set(listing.refs) == pages
    assert listing.complete


def test_a_search_capped_at_both_ends_is_never_complete(office: Any) -> None:
    office.server.api.limits.search_cap = 10
    for number in range(30):
        office.workspace.add_page(f"Page {number}")
        office.later(minutes=1)
    listing = office.scan(office.connector())
    assert len(listing.refs) == 20
    assert [failure.scope for failure in listing.failed] == ["search/"]
    assert not listing.complete


def test_a_cursor_that_expires_while_paging_starts_the_list_again(office: Any) -> None:
    pages = {office.workspace.add_page(f"Page {number}") for number in range(150)}
    real, counted = office.server.api.answer, []

    def answer(asked: Any) -> Any:
        counted.append(asked)
        if len(counted) == 2:
            office.server.api.expire_cursors()
        return real(asked)

    office.server.api.answer = answer
    listing = office.scan(office.connector())
    assert set(listing.refs) == pages
    assert len(counted) == 4


def test_edits_while_paging_lose_nothing_for_good(office: Any) -> None:
    pages = []
    for number in range(150):
        pages.append(office.workspace.add_page(f"Page {number}"))
        office.later(minutes=1)
    office.later(hours=1)
    real, counted = office.server.api.answer, []

    def answer(asked: Any) -> Any:
        reply = real(asked)
        counted.append(asked)
        if len(counted) == 1:
            office.workspace.touch(pages[0])  # it moves from the second page of the listing to the first
        return reply

    office.server.api.answer = answer
    first = office.scan(office.connector())
    assert pages[0] not in first.refs
    ref = Ref(pages[0], "held", locator='{"is":"page"}')
    assert isinstance(next(iter(office.connector().confirm([ref]))), Seen)
    assert pages[0] in office.scan(office.connector(), first.cursor).refs


def test_missing_documents_are_asked_for_singly(office: Any) -> None:
    keys = [office.workspace.add_page(name) for name in ("kept", "trashed", "unshared", "broken", "deleted")]
    source = office.workspace.add_database("Base")
    refs = [*office.scan(office.connector()).refs.values()]
    kept, trashed, unshared, broken, deleted = keys
    office.workspace.trash(trashed)
    office.workspace.unshare(unshared)
    office.server.fail(f"pages/{broken}$", 500, times=100)
    del office.workspace.things[deleted]
    answers = {
        getattr(one, "key", None) or getattr(one, "scope", None) or one.ref.key: one
        for one in office.connector().confirm(refs)
    }
    assert {key for key, one in answers.items() if isinstance(one, Gone)} == {trashed, unshared, deleted}
    assert {key for key, one in answers.items() if isinstance(one, Seen)} == {kept, source}
    assert isinstance(answers[broken], Failed)


def test_what_lies_below_something_in_the_trash_is_gone_though_its_own_page_does_not_say_so(office: Any) -> None:
    top = office.workspace.add_page("Top")
    below = office.workspace.add_page("Below", office.workspace.add_page("Middle", top))
    refs = office.scan(office.connector()).refs
    office.workspace.trash(top, deep=False)
    assert set(office.scan(office.connector()).refs) == set()
    assert list(office.connector().confirm([refs[below]])) == [Gone(below)]
    office.workspace.trash(top, deep=False, into=False)
    assert len(office.scan(office.connector()).refs) == 3


def test_a_listing_in_full_comes_round_when_it_is_due(office: Any) -> None:
    for number in range(120):
        office.workspace.add_page(f"Page {number}")
    office.later(hours=1)
    first = office.scan(office.connector())
    office.later(hours=23)
    assert not office.scan(office.connector(), first.cursor).complete
    office.later(hours=2)
    assert office.scan(office.connector(), first.cursor).complete


def test_another_selection_lists_everything_anew(office: Any) -> None:
    for number in range(120):
        office.workspace.add_page(f"Page {number}")
    office.later(hours=1)
    first = office.scan(office.connector())
    again = office.scan(office.connector(selection=Selection.of(titles=["page 1*"])), first.cursor)
    assert again.complete
    assert all(title.startswith("Page 1") for title in titles(again))


def test_an_excluded_document_that_was_held_is_gone(office: Any) -> None:
    page = office.workspace.add_page("Private notes")
    ref = office.scan(office.connector()).refs[page]
    connector = office.connector(selection=Selection.of(exclude_titles=["private*"]))
    assert list(connector.confirm([ref])) == [Gone(page)]


def test_roots_and_exclusions_choose_subtrees(office: Any) -> None:
    root = office.workspace.add_page("Root")
    inside = office.workspace.add_page("Inside", root)
    secret = office.workspace.add_page("Secret", root)
    office.workspace.add_page("Below secret", secret)
    office.workspace.add_page("Elsewhere")
    chosen = Selection.of(roots=[f"https://app.notion.com/p/Root-{root.replace('-', '')}"], exclude=[secret])
    assert set(office.scan(office.connector(selection=chosen)).refs) == {root, inside}


def test_a_root_may_be_the_link_of_a_database(office: Any) -> None:
    source = office.workspace.add_database("Base")
    row = office.workspace.add_page("Row", source)
    office.workspace.add_page("Elsewhere")
    database = office.workspace.things[source]["parent"]["database_id"]
    chosen = Selection.of(
        roots=[f"https://www.notion.so/acme/{database.replace('-', '')}?v=393abc1eedcd80f3813be205934558c6"]
    )
    assert set(office.scan(office.connector(selection=chosen)).refs) == {source, row}


def test_a_root_that_search_misses_is_listed_all_the_same(office: Any) -> None:
    root = office.workspace.add_page("Root")
    office.workspace.add_page("Elsewhere")
    office.workspace.unsearched.add(root)
    assert set(office.scan(office.connector(selection=Selection.of(roots=[root]))).refs) == {root}


def test_an_unshared_root_is_told_with_how_to_share_it(office: Any) -> None:
    root = office.workspace.add_page("Root")
    office.workspace.add_page("Elsewhere")
    office.workspace.unshare(root)
    (failure,) = office.scan(office.connector(selection=Selection.of(roots=[root]))).failed
    assert failure.scope == f"{root}/"
    assert isinstance(failure.error, DocumentRefused)
    assert "Connections" in failure.error.advice


def test_nothing_shared_is_said_loudly(office: Any) -> None:
    listing = office.scan(office.connector())
    (failure,) = listing.failed
    assert "nothing in Notion is shared" in str(failure.error)
    assert isinstance(failure.error, DocumentRefused)
    assert "Connections" in failure.error.advice
    assert listing.complete


def test_when_everything_is_unshared_at_once_nothing_counts_as_gone(office: Any) -> None:
    page = office.workspace.add_page("Page")
    office.scan(office.connector())
    office.workspace.unshare(page)
    listing = office.scan(office.connector())
    (failure,) = listing.failed
    assert failure.scope == ""
    assert isinstance(failure.error, Unavailable)
    assert not listing.complete


def test_a_database_that_went_meanwhile_costs_nothing_else(office: Any) -> None:
    source = office.workspace.add_database("Base")
    row = office.workspace.add_page("Row", source)
    other = office.workspace.add_page("Other")
    office.server.fail(f"data_sources/{source}/query", 404)
    listing = office.scan(office.connector())
    assert set(listing.refs) == {source, row, other}


@pytest.mark.parametrize("status", [500, 504])
def test_a_database_that_cannot_be_listed_is_one_failure(office: Any, status: int) -> None:
    source = office.workspace.add_database("Base")
    other = office.workspace.add_page("Other")
    office.server.fail(f"data_sources/{source}/query", status, times=100)
    listing = office.scan(office.connector())
    assert [failure.scope for failure in listing.failed] == [f"{source}/"]
    assert set(listing.refs) == {source, other}
    assert not listing.complete


def test_pages_below_something_unseen_ask_for_it_once(office: Any) -> None:
    top = office.workspace.add_page("Hidden")
    for number in range(5):
        office.workspace.add_page(f"Shown {number}", top)
    office.workspace.unshare(top)
    office.workspace.visible = lambda key: key != top
    office.later(hours=1)
    first = office.scan(office.connector())
    assert len(first.refs) == 5
    assert {ref.collection for ref in first.refs.values()} == {None}
    assert office.requests(of=f"GET /v1/pages/{top}") == 1
    again = office.connector()
    office.scan(again, first.cursor)
    assert again.requests == 1


def test_a_page_inside_a_block_belongs_to_the_page_around_it(office: Any) -> None:
    top = office.workspace.add_page("Top")
    toggle = office.workspace.add_block(top, "toggle", {"rich_text": [], "color": "default"})
    inner = office.workspace.add_page("Inner", toggle)
    ref = office.scan(office.connector()).refs[inner]
    assert ref.collection == top
    assert '"in":["Top"]' in ref.locator


def test_a_renamed_page_keeps_its_key_and_url_and_changes_its_token(office: Any) -> None:
    page = office.workspace.add_page("Old name")
    office.later(hours=1)
    before = office.scan(office.connector()).refs[page]
    office.workspace.rename(page, "New name")
    office.workspace.things[page]["last_edited_time"] = office.workspace.things[page]["created_time"]
    after = office.scan(office.connector()).refs[page]
    assert (after.key, after.url) == (before.key, before.url)
    assert after.token != before.token


def test_the_clock_of_this_machine_does_not_matter(office: Any) -> None:
    page = office.workspace.add_page("Page")
    office.later(hours=1)
    right = office.scan(office.connector())
    for wrong in (timedelta(days=-400), timedelta(days=400)):
        connector = office.connector()
        connector._sender._local_now = lambda wrong=wrong: office.now + wrong
        listing = office.scan(connector)
        assert listing.refs[page].token == right.refs[page].token
        assert listing.complete


def test_a_scope_is_one_document(office: Any) -> None:
    page, source = office.workspace.add_page("Page"), office.workspace.add_database("Base")
    office.later(hours=1)
    everything = office.scan(office.connector()).refs
    for key in (page, source):
        assert office.scan(office.connector(), scope=key).refs == {key: everything[key]}
    office.workspace.trash(page)
    assert office.scan(office.connector(), scope=page).refs == {}


@pytest.mark.parametrize("token", ["", "  "])
def test_no_token_is_told(office: Any, token: str) -> None:
    with pytest.raises(AuthError, match="NOTION_TOKEN"):
        office.scan(office.connector(token=token))
    assert not office.server.log


def test_a_wrong_token_stops_the_source_and_is_never_shown(office: Any) -> None:
    office.server.tokens = {"good"}
    with pytest.raises(AuthError) as caught:
        office.scan(office.connector(token="ntn_canary"))
    assert "canary" not in str(caught.value)
    assert "revoked" in str(caught.value)


def test_a_missing_capability_stops_the_source(office: Any) -> None:
    office.workspace.add_page("Page")
    office.server.api.limits.content = False
    connector = office.connector()
    ref = next(iter(office.scan(connector).refs.values()))
    with pytest.raises(AuthError, match="capability"):
        connector.fetch(ref, None)


def test_what_is_no_notion_deletes_nothing(office: Any) -> None:
    page = office.workspace.add_page("Page")
    ref = office.scan(office.connector()).refs[page]
    office.server.fail("pages/", 404, times=9)
    import connectors.testing.notion_server as served  # noqa: PLC0415 - to answer as a captive portal does

    real = served._faulty
    served._faulty = lambda fault: Reply(fault.status, b"<html>log in</html>", {"Content-Type": "text/html"})
    try:
        with pytest.raises(Unavailable, match="not its API"):
            list(office.connector().confirm([ref]))
    finally:
        served._faulty = real


def test_what_cannot_be_an_id_is_refused_before_anything_is_asked() -> None:
    with pytest.raises(ConfigError, match="no Notion id"):
        Selection.of(roots=["my handbook"])
