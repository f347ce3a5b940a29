"""The law of `connectors.contract` as checks that any connector passes, a third party's included.

A connector's tests write a `Harness` over the connector's stand-in (a folder, a local server) and run every check on a
fresh one:

```python
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_connector_keeps_the_law(check: Check, harness: MyHarness) -> None:
    check(harness)
```

A check that does not hold raises `Violation`, whose message says which rule was broken and by what.
"""

from connectors.testing import fetch_checks, listing_checks
from connectors.testing.harness import Check, Harness, Violation

__all__ = ["CHECKS", "Check", "Harness", "Violation"]

CHECKS: tuple[Check, ...] = (
    listing_checks.scan_lists_every_document_and_completes,
    listing_checks.empty_source_is_complete,
    listing_checks.keys_are_normal_relative_and_text,
    listing_checks.scanning_again_gives_equal_refs,
    fetch_checks.fetching_again_gives_equal_blobs,
    fetch_checks.known_token_is_recognised,
    fetch_checks.edit_of_equal_size_is_seen,
    fetch_checks.token_is_that_of_the_bytes_read,
    listing_checks.equal_content_under_two_keys_stays_two_documents,
    listing_checks.renamed_document_is_found_under_its_key,
    listing_checks.rename_of_case_alone_is_seen,
    listing_checks.removed_document_is_lost_and_no_other,
    fetch_checks.document_that_vanishes_before_the_fetch_is_gone,
    listing_checks.unreadable_part_loses_nothing,
    listing_checks.scope_lists_its_part_and_nothing_else,
    listing_checks.cursor_misses_no_change,
    listing_checks.unusable_cursor_lists_everything,
    listing_checks.cursors_survive_json,
    listing_checks.abandoned_scan_frees_what_it_holds,
    fetch_checks.fetches_may_overlap,
    fetch_checks.fetch_works_long_after_the_scan,
)
"""Every check; each wants a harness of its own."""
