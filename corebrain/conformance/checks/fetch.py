"""`fetch_filters` and `unsupported_modes`: ranked reads keep to their filter, and modes to what is declared."""

from corebrain.conformance.probes import Probe, probes
from corebrain.conformance.trial import Trial
from corebrain.conformance.walking import expect_ids, ids
from corebrain.errors import Unsupported
from corebrain.model.filter import MetaFilter
from corebrain.model.requests import FetchMode, FetchRequest

_LIMIT = 50


def fetch_filters(trial: Trial) -> None:
    """In every declared mode, and in list, each of fifteen filters finds exactly the one item made for it."""
    held = {trial.engine.store(probe.item).id: probe for probe in probes(trial.probe_workspace, trial.marker)}
    everything = MetaFilter(workspace=trial.probe_workspace)
    for item_id, probe in held.items():
        expect_ids(trial, f"list by {probe.field}", ids(trial, probe.filter), [item_id])
    expect_ids(trial, "list by workspace", ids(trial, everything), held)
    for mode in trial.engine.descriptor.fetch_modes:
        for item_id, probe in held.items():
            expect_ids(trial, _named(mode, probe), _fetched(trial, mode, probe.filter), [item_id])
        expect_ids(trial, f"{mode.value} fetch by workspace", _fetched(trial, mode, everything), held)


def _named(mode: FetchMode, probe: Probe) -> str:
    return f"{mode.value} fetch by {probe.field}"


def _fetched(trial: Trial, mode: FetchMode, wanted: MetaFilter) -> list[str]:
    request = FetchRequest(query=trial.marker, mode=mode, filter=wanted, limit=_LIMIT)
    return [hit.id for hit in trial.engine.fetch(request).hits]


def unsupported_modes(trial: Trial) -> None:
    """Every undeclared mode is refused as `Unsupported`, every declared one is served."""
    for mode in FetchMode:
        request = FetchRequest(query=trial.marker, mode=mode, filter=trial.filter(), limit=1)
        if not trial.engine.descriptor.supports(mode):
            trial.refused(f"the undeclared {mode.value} fetch", lambda: trial.engine.fetch(request), Unsupported)  # noqa: B023  # called at once
            continue
        found = len(trial.engine.fetch(request).hits)
        trial.expect(found <= 1, f"a {mode.value} fetch of limit 1 answers {found} hits")
