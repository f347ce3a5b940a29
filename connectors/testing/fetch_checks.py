"""Checks of the law of `fetch`."""

import threading
from collections.abc import Iterable

from connectors.contract import Blob, Ref, Unchanged
from connectors.errors import DocumentGone
from connectors.pull import delete_copies
from connectors.testing.harness import Harness, Violation, expect, holds, read, scan


def fetching_again_gives_equal_blobs(harness: Harness) -> None:
    """An unchanged document reads the same twice."""
    key = harness.put("a.md", "text")
    connector = harness.connector()
    ref = scan(connector).refs[key]
    expect(read(connector, ref) == read(harness.connector(), ref), "an unchanged document reads differently twice")


def known_token_is_recognised(harness: Harness) -> None:
    """Listing and fetch agree on the token of an unchanged document."""
    key = harness.put("a.md", "text")
    connector = harness.connector()
    ref = scan(connector).refs[key]
    token = read(connector, ref)[1]
    expect(ref.token is None or ref.token == token, "listing and fetch give an unchanged document different tokens")
    answer = connector.fetch(ref, token)
    if isinstance(answer, Blob):
        delete_copies(answer)
        expect(answer.token == token, "an unchanged document has another token at the second fetch")


def edit_of_equal_size_is_seen(harness: Harness) -> None:
    """An edit of equal size right after the last changes the token, and is never called unchanged."""
    key = harness.put("a.md", "text 1")
    before = scan(harness.connector()).refs[key]
    harness.put("a.md", "text 2")
    connector = harness.connector()
    after = scan(connector).refs[key]
    expect(after.token is None or after.token != before.token, "an edit of equal size keeps the token")
    if before.token is not None:
        answer = connector.fetch(before, before.token)
        expect(not isinstance(answer, Unchanged), "fetch says unchanged of an edited document")
    holds(connector, after, "text 2")


def token_is_that_of_the_bytes_read(harness: Harness) -> None:
    """A blob carries the token of its own bytes, though the document changed since the listing; at most an older one.

    An older token costs one more fetch, a newer one would lose the edit. It is allowed to a harness whose
    `tokens_are_listed` is true: its service tells no token with the content, and another request would double the cost.
    """
    key = harness.put("a.md", "old text")
    connector = harness.connector()
    stale = scan(connector).refs[key]
    harness.put("a.md", "new text, longer")
    data, token = read(connector, stale)
    expect(b"new text" in data, "fetch gives the document as it was listed, not as it is")
    now = scan(harness.connector()).refs[key]
    if getattr(harness, "tokens_are_listed", False) and token is not None and token == stale.token:
        expect(now.token != token, "an edit after the listing leaves the listed token valid")
        return
    expect(token is None or now.token is None or token == now.token, "the blob's token is not that of its bytes")


def document_that_vanishes_before_the_fetch_is_gone(harness: Harness) -> None:
    """Fetching a document deleted since the listing raises `DocumentGone`."""
    key = harness.put("a.md", "text")
    connector = harness.connector()
    ref = scan(connector).refs[key]
    harness.remove(key)
    try:
        connector.fetch(ref, None)
    except DocumentGone:
        return
    raise Violation("fetch of a vanished document does not raise DocumentGone")


def fetches_may_overlap(harness: Harness) -> None:
    """Fetches from several threads, also of one document, give the right bytes."""
    texts = {harness.put(f"{i}.md", f"text number {i}."): f"text number {i}." for i in range(12)}
    connector = harness.connector()
    refs = [*scan(connector).refs.values()] * 2
    faults: list[BaseException] = []

    def work(part: Iterable[Ref]) -> None:
        try:
            for ref in part:
                holds(connector, ref, texts[ref.key])
        except BaseException as fault:  # noqa: BLE001 - handed to the thread that checks
            faults.append(fault)

    threads = [threading.Thread(target=work, args=(refs[i::4],)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expect(not faults, f"fetches in several threads fail: {faults[:1]}")


def fetch_works_long_after_the_scan(harness: Harness) -> None:
    """A ref kept in state is enough for a connector made anew."""
    key = harness.put("team/e\u0301.md", "text")
    ref = scan(harness.connector()).refs[key]
    holds(harness.connector(), ref, "text")
