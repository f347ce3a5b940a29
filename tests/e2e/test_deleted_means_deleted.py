"""What was deleted in a source is afterwards nowhere: no answer holds it, and no file."""

import json
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest

from corebrain import context
from corebrain.engines.local.engine import LocalEngine
from corebrain.model.filter import MetaFilter
from corebrain.model.meta import ItemKind
from corebrain.model.namespace import Namespace, Reach
from corebrain.model.requests import BeliefsRequest

pytestmark = pytest.mark.slow

BODY, TITLE, PART, OLD = "zanzibarheron", "quokkaledger", "axolotlclause", "narwhalterms"
CANARIES = (BODY, TITLE, PART, OLD)
EVERYTHING = Reach.subtree(Namespace.parse("root"))


def letter() -> bytes:
    """A mail with an attachment of its own text."""
    mail = EmailMessage()
    mail["From"], mail["Subject"] = "a@acme.example", "Lease"
    mail.set_content("See the clause attached.\n")
    mail.add_attachment(f"# Clause\n\nThe {PART} applies.\n".encode(), "text", "markdown", filename="clause.md")
    return mail.as_bytes()


def told(shell: Any) -> str:
    """Everything a brain answers: search, list, explore, status, jobs, dump, beliefs and context.md."""
    answers = [shell.brain("search", *CANARIES, "--json").json["hits"]]
    answers += [shell.brain(*verb.split(), "--json").json for verb in ("list", "explore", "status", "jobs")]
    engine = LocalEngine(shell.folder / ".brain" / "memory.db")
    try:
        held = engine.beliefs(BeliefsRequest(reach=EVERYTHING, limit=100))
        briefs = tuple(
            context.Brief(heading=word, question=f"What is the {word}?", filter=documents()) for word in CANARIES
        )
        compiled = context.compile(engine, context.ContextSpec(briefs=briefs, budget_tokens=100_000))
    finally:
        engine.close()
    beliefs = "\n".join(belief.text for belief in held)
    answered = compiled.markdown
    for brief in briefs:  # the document may repeat what was asked
        answered = answered.replace(brief.question, "").replace(f"## {brief.heading}", "")
    return "\n".join([json.dumps(answers), shell.brain("dump").out, beliefs, answered])


def documents() -> MetaFilter:
    return MetaFilter(reach=EVERYTHING, kinds=(ItemKind.DOCUMENT,))


def on_disk(folder: Path, word: str) -> list[str]:
    """The files, the source's own left out, that hold a word."""
    return [
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and path.relative_to(folder).parts[0] != "docs" and word.encode() in path.read_bytes()
    ]


def test_a_deleted_document_is_in_no_answer_and_in_no_file(shell: Any) -> None:
    shell.environment["TMPDIR"] = str(shell.folder / "system-tmp")
    (shell.folder / "system-tmp").mkdir()
    docs = shell.folder / "docs"
    shell.write(5)
    (docs / "secret.md").write_text(f"# The {TITLE}\n\nThe {BODY} sentence stands here and nowhere else.\n")
    (docs / "lease.eml").write_bytes(letter())
    (docs / "edited.md").write_text(f"# Terms\n\nThe {OLD} hold.\n")
    assert shell.report()["set_aside"] == []
    assert shell.brain("jobs", "run").status == 0
    before = told(shell)
    for word in CANARIES:
        assert before.count(word) >= 3, f"{word} should be found while it is there"
        assert on_disk(shell.folder, word)

    (docs / "secret.md").unlink()
    (docs / "lease.eml").unlink()
    (docs / "edited.md").write_text("# Terms\n\nNew ones hold.\n")
    report = shell.report()
    assert (report["gone"], report["changed"], report["forgotten"]) == (2, 1, 4)
    after = told(shell)
    assert shell.brain("jobs", "run").status == 0
    after += told(shell)
    for word in CANARIES:
        assert word not in after
        assert [file for file in on_disk(shell.folder, word) if file != ".brain/memory.db"] == []

    engine = LocalEngine(shell.folder / ".brain" / "memory.db")
    engine.optimize()
    engine.close()
    for word in CANARIES:
        assert on_disk(shell.folder, word) == []
    assert len(shell.brain("list", "--json").json["documents"]) == 6


def test_a_daemon_that_stays_leaves_nothing_of_it_in_the_books(shell: Any) -> None:
    docs = shell.folder / "docs"
    shell.write(5)
    (docs / "secret.md").write_text(f"---\ntags: [{TITLE}]\n---\n\nText.\n")
    process = shell.start("watch")
    try:
        assert process.stdout is not None
        while "6 new" not in process.stdout.readline():
            assert process.poll() is None
        state = [file for file in on_disk(shell.folder, TITLE) if "state.db" in file]
        assert state, "the books hold the title while the document is there"
        (docs / "secret.md").unlink()
        assert "forgot 1 document" in process.stdout.readline()
        assert [file for file in on_disk(shell.folder, TITLE) if "state.db" in file] == []
    finally:
        process.terminate()
        process.communicate(timeout=60)
