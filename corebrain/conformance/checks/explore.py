"""`explore`: counts agree with what lists."""

from collections import Counter

from corebrain.conformance.trial import Trial
from corebrain.conformance.walking import ids, list_all
from corebrain.model.facet import Facet
from corebrain.model.requests import ExploreRequest


def explore(trial: Trial) -> None:
    """Counts per kind and per workspace agree with the listing, largest first; each bucket lists its count."""
    trial.hold_round_trip()
    for label in ("explore one", "explore two"):
        trial.engine.store(trial.document(label))
    for facet in (Facet.KIND, Facet.WORKSPACE):
        _expect_counts(trial, facet)


def _expect_counts(trial: Trial, facet: Facet) -> None:
    listed = list_all(trial, trial.filter())
    wanted = Counter(value for hit in listed for value in facet.values(hit.kind, hit.meta))
    page = trial.engine.explore(ExploreRequest(facet=facet, filter=trial.filter()))
    name = f"explore of {facet.value}"
    trial.expect(page.facet is facet, f"{name} answers for the facet {page.facet.value}")
    found = {bucket.value: bucket.count for bucket in page.buckets}
    trial.expect(found == dict(wanted), f"{name} counts {found}, the listing holds {dict(wanted)}")
    trial.expect(page.total == len(listed), f"{name} has read {page.total} items, {len(listed)} list")
    trial.expect(not page.truncated, f"{name} of {len(listed)} items is truncated")
    order = [(-bucket.count, bucket.value.encode()) for bucket in page.buckets]
    trial.expect(order == sorted(order), f"{name} does not order its buckets by count, then by value")
    for bucket in page.buckets:
        narrowed = ids(trial, facet.narrow(trial.filter(), bucket.value))
        trial.expect(
            len(narrowed) == bucket.count,
            f"{name} counts {bucket.count} for {bucket.value!r}, narrowed to it {len(narrowed)} list",
        )
