"""`brain search`: finds documents, with the place in each."""

from argparse import Namespace

from corebrain.model.requests import FetchRequest
from pipeline.assembly import OpenBrain
from pipeline.cli.console import Console
from pipeline.cli.printable import printable
from pipeline.cli.reading import SHORT_ID, configured, described, never_synced, place, wanted
from pipeline.cli.snippets import Snippet, snippet
from pipeline.errors import SetupError
from pipeline.source_set import SourceSet


def run(options: Namespace, console: Console) -> int:
    """Search, best first."""
    query = " ".join(options.query)
    if not query.strip():
        raise SetupError("the query is blank; give some words to look for")
    config = configured(options)
    if never_synced(config, console):
        console.answer(query=query, hits=[])
        return 0
    with OpenBrain(SourceSet(config), trial=True) as brain:
        request = FetchRequest(
            query=query,
            mode=brain.engine.descriptor.best_mode,
            filter=wanted(brain, options.source),
            limit=options.limit,
        )
        hits = brain.engine.fetch(request).hits
        found = [(hit, snippet(hit, query), described(brain, hit), place(brain, hit)) for hit in hits]
    for hit, part, said, where in found:
        title = printable(said["title"]) or printable(where)
        console.say(f"{console.marked(title, [(0, len(title))])}  [{printable(hit.meta.source.id or '')}]")
        console.say(f"  {' · '.join([printable(where), *_inside(part)])}  ({hit.id[:SHORT_ID]})")
        console.say(f"  {console.marked(part.text, part.spans)}")
    if not found and not console.as_json:
        console.note(f"nothing was found for {printable(query)}; `brain list` shows what is held")
    console.answer(
        query=query,
        hits=[
            {
                **said,
                "score": hit.score,
                "page": part.page,
                "heading": part.heading,
                "snippet": part.text,
                "text": hit.text,
            }
            for hit, part, said, _ in found
        ],
    )
    return 0


def _inside(part: Snippet) -> list[str]:
    page = [f"page {part.page}"] if part.page else []
    return page + ([printable(part.heading)] if part.heading else [])
