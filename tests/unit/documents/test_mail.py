from email.message import EmailMessage
from pathlib import Path

import pytest

from corebrain.documents.convert import eml
from corebrain.documents.default_converter import RegistryConverter
from corebrain.documents.types import ConvertedDocument, RawDocument
from corebrain.errors import Damaged


def _mail(data: bytes) -> ConvertedDocument:
    return eml.convert(RawDocument(data), "eml")


def test_message_shows_head_body_and_what_is_attached(samples: Path) -> None:
    converted = _mail((samples / "fake-email-attachment.eml").read_bytes())
    assert converted.title == "Fake email with attachment"
    assert converted.markdown.startswith("Subject: Fake email with attachment  \nFrom: Mallori Harrell <")
    assert "Attachments: fake-attachment.txt\n\nHello!" in converted.markdown
    assert [(part.name, part.media_type) for part in converted.parts] == [("fake-attachment.txt", "text/plain")]
    assert converted.parts[0].data == b"Hey this is a fake attachment!"


def test_messages_of_a_digest_are_parts(samples: Path) -> None:
    parts = _mail((samples / "mime-multipart-digest.eml").read_bytes()).parts
    assert [part.name for part in parts] == ["First Message.eml", "Second Message.eml", "Third Message.eml"]
    assert _mail(parts[0].data).title == "First Message"


def test_encoded_words_are_decoded(samples: Path) -> None:
    assert _mail((samples / "mime-word-encoded-subject.eml").read_bytes()).title == (
        "Simple email with ☸☿ Unicode subject"
    )


def test_hebrew_in_a_legacy_charset_is_read(samples: Path) -> None:
    converted = _mail((samples / "email-no-utf8-2008-07-16.062410.eml").read_bytes())
    assert converted.title == "RE: שלום"
    assert "בהצלחה" in converted.markdown


def test_message_saved_as_utf16_is_read(samples: Path) -> None:
    assert "Roses are red" in _mail((samples / "fake-email-utf-16-le.eml").read_bytes()).markdown


def test_encrypted_body_is_said_and_the_head_kept(samples: Path) -> None:
    converted = _mail((samples / "smime_encrypted.eml").read_bytes())
    assert "From: Michael Elkins" in converted.markdown
    assert "body of this message is encrypted" in converted.markdown
    assert converted.metadata == {"encrypted": True}
    assert converted.parts == ()


def _alternative(plain: str, html: str) -> EmailMessage:
    mail = EmailMessage()
    mail["Subject"] = "Two forms"
    mail.set_content(plain)
    mail.add_alternative(html, subtype="html")
    return mail


def test_plain_form_goes_before_the_html_form() -> None:
    body = _mail(bytes(_alternative("plain words", "<p>html words</p>"))).markdown
    assert "plain words" in body
    assert "html words" not in body


def test_plain_form_goes_first_even_when_it_stands_last() -> None:
    body = _mail(
        b"Content-Type: multipart/alternative; boundary=b\n\n"
        b"--b\nContent-Type: text/html\n\n<p>html words</p>\n--b\nContent-Type: text/plain\n\nplain words\n--b--\n"
    ).markdown
    assert body.strip() == "plain words"


def test_html_form_stands_in_for_a_blank_plain_form() -> None:
    assert "html **words**" in _mail(bytes(_alternative("\n", "<p>html <b>words</b></p>"))).markdown


def test_logo_of_a_signature_is_no_attachment_and_a_sent_picture_is() -> None:
    mail = _alternative("plain", "<img src='cid:logo'>")
    html = mail.get_payload(1)
    assert isinstance(html, EmailMessage)
    html.add_related(b"logo", "image", "png", cid="<logo>", disposition="inline", filename="logo.png")
    mail.add_attachment(b"photo", "image", "png", filename="photo.png")
    assert [part.name for part in _mail(bytes(mail)).parts] == ["photo.png"]


def test_names_of_attachments_lead_nowhere() -> None:
    mail = EmailMessage()
    mail.set_content("x")
    mail.add_attachment(b"1", "text", "plain", filename="../../etc/passwd")
    mail.add_attachment(b"2", "text", "plain", filename="C:\\evil.bat")
    mail.add_attachment(b"3", "text", "plain", filename="a\x00b.txt")
    assert [part.name for part in _mail(bytes(mail)).parts] == ["passwd", "evil.bat", "ab.txt"]


def test_false_charsets_and_encodings_give_the_text_there_is() -> None:
    body = _mail("Subject: Grüße\nContent-Type: text/plain; charset=nonsense\n\nSchöne Grüße".encode("cp1252"))
    assert body.title == "Grüße"
    assert "Schöne Grüße" in body.markdown
    broken = _mail(b"Subject: =?utf-8?b?not*base64?=\nContent-Transfer-Encoding: base64\n\n!!!!")
    assert "Subject:" in broken.markdown


def test_parts_nested_beyond_sense_are_damaged() -> None:
    mail = "From: a@b\nContent-Type: multipart/mixed; boundary=b0\n\n" + "".join(
        f"--b{depth}\nContent-Type: multipart/mixed; boundary=b{depth + 1}\n\n" for depth in range(300)
    )
    with pytest.raises(Damaged, match="nested"):
        _mail(mail.encode())


def test_text_that_is_no_message_is_damaged() -> None:
    with pytest.raises(Damaged):
        _mail(b"\n\n")


def test_outlook_message_is_read_by_unstructured_with_its_attachment(
    converter: RegistryConverter, samples: Path
) -> None:
    pytest.importorskip("oxmsg", reason="the extra [unstructured] is not installed")
    converted = converter.convert(RawDocument(samples / "fake-email-attachment.msg"))
    assert converted.converter == "unstructured"
    assert converted.title == "Fake email with attachment"
    assert "- Little to no content" in converted.markdown
    assert [(part.name, part.data) for part in converted.parts] == [
        ("fake-attachment.txt", b"Hey this is a fake attachment!")
    ]


def test_outlook_message_has_decoded_names(converter: RegistryConverter, samples: Path) -> None:
    pytest.importorskip("oxmsg", reason="the extra [unstructured] is not installed")
    converted = converter.convert(RawDocument(samples / "test_outlook_msg.msg"))
    assert "From: M. C. Kurtuluş <" in converted.markdown
