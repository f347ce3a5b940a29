"""Speed of the converters: documents per CPU second on one core, in this process, warmed.

Usage: python benchmarks/convert_speed.py FOLDER [--format pdf] [--rounds 3] [--max-pages 40]

Every file below FOLDER that has a converter here is converted `--rounds` times; the best round counts. Files that a
converter refuses are left out and counted. For PDF the line also tells the ratio to plain pdfium text, the floor that
any reader over pdfium stands on.
"""

import argparse
import importlib
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

from corebrain.documents.types import RawDocument
from corebrain.errors import Refusal

MODULES = {
    "pdf": "pdf", "html": "html", "htm": "html", "docx": "docx", "docm": "docx", "pptx": "pptx",
    "xlsx": "xlsx", "xls": "xlsx", "xlsb": "xlsx", "ods": "xlsx",
}  # fmt: skip


def convert(source: Path) -> int:
    """Convert one file; the number of characters of its markdown."""
    format_name = source.suffix[1:].lower()
    module = importlib.import_module(f"corebrain.documents.convert.{MODULES[format_name]}")
    raw = RawDocument(data=source.read_bytes(), filename=source.name)
    return len(module.convert(raw, format_name).markdown)


def plain_pdfium(source: Path) -> int:
    """The text of every page as pdfium gives it; the number of characters."""
    import pypdfium2  # noqa: PLC0415 - only the PDF line needs it

    total = 0
    try:
        document = pypdfium2.PdfDocument(source.read_bytes())
    except pypdfium2.PdfiumError:
        return 0
    for page in document:
        text_page = page.get_textpage()
        total += len(text_page.get_text_bounded())
        text_page.close()
        page.close()
    document.close()
    return total


def pdf_pages(source: Path) -> int:
    import pypdfium2  # noqa: PLC0415 - only the PDF line needs it

    try:
        return len(pypdfium2.PdfDocument(source.read_bytes()))
    except pypdfium2.PdfiumError:
        return 0


def seconds(work: Callable[[Path], int], source: Path, rounds: int) -> float | None:
    """The best round's CPU seconds, None when the file is refused."""
    best = float("inf")
    try:
        work(source)
        for _ in range(rounds):
            start = time.process_time()
            work(source)
            best = min(best, time.process_time() - start)
    except Refusal:
        return None
    return best


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--format", action="append", choices=sorted(set(MODULES.values())))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--max-pages", type=int, default=40, help="longer PDF files are left out")
    parser.add_argument("--files", action="store_true", help="print every file's time too")
    options = parser.parse_args()
    files = [path for path in sorted(options.folder.rglob("*")) if path.suffix[1:].lower() in MODULES]
    for kind in options.format or sorted(set(MODULES.values())):
        sources = [path for path in files if MODULES[path.suffix[1:].lower()] == kind]
        if kind == "pdf":
            sources = [path for path in sources if pdf_pages(path) <= options.max_pages]
        timed = [(path, taken) for path in sources if (taken := seconds(convert, path, options.rounds)) is not None]
        if not timed:
            continue
        for path, taken in timed if options.files else ():
            print(f"  {path.name:50} {taken * 1000:8.1f} ms")
        total = sum(taken for _, taken in timed)
        size = sum(path.stat().st_size for path, _ in timed)
        line = f"{kind:5} {len(timed):4} files, {len(sources) - len(timed)} refused: {len(timed) / total:7.0f} docs/s"
        line += (
            f" {size / total / 1e6:7.1f} MB/s  median {statistics.median(taken for _, taken in timed) * 1000:.1f} ms"
        )
        if kind == "pdf":
            floor = sum(seconds(plain_pdfium, path, options.rounds) or 0.0 for path, _ in timed)
            pages = sum(pdf_pages(path) for path, _ in timed)
            line += f"  {pages / total:.0f} pages/s, {floor / total:.2f} of plain pdfium"
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
