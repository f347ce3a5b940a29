"""Converts listed files with one tool and prints the CPU seconds of each as JSON; run in that tool's environment.

Usage: python convert_files.py TOOL FORMAT ROUNDS < LIST   (a path a line)

The best round of each file counts, after one to warm up; `null` is a file that the tool refused. CPU seconds are those
of all threads and children.
"""

import contextlib
import io
import json
import os
import resource
import sys
import types
from collections.abc import Callable
from pathlib import Path

Tool = Callable[[str], object]


def corebrain(format_name: str) -> Tool:
    import importlib  # noqa: PLC0415 - each tool only where it is

    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    from corebrain.documents.types import RawDocument  # noqa: PLC0415 - see above

    module = importlib.import_module(f"corebrain.documents.convert.{format_name}")
    return lambda path: module.convert(RawDocument(Path(path).read_bytes(), Path(path).name), format_name)


def pdfium(_: str) -> Tool:
    import pypdfium2  # noqa: PLC0415 - see above

    def text(path: str) -> int:
        document, total = pypdfium2.PdfDocument(Path(path).read_bytes()), 0
        for page in document:
            text_page = page.get_textpage()
            total += len(text_page.get_text_bounded())
            text_page.close()
            page.close()
        document.close()
        return total

    return text


def kreuzberg(_: str) -> Tool:
    import kreuzberg as tool  # noqa: PLC0415 - see above

    config = tool.ExtractionConfig(use_cache=False, output_format="markdown")
    return lambda path: tool.extract_file_sync(path, config=config)


def markitdown(_: str) -> Tool:
    from markitdown import MarkItDown  # noqa: PLC0415 - see above

    tool = MarkItDown()
    return lambda path: tool.convert(path)  # noqa: PLW0108 - the tool's own type is unknown here


def html_to_markdown(_: str) -> Tool:
    import html_to_markdown as tool  # noqa: PLC0415 - see above

    return lambda path: tool.convert(Path(path).read_text("utf-8", "replace"))


def unstructured(format_name: str) -> Tool:
    """With a tokenizer that needs no download, which flatters it about six times on HTML."""
    import importlib  # noqa: PLC0415 - see above

    plain = types.ModuleType("unstructured.nlp.tokenize")
    plain.__dict__.update(
        pos_tag=lambda text: [(word, "NN") for word in text.split()],
        sent_tokenize=lambda text: text.split(". "),
        word_tokenize=str.split,
    )
    sys.modules["unstructured.nlp.tokenize"] = plain
    module = importlib.import_module(f"unstructured.partition.{format_name}")
    partition = getattr(module, f"partition_{format_name}")
    options = {"strategy": "fast"} if format_name == "pdf" else {}
    return lambda path: partition(path, **options)


TOOLS: dict[str, Callable[[str], Tool]] = {
    "corebrain": corebrain,
    "pdfium": pdfium,
    "kreuzberg": kreuzberg,
    "markitdown": markitdown,
    "html-to-markdown": html_to_markdown,
    "unstructured": unstructured,
}


def spent() -> float:
    whole = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in whole)


def timed(tool: Tool, path: str, rounds: int) -> float | None:
    best = float("inf")
    try:
        tool(path)
        for _ in range(rounds):
            before = spent()
            tool(path)
            best = min(best, spent() - before)
    except Exception:  # noqa: BLE001 - tools raise whatever their parsers raise; a file they refuse is left out
        return None
    return best


def main() -> None:
    name, format_name, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
    os.environ.update(DO_NOT_TRACK="true", SCARF_NO_ANALYTICS="true", UNSTRUCTURED_DISABLE_NOTICE="1")
    noise = io.StringIO()
    with contextlib.redirect_stdout(noise), contextlib.redirect_stderr(noise):
        tool = TOOLS[name](format_name)
        seconds = [timed(tool, path, rounds) for path in sys.stdin.read().splitlines()]
    print(json.dumps(seconds))


if __name__ == "__main__":
    main()
