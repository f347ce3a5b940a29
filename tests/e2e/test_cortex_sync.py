"""A brain on CortexDB: synced by the command line over real connections, killed, resumed, rebuilt, diagnosed."""

import json
import signal
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from corebrain.conformance.doubles.direct import DirectDouble
from corebrain.conformance.doubles.hosted import HostedDouble
from corebrain.conformance.doubles.served import ServedDouble

Desk = tuple[Any, ServedDouble]
KEY = "tiny_live_test"
KINDS = {"cortexdb": (DirectDouble, "key"), "tinyhumans": (HostedDouble, "token")}
SOURCE = '\n[sources.docs]\nkind = "files"\npath = "docs"\n'


@pytest.fixture(params=list(KINDS))
def desk(request: pytest.FixtureRequest, shell: Any) -> Iterator[Desk]:
    """A folder whose brain lies on a server that is a double."""
    kind = request.param
    served, name = KINDS[kind]
    with served() as double:
        shell.environment["MEMORY_KEY"] = KEY
        (shell.folder / "brain.toml").write_text(
            f'[engine]\nkind = "{kind}"\nendpoint = "{double.endpoint}"\n{name} = "${{MEMORY_KEY}}"\n{SOURCE}'
        )
        yield shell, double


def copies(double: ServedDouble) -> Counter[str]:
    """How often each item is held."""
    return Counter(event["context"]["labels"][0] for event in double.log.events)


def appended(double: ServedDouble) -> int:
    return sum(line.startswith("POST") and "experience" in line for line in list(double.seen.lines))


def texts(double: ServedDouble) -> set[str]:
    return {event["content"]["text"] for event in double.log.events}


def test_a_thousand_documents_are_killed_and_resumed_and_nothing_is_there_twice(desk: Desk) -> None:
    shell, double = desk
    shell.write(1_000)
    for more in (60, 1, 150, 99):
        before = appended(double)
        process = shell.start("sync", "--json")
        until = before + more
        while appended(double) < until and process.poll() is None:
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert 0 < len(double.log.events) < 1_000
    report = shell.report()
    assert report["error"] is None
    assert len(double.log.events) == 1_000
    assert set(copies(double).values()) == {1}
    writes = appended(double)
    again = shell.report()
    assert (again["unchanged"], again["stored"], appended(double)) == (1_000, 0, writes)


def test_a_lost_state_is_rebuilt_and_memory_is_as_after_a_fresh_sync(desk: Desk) -> None:
    shell, double = desk
    shell.write(30)
    shell.write(10, "docs/hr/leave")
    assert shell.report()["stored"] == 40
    (shell.folder / ".brain" / "state.db").unlink()
    (shell.folder / "docs" / "d00001.md").write_text("# Changed\n\nIt says something else.\n")
    (shell.folder / "docs" / "d00002.md").unlink()
    (shell.folder / "docs" / "hr" / "leave" / "d00003.md").rename(shell.folder / "docs" / "hr" / "d00003.md")
    report = shell.report()
    assert (report["error"], report["stored"], report["replayed"], report["forgotten"]) == (None, 2, 37, 3)
    assert set(copies(double).values()) == {1}
    rebuilt = {(event["scope"], event["context"]["labels"][0]) for event in double.log.events}
    double.log.erase(double.log.events[0]["scope"])
    (shell.folder / ".brain" / "state.db").unlink()
    assert shell.report()["stored"] == 39
    assert {(event["scope"], event["context"]["labels"][0]) for event in double.log.events} == rebuilt


def test_a_lost_state_forgets_nothing_of_a_document_that_cannot_be_read_now(desk: Desk) -> None:
    shell, double = desk
    for folder in ("hr", "it"):
        shell.write(2, f"docs/{folder}")
    assert shell.report()["stored"] == 4
    (shell.folder / ".brain" / "state.db").unlink()
    (shell.folder / "docs" / "hr" / "d00000.md").write_bytes(b"")
    report = shell.report()
    assert [aside["key"] for aside in report["set_aside"]] == ["hr/d00000.md"]
    assert (report["forgotten"], len(double.log.events)) == (0, 4)


def test_a_moved_document_and_a_split_source_are_filed_anew_from_what_the_server_holds(desk: Desk) -> None:
    shell, double = desk
    shell.write(2, "docs/hr")
    assert shell.report()["stored"] == 2
    (shell.folder / "docs" / "hr" / "d00001.md").rename(shell.folder / "docs" / "hr" / "renamed.md")
    report = shell.report()
    assert (report["moved"], report["new"], report["gone"], report["forgotten"]) == (1, 0, 0, 1)
    split = shell.brain("split", "docs", "--json").json["sources"][0]
    assert (split["moved"], split["forgotten"], split["bytes_fetched"]) == (2, 2, 0)
    assert {event["scope"] for event in double.log.events} == {"app:tinymemory/source:files/project:hr/app:documents"}
    assert set(copies(double).values()) == {1}
    assert shell.report()["unchanged"] == 2


def test_every_reading_verb_reads_what_is_there_also_from_a_machine_that_never_synced(desk: Desk) -> None:
    shell, _ = desk
    shell.write(2, "docs/hr")
    (shell.folder / "docs" / "hr" / "d00002.md").write_text("# Document 2\n\nRefunds take five days.\n")
    assert shell.report()["stored"] == 3
    found = shell.brain("search", "refunds", "--json").json
    assert [each["title"] for each in found["hits"]] == ["Document 2"]
    assert found["hits"][0]["place"].endswith("docs/hr/d00002.md")
    assert len(shell.brain("list", "--json").json["documents"]) == 3
    assert shell.brain("explore", "namespace").status == 0
    assert "Document 1" in shell.brain("show", shell.brain("list", "--json").json["documents"][1]["id"]).out
    (shell.folder / ".brain" / "state.db").rename(shell.folder / "kept.db")
    assert [each["title"] for each in shell.brain("search", "refunds", "--json").json["hits"]] == ["Document 2"]
    assert not (shell.folder / ".brain" / "state.db").exists()


def test_a_state_belongs_to_its_server(desk: Desk) -> None:
    shell, _ = desk
    shell.write(1)
    assert shell.report()["stored"] == 1
    config = shell.folder / "brain.toml"
    config.write_text(config.read_text().replace("127.0.0.1", "localhost"))
    moved = shell.brain("sync")
    assert moved.status == 2
    assert "this state belongs to place 'http://127.0.0.1:" in moved.err


def doctor(shell: Any) -> dict[str, Any]:
    answer = shell.brain("doctor", "--json")
    (finding,) = [each for each in answer.json["findings"] if each["what"] == "engine"]
    assert answer.status == (1 if finding["state"] == "fails" else 0)
    assert KEY not in answer.out + answer.err
    return dict(finding)


def test_doctor_tells_a_wrong_key_an_old_server_and_a_missing_scope_type_apart(desk: Desk) -> None:
    shell, double = desk
    well = doctor(shell)
    assert well["state"] == "works"
    assert double.endpoint in well["detail"]
    assert not (shell.folder / ".brain").exists()

    double.knobs.accept_token = "another"
    assert "the key is refused" in doctor(shell)["advice"]
    double.knobs.accept_token = KEY

    double.knobs.lacks = frozenset({"v1/events", "memory/events"})
    assert "too old" in doctor(shell)["advice"]
    double.knobs.lacks = frozenset()

    double.knobs.scope_types = frozenset({"app", "agent"})
    told = doctor(shell)
    assert "scope type" in told["advice"]
    assert "the double refuses" not in json.dumps(told)
    double.knobs.scope_types |= {"source"}

    double.knobs.fail_all = (503, "DOWN")
    assert "try again later" in doctor(shell)["advice"]


def test_no_command_shows_the_key(desk: Desk) -> None:
    shell, double = desk
    shell.write(1)
    double.knobs.fail_all = (500, "DOWN")
    for command in (("sync", "-v"), ("config", "show"), ("search", "w0")):
        answer = shell.brain(*command)
        assert KEY not in answer.out + answer.err
