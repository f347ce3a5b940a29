"""Speed of the converters beside others': CPU seconds on the same files, in one run, each tool in its own environment.

Usage: python benchmarks/convert_peers.py FOLDER [--format pdf] [--rounds 2] [--peers DIRECTORY]

`DIRECTORY/<tool>/bin/python` is the environment of a tool (`pip install kreuzberg`, `markitdown[all]`,
`html-to-markdown`, `unstructured[docx]` ...); one that is missing, or cannot read a format, is printed as not run. Only
files that both tools of a line finish count for it. A ratio is the other tool's CPU seconds to ours: above 1 we are
quicker. The cold line is a worker of ours from its start to the answer to a small file.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
SUFFIXES = {"pdf": "pdf", "html": "html htm", "docx": "docx docm", "pptx": "pptx", "xlsx": "xlsx"}
GOALS: dict[str, dict[str, float]] = {
    "pdf": {"kreuzberg": 4, "markitdown": 30, "unstructured": 20, "pdfium": 0.6},
    "html": {"html-to-markdown": 2, "unstructured": 10, "markitdown": 25},
    "docx": {"kreuzberg": 0.5, "unstructured": 10},
    "pptx": {"kreuzberg": 0.7},
    "xlsx": {"kreuzberg": 2},
}
LIMIT_S = 600
COLD_CPU_S, COLD_MB = 0.25, 60
TWO_WORKERS = 1.6


def run(python: str, tool: str, format_name: str, files: list[Path], rounds: int) -> list[float | None] | str:
    """CPU seconds of each file, or why the tool did not run."""
    command = [python, str(HERE / "peers" / "convert_files.py"), tool, format_name, str(rounds)]
    listed = "\n".join(map(str, files))
    try:
        done = subprocess.run(command, input=listed, capture_output=True, text=True, check=False, timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        return f"over {LIMIT_S} s"
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["no reason given"])[-1][:120]
    seconds: list[float | None] = json.loads(done.stdout)
    return seconds if any(each is not None for each in seconds) else "it reads none of these files"


def compare(format_name: str, files: list[Path], rounds: int, peers: Path) -> bool:
    """Print one format's lines; whether every goal of a tool that ran is met."""
    ours = run(sys.executable, "corebrain", format_name, files, rounds)
    if isinstance(ours, str):
        print(f"{format_name:5} corebrain did not run: {ours}")
        return False
    met = True
    for tool, goal in GOALS[format_name].items():
        python = sys.executable if tool == "pdfium" else str(peers / tool / "bin" / "python")
        theirs = run(python, tool, format_name, files, rounds) if Path(python).exists() else "it is not installed"
        if isinstance(theirs, str):
            print(f"{format_name:5} {tool:17} not run: {theirs}")
            continue
        pairs = [(one, other) for one, other in zip(ours, theirs, strict=True) if one is not None and other is not None]
        mine, other = sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs)
        ratio = other / mine
        met = met and ratio >= goal
        print(
            f"{format_name:5} {tool:17} {len(pairs):4} files  {mine:8.3f} s ours  {other:8.3f} s  ratio {ratio:7.2f}"
            f"  goal {goal:g}{'' if ratio >= goal else '  MISSED'}"
        )
    return met


def cold(files: list[Path]) -> bool:
    """Print what one worker takes from its start to the answer to the smallest file that can be read."""
    file = min(filter(readable, files), key=lambda path: path.stat().st_size)
    code = (
        "import sys, resource; from pathlib import Path\n"
        "from corebrain.documents.default_converter import RegistryConverter\n"
        "from corebrain.documents.types import RawDocument\n"
        f"with RegistryConverter(workers=1) as converter: converter.convert(RawDocument(Path({str(file)!r})))\n"
        "usage = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000)\n"
    )
    best = (float("inf"), 0.0)
    for _ in range(5):
        done = subprocess.run([sys.executable, "-c", code], cwd=HERE.parent, capture_output=True, text=True, check=True)
        seconds, megabytes = map(float, done.stdout.split())
        best = min(best, (seconds, megabytes))
    met = best[0] <= COLD_CPU_S and best[1] <= COLD_MB
    print(f"cold  worker {file.suffix[1:]}: {best[0]:.2f} CPU s (goal {COLD_CPU_S}), {best[1]:.0f} MB (goal {COLD_MB})")
    return met


def readable(file: Path) -> bool:
    sys.path.insert(0, str(HERE.parent))
    from corebrain.documents.default_converter import default_converter  # noqa: PLC0415 - from the checkout
    from corebrain.documents.types import RawDocument  # noqa: PLC0415 - see above
    from corebrain.errors import Refusal  # noqa: PLC0415 - see above

    try:
        default_converter().convert(RawDocument(file, file.name))
    except Refusal:
        return False
    return True


def two_workers(files: list[Path]) -> bool:
    """Print how much sooner two workers are done with the PDF files than one; needs two free cores."""
    sys.path.insert(0, str(HERE.parent))
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - here only

    from corebrain.documents.default_converter import RegistryConverter  # noqa: PLC0415 - from the checkout
    from corebrain.documents.types import RawDocument  # noqa: PLC0415 - see above
    from corebrain.errors import Refusal  # noqa: PLC0415 - see above

    raws = [RawDocument(path.read_bytes(), path.name) for path in files]
    best: dict[int, float] = {}
    for _ in range(3):
        for workers in (1, 2):
            with RegistryConverter(workers=workers) as converter, ThreadPoolExecutor(workers) as threads:

                def convert(raw: RawDocument, converter: RegistryConverter = converter) -> None:
                    try:
                        converter.convert(raw)
                    except Refusal:
                        return

                list(threads.map(convert, raws))
                began = time.monotonic()
                for _ in range(3):
                    list(threads.map(convert, raws))
                best[workers] = min(best.get(workers, float("inf")), time.monotonic() - began)
    gain = best[1] / best[2]
    print(f"pdf   two workers x{gain:.2f} (goal {TWO_WORKERS})")
    return gain >= TWO_WORKERS


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--format", action="append", choices=sorted(GOALS))
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--peers", type=Path, default=Path(tempfile.gettempdir()) / "peers")
    parser.add_argument("--workers", action="store_true", help="also what two workers gain, by the clock")
    options = parser.parse_args()
    chosen = options.format or list(GOALS)
    met = True
    for format_name in chosen:
        suffixes = SUFFIXES[format_name].split()
        files = [path for path in sorted(options.folder.rglob("*")) if path.suffix[1:].lower() in suffixes]
        if not files:
            continue
        met = compare(format_name, files, options.rounds, options.peers) and met
        met = cold(files) and met
        if format_name == "pdf" and options.workers:
            met = two_workers(files) and met
    print("all goals of the tools that ran are met" if met else "some goals are missed")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
