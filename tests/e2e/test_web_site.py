"""A real documentation site, served as any static server does, mirrored and searched by the command line."""

import functools
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

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
