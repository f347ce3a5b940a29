"""`brain explore`: counts of what is held."""

from argparse import Namespace

from corebrain.model.facet import Facet
from corebrain.model.requests import ExplorePage, ExploreRequest
from pipeline.assembly import OpenBrain
from pipeline.cli.console import Console
from pipeline.cli.printable import counted, printable
from pipeline.cli.reading import configured, never_synced, wanted
from pipeline.source_set import SourceSet

OVERVIEW = (Facet.SOURCE_ID, Facet.NAMESPACE, Facet.FOLDER, Facet.LANGUAGE, Facet.TAG)
"""What is counted when no facet is named."""

_SCANNED = 50_000


def run(options: Namespace, console: Console) -> int:
    """Count by one facet, or by the most telling ones."""
    config = configured(options)
    if never_synced(config, console):
        console.answer(facets=[])
        return 0
    facets = (Facet(options.facet),) if options.facet else OVERVIEW
    with OpenBrain(SourceSet(config), trial=True) as brain:
        criterion = wanted(brain, options.source)
        found = [
            brain.engine.explore(
                ExploreRequest(facet=facet, filter=criterion, limit=options.limit, scan_limit=_SCANNED)
            )
            for facet in facets
        ]
    for page in found:
        if page.buckets or options.facet:
            _tell(page, console)
    console.answer(facets=[page.to_dict() for page in found])
    return 0


def _tell(page: ExplorePage, console: Console) -> None:
    lower = " (at least)" if page.truncated else ""
    console.say(f"{page.facet.value}: {counted(page.total, 'document')}{lower}")
    for bucket in page.buckets:
        console.say(f"  {bucket.count:>8,}  {printable(bucket.value)}")
    if page.more_buckets:
        console.say(f"  {'':>8}  and {page.more_buckets:,} more values; --limit shows them")
    if page.missing:
        console.say(f"  {page.missing:>8,}  without one")
