"""A brain's documents leave as unstructured's elements, ready for its chunking."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from corebrain.documents.brain_document import brain_document
from corebrain.documents.convert.elements import to_elements
from corebrain.documents.default_converter import RegistryConverter
from corebrain.documents.types import RawDocument
from corebrain.errors import Unsupported
from corebrain.layout import BrainDocument, BrainSource
from corebrain.model.meta import MemoryMeta

ROOT = Path(__file__).parents[3]
HAS = importlib.util.find_spec("unstructured") is not None
needs_unstructured = pytest.mark.skipif(not HAS, reason="the extra [unstructured] is not installed")
TEXT = """# Plan

The first
paragraph.

- one
    - inner
      goes on
2. two

| A | B |
| --- | --- |
| 1 | x \\| <y> |

---

```python
# no heading

x = 1
```
\f
## Next

Last words."""


def document(text: str, **meta: Any) -> BrainDocument:
    return BrainDocument(source=BrainSource.FILES, title=None, text=text, meta=MemoryMeta(**meta))


@needs_unstructured
def test_every_block_is_an_element_of_its_kind() -> None:
    found = [(type(each).__name__, each.text, each.metadata.category_depth) for each in to_elements(document(TEXT))]
    assert found == [
        ("Title", "Plan", 0),
        ("NarrativeText", "The first paragraph.", None),
        ("ListItem", "one", 0),
        ("ListItem", "inner goes on", 1),
        ("ListItem", "two", 0),
        ("Table", "A B 1 x | <y>", None),
        ("CodeSnippet", "# no heading\n\nx = 1", None),
        ("Title", "Next", 1),
        ("NarrativeText", "Last words.", None),
    ]


@needs_unstructured
def test_elements_say_where_they_stand() -> None:
    elements = to_elements(document(TEXT, file_path="a/plan.pdf", folder="a", url="https://e.org/", language="en"))
    first, last = elements[0].metadata, elements[-1].metadata
    assert (first.filename, first.file_directory, first.url, first.languages) == (
        "plan.pdf",
        "a",
        "https://e.org/",
        ["en"],
    )
    assert (first.page_number, last.page_number) == (1, 2)
    assert next(each for each in elements if each.category == "Table").metadata.text_as_html == (
        "<table><tr><td>A</td><td>B</td></tr><tr><td>1</td><td>x | &lt;y&gt;</td></tr></table>"
    )
    assert to_elements(document("plain"))[0].metadata.page_number is None


@needs_unstructured
def test_chunks_by_title_keep_a_section_together(samples: Path, converter: RegistryConverter) -> None:
    from unstructured.chunking.title import chunk_by_title  # noqa: PLC0415 - the extra may be missing

    raw = RawDocument(samples / "test.epub", "test.epub")
    chunks = chunk_by_title(
        to_elements(brain_document(converter, raw)), max_characters=200, combine_text_under_n_chars=0
    )
    assert len(chunks) >= 2
    assert max(len(chunk.text) for chunk in chunks) <= 200
    assert any(chunk.text.startswith("Chapter 1: Test Content") for chunk in chunks)


@needs_unstructured
def test_nothing_is_printed_and_no_network_is_asked_for() -> None:
    script = (
        "import socket, sys\n"
        "bad = ('socket.connect', 'socket.getaddrinfo', 'socket.sendto', 'subprocess.Popen')\n"
        "sys.addaudithook(lambda event, _: event in bad and sys.exit(event))\n"
        "from corebrain.documents.convert.elements import to_elements\n"
        "from corebrain.layout import BrainDocument, BrainSource\n"
        "elements = to_elements(BrainDocument(source=BrainSource.FILES, text='# A\\n\\nwords'))\n"
        "from unstructured.chunking.title import chunk_by_title\n"
        "assert len(chunk_by_title(elements)) == 1\n"
        "import unstructured.telemetry\n"
        "assert unstructured.telemetry.partition_runtime_telemetry\n"
    )
    env = {name: value for name, value in os.environ.items() if name != "DO_NOT_TRACK"}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, env=env, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_missing_extra_is_told_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "unstructured.documents.elements", None)
    with pytest.raises(Unsupported, match=r"pip install .*unstructured"):
        to_elements(document("words"))
