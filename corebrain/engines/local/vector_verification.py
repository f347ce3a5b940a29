"""Proving the vectors of a memory: whose they are, that none is missing or left over, that counters tell the truth."""

from collections.abc import Iterator

import apsw

_SETS = (
    "WITH held AS (SELECT passage FROM vectors UNION ALL SELECT passage FROM unembedded "
    "UNION ALL SELECT passage FROM unembeddable), "
    "expected AS (SELECT passage FROM passages WHERE EXISTS (SELECT 1 FROM embedding)) "
)
_STRANGE = _SETS + "SELECT count(*) FROM held WHERE passage NOT IN (SELECT passage FROM expected)"  # noqa: S608  # our own statement
_MISSING = _SETS + "SELECT count(*) FROM expected WHERE passage NOT IN (SELECT passage FROM held)"  # noqa: S608  # our own statement
_TWICE = _SETS + "SELECT count(*) - count(DISTINCT passage) FROM held"  # noqa: S608  # our own statement
_MISPLACED = (
    "SELECT count(*) FROM vectors v JOIN vector_groups g USING (grp) JOIN passages p USING (passage) "
    "JOIN items i USING (item) WHERE i.node <> g.node OR i.kind <> g.kind"
)
_MISCOUNTED = (
    "SELECT count(*) FROM vector_groups g WHERE held <> (SELECT count(*) FROM vectors v WHERE v.grp = g.grp) "
    "OR last < (SELECT ifnull(max(number), 0) FROM vectors v WHERE v.grp = g.grp)"
)
_WIDTH = "SELECT count(*) FROM vectors, embedding WHERE length(code) <> dimension + 4"  # the scale's bytes
_CHECKS = {
    _STRANGE: "vectors or waiting entries are of passages that are not held",
    _MISSING: "passages neither have a vector nor wait for one",
    _TWICE: "passages are both embedded and waiting",
    _MISPLACED: "vectors lie in the group of another node or kind",
    _MISCOUNTED: "groups of vectors are counted wrongly",
    _WIDTH: "vectors have another length than their model's",
}


def findings(connection: apsw.Connection) -> Iterator[str]:
    """Yield what is wrong with the vectors of the connection's commit, with numbers."""
    for statement, told in _CHECKS.items():
        count = connection.execute(statement).get
        if count:
            yield f"{count} {told}"
