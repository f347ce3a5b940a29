"""Hostile files through the parser pool: nothing may crash, hang, fill memory or go unaccounted.

Usage: python benchmarks/convert_hostile.py FOLDER [--seconds 30] [--spare 1] [--files]

Every file below FOLDER is converted by the default registry behind its worker pool, one after the other. A file may end
in text or in a typed refusal with advice, within the limit and `--spare` seconds; anything else is a failure. Memory is
what this process, the parent of the workers, ever held.
"""

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

from benchmarks.peak import peak_mb
from corebrain.documents.brain_document import brain_documents
from corebrain.documents.default_converter import RegistryConverter
from corebrain.documents.pool import Limits
from corebrain.documents.types import RawDocument
from corebrain.errors import Refusal

MOST_MB = 300


def outcome(path: Path, converter: RegistryConverter) -> tuple[str, bool]:
    """How a file ended, and whether that is one of the ways it may end."""
    try:
        made = brain_documents(converter, RawDocument(path, path.name))
    except Refusal as refusal:
        return f"{type(refusal).__name__}: {refusal.message}", bool(refusal.advice)
    except Exception as error:  # noqa: BLE001 - what is counted here
        return f"UNACCOUNTED {type(error).__name__}: {error}", False
    parts = f", {len(made.parts)} parts, {len(made.refused)} refused" if made.parts or made.refused else ""
    return f"text: {len(made.document.text):,} characters{parts}", True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, default=30.0, help="wall limit of one document")
    parser.add_argument("--spare", type=float, default=1.0, help="seconds over it that a document may take")
    parser.add_argument("--files", action="store_true", help="print every file")
    options = parser.parse_args()
    files = [path for path in sorted(options.folder.rglob("*")) if path.is_file()]
    ends: Counter[str] = Counter()
    late = bad = 0
    longest = (0.0, "")
    with RegistryConverter(workers=1, limits=Limits(wall_s=options.seconds)) as converter:
        for path in files:
            began = time.monotonic()
            told, good = outcome(path, converter)
            taken = time.monotonic() - began
            ends[told.partition(":")[0]] += 1
            late += taken > options.seconds + options.spare
            bad += not good
            longest = max(longest, (taken, path.name))
            if options.files or not good:
                print(f"{path.name:32} {taken:6.2f} s  {told[:100]}", flush=True)
    print("  ".join(f"{kind} {count}" for kind, count in ends.most_common()))
    print(f"longest {longest[0]:.1f} s ({longest[1]})")
    peak = peak_mb()
    print(
        f"{len(files)} files, 0 crashes here, {late} past the limit + {options.spare:g} s, {bad} unaccounted,"
        f" peak of this process {peak:.0f} MB (goal < {MOST_MB})"
    )
    return 1 if late or bad or peak >= MOST_MB else 0


if __name__ == "__main__":
    sys.exit(main())
