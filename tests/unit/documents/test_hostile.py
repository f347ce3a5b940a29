"""Bombs, loops and traps, made here in small: each ends as it should, in time, and touches nothing outside.

`benchmarks/convert_hostile.py` is what runs them: in a process of its own, whose memory it watches.
"""

import contextlib
import gzip
import http.server
import io
import os
import re
import subprocess
import sys
import threading
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SECONDS = 5
CANARY = "canary-3f9a"
W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
S = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def packed(**parts: str | bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name.replace("__", "/"), data)
    return file.getvalue()


def relations(**targets: str) -> str:
    nodes = "".join(
        f'<Relationship Id="r{number}" Type="{OFFICE}/{kind}" Target="{target}"/>'
        for number, (kind, target) in enumerate(targets.items(), 1)
    )
    return f'<Relationships xmlns="{RELATIONS}">{nodes}</Relationships>'


def docx(text: str, head: str = "") -> bytes:
    body = f'{head}<w:document xmlns:w="{W}"><w:body><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:body></w:document>'
    return packed(**{"_rels__.rels": relations(officeDocument="word/document.xml"), "word__document.xml": body})


def xlsx(sheet: str, strings: str = "<si><t>hi</t></si>", head: str = "") -> bytes:
    return packed(
        **{
            "_rels__.rels": relations(officeDocument="xl/workbook.xml"),
            "xl__workbook.xml": f'<workbook xmlns="{S}" xmlns:r="{OFFICE}"><sheets>'
            '<sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>',
            "xl___rels__workbook.xml.rels": relations(worksheet="worksheets/sheet1.xml", sharedStrings="strings.xml"),
            "xl__worksheets__sheet1.xml": f'<worksheet xmlns="{S}">{sheet}</worksheet>',
            "xl__strings.xml": f'{head}<sst xmlns="{S}">{strings}</sst>',
        }
    )


def pdf(*objects: str | bytes) -> bytes:
    out, places = b"%PDF-1.7\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n" % number + (body if isinstance(body, bytes) else body.encode()) + b"\nendobj\n"
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    tail = b"trailer<</Root 1 0 R/Size %d>>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, len(out))
    return out + b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1) + table + tail


def stream(data: bytes, more: str = "") -> bytes:
    body = zlib.compress(data, 9)
    return b"<</Length %d/Filter/FlateDecode %s>>stream\n" % (len(body), more.encode()) + body + b"\nendstream"


def page(content: str | bytes, *objects: str | bytes, inside: str = "") -> bytes:
    return pdf(
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>{inside}>>>>",
        content,
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        *objects,
    )


def form(body: bytes, next_form: int) -> bytes:
    inside = f"/Resources<</Font<</F1 5 0 R>>/XObject<</X {next_form} 0 R>>>>"
    return stream(body, f"/Type/XObject/Subtype/Form/BBox[0 0 9 9]{inside}")


def nested_zip(levels: int) -> bytes:
    data = b"0" * 100_000
    for level in range(levels):
        data = packed(**{f"{number}.{'zip' if level else 'txt'}": data for number in range(10)})
    return data


LAUGHS = (
    '<!DOCTYPE r [<!ENTITY a0 "lol">'
    + "".join(f'<!ENTITY a{level} "{f"&a{level - 1};" * 10}">' for level in range(1, 10))
    + "]>"
)
ONE_CELL = '<sheetData><row r="1"><c r="A1" t="s"><v>0</v></c></row></sheetData>'
NO_PAGES = "<</Type/Pages/Kids[]/Count 0>>"
FILES: dict[str, tuple[bytes, str]] = {
    # XML
    "laughs.xml": (f"{LAUGHS}<r>&a9;</r>".encode(), "text"),
    "laughs.docx": (docx("&a9;", LAUGHS.replace("DOCTYPE r", "DOCTYPE w:document")), "Damaged"),
    "laughs.xlsx": (xlsx(ONE_CELL, "<si><t>&a9;</t></si>", LAUGHS.replace("DOCTYPE r", "DOCTYPE sst")), "Damaged"),
    "laughs.epub": (packed(mimetype="application/epub+zip", **{"META-INF__container.xml": LAUGHS}), "Damaged"),
    "laughs.odt": (packed(**{"content.xml": f"{LAUGHS}<r>&a9;</r>"}), "Damaged"),
    # out of proportion
    "bomb.docx": (docx("\x20" * 60_000_000), "TooLarge"),
    "dimensions.xlsx": (
        xlsx(ONE_CELL.replace("</sheetData>", '<row r="1048576"><c r="XFD1048576"><v>2</v></c></row></sheetData>')),
        "TooLarge",
    ),
    "rows.xlsx": (xlsx("<sheetData>" + "<row><c><v>1</v></c></row>" * 2_000_000 + "</sheetData>"), "TooLarge"),
    "bomb.gz": (gzip.compress(b"\0" * 10_000_000), "UnsupportedFormat"),
    "bomb.zip": (packed(**{"a.txt": b"\0" * 50_000_000}), "TooLarge"),
    "nested.zip": (nested_zip(6), "text"),
    "many.zip": (packed(**{f"{number}.txt": b"" for number in range(10_001)}), "TooLarge"),
    "slip.zip": (packed(**{"..__..__..__slipped.txt": CANARY}), "text"),
    # PDF
    "tree.pdf": (pdf("<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[2 0 R 2 0 R]/Count 2>>"), "Damaged"),
    "pages.pdf": (
        pdf("<</Type/Catalog/Pages 2 0 R>>", f"<</Type/Pages/Kids[{'3 0 R ' * 20_000}]/Count 20000>>",
            "<</Type/Page/MediaBox[0 0 9 9]>>"),
        "TooLarge",
    ),
    "content.pdf": (page(stream(b"BT /F1 1 Tf (x) Tj ET " * 3_000_000)), "TimedOut|ParserDied|Damaged|text|TooLarge"),
    "self.pdf": (page(stream(b"/X Do"), form(b"/X Do /X Do", 6), inside="/XObject<</X 6 0 R>>"), "NeedsOcr|TimedOut"),
    "forms.pdf": (
        page(stream(b"/X Do"), *(form(b"/X Do " * 10 + b"BT /F1 1 Tf (x) Tj ET", 7 + level) for level in range(9)),
             form(b"BT /F1 1 Tf (x) Tj ET", 6), inside="/XObject<</X 6 0 R>>"),
        "text|TimedOut|NeedsOcr",
    ),
    "array.pdf": (pdf(f"<</Type/Catalog/Pages 2 0 R/X {'[' * 50_000}{']' * 50_000}>>", NO_PAGES), "Damaged"),
    "length.pdf": (page("<</Length 4 0 R>>stream\n\nendstream"), "Empty"),
    # text, tables, mail, notebooks
    "nul.txt": (b"\0" * 100_000, "Damaged"),
    "line.md": (b"[a](" * 200_000, "text"),
    "terminal.md": ("\x1b]0;owned\x07\x1b[2Jred \u202eevil".encode(), "text"),
    "wide.csv": (b"a," * 500_000, "text"),
    "quote.csv": (b'a,b\n"' + b"x\n" * 400_000, "text"),
    "deep.ipynb": (b'{"cells":' + b"[" * 100_000 + b"]" * 100_000 + b',"nbformat":4}', "Damaged"),
    "deep.eml": (
        b"From: a@b\nContent-Type: multipart/mixed; boundary=b0\n\n"
        + b"".join(b"--b%d\nContent-Type: multipart/mixed; boundary=b%d\n\n" % (at, at + 1) for at in range(500)),
        "Damaged",
    ),
    "words.eml": (b"Subject: " + b"=?utf-8?q?a?= " * 50_000 + b"\n\nx", "text"),
    # HTML
    "deep.html": (b"<div>" * 100_000, "TooLarge"),
    "attributes.html": (b"<p " + b" ".join(b"a%d=1" % number for number in range(100_000)) + b">x</p>", "TooLarge"),
    "tables.html": (b"<table><tr><td>" * 5_000 + b"x", "text"),
    "comments.html": (b"<!--" * 200_000, "Empty"),
    # pictures: never decoded
    "vast.png": (b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\x7f\xff\xff\xff\x7f\xff\xff\xff\x08\x02\0\0\0crc!", "text"),
}  # fmt: skip
TRAPS = {
    # what a parser may be lured to read or fetch; {file} and {url} are put in
    "file.docx": ('<!DOCTYPE w:document [<!ENTITY x SYSTEM "file://{file}">]>', "&x;"),
    "net.docx": ('<!DOCTYPE w:document [<!ENTITY x SYSTEM "{url}xxe">]>', "&x;"),
    "dtd.docx": ('<!DOCTYPE w:document SYSTEM "{url}dtd">', "x"),
}


@pytest.fixture
def listener() -> Iterator[tuple[str, list[str]]]:
    """A server on loopback that nobody should call, and the calls it got."""
    calls: list[str] = []

    class Noting(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            calls.append(self.path)
            self.send_error(404)

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Noting) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/", calls
        server.shutdown()
        thread.join()


def written(folder: Path, secret: Path, url: str) -> None:
    for name, (data, _) in FILES.items():
        (folder / name).write_bytes(data)
    for name, (head, body) in TRAPS.items():
        (folder / name).write_bytes(docx(body, head.format(file=secret, url=url)))
    (folder / "trap.html").write_text(f'<p>x</p><img src="{url}i"><iframe src="{url}f"></iframe><link href="{url}c">')
    (folder / "trap.svg").write_text(f'<svg xmlns="http://www.w3.org/2000/svg"><image href="{url}i"/></svg>')
    (folder / "trap.rst").write_text(f"Title\n=====\n\n.. include:: {secret}\n\n.. image:: {url}i\n")


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_hostile_files_end_as_they_should_and_touch_nothing(tmp_path: Path, listener: tuple[str, list[str]]) -> None:
    url, calls = listener
    folder, workspace, secret = tmp_path / "files", tmp_path / "work", tmp_path / "secret.txt"
    folder.mkdir()
    (workspace / "temporary").mkdir(parents=True)
    secret.write_text(CANARY)
    written(folder, secret, url)
    script = ROOT / "benchmarks" / "convert_hostile.py"
    done = subprocess.run(
        [sys.executable, str(script), str(folder), "--files", "--seconds", str(SECONDS), "--spare", "30"],
        env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(workspace / "temporary")},
        cwd=workspace, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    ends = dict(re.findall(r"^(\S+) +[\d.]+ s  (\w+)", done.stdout, re.MULTILINE))
    expected = {**{name: end for name, (_, end) in FILES.items()}, **dict.fromkeys(TRAPS, "Damaged")}
    wrong = {name: ends.get(name) for name, end in expected.items() if ends.get(name) not in end.split("|")}
    assert wrong == {}
    assert f"{len(expected) + 3} files, 0 crashes here" in done.stdout
    assert calls == [], "something was fetched"
    assert CANARY not in done.stdout
    assert [path.name for path in workspace.rglob("*")] == ["temporary"], "something was left behind"
    assert not list(tmp_path.rglob("slipped.txt"))
    with contextlib.suppress(FileNotFoundError):
        assert CANARY not in (ROOT / "slipped.txt").read_text()
