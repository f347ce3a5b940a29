"""Which nodes a reach admits: the table of the specification, cell by cell."""

import pytest

from corebrain.errors import InvalidRequest
from corebrain.model.namespace import Namespace, Reach

NODES = {
    "R": "root",
    "T": "team:acme",
    "W": "team:acme/agent:writer",
    "H": "team:acme/agent:writer/agent:helper",
    "E": "team:acme/agent:editor",
    "S": "team:acme/service:news",
    "SA": "team:acme/service:news/agent:x",
}
AT = {name: Namespace.parse(path) for name, path in NODES.items()}

TABLE = [
    (Reach.of(AT["W"]), "R T W"),
    (Reach.of(AT["E"]), "R T E"),
    (Reach.exact(AT["W"]), "W"),
    (Reach.of(AT["H"]), "R T W H"),
    (Reach.subtree(AT["W"]), "W H"),
    (Reach.subtree(AT["T"]), "T W H E"),
    (Reach(at=AT["T"], inherit=True, descendants=True), "R T W H E"),
    (Reach.of(AT["R"]), "R"),
    (Reach.subtree(AT["R"]), "R T W H E"),
    (None, "R T W H E"),
    (Reach.subtree(AT["S"]), "S SA"),
    (Reach.of(AT["SA"]), "R T S SA"),
    (Reach(), "R"),
    (Reach.exact(AT["S"]), "S"),
]


@pytest.mark.parametrize(("reach", "admitted"), TABLE)
def test_a_reach_admits_what_the_table_says(reach: Reach | None, admitted: str) -> None:
    assert " ".join(name for name, node in AT.items() if Reach.admitted_by(reach, node)) == admitted
    if reach is not None:
        assert " ".join(name for name, node in AT.items() if reach.admits(node)) == admitted


def test_the_constructors_set_the_two_switches() -> None:
    node = AT["W"]
    assert [
        (reach.inherit, reach.descendants) for reach in (Reach.of(node), Reach.exact(node), Reach.subtree(node))
    ] == [
        (True, False),
        (False, False),
        (False, True),
    ]
    assert Reach() == Reach.of(Namespace.ROOT)


def test_the_nodes_of_a_reach_come_root_first_and_without_descendants() -> None:
    assert Reach.of(AT["H"]).nodes() == [AT["R"], AT["T"], AT["W"], AT["H"]]
    assert Reach.exact(AT["H"]).nodes() == [AT["H"]]
    assert Reach.subtree(AT["T"]).nodes() == [AT["T"]]


def test_all_three_keys_are_always_written_and_all_default_on_read() -> None:
    assert Reach().to_json() == '{"at":"root","inherit":true,"descendants":false}'
    assert Reach.subtree(AT["T"]).to_json() == '{"at":"team:acme","inherit":false,"descendants":true}'
    assert Reach.from_json("{}") == Reach()
    assert Reach.from_json('{"descendants":true,"depth":3}') == Reach(descendants=True)


def test_a_malformed_reach_is_refused() -> None:
    for bad in ({"at": "nowhere"}, {"at": 1}, {"inherit": "perhaps"}, {"descendants": None}, "team:acme"):
        with pytest.raises(InvalidRequest):
            Reach.from_dict(bad)
