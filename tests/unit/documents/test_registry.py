import importlib.util
import json
from pathlib import Path

import pytest

from corebrain.documents.formats import FORMAT_OF_EXTENSION, FORMATS
from corebrain.documents.registry import CHOICES, PARSERS, check_choices, parsers_for, refusal_for
from corebrain.errors import ConfigError, Encrypted, UnsupportedFormat
from corebrain.layout import BrainSource

VERSIONS = {parser.module: parser.version for chain in (*PARSERS.values(), *CHOICES.values()) for parser in chain}


def test_names_media_types_and_extensions_are_frozen() -> None:
    """They are stored and hashed: a change gives every document of the format another id."""
    table = {entry.name: [entry.mime, *entry.extensions] for entry in FORMATS.values()}
    golden = Path(__file__).with_name("formats.golden.json")
    assert json.loads(golden.read_text(encoding="utf-8")) == table


def test_no_two_formats_share_an_extension() -> None:
    assert len(FORMAT_OF_EXTENSION) == sum(len(entry.extensions) for entry in FORMATS.values())


def test_every_format_is_filed_under_files() -> None:
    assert {BrainSource.for_format(name) for name in FORMATS} == {BrainSource.FILES}


@pytest.mark.parametrize("module", sorted(VERSIONS))
def test_listed_version_is_that_of_the_module(module: str) -> None:
    """Read, not imported: a parser stays out of this process."""
    found = importlib.util.find_spec(module)
    assert found is not None
    assert found.origin is not None
    source = Path(found.origin).read_text(encoding="utf-8")
    assert f"\nVERSION = {VERSIONS[module]}\n" in source
    assert "\ndef convert(" in source


def test_choice_of_a_parser_leaves_only_that_one() -> None:
    assert [parser.name for parser in parsers_for("pdf", {"pdf": "pypdf"})] == ["pypdf"]
    assert parsers_for("pdf", {"pdf": "auto"}) == parsers_for("pdf")


@pytest.mark.parametrize("choices", [{"pdf": "acrobat"}, {"pfd": "auto"}])
def test_unknown_choice_is_a_configuration_error_that_names_the_known(choices: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match="pdf"):
        check_choices(choices)


def test_refusal_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    refusal = refusal_for("doc")
    assert isinstance(refusal, UnsupportedFormat)
    assert refusal.message == "doc needs unstructured, docx, soffice, not installed here"
    assert refusal.advice == (
        'pip install "corebrain[unstructured]" python-docx and install soffice (LibreOffice, libreoffice.org)'
    )
    assert refusal_for("msg").advice == 'pip install "corebrain[unstructured]"'


def test_content_of_no_known_format_says_what_to_do() -> None:
    refusal = refusal_for("unknown")
    assert isinstance(refusal, UnsupportedFormat)
    assert "exclude it" in refusal.advice


def test_office_file_under_a_password_is_encrypted() -> None:
    assert isinstance(refusal_for("encrypted"), Encrypted)
