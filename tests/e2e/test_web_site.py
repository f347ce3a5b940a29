"""A real documentation site, served as any static server does, mirrored and searched by the command line."""

import functools
import json
import signal
import threading
import time
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from connectors.testing.web import WebStandIn
from connectors.testing.web_pages import StandInPage, documentation, page

SITE = Path(__file__).parents[1] / "recorded" / "web" / "itsdangerous.zip"
PAGES = 10
pytestmark = pytest.mark.slow


class _Quiet(SimpleHTTPRequestHandler):
    """The standard library's static server, keeping what it answered; it knows `If-Modified-Since`."""

    answered: ClassVar[list[tuple[str, int]]] = []

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:  # noqa: ARG002 - the library's names
        self.answered.append((self.path, int(code)))

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
        """Keep quiet."""


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    root = tmp_path / "site"
    with zipfile.ZipFile(SITE) as archive:
        archive.extractall(root)
    _Quiet.answered.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(root))) as server:
        thread = threading.Thread(target=lambda: server.serve_forever(0.02), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/", root
        server.shutdown()
        thread.join()


def test_site_is_mirrored_kept_true_and_searched(shell: Any, served: tuple[str, Path]) -> None:
    url, root = served
    shell = replace(shell, folder=root.parent / "brain")
    shell.folder.mkdir()
    assert shell.brain("init").status == 0
    added = shell.brain("add", "web", url, "--name", "docs", "--exclude", "**/genindex*", "--exclude", "**/search.html")
    assert added.status == 0, added.err
    assert "it may reach 127.0.0.1" in added.out
    config = shell.folder / "brain.toml"
    config.write_text(config.read_text().replace('kind = "web"', 'kind = "web"\ninterval_s = 0.0', 1))

    first = shell.report("docs")
    assert (first["new"], first["set_aside"], first["error"]) == (PAGES, [], None)

    found = shell.brain("search", "how do I make a signature expire after some time", "--json").json["hits"]
    assert found[0]["url"].startswith(f"{url}timed.html")
    assert "max_age" in str(found)
    shown = shell.brain("show", found[0]["id"]).out
    assert "max_age" in shown
    assert "Quick search" not in shown  # the sidebar is no content

    _Quiet.answered.clear()
    again = shell.report("docs")
    assert (again["unchanged"], again["new"], again["stored"]) == (PAGES, 0, 0)
    pages = [status for path, status in _Quiet.answered if path.endswith((".html", "/"))]
    assert pages.count(304) >= PAGES
    assert 200 not in pages

    changed = root / "signer.html"
    changed.write_text(changed.read_text().replace("<h1>", "<p>The sprocket of the signer is quite new.</p><h1>", 1))
    (root / "encoding.html").unlink()
    third = shell.report("docs")
    assert third["changed"] == 1
    assert shell.brain("search", "sprocket", "--json").json["hits"][0]["url"] == f"{url}signer.html"
    assert shell.report("docs")["gone"] == 1  # missing twice
    assert len(shell.brain("list", "--json").json["documents"]) == PAGES - 1


@pytest.fixture
def aside(shell: Any, tmp_path: Path) -> Any:
    """A working directory of its own."""
    made = replace(shell, folder=tmp_path / "brain")
    made.folder.mkdir()
    return made


def configure(shell: Any, site: WebStandIn) -> None:
    keys = {"kind": "web", "start": [f"{site.url}/"], "allow_private": [site.place], "interval_s": 0.0}
    table = "".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items())
    (shell.folder / "brain.toml").write_text(f"[sources.docs]\n{table}")


def test_killed_crawl_goes_on_where_it_was(aside: Any) -> None:
    shell, pages = aside, 200
    with WebStandIn(documentation(pages)) as site:
        configure(shell, site)
        process = shell.start("sync")
        while len(site.log) < pages * 3 // 4:
            assert process.poll() is None
            time.sleep(0.01)
        process.kill()
        process.communicate()
        site.log.clear()
        report = shell.report("docs")
        assert (report["listed"], report["stored"], report["set_aside"]) == (pages, pages, [])
        asked = [path for path in site.paths if path not in {"/robots.txt", "/sitemap.xml"}]
        assert len(asked) <= pages + 4  # each page once: looked at before for its text, the others on the way
        assert len(set(asked)) >= pages
        site.log.clear()
        assert shell.report("docs")["unchanged"] == pages
        assert all(entry["conditional"] for entry in site.log if entry["path"] not in {"/robots.txt", "/sitemap.xml"})


def test_signal_ends_a_sync_in_the_middle_of_a_long_pause(aside: Any) -> None:
    shell = aside
    waits = StandInPage(b"later", "text/plain", 503, headers={"Retry-After": "100"}, etag=False)
    with WebStandIn({"/": page("Front", "front", links=("/slow",)), "/slow": waits}) as site:
        configure(shell, site)
        process = shell.start("sync", "--json")
        while "/slow" not in site.paths:
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        assert process.returncode == 130
        assert site.paths.count("/slow") == 1
        site.pages["/slow"] = page("Slow", "there after all")
        assert shell.report("docs")["listed"] == 2
