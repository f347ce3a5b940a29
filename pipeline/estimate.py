"""What a planned sync would cost."""

import json

from pipeline.report import Estimate
from pipeline.source import Source
from pipeline.state.contract import Ledger, StateStore
from pipeline.state.values import Verdict

_SECONDS_A_DOCUMENT = 0.02
"""Until a run of this source has told better: about what a small PDF takes."""

_RUNS = 20


def estimated(source: Source, state: StateStore, ledger: Ledger) -> Estimate:
    """Return requests, bytes and seconds of the planned fetches, the seconds by the pace of earlier runs."""
    counts = ledger.counts()
    fetches = sum(counts[verdict] for verdict in (Verdict.NEW, Verdict.CHANGED, Verdict.DUE, Verdict.RECONVERT))
    requests = fetches if hasattr(source.connector, "requests") else 0
    seconds = (fetches + counts[Verdict.REFILED]) * _pace([report for _, report in state.runs(source.name, _RUNS)])
    return Estimate(requests=requests, bytes=ledger.planned_bytes(), seconds=round(seconds, 2))


def _pace(runs: list[str]) -> float:
    for run in map(json.loads, runs):
        documents = run["new"] + run["changed"] + run["moved"]
        if documents and run["seconds"]:
            return float(run["seconds"] / documents)
    return _SECONDS_A_DOCUMENT
