"""`brain verify`: the engine's file against itself, the books against the engine; with --fix, mended."""

import threading
from argparse import Namespace
from typing import Any

from corebrain.engines.local.verification import Finding
from pipeline.assembly import OpenBrain, check_whole, state_file, was_synced
from pipeline.cli import interrupts, progress
from pipeline.cli.console import Console
from pipeline.cli.printable import counted, printable
from pipeline.cli.reading import configured, never_synced
from pipeline.config.complaints import nearest
from pipeline.config.models import Config
from pipeline.errors import SetupError
from pipeline.host import Host
from pipeline.mending import Proof, Rebuilt, engine_findings, is_foreign, mended, proved, rebuild
from pipeline.report import line
from pipeline.source_set import SourceSet

SHOWN = 10
"""Keys and ids shown of each kind of difference; `--json` has all."""


def run(options: Namespace, console: Console) -> int:
    """Verify, and mend when that is asked for; exit 1 when something differs at the end."""
    config = configured(options)
    if not was_synced(config):
        state = state_file(config)
        if state is None or not state.exists():
            never_synced(config, console)
            console.answer(engine=[], sources=[], rebuilt=None)
            return 0
        if not options.fix:
            check_whole(config)
    stop = threading.Event()
    with progress.shown(console) as tell, interrupts.heeded(stop, console):
        host = Host(stop=stop, tell=tell)
        rebuilt = _rebuilt(config, options, host)
        with OpenBrain(SourceSet(config), mending=True) as brain:
            findings = engine_findings(brain, deep=options.deep)
            proofs = [] if any(each.what == "file" for each in findings) else _proofs(brain, options, host)
    _tell(rebuilt, findings, proofs, console, fix=options.fix)
    reports = rebuilt.reports if rebuilt else ()
    well = not findings and all(proof.is_well for proof in proofs) and all(each.error is None for each in reports)
    console.answer(
        ok=well,
        engine=[{"what": each.what, "detail": each.detail} for each in findings],
        sources=[_described(proof) for proof in proofs],
        rebuilt=None if rebuilt is None else {"kept": rebuilt.kept, "sources": [each.to_dict() for each in reports]},
    )
    if stop.is_set():
        return interrupts.INTERRUPTED
    return 0 if well else 1


def _rebuilt(config: Config, options: Namespace, host: Host) -> Rebuilt | None:
    """Rebuild the state of another root or engine; without --fix, opening the brain says what to do."""
    if not options.fix or not is_foreign(config):
        return None
    return rebuild(config, lambda: OpenBrain(SourceSet(config), mending=True), host)


def _proofs(brain: OpenBrain, options: Namespace, host: Host) -> list[Proof]:
    known = list(dict.fromkeys([*brain.sources.by_name, *brain.books()]))
    if options.name is not None and options.name not in known:
        raise SetupError(f"there is no source {options.name!r}; {nearest(options.name, known)}")
    names = [options.name] if options.name else [name for name in known if name in brain.books()]
    return [mended(brain, name, host) if options.fix else proved(brain, name) for name in names]


def _described(proof: Proof) -> dict[str, Any]:
    return {
        "name": proof.name,
        "documents": proof.found.documents,
        "missing": list(proof.found.missing),
        "strangers": list(proof.found.strangers),
        "mended": proof.mended,
        "error": proof.error,
    }


def _tell(
    rebuilt: Rebuilt | None, findings: list[Finding], proofs: list[Proof], console: Console, *, fix: bool
) -> None:
    if rebuilt is not None:
        console.say(f"rebuilt the state; the old one is kept in {printable(rebuilt.kept)}")
        for report in rebuilt.reports:
            console.say(printable(line(report)))
    for finding in findings:
        console.say(f"engine: {finding.what}: {printable(finding.detail)}")
    if findings:
        console.say("engine: run `brain restore` with a backup, or move its file away and run `brain verify --fix`")
    else:
        console.say("engine: sound")
    for proof in proofs:
        _tell_source(proof, console, fix=fix)


def _tell_source(proof: Proof, console: Console, *, fix: bool) -> None:
    found = proof.found
    name = printable(proof.name)
    if found.agrees:
        console.say(f"{name}: {counted(found.documents, 'document')}, all there")
        return
    console.say(
        f"{name}: {counted(found.documents, 'document')}, {len(found.missing):,} missing in memory,"
        f" {counted(len(found.strangers), 'item')} that no book knows"
    )
    for what, those in (("missing", found.missing), ("unknown", found.strangers)):
        for one in those[:SHOWN]:
            console.say(f"  {what}: {printable(one)}")
        if len(those) > SHOWN:
            console.say(f"  and {len(those) - SHOWN:,} more")
    if proof.mended:
        console.say("  mended")
    elif proof.error is not None:
        console.say(f"  not mended: {printable(proof.error)}")
    elif not fix:
        console.say(f"  `brain verify {name} --fix` mends it")
