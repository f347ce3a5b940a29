"""What a reply says of its page."""

import pytest

from connectors.http import Response
from connectors.web.addresses import Address, address
from connectors.web.pages import filename, is_document, is_html, plain_title, read_page, url_crumbs
from corebrain.documents.html_links import PageHead


def at(path: str) -> Address:
    found = address(f"https://docs.example{path}")
    assert found is not None
    return found


def reply(content: bytes = b"x", **headers: str) -> Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response(status=200, url="https://docs.example/", headers=named, content=content)


@pytest.mark.parametrize(
    ("title", "name", "heading", "plain"),
    [
        ("Install | Acme", "", "Install", "Install"),
        ("Install - Acme docs", "", "Install\u00b6", "Install"),
        ("Install \u2014 Acme", "Install", "Other", "Install"),
        ("Install", "", "Install", ""),
        ("Installing | Acme", "", "Install", ""),
        ("Acme | Install", "", "Install", ""),
        ("", "", "Install", ""),
    ],
)
def test_name_of_the_site_is_left_out_of_titles(title: str, name: str, heading: str, plain: str) -> None:
    assert plain_title(PageHead(title=title, name=name, heading=heading)) == plain


def test_file_is_named_by_its_reply_or_its_address() -> None:
    assert filename(at("/x/plan.pdf"), reply()) == "plan.pdf"
    assert filename(at("/x/"), reply()) == ""
    assert filename(at("/get?id=1"), reply(content_disposition='attachment; filename="../../a b.docx"')) == "a b.docx"


@pytest.mark.parametrize(
    ("path", "kind", "taken"),
    [
        ("/a", "text/html; charset=utf-8", True),
        ("/a.pdf", "application/pdf", True),
        ("/a.doc", "application/msword", True),
        ("/a.docx", "application/octet-stream", True),
        ("/a", "text/plain", True),
        ("/a.md", "text/markdown", True),
        ("/a", "application/octet-stream", False),
        ("/a", "image/png", False),
        ("/a.zip", "application/zip", False),
        ("/a", "application/json", False),
        ("/a", "text/css", False),
    ],
)
def test_documents_are_told_from_other_files(path: str, kind: str, taken: bool) -> None:
    assert is_document(at(path), reply(content_type=kind)) is taken


def test_binary_that_calls_itself_html_is_not_looked_into() -> None:
    assert not is_html(reply(bytes(range(256)), content_type="text/html"))
    assert is_html(reply("<p>ö</p>".encode("utf-16"), content_type="text/html"))
    assert is_html(reply(b" <!DOCTYPE html><p>x"))
    assert read_page(at("/a"), reply(bytes(range(256)), content_type="text/html"), "corebrain").head == PageHead()


def test_breadcrumb_of_an_address_is_its_folders_in_words() -> None:
    assert url_crumbs(at("/user-guide/set_up/first.html")) == ("user guide", "set up")
    assert url_crumbs(at("/user-guide/set_up/")) == ("user guide",)
    assert url_crumbs(at("/")) == ()
