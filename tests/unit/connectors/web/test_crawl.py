"""Crawls of a stand-in site, event by event."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from connectors.contract import Blob, Failed, Gone, Seen, Unchanged
from connectors.errors import AuthError, ConfigError, DocumentError, DocumentGone, DocumentRefused, Unavailable
from connectors.http import Limits
from connectors.notes import MemoryNotes
from connectors.pull import pull
from connectors.testing.harness import Listing
from connectors.testing.web import WebStandIn, spoil
from connectors.testing.web_pages import StandInPage, documentation, page, redirect, sitemap
from connectors.web.connector import WebConnector
from corebrain.layout import BrainDocument

if TYPE_CHECKING:
    from connectors.contract import Event

Connect = Callable[..., WebConnector]
Crawl = Callable[..., Listing]
SeenPaths = Callable[[Listing, WebStandIn], list[str]]

SHORT = Limits(read_s=1.2, deadline_s=3.0)
FRONT = page("Front", "front", links=("/a", "/b/"))


def small(site: WebStandIn) -> None:
    site.pages.update({"/": FRONT, "/a": page("A", "a", links=("b/",)), "/b/": page("B", "b", links=("../c?x=1",))})
    site.pages["/c?x=1"] = page("C", "c")


def test_links_are_followed_each_page_once(site: WebStandIn, connect: Connect, crawl: Crawl, seen: SeenPaths) -> None:
    small(site)
    listing = crawl(connect())
    assert seen(listing, site) == ["/", "/a", "/b", "/c?x=1"]
    assert listing.completed == [""]
    assert sorted(site.paths)[:3] == ["/", "/a", "/b/"]
    assert len(site.paths) == len(set(site.paths)) == 7  # and robots.txt, a sitemap, and a page that cannot exist


def test_unchanged_site_costs_one_conditional_request_a_page(site: WebStandIn, connect: Connect, crawl: Crawl) -> None:
    site.pages.update(documentation(50))
    notes = MemoryNotes()
    first = crawl(connect(), notes)
    site.log.clear()
    connector = connect()
    again = crawl(connector, notes, first.cursor)
    assert again.refs == first.refs
    assert all(event.blob is None for event in again.events if isinstance(event, Seen))
    pages = [entry for entry in site.log if entry["path"] not in {"/robots.txt", "/sitemap.xml"}]
    assert len(pages) == 50
    assert all(entry["conditional"] and entry["status"] == 304 for entry in pages)
    assert connector.requests == 52


def test_trusted_lastmod_costs_the_sitemap_alone(site: WebStandIn, connect: Connect, crawl: Crawl) -> None:
    site.pages.update(documentation(30))
    notes = MemoryNotes()
    first = crawl(connect("/sitemap.xml", trust_lastmod=True), notes)
    site.log.clear()
    again = crawl(connect("/sitemap.xml", trust_lastmod=True), notes, first.cursor)
    assert again.refs == first.refs
    assert set(site.paths) == {"/robots.txt", "/sitemap.xml"}


def test_validator_that_changes_proves_nothing(site: WebStandIn, connect: Connect, crawl: Crawl) -> None:
    site.pages["/"] = replace(FRONT, headers={"ETag": '"1"'}, etag=False)
    notes = MemoryNotes()
    first = crawl(connect(), notes).refs
    site.pages["/"] = replace(FRONT, headers={"ETag": '"2"'}, etag=False)
    assert crawl(connect(), notes).refs == first


def test_page_is_gone_when_it_is_missing_twice(site: WebStandIn, connect: Connect, crawl: Crawl) -> None:
    small(site)
    notes = MemoryNotes()
    crawl(connect(), notes)
    del site.pages["/a"]
    key = f"{site.place}/a"
    once = crawl(connect(), notes)
    assert [event.scope for event in once.events if isinstance(event, Failed)] == [key]
    assert Gone(key) not in once.events
    twice = crawl(connect(), notes)
    assert Gone(key) in twice.events


def test_page_that_comes_back_is_counted_anew(site: WebStandIn, connect: Connect, crawl: Crawl) -> None:
    small(site)
    notes = MemoryNotes()
    crawl(connect(), notes)
    kept = site.pages.pop("/a")
    crawl(connect(), notes)
    site.pages["/a"] = kept
    crawl(connect(), notes)
    del site.pages["/a"]
    assert Gone(f"{site.place}/a") not in crawl(connect(), notes).events


@pytest.mark.parametrize("status", [401, 403, 429, 500, 503])
def test_page_that_fails_is_kept(site: WebStandIn, connect: Connect, crawl: Crawl, status: int) -> None:
    small(site)
    notes = MemoryNotes()
    first = crawl(connect(), notes)
    site.failing["/a"] = status
    key = f"{site.place}/a"
    for _ in range(3):
        connector = connect()
        listing = crawl(connector, notes)
        assert key in listing.failed
        assert not listing.loses(key, connector, first.refs[key])


def test_page_no_longer_linked_is_judged_by_its_own_answer(site: WebStandIn, connect: Connect, crawl: Crawl) -> None:
    small(site)
    first = crawl(connect())
    site.pages["/"] = page("Front", "front")
    connector = connect()
    crawl(connector)
    site.pages["/a"] = redirect("/b/", 301)
    del site.pages["/c?x=1"]
    refs = [first.refs[f"{site.place}{path}"] for path in ("/a", "/b", "/c?x=1")]
    moved, kept, missing = connector.confirm(refs)
    assert moved == Gone(f"{site.place}/a")
    assert isinstance(kept, Seen)
    assert kept.ref == first.refs[f"{site.place}/b"]
    assert missing == Gone(f"{site.place}/c?x=1")


def test_pages_that_leave_the_rules_are_gone_when_asked(site: WebStandIn, connect: Connect, crawl: Crawl) -> None:
    small(site)
    first = crawl(connect())
    connector = connect(exclude=["/a"])
    listing = crawl(connector)
    key = f"{site.place}/a"
    assert listing.loses(key, connector, first.refs[key])
    assert "/a" not in site.paths[8:]


def test_crawl_that_was_cut_off_goes_on(site: WebStandIn, connect: Connect, crawl: Crawl, seen: SeenPaths) -> None:
    site.pages.update(documentation(200))
    whole = crawl(connect())
    notes = MemoryNotes()
    kept: list[Event] = []
    cursor = None
    before = MemoryNotes()
    for event in connect().scan(None, notes):
        kept.append(event)
        if type(event).__name__ == "Checkpoint":
            cursor = event.cursor  # type: ignore[union-attr]  # the class was just looked at
            before = MemoryNotes({key: notes.get(key) for key in notes._values})
            break
    site.log.clear()
    rest = crawl(connect(), before, cursor)
    assert rest.refs == whole.refs
    assert rest.completed == [""]
    done = {event.ref.key for event in kept if isinstance(event, Seen)}
    again = {f"{site.place}{path}".rstrip("/") for path in site.paths}
    assert len(done) > 50
    assert not done & again
    assert seen(rest, site)[:3] == seen(whole, site)[:3]


def test_pages_ask_not_to_be_kept_or_followed(
    site: WebStandIn, connect: Connect, crawl: Crawl, seen: SeenPaths
) -> None:
    site.pages.update({
        "/": page("Front", "x", links=("/hidden", "/dead-end", "/header")),
        "/hidden": page("H", "x", links=("/through",), head='<meta name="robots" content="NoIndex">'),
        "/dead-end": page("D", "x", links=("/beyond",), head='<meta name="robots" content="nofollow">'),
        "/header": replace(page("X", "x"), headers={"X-Robots-Tag": "otherbot: nofollow, noindex, corebrain: none"}),
        "/through": page("T", "x"),
        "/beyond": page("B", "x"),
    })  # fmt: skip
    assert seen(crawl(connect()), site) == ["/", "/dead-end", "/through"]


def test_robots_txt_is_obeyed(site: WebStandIn, connect: Connect, crawl: Crawl, seen: SeenPaths) -> None:
    small(site)
    site.pages["/robots.txt"] = StandInPage(
        b"User-agent: *\nDisallow: /a\nUser-agent: other\nDisallow: /\n", "text/plain"
    )
    assert seen(crawl(connect()), site) == ["/", "/b", "/c?x=1"]
    assert "/a" not in site.paths
    assert seen(crawl(connect(robots=False)), site) == ["/", "/a", "/b", "/c?x=1"]


def test_robots_txt_that_forbids_all_is_told(site: WebStandIn, connect: Connect, crawl: Crawl) -> None:
    small(site)
    site.pages["/robots.txt"] = StandInPage(b"User-agent: *\nDisallow: /\n", "text/plain")
    listing = crawl(connect())
    [failure] = [event for event in listing.events if isinstance(event, Failed)]
    assert failure.scope == ""
    assert isinstance(failure.error, DocumentRefused)
    assert not listing.completed


@pytest.mark.parametrize("status", [500, 503])
def test_robots_txt_that_fails_forbids_everything(
    site: WebStandIn, connect: Connect, crawl: Crawl, status: int
) -> None:
    small(site)
    site.failing["/robots.txt"] = status
    listing = crawl(connect())
    assert "" in listing.failed
    assert not listing.completed
    assert set(site.paths) == {"/robots.txt"}


def test_crawl_delay_and_interval_pace_the_crawl(site: WebStandIn, connect: Connect, crawl: Crawl) -> None:
    small(site)
    site.pages["/robots.txt"] = StandInPage(b"User-agent: *\nCrawl-delay: 7\n", "text/plain")
    connector = connect(interval_s=0.5)
    crawl(connector)
    assert connector._site.pace(site.url).interval_s == 7.0


def test_canonical_twins_are_one_document(site: WebStandIn, connect: Connect, crawl: Crawl, seen: SeenPaths) -> None:
    canonical = '<link rel="canonical" href="/guide">'
    site.pages.update({
        "/": page("Front", "x", links=("/guide?print=1", "/old/guide", "/guide", "/lost")),
        "/guide": page("Guide", "x", head=canonical),
        "/guide?print=1": page("Guide", "x", head=canonical),
        "/old/guide": page("Guide", "x", head=canonical),
        "/lost": page("Lost", "x", head='<link rel="canonical" href="/nowhere">'),
    })  # fmt: skip
    notes = MemoryNotes()
    listing = crawl(connect(), notes)
    assert sorted(seen(listing, site)) == ["/", "/guide", "/lost"]
    again = crawl(connect(), notes, listing.cursor)
    assert again.refs == listing.refs
    del site.pages["/guide"]
    assert f"{site.place}/guide?print=1" in crawl(connect(), notes).refs  # what stood for it is there no more


def test_redirects_and_twins_lead_to_one_document(
    site: WebStandIn, connect: Connect, crawl: Crawl, seen: SeenPaths
) -> None:
    site.pages.update({
        "/": page("Front", "x", links=("/old", "/dir", "/loop", "/utm?utm_source=x", "/utm#part")),
        "/old": redirect("/new", 301),
        "/new": page("New", "x"),
        "/dir": redirect("/dir/", 301),
        "/dir/": page("Dir", "x"),
        "/loop": redirect("/loop2"),
        "/loop2": redirect("/loop"),
        "/utm": page("Utm", "x"),
    })  # fmt: skip
    assert sorted(seen(crawl(connect()), site)) == ["/", "/dir", "/new", "/utm"]


def test_folder_and_its_index_are_one_document(
    site: WebStandIn, connect: Connect, crawl: Crawl, seen: SeenPaths
) -> None:
    site.pages.update({
        "/": page("Front", "x", links=("/index.html", "/a/index.html", "/b/index.html", "/c/index.html")),
        "/a/": page("A", "same"),
        "/a/index.html": page("A", "same"),
        "/b/": page("B", "one thing"),
        "/b/index.html": page("B", "another"),
        "/c/index.html": page("C", "alone"),
    })  # fmt: skip
    site.pages["/index.html"] = site.pages["/"]
    notes = MemoryNotes()
    listing = crawl(connect(), notes)
    assert sorted(seen(listing, site)) == ["/", "/a", "/b", "/b/index.html", "/c/index.html"]
    assert crawl(connect(), notes, listing.cursor).refs == listing.refs


def test_soft_missing_pages_are_missing(site: WebStandIn, connect: Connect, crawl: Crawl, seen: SeenPaths) -> None:
    sorry = "Sorry, we looked everywhere and there is nothing here by that name. Try the search."
    site.missing = page("Not here", sorry)
    site.pages.update({"/": page("Front", "x", links=("/a", "/dead")), "/a": page("A", "real text of the page a")})
    assert seen(crawl(connect(sitemaps=False)), site) == ["/", "/a"]


def test_traps_are_bounded(site: WebStandIn, connect: Connect, crawl: Crawl, monkeypatch: pytest.MonkeyPatch) -> None:
    from connectors.web import traps  # noqa: PLC0415 - to lower its bounds

    monkeypatch.setattr(traps, "MOST_ALIKE", 30)
    monkeypatch.setattr(traps, "MOST_QUERIES", 10)
    site.pages.update(documentation(5))
    spoil(site)
    said: list[str] = []
    connector = connect(limits=SHORT)
    connector.say = said.append
    listing = crawl(connector)
    assert listing.completed == [""]
    assert 30 <= sum("/calendar" in key for key in listing.refs) <= 100
    assert any("endless" in line for line in said)
    assert any("private addresses" in line for line in said)


def test_hostile_pages_are_contained(site: WebStandIn, connect: Connect, crawl: Crawl) -> None:
    site.pages.update(documentation(8))
    spoil(site)
    site.scripts.clear()
    listing = crawl(connect(max_bytes=8 * 2**20, limits=SHORT))
    failed = {scope.removeprefix(site.place) for scope in listing.failed}
    lying = {"/headers.html", "/no-http.html", "/short.html"}  # a longer body than said is read as far as was said
    assert failed == {"/bomb.html", "/broken.html", "/slow.html", "/asleep.html", *lying}
    assert {f"{site.place}{path}" for path in ("/koi8.html", "/deep.html", "/links.html")} <= set(listing.refs)
    assert not {f"{site.place}{path}" for path in ("/hidden.html", "/private/secret.html", "/print")} & set(
        listing.refs
    )


def test_most_pages_end_a_crawl_without_loss(site: WebStandIn, connect: Connect, crawl: Crawl) -> None:
    site.pages.update(documentation(50))
    listing = crawl(connect(max_pages=20))
    assert len(listing.refs) <= 20
    assert listing.completed == []


def test_depth_is_counted_in_links(site: WebStandIn, connect: Connect, crawl: Crawl, seen: SeenPaths) -> None:
    for number in range(6):
        site.pages[f"/{number}"] = page(f"{number}", "x", links=(f"/{number + 1}",))
    assert seen(crawl(connect("/0", reach="host", max_depth=2)), site) == ["/0", "/1", "/2"]


def test_starts_alone_are_read_without_following(
    site: WebStandIn, connect: Connect, crawl: Crawl, seen: SeenPaths
) -> None:
    small(site)
    assert seen(crawl(connect("/a", "/b/", follow=False)), site) == ["/a", "/b"]


def test_sitemap_index_and_compressed_sitemaps(
    site: WebStandIn, connect: Connect, crawl: Crawl, seen: SeenPaths
) -> None:
    import gzip  # noqa: PLC0415 - only here

    small(site)
    site.pages["/robots.txt"] = StandInPage(f"Sitemap: {site.url}/index.xml\n".encode(), "text/plain")
    index = f"<sitemapindex><sitemap><loc>{site.url}/one.xml.gz</loc></sitemap></sitemapindex>"
    site.pages["/index.xml"] = StandInPage(index.encode(), "application/xml")
    listed = sitemap(["/orphan"]).body.replace(b"{origin}", site.url.encode())
    site.pages["/one.xml.gz"] = StandInPage(gzip.compress(listed), "application/gzip")
    site.pages["/orphan"] = page("Orphan", "x")
    assert "/orphan" in seen(crawl(connect()), site)


def test_feeds_lead_to_their_entries(site: WebStandIn, connect: Connect, crawl: Crawl, seen: SeenPaths) -> None:
    small(site)
    items = "".join(f"<item><title>t</title><link>{site.url}{path}</link></item>" for path in ("/a", "/b/"))
    rss = f'<?xml version="1.0"?><rss version="2.0"><channel><title>News</title>{items}</channel></rss>'
    site.pages["/feed.xml"] = StandInPage(rss.encode(), "application/rss+xml")
    assert seen(crawl(connect("/feed.xml", follow=False)), site) == ["/a", "/b"]


def test_sitemap_that_fails_voids_the_host(site: WebStandIn, connect: Connect, crawl: Crawl) -> None:
    small(site)
    site.pages["/robots.txt"] = StandInPage(f"Sitemap: {site.url}/map.xml\n".encode(), "text/plain")
    site.failing["/map.xml"] = 503
    assert f"{site.place}/" in crawl(connect()).failed


def test_site_that_stops_answering_pauses_the_source(site: WebStandIn, connect: Connect, crawl: Crawl) -> None:
    site.pages["/"] = page("Front", "x", links=tuple(f"/{name}" for name in "abcdefghijkl"))
    for name in "abcdefghijkl":
        site.failing[f"/{name}"] = 503
    with pytest.raises(Unavailable):
        crawl(connect())


def test_private_start_is_a_config_error_with_advice(site: WebStandIn, connect: Connect, crawl: Crawl) -> None:
    small(site)
    with pytest.raises(ConfigError, match="allow_private"):
        crawl(connect(private=[]))
    assert site.log == []


def test_missing_start_is_told(connect: Connect, crawl: Crawl) -> None:
    listing = crawl(connect("/nothing-here"))
    assert listing.failed == [""]
    assert not listing.completed


def test_start_that_wants_a_login_stops_the_source(site: WebStandIn, connect: Connect, crawl: Crawl) -> None:
    site.failing["/"] = 401
    with pytest.raises(AuthError, match="authorization"):
        crawl(connect())


def test_languages_are_told_apart(site: WebStandIn, connect: Connect, crawl: Crawl, seen: SeenPaths) -> None:
    twins = '<link rel="alternate" hreflang="de" href="/de/"><link rel="alternate" hreflang="fr" href="/fr/">'
    site.pages.update({
        "/": page("Front", "x", head=twins, links=("/fr-by-link",)),
        "/de/": page("Vorn", "x", language="de"),
        "/fr/": page("Devant", "x", language="fr"),
        "/fr-by-link": page("Devant", "x", language="fr-CA"),
    })  # fmt: skip
    assert sorted(seen(crawl(connect(languages=frozenset({"en", "de"}))), site)) == ["/", "/de"]
    assert "/fr/" not in site.paths


def test_fetch_reads_one_page_as_it_is_now(site: WebStandIn, connect: Connect, crawl: Crawl) -> None:
    small(site)
    connector = connect()
    ref = crawl(connector).refs[f"{site.place}/a"]
    assert connector.fetch(ref, ref.token) == Unchanged(ref.token)
    site.pages["/a"] = page("A", "changed")
    blob = connector.fetch(ref, ref.token)
    assert isinstance(blob, Blob)
    assert blob.title == "A"
    for status, error in ((404, DocumentGone), (403, DocumentRefused), (500, DocumentError)):
        site.failing["/a"] = status
        with pytest.raises(error):
            connector.fetch(ref, None)


def test_documents_carry_what_their_page_says(site: WebStandIn, connect: Connect, crawl: Crawl) -> None:
    data = (
        '<script type="application/ld+json">{"@graph": [{"@type": "BreadcrumbList", "itemListElement": ['
        '{"position": 2, "name": "Setup"}, {"position": 1, "item": {"name": "Docs"}},'
        '{"position": 3, "name": "Here"}]},'
        '{"dateModified": "2026-02-03T04:05:06+02:00"}]}</script>'
    )
    site.pages.update({
        "/": page("Front", "x", links=("/docs/set-up/first.html", "/plain/files/a.pdf", "/notes.md")),
        "/docs/set-up/first.html": page("First steps", "x", head=data),
        "/plain/files/a.pdf": StandInPage(b"%PDF-1.4 %%EOF", "application/octet-stream"),
        "/notes.md": StandInPage(b"# Notes", "text/plain", modified="Thu, 01 Jan 2026 00:00:00 GMT"),
    })  # fmt: skip
    blobs = {
        event.ref.key.removeprefix(site.place): event.blob
        for event in crawl(connect()).events
        if isinstance(event, Seen)
    }
    first, pdf, notes = blobs["/docs/set-up/first.html"], blobs["/plain/files/a.pdf"], blobs["/notes.md"]
    assert first is not None
    assert pdf is not None
    assert notes is not None
    assert (first.title, first.path) == ("First steps", ("Docs", "Setup"))
    assert str(first.modified) == "2026-02-03 02:05:06+00:00"
    assert (pdf.filename, pdf.media_type, pdf.path) == ("a.pdf", "", ("plain", "files"))
    assert (notes.filename, notes.media_type, str(notes.modified)) == ("notes.md", "", "2026-01-01 00:00:00+00:00")


def test_collection_is_the_host_or_its_first_folders(site: WebStandIn, connect: Connect, crawl: Crawl) -> None:
    small(site)
    site.pages["/"] = page("Front", "x", links=("/docs/a/b.html",))
    site.pages["/docs/a/b.html"] = page("B", "x")
    assert {ref.collection for ref in crawl(connect()).refs.values()} == {site.place}
    assert {ref.collection for ref in crawl(connect(collection_depth=1)).refs.values()} == {
        site.place,
        f"{site.place}/docs",
    }


def test_known_page_is_scanned_alone(site: WebStandIn, connect: Connect, crawl: Crawl) -> None:
    small(site)
    notes = MemoryNotes()
    crawl(connect(), notes)
    site.log.clear()
    key = f"{site.place}/a"
    listing = crawl(connect(), notes, scope=key)
    assert (set(listing.refs), listing.completed) == ({key}, [key])
    assert [path for path in site.paths if path != "/robots.txt"] == ["/a"]


def test_files_that_pages_link_to_become_documents_of_their_own(site: WebStandIn, connect: Connect) -> None:
    golden = Path(__file__).parents[3] / "golden" / "documents"
    pdf, docx = golden / "pdf" / "list-item-example.pdf", golden / "docx" / "docx_lists.docx"
    site.pages["/"] = page("Front", "front", links=("/files/list.pdf", "/files/get?id=7", "/notes.md", "/plan.zip"))
    site.pages["/files/list.pdf"] = StandInPage(pdf.read_bytes(), "application/pdf")
    named = {"Content-Disposition": 'attachment; filename="lists.docx"'}
    site.pages["/files/get?id=7"] = StandInPage(docx.read_bytes(), "application/octet-stream", headers=named)
    site.pages["/notes.md"] = StandInPage(b"# Notes\n\nOf the plan.", "text/plain")
    site.pages["/plan.zip"] = StandInPage(b"PK", "application/zip")
    found = {str(each.meta.url): each for each in pull(connect()) if isinstance(each, BrainDocument)}
    assert set(found) == {f"{site.url}{path}" for path in ("/", "/files/list.pdf", "/files/get?id=7", "/notes.md")}
    for url, expected in (("/files/list.pdf", pdf), ("/files/get?id=7", docx)):
        text = expected.with_name(f"{expected.name}.md").read_text(encoding="utf-8")
        assert found[f"{site.url}{url}"].text.split()[:40] == text.split()[:40]
    assert found[f"{site.url}/notes.md"].title == "Notes"


def test_article_of_a_page_is_kept_alone_on_request(site: WebStandIn, connect: Connect) -> None:
    prose = "<p>A lease is a promise with an end, and this page says how one is kept when its process is gone.</p>" * 3
    teaser = '<div class="caption"><p>Elsewhere on this site, something quite different is told.</p></div>'
    site.pages["/"] = StandInPage(f"<body><article>{prose}{teaser}</article></body>".encode(), "text/html")
    site.pages["/notes.txt"] = StandInPage(b"plain notes", "text/plain")

    def texts(**settings: str) -> list[str]:
        connector = connect("/", "/notes.txt", **settings)
        return [document.text for document in pull(connector) if isinstance(document, BrainDocument)]

    page, notes = texts()
    assert "Elsewhere" in page
    assert texts(content="article") == [page.partition("\n\nElsewhere")[0], notes]
