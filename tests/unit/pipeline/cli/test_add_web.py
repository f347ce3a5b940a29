"""`brain add web`, and what a sync makes of a site."""

import tomllib
from collections.abc import Iterator
from typing import Any

import pytest

from connectors.testing.web import WebStandIn
from connectors.testing.web_pages import documentation, page


@pytest.fixture
def site() -> Iterator[WebStandIn]:
    with WebStandIn(documentation(12)) as made:
        made.pages["/guide/leave.html"] = page("Parental leave", "<p>Sixteen weeks, paid.</p>")
        yield made


@pytest.fixture
def mirrored(desk: Any, site: WebStandIn) -> Any:
    desk.brain("init")
    added = desk.brain("add", "web", f"{site.url}/", f"{site.url}/guide/leave.html", "--name", "docs")
    assert added.status == 0
    assert f"it may reach {site.place} on a private network" in added.out
    config = desk.folder / "brain.toml"
    config.write_text(config.read_text().replace('kind = "web"', 'kind = "web"\ninterval_s = 0'))
    return desk


def reported(desk: Any) -> dict[str, Any]:
    [source] = desk.brain("sync", "--json").json["sources"]
    told: dict[str, Any] = source
    return told


def test_add_web_writes_what_a_sync_needs(desk: Any) -> None:
    desk.brain("init")
    assert desk.brain("add", "web", "https://www.docs.example/x/", "--exclude", "/x/v1/**").status == 0
    sources = tomllib.loads((desk.folder / "brain.toml").read_text())["sources"]
    assert sources == {
        "docs.example": {"kind": "web", "start": ["https://www.docs.example/x/"], "exclude": ["/x/v1/**"]}
    }
    assert desk.brain("add", "web", "docs.example").status == 2


def test_site_is_mirrored_searched_and_kept_true(mirrored: Any, site: WebStandIn) -> None:
    first = reported(mirrored)
    assert (first["new"], first["set_aside"], first["error"]) == (13, [], None)
    found = mirrored.brain("search", "parental", "weeks").out
    assert f"{site.url}/guide/leave.html" in found
    again = reported(mirrored)
    assert (again["unchanged"], again["stored"], again["requests"]) == (13, 0, 15)
    site.pages["/guide/leave.html"] = page("Parental leave", "<p>Twenty weeks, paid.</p>")
    assert reported(mirrored)["changed"] == 1
    assert "Twenty" in mirrored.brain("search", "parental", "weeks").out


def test_page_that_is_gone_is_forgotten_the_second_time(mirrored: Any, site: WebStandIn) -> None:
    reported(mirrored)
    del site.pages["/guide/leave.html"]
    once = reported(mirrored)
    assert (once["gone"], once["error"]) == (0, None)
    assert reported(mirrored)["gone"] == 1
    assert "Sixteen" not in mirrored.brain("search", "parental", "weeks").out


def test_site_that_is_down_loses_nothing(mirrored: Any, site: WebStandIn) -> None:
    reported(mirrored)
    site.failing["/robots.txt"] = 404
    site.pages.clear()
    down = reported(mirrored)
    assert down["gone"] == 0
    site.failing["/robots.txt"] = 401
    assert "Sixteen" in mirrored.brain("search", "parental", "weeks").out
